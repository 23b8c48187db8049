"""Files become samples."""

from evalui.datasets.base import (
    ANSWER_KEYS,
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
from evalui.datasets.formats import ceval, choices, general_qa, mmlu, subjective

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
    "ceval",
    "choices",
    "config_entries",
    "general_qa",
    "load",
    "mmlu",
    "subjective",
]
