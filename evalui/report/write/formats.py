"""The kinds of file a report can be had as; what writes them imports much more."""

from collections.abc import Mapping
from importlib.util import find_spec

from evalui.errors import SpecError

# The media type of each.
FORMATS: Mapping[str, str] = {
    "csv": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "json": "application/json",
    "md": "text/markdown; charset=utf-8",
    "tex": "application/x-tex; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "zip": "application/zip",
    "trials.jsonl": "application/jsonl",
    "trials.csv": "text/csv; charset=utf-8",
    "trials.parquet": "application/vnd.apache.parquet",
    "metrics.csv": "text/csv; charset=utf-8",
    "metrics.json": "application/json",
    "opencompass.md": "text/markdown; charset=utf-8",
    "eee.zip": "application/zip",
    "sqlite": "application/vnd.sqlite3",
}

# For other programs and other servers: no link of the page leads to them.
EXCHANGED = ("metrics.csv", "metrics.json", "opencompass.md", "eee.zip", "sqlite")
ON_PAGE = tuple(name for name in FORMATS if name not in EXCHANGED)
BUNDLE = "sqlite"  # a store with this run alone, see `store.bundle`

# Every trial, a line or row each.
TRIAL_FORMATS = tuple(name for name in FORMATS if name.startswith("trials."))


def is_installed(extension: str) -> bool:
    """Whether what writes a format is there: Parquet needs pyarrow, which is optional."""
    return extension != "trials.parquet" or find_spec("pyarrow") is not None


def require_installed(extension: str) -> None:
    """Raises `SpecError` if what writes a format is not installed."""
    if not is_installed(extension):
        raise SpecError("no-pyarrow")
