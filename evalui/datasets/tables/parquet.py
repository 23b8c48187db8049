"""Parquet files: rows whose values have types, read a part at a time within limits.

A small file may hold one long text for a million rows, or a page that unpacks to gigabytes. So the
headers of all pages are read first, since what the footer states of them may be a lie, texts are
read as dictionaries of different ones, and what all rows together are is counted as they are made.
parquet.apache.org/docs and the compact protocol of Thrift say what the bytes mean.
"""

import base64
import io
import math
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import chain
from typing import Any, NamedTuple, cast

from evalui.datasets.model import JsonNumber, Limits
from evalui.datasets.tables.number_formats import plain_number
from evalui.datasets.tables.rows import check_width
from evalui.datasets.tables.table import JsonRows, collect_json_rows
from evalui.errors import DataError

MAGIC = b"PAR1"
_BATCH_ROWS = 1024
_BATCH_ROWS_OF_PREFIXES = 16  # where a text may be written as an addition to the one before
_PREFIX_ENCODING = 7  # DELTA_BYTE_ARRAY
_MAX_LEAVES = 10_000  # columns, those within objects too
_MAX_PAGES = 200_000
_MAX_NESTING = 64
# What pyarrow raises on a file that is not as it expects: its errors are of these kinds.
_DAMAGES = (OSError, ValueError, LookupError, ArithmeticError, NotImplementedError)
_MAX_FIELDS = 1000  # of one structure of a header
# Types of the compact protocol.
_BOOLS, _BYTE, _INTEGERS, _DOUBLE, _BINARY, _LISTS, _MAP, _STRUCT = (
    (1, 2),
    3,
    (4, 5, 6),
    7,
    8,
    (9, 10),
    11,
    12,
)


class _Page(NamedTuple):
    """What the header of a page states."""

    unpacked: int
    packed: int
    values: int
    encoding: int
    end: int


def read_parquet(data: bytes, file: str, limits: Limits) -> JsonRows:
    """The rows of a file.

    Raises:
        DataError: it is damaged or too large, or pyarrow is not installed.
    """
    try:
        from pyarrow import parquet as pyarrow_parquet
    except ImportError as error:
        raise DataError("parquet-not-installed", file=file) from error
    parquet: Any = pyarrow_parquet  # it has no types
    try:
        _check_nesting(data)
        metadata: Any = parquet.read_metadata(io.BytesIO(data))
        prefixed = _check_pages(data, metadata, file, limits)
        columns = [metadata.schema.column(place) for place in range(metadata.num_columns)]
        opened: Any = parquet.ParquetFile(
            io.BytesIO(data),
            read_dictionary=[
                column.path
                for place, column in enumerate(columns)
                if column.physical_type == "BYTE_ARRAY" and place not in prefixed
            ],
            pre_buffer=False,
        )
        # Dictionaries of objects and lists are not put together over groups of rows.
        batches = chain.from_iterable(
            opened.iter_batches(
                batch_size=_BATCH_ROWS_OF_PREFIXES if prefixed else _BATCH_ROWS,
                row_groups=[group],
                use_threads=False,
            )
            for group in range(metadata.num_row_groups)
        )
        rows = _rows(batches, _TextBudget(file, limits.unpacked))
        return collect_json_rows(enumerate(rows, start=1), file, search=True)
    except _DAMAGES as error:
        reason = " ".join(str(error).split())[:120].rstrip(".")
        raise DataError("parquet-damaged", file=file, reason=reason) from error


# Sizes


