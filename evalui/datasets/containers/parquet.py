"""Parquet files: rows whose values have types, read by pyarrow a part at a time."""

import base64
import io
import math
from collections.abc import Sequence
from datetime import datetime
from typing import Any, cast

from evalui.datasets.containers.heads import check_width
from evalui.datasets.containers.number_formats import plain_number
from evalui.datasets.containers.pictures import without_pictures
from evalui.datasets.model import FileTable, JsonNumber, Limits, Row, collapse_whitespace
from evalui.errors import DataError

MAGIC = b"PAR1"
_BATCH_ROWS = 1024
_MAX_BYTES_SHOWN = 3000  # of a value that is no text: enough to see that it is a picture
# What pyarrow raises on a file that is not as it expects: its errors are of these kinds.
_DAMAGES = (OSError, ValueError, LookupError, ArithmeticError, NotImplementedError, RuntimeError)


def read_parquet(data: bytes, file: str, limits: Limits) -> FileTable:
    """The rows of a file, with the values that JSON would have.

    Raises:
        DataError: it is damaged, has too many rows or columns, or pyarrow is not installed.
    """
    try:
        from pyarrow import parquet as pyarrow_parquet
    except ImportError as error:
        raise DataError("parquet-not-installed", file=file) from error
    parquet: Any = pyarrow_parquet  # it has no types
    try:
        opened: Any = parquet.ParquetFile(io.BytesIO(data), pre_buffer=False)
        n, limit = opened.metadata.num_rows, limits.lines
        if n > limit:
            raise DataError("too-many-lines", files=file, n=n, limit=limit)
        heads = tuple(str(name) for name in opened.schema_arrow.names)
        check_width(len(heads), file)
        rows: list[Row] = []
        for batch in opened.iter_batches(batch_size=_BATCH_ROWS, use_threads=False):
            columns = [list(map(_json_value, column.to_pylist())) for column in batch.columns]
            first = len(rows) + 1
            rows += map(Row._make, enumerate(zip(*columns, strict=True), start=first))
        return without_pictures(FileTable(file, heads, rows, typed=True))
    except _DAMAGES as error:
        reason = collapse_whitespace(str(error))[:120].rstrip(".")
        raise DataError("parquet-damaged", file=file, reason=reason) from error


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
            return base64.b64encode(value[:_MAX_BYTES_SHOWN]).decode()
    if isinstance(value, datetime):
        return value.isoformat(" ")
    if isinstance(value, dict):
        return {str(k): _json_value(v) for k, v in cast(dict[Any, Any], value).items()}
    if isinstance(value, list | tuple):
        return [_json_value(item) for item in cast(Sequence[Any], value)]
    return str(value)
