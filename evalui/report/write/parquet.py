"""Tables as Parquet, by pyarrow, which is not everywhere installed and has no types."""

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd

from evalui.report.frames.base import FrameParts, storable
from evalui.report.write.archive import ForwardPipe


def parquet_parts(table: FrameParts) -> Iterator[bytes]:
    """The table as Parquet, a group of rows for each of its parts.

    Raises:
        ModuleNotFoundError: pyarrow is not installed.
    """
    pyarrow: Any = import_module("pyarrow")
    parquet: Any = import_module("pyarrow.parquet")
    pipe = ForwardPipe()
    writer: Any = None
    for part in table.parts():
        made = pyarrow.table({name: _array(part[name]) for name in part})
        writer = writer or parquet.ParquetWriter(pipe, made.schema)
        writer.write_table(made)
        yield from pipe.drain()
    (writer or parquet.ParquetWriter(pipe, pyarrow.schema([]))).close()
    yield from pipe.drain()


def _array(column: pd.Series) -> Any:
    """The column as Arrow has it; halves of characters, which UTF-8 does not have, written out."""
    pyarrow: Any = import_module("pyarrow")
    if column.dtype == "category":
        texts = storable(column.cat.categories)
        codes = column.cat.codes.to_numpy()
        return pyarrow.array(texts, pyarrow.string()).take(pyarrow.array(codes, mask=codes < 0))
    if column.dtype == np.float64:
        column = column.where(np.isfinite(column))
    return pyarrow.Array.from_pandas(column)