def _check_pages(data: bytes, metadata: Any, file: str, limits: Limits) -> set[int]:
    """The columns whose texts may be additions to the ones before, which make no dictionaries.

    Raises `DataError` if what all pages unpack to is too much.
    """
    if metadata.num_rows > limits.lines:
        n, limit = metadata.num_rows, limits.lines
        raise DataError("too-many-lines", files=file, n=n, limit=limit)
    check_width(metadata.num_columns, file, max_columns=_MAX_LEAVES)
    unpacked = values = pages = 0
    prefixed: set[int] = set()
    for group in range(metadata.num_row_groups):
        for place in range(metadata.num_columns):
            chunk = metadata.row_group(group).column(place)
            width = max(1, metadata.schema.column(place).length)
            for page in _pages(data, chunk):
                pages += 1
                values += page.values
                unpacked += page.unpacked
                if page.encoding == _PREFIX_ENCODING:
                    prefixed.add(place)
                if (
                    max(unpacked, page.values * width) > limits.unpacked
                    or values > limits.cells
                    or pages > _MAX_PAGES
                ):
                    raise DataError("parquet-too-large", file=file)
    return prefixed


def _pages(data: bytes, chunk: Any) -> Iterator[_Page]:
    """The headers of the pages of one column."""
    starts = [chunk.data_page_offset]
    if chunk.has_dictionary_page and chunk.dictionary_page_offset:
        starts.append(chunk.dictionary_page_offset)
    at = min(starts)
    end = min(at + chunk.total_compressed_size, len(data))
    if at < 0 or chunk.total_compressed_size < 0:
        raise ValueError("a column outside of the file")
    while at < end:
        page = _read_page_header(data, at)
        yield page
        at = page.end


def _read_page_header(data: bytes, at: int) -> _Page:
    header, end = _Thrift(data).read_struct(at)
    unpacked, packed = header.get(2), header.get(3)
    if not isinstance(unpacked, int) or not isinstance(packed, int) or min(unpacked, packed) < 0:
        raise ValueError("a page without a size")
    # That of data, of a dictionary, of data in the second version.
    kind = next((key for key in (5, 8, 7) if isinstance(header.get(key), dict)), 0)
    inner: dict[int, Any] = header.get(kind, {})
    values = max(0, inner.get(1, 0))
    return _Page(unpacked, packed, values, inner.get(4 if kind == 8 else 2, 0), end + packed)


def _check_nesting(data: bytes) -> None:
    """Refuse a schema whose depth could exhaust the stack of what reads it."""
    if data[-4:] != MAGIC or len(data) < 12:
        raise ValueError("its end is missing")
    size = int.from_bytes(data[-8:-4], "little")
    footer, _ = _Thrift(data).read_struct(len(data) - 8 - size)
    waiting: list[int] = []  # children that are still to come, by depth
    elements = footer.get(2)
    for element in cast(list[Any], elements) if isinstance(elements, list) else []:
        while waiting and not waiting[-1]:
            waiting.pop()
        if waiting:
            waiting[-1] -= 1
        if isinstance(element, dict) and (children := cast(dict[int, Any], element).get(5, 0)) > 0:
            waiting.append(children)
        if len(waiting) > _MAX_NESTING:
            raise ValueError("objects nested too deeply")


