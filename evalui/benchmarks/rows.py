"""Files of published sets become rows: objects with the fields that the set's authors chose."""

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from evalui.benchmarks.places import DataFile
from evalui.datasets.containers.parquet import read_parquet
from evalui.datasets.encoding import decode
from evalui.datasets.model import Limits
from evalui.errors import DataError

Row = Mapping[str, Any]
# A published set may be larger than what people may upload.
_LIMITS = Limits(bytes=2 * 2**30, unpacked=4 * 2**30, lines=2_000_000, cells=100_000_000)


def read_rows(file: DataFile, columns: Sequence[str] = ()) -> Iterator[Row]:
    """The rows of a file; `columns` name those of a table that has no head.

    Raises:
        DataError: it cannot be read, or is no table of rows.
    """
    data, suffix = file.read(), file.path.rpartition(".")[2].lower()
    if suffix == "parquet":
        table = read_parquet(data, file.path, _LIMITS)
        yield from (dict(zip(table.heads, row.cells, strict=True)) for row in table.rows)
        return
    text = decode(data, file.path).text
    if suffix in ("csv", "tsv"):
        yield from _read_table(text, file.path, "\t" if suffix == "tsv" else ",", columns)
    else:
        yield from _read_json(text, file.path)


def _read_table(text: str, path: str, delimiter: str, columns: Sequence[str]) -> Iterator[Row]:
    rows = csv.reader(io.StringIO(text), delimiter=delimiter)
    heads: list[str] = []
    try:
        for row in rows:
            if not heads:
                # A set that has no heads here has them on the hub, where its files are others.
                heads = list(columns) if len(row) == len(columns) else row
                if row == heads:
                    continue
            if not row:
                continue
            if len(row) != len(heads):
                raise _broken(path, rows.line_num, f"{len(row)} cells", f"{len(heads)}")
            yield dict(zip(heads, row, strict=True))
    except csv.Error as error:  # a cell of more than 128 KiB
        raise DataError("benchmark-unreadable", file=path, reason=str(error)) from error


def _read_json(text: str, path: str) -> Iterator[Row]:
    if text.lstrip().startswith("["):
        try:
            rows: Any = json.loads(text)
        except ValueError as error:
            raise DataError("benchmark-unreadable", file=path, reason=str(error)) from error
        numbered = enumerate(cast("list[Any]", rows), start=1)
    else:
        numbered = _json_lines(text, path)
    for number, row in numbered:
        if not isinstance(row, dict):
            raise _broken(path, number, type(row).__name__, "an object")
        yield cast("dict[str, Any]", row)


def _json_lines(text: str, path: str) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except ValueError as error:
                raise _broken(path, number, str(error), "an object on a line") from error


def _broken(path: str, line: int, actual: str, expected: str) -> DataError:
    return DataError("benchmark-row", file=path, line=line, actual=actual, expected=expected)
