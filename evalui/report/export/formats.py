"""The kinds of file a report can be had as; what writes them imports much more."""

from collections.abc import Mapping

# The media type of each.
FORMATS: Mapping[str, str] = {
    "csv": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "json": "application/json",
    "md": "text/markdown; charset=utf-8",
    "tex": "application/x-tex; charset=utf-8",
    "html": "text/html; charset=utf-8",
    "zip": "application/zip",
    # Every trial, a line or row each.
    "trials.jsonl": "application/jsonl",
    "trials.csv": "text/csv; charset=utf-8",
    "trials.parquet": "application/vnd.apache.parquet",
}