class _Thrift:
    """Structures in the compact protocol, as objects by the numbers of their fields."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def read_struct(self, at: int, depth: int = 0) -> tuple[dict[int, Any], int]:
        """A structure and the place behind it."""
        if depth > _MAX_NESTING or at < 0:
            raise ValueError("a header nested too deeply")
        fields: dict[int, Any] = {}
        number = 0
        for _ in range(_MAX_FIELDS):
            head = self._data[at]
            at += 1
            if not head:
                return fields, at
            number, at = (number + (head >> 4), at) if head >> 4 else self._zigzag(at)
            kind = head & 15
            if kind in _BOOLS:
                fields[number] = kind == 1
            else:
                fields[number], at = self._value(kind, at, depth)
        raise ValueError("a header without an end")

    def _value(self, kind: int, at: int, depth: int) -> tuple[Any, int]:
        if kind in _BOOLS or kind == _BYTE:
            return self._data[at], at + 1
        if kind in _INTEGERS:
            return self._zigzag(at)
        if kind == _DOUBLE:
            return 0.0, at + 8
        if kind == _BINARY:
            size, at = self._varint(at)
            return b"", at + size
        if kind in _LISTS:
            return self._list(at, depth)
        if kind == _STRUCT:
            return self.read_struct(at, depth + 1)
        raise ValueError("a header of an unknown type")

    def _list(self, at: int, depth: int) -> tuple[list[Any], int]:
        head = self._data[at]
        size, at = (head >> 4, at + 1) if head >> 4 < 15 else self._varint(at + 1)
        if size > len(self._data):
            raise ValueError("a list longer than its file")
        items: list[Any] = []
        for _ in range(size):
            item, at = self._value(head & 15, at, depth)
            items.append(item)
        return items, at

    def _varint(self, at: int) -> tuple[int, int]:
        number = shift = 0
        while True:
            byte = self._data[at]
            at += 1
            number |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return number, at
            if shift > 70:
                raise ValueError("a number without an end")

    def _zigzag(self, at: int) -> tuple[int, int]:
        number, at = self._varint(at)
        return (number >> 1) ^ -(number & 1), at


# Values


class _TextBudget:
    """How many more characters the texts of all rows may have."""

    def __init__(self, file: str, chars: int) -> None:
        self._file = file
        self._left = chars

    def spend(self, text: str) -> str:
        """Count a text."""
        self._left -= len(text)
        if self._left < 0:
            raise DataError("parquet-too-large", file=self._file)
        return text


def _rows(batches: Any, budget: _TextBudget) -> Iterator[dict[str, Any]]:
    for batch in batches:
        names = [str(name) for name in batch.schema.names]
        columns = [_values(column, budget) for column in batch.columns]
        for values in zip(*columns, strict=True):
            yield dict(zip(names, values, strict=True))


def _values(array: Any, budget: _TextBudget) -> list[Any]:
    """The values of an array as JSON has them; equal texts are one and the same."""
    import pyarrow
    from pyarrow import types

    kind = array.type
    if types.is_dictionary(kind):
        # Every batch has the dictionary of all of them.
        places = array.indices.fill_null(-1).to_numpy().tolist()
        used = sorted({place for place in places if place >= 0})
        texts = array.dictionary.take(pyarrow.array(used, pyarrow.int64())).to_pylist()
        known = dict(zip(used, map(_json_value, texts), strict=True))
        return [None if place < 0 else _counted(known[place], budget) for place in places]
    if types.is_struct(kind):
        names = [kind.field(place).name for place in range(kind.num_fields)]
        columns = [_values(array.field(place), budget) for place in range(kind.num_fields)]
        present = _present(array)
        return [
            dict(zip(names, values, strict=True)) if here else None
            for here, *values in zip(present, *columns, strict=True)
        ]
    if types.is_list(kind) or types.is_large_list(kind):
        return _list_values(array, budget)
    if not array.null_count and (types.is_integer(kind) or types.is_floating(kind)):
        return list(map(_json_value, array.to_numpy().tolist()))
    return [_counted(_json_value(value), budget) for value in array.to_pylist()]


def _present(array: Any) -> list[bool]:
    """Which values of an array are not null."""
    if not array.null_count:
        return [True] * len(array)
    return cast(list[bool], array.is_valid().to_numpy(zero_copy_only=False).tolist())


def _list_values(array: Any, budget: _TextBudget) -> list[Any]:
    offsets = array.offsets.to_numpy().tolist()
    first, last = offsets[0], offsets[-1]
    items = _values(array.values.slice(first, last - first), budget)
    present = _present(array)
    return [
        items[begin - first : end - first] if here else None
        for here, begin, end in zip(present, offsets, offsets[1:], strict=False)
    ]


def _counted(value: Any, budget: _TextBudget) -> Any:
    return budget.spend(value) if isinstance(value, str) else value


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
            return base64.b64encode(value).decode()
    if isinstance(value, datetime):
        return value.isoformat(" ")
    if isinstance(value, dict):
        return {str(k): _json_value(v) for k, v in cast(dict[Any, Any], value).items()}
    if isinstance(value, list | tuple):
        return [_json_value(item) for item in cast(Sequence[Any], value)]
    return str(value)
