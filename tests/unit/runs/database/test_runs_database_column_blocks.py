"""Blocks of columns: what was written comes back, and small batches become few blocks."""

import math
import sqlite3
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from runs_examples import trial

from evalui.errors import StoreError
from evalui.runs.database.column_blocks import (
    append_block,
    decode_columns,
    encode_columns,
    no_texts,
)
from evalui.scoring.trial_columns import TrialColumns, columns_of
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
    monkeypatch.setattr("evalui.runs.database.column_blocks.MAX_BLOCK", 8)
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
