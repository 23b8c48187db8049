"""Blocks of columns: what was written comes back, and small batches become few blocks."""

import math
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import numpy as np
import pytest
from runs_examples import trial

from evalui.errors import StoreError
from evalui.scoring.trial_columns import TrialColumns, columns_of
from evalui.store.column_blocks import (
    append_block,
    count_trials,
    decode_columns,
    decode_outcomes,
    encode_columns,
    no_texts,
)
from evalui.types import Reading, Trial


@pytest.fixture
def connection() -> Iterator[sqlite3.Connection]:
    opened = sqlite3.connect(":memory:", isolation_level=None)
    opened.execute("CREATE TABLE trial_block (cell, first, n, body)")
    yield opened
    opened.close()


def _batch(first: int, n: int) -> TrialColumns:
    trials = [trial(number) for number in range(first, first + n)]
    return replace(columns_of(trials), number=np.arange(first, first + n))


def test_a_block_reads_back_whatever_its_trials_are_named() -> None:
    odd = Trial(
        "law/3\ud800",
        trial(0).variant,
        2,
        "a/b",
        {"a/b": Reading(1, 0.5, "x", tied=True), "": Reading(None, 0.0, "file")},
        (0.5, -math.inf),
        0.1,
        scores={"../raw": (-math.inf, 1e-300), "none": ()},
        merged_boundaries=3,
        truncated=True,
        fixed_reason="duplicates",
    )
    written = [odd, trial(1), trial(2, choice=None, credit=0.0)]
    columns = columns_of(written)
    assert list(decode_columns(encode_columns(columns), columns.texts)) == written


def test_batches_become_few_blocks_in_the_order_written(connection: sqlite3.Connection) -> None:
    sizes = [1, 1, 5, 2, 1, 40, 3, 1, 1, 1, 7] * 20
    first = 1
    for size in sizes:
        append_block(connection, 1, _batch(first, size))
        append_block(connection, 2, _batch(first, 1))
        first += size
    rows = connection.execute(
        "SELECT first, n, body FROM trial_block WHERE cell = 1 ORDER BY first"
    ).fetchall()
    numbers = [int(n) for row in rows for n in decode_columns(row[2], no_texts).number]
    assert numbers == list(range(1, sum(sizes) + 1))
    assert sum(row[1] for row in rows) == sum(sizes)
    assert len(rows) <= 2 + math.log2(sum(sizes))


def test_a_big_block_is_not_written_again(
    connection: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evalui.store.column_blocks.MAX_BLOCK", 8)
    for first in range(1, 101, 5):
        append_block(connection, 1, _batch(first, 5))
    sizes = [n for (n,) in connection.execute("SELECT n FROM trial_block ORDER BY first")]
    assert sizes == [10] * 10


@pytest.mark.parametrize("place", [0, 100, -1])
def test_a_damaged_block_is_stated(place: int) -> None:
    body = bytearray(encode_columns(_batch(0, 20)))
    body[place] ^= 0xFF
    with pytest.raises(StoreError, match="A block of answers in the database is damaged"):
        decode_columns(bytes(body), no_texts)


@pytest.mark.parametrize("length", [0, 3, 100, -1])
def test_a_block_that_is_cut_is_damaged(length: int) -> None:
    with pytest.raises(StoreError, match="A block of answers in the database is damaged"):
        decode_columns(encode_columns(_batch(0, 20))[:length], no_texts)


def test_a_block_that_would_fill_the_memory_is_damaged(monkeypatch: pytest.MonkeyPatch) -> None:
    body = encode_columns(_batch(0, 2000))
    monkeypatch.setattr("evalui.store.column_blocks._MAX_BYTES", 2**16)
    with pytest.raises(StoreError, match="has more than 0 MB"):
        decode_columns(body, no_texts)


def test_the_outcomes_of_a_block_are_those_of_its_trials() -> None:
    odd = Trial(
        "q",
        trial(0).variant,
        2,
        "loose",
        {"strict": Reading(None, 0.0, "empty"), "loose": Reading(1, 0.5, "x", tied=True)},
        (0.5, 0.5),
    )
    columns = columns_of([odd, trial(1), trial(2, choice=None, credit=0.0, rule="refusal")])
    read = decode_outcomes(encode_columns(columns))
    for got, expected in zip(read.reading.arrays, columns.reading.arrays, strict=True):
        assert got.tolist() == expected.tolist()
    for name in ("sample", "order", "target", "is_origin", "n_options"):
        assert getattr(read, name).tolist() == getattr(columns, name).tolist()
    assert (read.ids, read.rules) == (columns.ids, columns.rules)


def test_trials_are_counted_in_sums_that_do_not_depend_on_their_batches() -> None:
    shares = [0.1, 0.2, 0.3, 1 / 3, 0.7] * 20
    trials = [
        trial(number, credit=share, choice=None if number % 7 == 0 else 0, tied=number % 14 == 0)
        for number, share in enumerate(shares)
    ]
    trials += [trial(len(shares), choice=None, credit=0.0, rule="no-reference")]
    counted: list[tuple[object, ...]] = []
    for size in (1, 7, len(trials)):
        with closing(sqlite3.connect(":memory:")) as opened:
            opened.execute(
                "CREATE TABLE cell (id, done, origin_n, origin_credit, unreadable, unreferenced,"
                " tied)"
            )
            opened.execute("INSERT INTO cell VALUES (1, 0, 0, 0.0, 0, 0, 0)")
            for start in range(0, len(trials), size):
                count_trials(opened, 1, columns_of(trials[start : start + size]))
            counted.append(opened.execute("SELECT * FROM cell").fetchone())
    credit = 0.0
    for each in trials:
        credit += each.reading.credit
    unread = sum(number % 7 == 0 and number % 14 != 0 for number in range(len(shares)))
    assert counted == [(1, 101, 101, credit, unread, 1, 8)] * 3
