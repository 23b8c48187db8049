"""Trials as blocks of columns: written with their batch, merged as they grow, read as one.

A block is a numpy archive (`.npz`), deflated. Its trials are in the order in which they were
written, by number: the `id` of their row, which holds their texts and what the lists filter by.
"""

import io
import json
import threading
import zlib
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from sqlite3 import Connection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalui.errors import StoreError
from evalui.runs.database.codec import decode_variant, encode_variant
from evalui.scoring.trial_columns import (
    PLAIN_COLUMNS,
    Ragged,
    ReadingColumns,
    TextReader,
    TrialColumns,
    TrialText,
    join_columns,
)

MAX_BLOCK = 1 << 13  # trials of a block that grows no more: a question is read with its block
_DEFLATE_LEVEL = 1
_TABLES = "tables"


class _WrittenBlocks:
    """The small blocks that this process wrote last, by their content in the store.

    A worker whose batches are small merges one such with each: to decode it takes numpy longer
    than all else of the batch.
    """

    _MAX_TRIALS = 1024  # of a block
    _MAX_BLOCKS = 32

    def __init__(self) -> None:
        self._columns: OrderedDict[bytes, TrialColumns] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, body: bytes) -> TrialColumns | None:
        """The columns of a block, which is merged now; None if they have to be decoded."""
        with self._lock:
            return self._columns.pop(body, None)

    def keep(self, body: bytes, columns: TrialColumns) -> None:
        """Note what was written, in the place of the oldest."""
        if len(columns) > self._MAX_TRIALS:
            return
        with self._lock:
            self._columns[body] = columns
            if len(self._columns) > self._MAX_BLOCKS:
                self._columns.popitem(last=False)


_WRITTEN = _WrittenBlocks()


def append_block(connection: Connection, cell_id: int, columns: TrialColumns) -> None:
    """Write the columns behind those of the cell that are there.

    The last blocks are merged with it unless they are more than twice its size, so that a cell of
    n trials has about log n blocks whatever the size of its batches.
    """
    while last := connection.execute(
        "SELECT first, n, body FROM trial_block WHERE cell = ? AND n <= ?"
        " AND first = (SELECT max(first) FROM trial_block WHERE cell = ?)",
        (cell_id, min(2 * len(columns), MAX_BLOCK), cell_id),
    ).fetchone():
        first, _, body = last
        connection.execute("DELETE FROM trial_block WHERE cell = ? AND first = ?", (cell_id, first))
        before = _WRITTEN.take(body) or decode_columns(body, no_texts)
        columns = join_columns([before, columns])
    body = encode_columns(columns)
    connection.execute(
        "INSERT INTO trial_block VALUES (?, ?, ?, ?)",
        (cell_id, int(columns.number[0]), len(columns), body),
    )
    _WRITTEN.keep(body, columns)


def encode_columns(columns: TrialColumns) -> bytes:
    """The columns as a block, without texts."""
    tables = {
        "ids": columns.ids,
        "orders": [encode_variant(order) for order in columns.orders],
        "headlines": columns.headlines,
        "rules": columns.rules,
        "readings": list(columns.readings),
        "scores": list(columns.scores),
    }
    arrays: dict[str, NDArray[Any]] = {name: getattr(columns, name) for name in PLAIN_COLUMNS}
    arrays[_TABLES] = np.frombuffer(json.dumps(tables).encode(), dtype=np.uint8)
    arrays |= _numbered("reading", (each.arrays for each in columns.readings.values()))
    ragged = (columns.probabilities, *columns.scores.values())
    arrays |= _numbered("ragged", ((each.values, each.lengths) for each in ragged))
    archive = io.BytesIO()
    np.savez(archive, allow_pickle=False, **arrays)
    return zlib.compress(archive.getbuffer(), _DEFLATE_LEVEL)


def decode_columns(body: bytes, texts: TextReader) -> TrialColumns:
    """The inverse of `encode_columns`; `texts` reads what trials hold of text.

    Raises:
        StoreError: the block is damaged, by its checksum.
    """
    try:
        content = zlib.decompress(body)
    except zlib.error as error:
        raise StoreError("block-damaged", reason=str(error)) from error
    with np.load(io.BytesIO(content), allow_pickle=False) as archive:
        arrays: dict[str, NDArray[Any]] = dict(archive)
    tables: dict[str, list[str]] = json.loads(arrays[_TABLES].tobytes())
    probabilities, *scores = (
        Ragged(*_of(arrays, "ragged", place, 2)) for place in range(1 + len(tables["scores"]))
    )
    return TrialColumns(
        ids=tuple(tables["ids"]),
        orders=tuple(map(decode_variant, tables["orders"])),
        headlines=tuple(tables["headlines"]),
        rules=tuple(tables["rules"]),
        readings={
            name: ReadingColumns(*_of(arrays, "reading", place, 4))
            for place, name in enumerate(tables["readings"])
        },
        probabilities=probabilities,
        scores=dict(zip(tables["scores"], scores, strict=True)),
        texts=texts,
        **{name: arrays[name] for name in PLAIN_COLUMNS},
    )


def no_texts(numbers: NDArray[np.int64]) -> Sequence[TrialText]:
    """Of columns that nobody looks into: they are on their way to the store."""
    raise AssertionError(f"{len(numbers)} trials were looked at before they were stored")


def _numbered(kind: str, groups: Iterable[tuple[NDArray[Any], ...]]) -> dict[str, NDArray[Any]]:
    """The arrays of each group, named by their places: names of readings may be any text."""
    return {
        f"{kind}.{place}.{part}": array
        for place, arrays in enumerate(groups)
        for part, array in enumerate(arrays)
    }


def _of(arrays: dict[str, NDArray[Any]], kind: str, place: int, count: int) -> list[NDArray[Any]]:
    return [arrays[f"{kind}.{place}.{part}"] for part in range(count)]
