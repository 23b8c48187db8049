"""Files become samples."""

from evalui.datasets.answers import ANSWER_KEYS
from evalui.datasets.model import (
    COLUMN_ROLES,
    DATASET_FORMATS,
    DatasetFormat,
    Layout,
    Limits,
    LoadResult,
    UploadNote,
)
from evalui.datasets.reader import config_entries, load, read_columns

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
    "load",
    "read_columns",
]
