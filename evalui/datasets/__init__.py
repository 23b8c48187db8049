"""Files become samples."""

from evalui.datasets import formats
from evalui.datasets.base import (
    DATASET_FORMATS,
    FAULT_RULES,
    UPLOAD_NOTES,
    DatasetFormat,
    Layout,
    Limits,
    LoadResult,
    UploadNote,
)
from evalui.datasets.bundle import config_entries, load
from evalui.datasets.questions.choice import ANSWER_KEYS

__all__ = [
    "ANSWER_KEYS",
    "DATASET_FORMATS",
    "FAULT_RULES",
    "UPLOAD_NOTES",
    "DatasetFormat",
    "Layout",
    "Limits",
    "LoadResult",
    "UploadNote",
    "config_entries",
    "formats",
    "load",
]
