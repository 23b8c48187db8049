"""Trials as blocks of columns: written with their batch, merged as they grow, read as one.

A block is the length of its head (4 bytes, little-endian), its head as JSON, and a frame for each
array in the order of the head; head and frames are deflated. Who needs a few columns inflates
those alone. The trials of a block are in the order in which they were written, by number: the `id`
of their row, which holds their texts.
"""

import json
import struct
import zlib
from collections.abc import Iterable, Mapping, Sequence
from sqlite3 import Connection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalui.errors import StoreError
from evalui.scoring.trial_columns import (
    PLAIN_COLUMNS,
    Ragged,
    ReadingColumns,
    TextReader,
    TrialColumns,
    TrialText,
    join_columns,
)
from evalui.store.codec import decode_variant, encode_variant

MAX_BLOCK = 1 << 13  # trials of a block that grows no more: a question is read with its block
_DEFLATE_LEVEL = 1
_LENGTH = struct.Struct("<I")
_MAX_BYTES = 2**29  # of a block, unpacked: it may come from anybody
# What lists of questions show and filter by, beside the readings that count.
_OUTCOMES = ("sample", "order", "headline", "target")


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
        columns = join_columns([decode_columns(body, no_texts), columns])
    connection.execute(
        "INSERT INTO trial_block VALUES (?, ?, ?, ?)",
        (cell_id, int(columns.number[0]), len(columns), encode_columns(columns)),
    )


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
    arrays |= _numbered("reading", (each.arrays for each in columns.readings.values()))
    ragged = (columns.probabilities, *columns.scores.values())
    arrays |= _numbered("ragged", ((each.values, each.lengths) for each in ragged))
    frames = [zlib.compress(array.tobytes(), _DEFLATE_LEVEL) for array in arrays.values()]
    listed = [
        (name, array.dtype.str, len(frame))
        for (name, array), frame in zip(arrays.items(), frames, strict=True)
    ]
    head = zlib.compress(json.dumps([tables, listed]).encode(), _DEFLATE_LEVEL)
    return b"".join((_LENGTH.pack(len(head)), head, *frames))


def decode_columns(body: bytes, texts: TextReader) -> TrialColumns:
    """The inverse of `encode_columns`; `texts` reads what trials hold of text.

    Raises:
        StoreError: the block is damaged, by its checksums.
    """
    return _decode(body, texts)


def decode_outcomes(body: bytes) -> TrialColumns:
    """The same without texts and without what only figures are made of, which is absent.

    Raises:
        StoreError: the block is damaged, by its checksums.
    """
    return _decode(body, no_texts, is_whole=False)


def next_number(connection: Connection) -> int:
    """The number of the next trial; those of deleted trials are not given again."""
    given = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'trial'").fetchone()
    return (given["seq"] if given else 0) + 1


def count_trials(connection: Connection, cell_id: int, columns: TrialColumns) -> None:
    """Add what is known of trials while a cell is at work to its counters."""
    reading, origin = columns.reading, columns.is_origin
    unreferenced = reading.rule == columns.rule_place("no-reference")
    (credit,) = connection.execute(
        "SELECT origin_credit FROM cell WHERE id = ?", (cell_id,)
    ).fetchone()
    for each in reading.credit[origin].tolist():  # one by one: whatever the batches, equal sums
        credit += each
    connection.execute(
        "UPDATE cell SET done = done + ?, origin_n = origin_n + ?, origin_credit = ?,"
        " unreadable = unreadable + ?, unreferenced = unreferenced + ?, tied = tied + ?"
        " WHERE id = ?",
        (
            len(columns),
            int(origin.sum()),
            credit,
            int((reading.unreadable & ~unreferenced).sum()),
            int(unreferenced.sum()),
            int(reading.tied.sum()),
            cell_id,
        ),
    )


def no_texts(numbers: NDArray[np.int64]) -> Sequence[TrialText]:
    """Of columns that nobody looks into: they are on their way to the store."""
    raise AssertionError(f"{len(numbers)} trials were looked at before they were stored")


def _decode(body: bytes, texts: TextReader, *, is_whole: bool = True) -> TrialColumns:
    arrays: dict[str, NDArray[Any]] = {}
    try:
        (length,) = _LENGTH.unpack_from(body)
        start = _LENGTH.size + length
        head: tuple[dict[str, list[str]], list[tuple[str, str, int]]]
        head = json.loads(_inflated(body[_LENGTH.size : start], _MAX_BYTES))
        tables, listed = head
        read = [
            (name, f"reading.{place}")
            for place, name in enumerate(tables["readings"])
            if is_whole or name in tables["headlines"]
        ]
        few = {*_OUTCOMES, *(f"{kind}.{part}" for _, kind in read for part in range(4))}
        left = _MAX_BYTES
        for name, dtype, size in listed:
            if is_whole or name in few:
                content = bytearray(_inflated(body[start : start + size], left))
                arrays[name] = np.frombuffer(content, dtype=dtype)
                left -= len(content)
            start += size
        nothing: NDArray[Any] = np.zeros(len(arrays["sample"]), dtype=np.int8)
        whole = dict.fromkeys(() if is_whole else PLAIN_COLUMNS, nothing) | arrays
        plain = {name: whole[name] for name in PLAIN_COLUMNS}
        readings = {name: ReadingColumns(*_parts(arrays, kind, 4)) for name, kind in read}
        ragged = [Ragged.absent(len(nothing))]
        if is_whole:
            kinds = (f"ragged.{place}" for place in range(1 + len(tables["scores"])))
            ragged = [Ragged(*_parts(arrays, kind, 2)) for kind in kinds]
    except (struct.error, zlib.error, ValueError, TypeError, KeyError) as error:
        raise StoreError("block-damaged", reason=str(error)) from error
    return TrialColumns(
        ids=tuple(tables["ids"]),
        orders=tuple(map(decode_variant, tables["orders"])),
        headlines=tuple(tables["headlines"]),
        rules=tuple(tables["rules"]),
        readings=readings,
        probabilities=ragged[0],
        scores=dict(zip(tables["scores"], ragged[1:], strict=is_whole)),
        texts=texts,
        **plain,
    )


def _inflated(frame: bytes, most: int) -> bytes:
    inflating = zlib.decompressobj()
    content = inflating.decompress(frame, max(1, most))  # 0 would be no limit
    if not inflating.eof:
        raise zlib.error(f"a part is cut, or its block has more than {_MAX_BYTES / 1e6:.0f} MB")
    return content


def _numbered(kind: str, groups: Iterable[tuple[NDArray[Any], ...]]) -> dict[str, NDArray[Any]]:
    """The arrays of each group, named by their places: names of readings may be any text."""
    return {
        f"{kind}.{place}.{part}": array
        for place, arrays in enumerate(groups)
        for part, array in enumerate(arrays)
    }


def _parts(arrays: Mapping[str, NDArray[Any]], kind: str, count: int) -> list[NDArray[Any]]:
    return [arrays[f"{kind}.{part}"] for part in range(count)]
