"""Parquet files: rows whose values have types, read by pyarrow a part at a time."""

import math
from collections.abc import Sequence
from datetime import datetime
from typing import Any, BinaryIO, cast

from evalui.datasets.containers.heads import check_width
from evalui.datasets.containers.number_formats import plain_number
from evalui.datasets.containers.pictures import with_pictures
from evalui.datasets.model import FileTable, JsonNumber, Limits, Row, collapse_whitespace
from evalui.datasets.picture_files import current_folder
from evalui.errors import DataError

MAGIC = b"PAR1"
_BATCH_ROWS = 1024
_BUFFER_BYTES = 2**20  # of a column, of which without a buffer a whole row group is read
_BATCH_BYTES = 2**23  # of what rows hold that are read together
# What pyarrow raises on a file that is not as it expects: its errors are of these kinds.
_DAMAGES = (OSError, ValueError, LookupError, ArithmeticError, NotImplementedError, RuntimeError)


def read_parquet(source: BinaryIO, file: str, limits: Limits) -> FileTable:
    """The rows of a file, with the values that JSON would have; of pictures their marks.

    Raises:
        DataError: it is damaged, has too many rows or columns, or pyarrow is not installed.
    """
    try:
        from pyarrow import parquet as pyarrow_parquet
    except ImportError as error:
        raise DataError("parquet-not-installed", file=file) from error
    parquet: Any = pyarrow_parquet  # it has no types
    try:
        opened: Any = parquet.ParquetFile(source, pre_buffer=False, buffer_size=_BUFFER_BYTES)
        n, limit = opened.metadata.num_rows, limits.lines
        if n > limit:
            raise DataError("too-many-lines", files=file, n=n, limit=limit)
        heads = tuple(str(name) for name in opened.schema_arrow.names)
        check_width(len(heads), file)
        rows: list[Row] = []
        for batch in opened.iter_batches(batch_size=_rows_together(opened), use_threads=False):
            columns = [list(map(_json_value, column.to_pylist())) for column in batch.columns]
            first = len(rows) + 1
            rows += map(Row._make, enumerate(zip(*columns, strict=True), start=first))
        return with_pictures(FileTable(file, heads, rows, typed=True))
    except _DAMAGES as error:
        reason = collapse_whitespace(str(error))[:120].rstrip(".")
        raise DataError("parquet-damaged", file=file, reason=reason) from error


def _rows_together(opened: Any) -> int:
    """How many rows are taken from a file at a time: fewer of large ones."""
    groups = map(opened.metadata.row_group, range(opened.metadata.num_row_groups))
    largest = max((each.total_byte_size // max(each.num_rows, 1) for each in groups), default=0)
    return min(max(_BATCH_BYTES // max(largest, 1), 1), _BATCH_ROWS)


def _json_value(value: Any) -> Any:
    """A value as JSON has it, numbers as they would be written."""
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, int):
        return JsonNumber(value)
    if isinstance(value, float):
        return None if math.isnan(value) else JsonNumber(plain_number(value))
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return str(current_folder().mark(value))
    if isinstance(value, datetime):
        return value.isoformat(" ")
    if isinstance(value, dict):
        if isinstance(original := cast(dict[Any, Any], value).get("bytes"), bytes):
            return str(current_folder().mark(original))
        return {str(k): _json_value(v) for k, v in cast(dict[Any, Any], value).items()}
    if isinstance(value, list | tuple):
        return [_json_value(item) for item in cast(Sequence[Any], value)]
    return str(value)
