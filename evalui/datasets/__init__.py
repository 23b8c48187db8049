"""Files become samples."""

from evalui.datasets import formats
from evalui.datasets.bundle import config_entries, load, read_columns
from evalui.datasets.columns import COLUMN_ROLES
from evalui.datasets.model import (
    DATASET_FORMATS,
    DatasetFormat,
    Layout,
    Limits,
    LoadResult,
    UploadNote,
)
from evalui.datasets.questions.answers import ANSWER_KEYS

__all__ = [
    "ANSWER_KEYS",
    "COLUMN_ROLES",
    "DATASET_FORMATS",
    "DatasetFormat",
    "Layout",
    "Limits",
    "LoadResult",
    "UploadNote",
    "config_entries",
    "formats",
    "load",
    "read_columns",
]
