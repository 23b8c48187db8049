"""Trials and written answers in the store: written by the batch, read by the cell."""

import json
import math
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from sqlite3 import Connection, Row
from typing import overload

import numpy as np
from numpy.typing import NDArray

from evalui.errors import StoreError
from evalui.scoring.choice.options import variants
from evalui.scoring.trial_columns import (
    TextReader,
    TrialColumns,
    TrialText,
    columns_of,
    join_columns,
)
from evalui.store.codec import (
    decode_answers,
    decode_turns,
    decode_variant,
    encode_turns,
    encode_variant,
)
from evalui.store.column_blocks import append_block, count_trials, decode_columns, next_number
from evalui.store.connection import Database
from evalui.store.queue import renew_lease
from evalui.store.response_cache import KeptResponse, put_responses
from evalui.store.runs import CellRow, Lease, read_cells
from evalui.types import Contestant, Pattern, Trial, Variant

_RATE_DECAY_S = 5.0  # the rate shown forgets what is this old
_GROWING = ("waiting", "running")  # the states of a cell that may have more trials
_MAX_CURSOR = 24  # characters of a cursor; longer texts are not ours
_ROW_BYTES = 60  # of a trial beside its texts: its row, its index entry, its part of the columns
_INSERT = (
    "INSERT INTO trial (id, cell, sample, variant, reply, turns, thoughts)"
    " VALUES (?, ?, ?, ?, ?, ?, ?)"
)
# Of several repeats a judge is shown the first.
_ANSWERS_SQL = "SELECT sample, reply, turns FROM trial WHERE cell = ? AND variant NOT LIKE '%#%'"


@dataclass(frozen=True, slots=True)
class TrialCursor:
    """Up to where the trials of a run were read: the place of a cell, and a number of a trial."""

    cell: int = 0
    trial: int = 0

    @classmethod
    def read(cls, text: str) -> "TrialCursor | None":
        """The cursor that was written as `text`, None if none was."""
        cell, _, trial = text.partition(".")
        is_cursor = len(text) <= _MAX_CURSOR and text.isascii() and cell.isdigit()
        return cls(int(cell), int(trial)) if is_cursor and trial.isdigit() else None

    def __str__(self) -> str:
        return f"{self.cell}.{self.trial}"


@dataclass(frozen=True, slots=True)
class TrialPage:
    """Trials of a run by cell, and where the next page begins; None after the last one."""

    parts: tuple[tuple[CellRow, TrialColumns], ...]
    next: TrialCursor | None


def write_trials(
    database: Database,
    lease: Lease,
    cell_id: int,
    trials: Sequence[Trial],
    responses: Sequence[KeptResponse] = (),
    *,
    also: Callable[[Connection], None] = lambda _: None,
) -> None:
    """Keep a batch of trials, and the responses for the cache, and what `also` writes, all at once.

    A trial that is there already stays as it is. The run has made progress, so its lost workers
    are forgiven.

    Raises:
        RunLeaseLost: the run was given to another worker, or deleted; nothing is written.
        StoreError: the disk is full, say; nothing is written.
    """
    with database.writing() as connection:
        renew_lease(connection, lease)
        _add_trials(connection, cell_id, trials)
        put_responses(connection, responses)
        _update_rate(connection, cell_id, len(trials))
        also(connection)
        connection.execute("UPDATE run SET losses = 0 WHERE id = ?", (lease.run_id,))


def set_width(connection: Connection, cell_id: int, width: int, max_width: int) -> None:
    """Note how many requests the model of a cell is sent at a time, and at most."""
    connection.execute(
        "UPDATE cell SET width = ?, max_width = ? WHERE id = ?", (width, max_width, cell_id)
    )


def _add_trials(connection: Connection, cell_id: int, trials: Sequence[Trial]) -> None:
    """Add a row for each trial that is not there yet, and their columns."""
    known = _done_keys(connection, cell_id, {trial.sample_id for trial in trials})
    unknown: dict[tuple[str, Variant], Trial] = {}
    for trial in trials:
        if (key := (trial.sample_id, trial.variant)) not in known:
            unknown.setdefault(key, trial)
    if not unknown:
        return
    new = list(unknown.values())
    # Ids of deleted trials are not given again: a report that is still open reads texts by them.
    start = next_number(connection)
    rows = [_row(number, cell_id, trial) for number, trial in enumerate(new, start)]
    connection.executemany(_INSERT, rows)
    connection.execute(
        "UPDATE cell SET bytes = bytes + ? WHERE id = ?", (sum(map(_row_bytes, rows)), cell_id)
    )
    columns = columns_of(new)
    append_block(connection, cell_id, replace(columns, number=columns.number + start))
    count_trials(connection, cell_id, columns)


def _done_keys(
    connection: Connection, cell_id: int, samples: Iterable[str]
) -> frozenset[tuple[str, Variant]]:
    """Which trials of these questions a cell has already."""
    rows = connection.execute(
        "SELECT sample, variant FROM trial"
        " WHERE cell = ? AND sample IN (SELECT value FROM json_each(?))",
        (cell_id, json.dumps(list(samples))),
    )
    return _keys(rows)


def done_keys(database: Database, cell_id: int) -> frozenset[tuple[str, Variant]]:
    """The samples and variants of a cell that are done."""
    return _keys(database.rows("SELECT sample, variant FROM trial WHERE cell = ?", (cell_id,)))


def _keys(rows: Iterable[Row]) -> frozenset[tuple[str, Variant]]:
    return frozenset((row["sample"], decode_variant(row["variant"])) for row in rows)


def read_trials(database: Database, cell_id: int, n: int | None = None) -> TrialColumns:
    """All trials of a cell, questions in file order and variants in pattern order.

    With `n` the first that were written, as many as were there when they were counted.
    """
    bodies = database.rows("SELECT body FROM trial_block WHERE cell = ? ORDER BY first", (cell_id,))
    if not bodies:
        return columns_of(())
    texts = text_reader(database, cell_id)
    columns = join_columns([decode_columns(row["body"], texts) for row in bodies])
    if n is not None and n < len(columns):
        columns = columns[:n]
    places = database.rows(
        "SELECT s.id, s.place FROM sample s JOIN cell c ON s.dataset = c.dataset"
        " WHERE s.role = 'sample' AND c.id = ?",
        (cell_id,),
    )
    place_of = {row["id"]: row["place"] for row in places}
    sample = np.array([place_of[id_] for id_ in columns.ids])[columns.sample]
    rows = np.lexsort((order_ranks(database, cell_id, columns), sample))
    # A worker writes them in this order, unless some have failed at first.
    return columns if bool((rows[1:] > rows[:-1]).all()) else columns.take(rows)


def read_some_trials(database: Database, cell_id: int, count: int) -> TrialColumns:
    """At most `count` trials of a cell that were written one after the other, amid the others."""
    bodies = database.rows(
        "SELECT body FROM trial_block WHERE cell = :cell ORDER BY first LIMIT 1 OFFSET"
        " ((SELECT count(*) FROM trial_block WHERE cell = :cell) - 1) / 2",
        {"cell": cell_id},
    )
    if not bodies:
        return columns_of(())
    block = decode_columns(bodies[0]["body"], text_reader(database, cell_id))
    start = max(0, (len(block) - count) // 2)
    return block[start : start + count]


def read_trials_of(database: Database, cell_id: int, sample_id: str) -> tuple[Trial, ...]:
    """The trials of one question in a cell, in pattern order, with what the model thought."""
    numbers = [
        row["id"]
        for row in database.rows(
            "SELECT id FROM trial WHERE cell = ? AND sample = ? ORDER BY id", (cell_id, sample_id)
        )
    ]
    if not numbers:
        return ()
    bodies = database.rows(
        "SELECT body FROM trial_block WHERE cell = :cell AND first IN (SELECT ("
        " SELECT max(first) FROM trial_block WHERE cell = :cell AND first <= value)"
        " FROM json_each(:numbers)) ORDER BY first",
        {"cell": cell_id, "numbers": json.dumps(numbers)},
    )
    texts = text_reader(database, cell_id)
    columns = join_columns([decode_columns(row["body"], texts) for row in bodies])
    own = columns.take(np.searchsorted(columns.number, numbers))
    own = own.take(np.argsort(order_ranks(database, cell_id, own)))
    rows = database.rows(
        "SELECT id, thoughts FROM trial WHERE thoughts IS NOT NULL"
        " AND id IN (SELECT value FROM json_each(?))",
        (json.dumps(numbers),),
    )
    thoughts = {row["id"]: row["thoughts"] for row in rows}
    ids: list[int] = own.number.tolist()
    return tuple(
        replace(trial, thoughts=thoughts[id_]) if id_ in thoughts else trial
        for id_, trial in zip(ids, own.build(), strict=True)
    )


def read_trial_page(database: Database, run_id: str, cursor: TrialCursor, n: int) -> TrialPage:
    """At most `n` trials after the cursor, but for those of judges; raises `UnknownRun`."""
    parts: list[tuple[CellRow, TrialColumns]] = []
    cells = read_cells(database, run_id)
    for place, row in enumerate(cells[cursor.cell :], start=cursor.cell):
        after = cursor.trial if place == cursor.cell else 0
        if row.cell.gives != "verdicts":
            trials = _trials_after(database, row, after, n)
            if trials is not None:
                parts.append((row, trials))
                after, n = int(trials.number[-1]), n - len(trials)
        if not n or row.state in _GROWING:
            return TrialPage(tuple(parts), TrialCursor(place, after))
    return TrialPage(tuple(parts), None)


def _trials_after(database: Database, row: CellRow, after: int, n: int) -> TrialColumns | None:
    """The next trials of a cell, at most `n`, from as few of its blocks as hold them."""
    bodies = database.rows(
        "SELECT body FROM (SELECT first, body, sum(n) OVER blocks - n AS before,"
        " first_value(n) OVER blocks AS begun FROM trial_block"
        " WHERE cell = :cell AND first >= coalesce((SELECT max(first) FROM trial_block"
        " WHERE cell = :cell AND first <= :after), 0) WINDOW blocks AS (ORDER BY first))"
        " WHERE before < begun + :n ORDER BY first",
        {"cell": row.id, "after": after, "n": n},
    )
    if not bodies:
        return None
    texts = text_reader(database, row.id)
    read = join_columns([decode_columns(each["body"], texts) for each in bodies])
    start = int(np.searchsorted(read.number, after, side="right"))
    return read[start : start + n] if start < len(read) else None


def text_reader(database: Database, cell_id: int) -> TextReader:
    """Reads the replies and turns of trials of a cell from their rows.

    It raises `StoreError` if they have been deleted since.
    """

    def read(numbers: NDArray[np.int64]) -> list[TrialText]:
        wanted: list[int] = numbers.tolist()
        rows = database.rows(
            "SELECT id, reply, turns FROM trial WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(wanted),),
        )
        by_number = {row["id"]: (row["reply"], decode_turns(row["turns"])) for row in rows}
        if len(by_number) < len(wanted):
            raise StoreError("trials-gone", cell=cell_id)
        return [by_number[number] for number in wanted]

    return read


def order_ranks(database: Database, cell_id: int, columns: TrialColumns) -> NDArray[np.intp]:
    """Where each trial stands among those of its question, by its variant."""
    row = database.row("SELECT pattern FROM cell WHERE id = ?", (cell_id,))
    order = VariantOrder(row["pattern"] if row else "origin")
    places: list[int] = np.unique(columns.order).tolist()
    used = sorted(places, key=lambda place: order.sort_key(columns.orders[place]))
    ranks = np.zeros(len(columns.orders), dtype=np.intp)
    ranks[used] = np.arange(len(used))
    return ranks[columns.order]


class DeferredTrials(Sequence[Trial]):
    """`n` trials that are read from the store as columns when a figure needs them.

    They are kept as long as somebody computes with them, and read again after that: what a run
    comes to is kept elsewhere, and its trials would fill the memory.
    """

    def __init__(self, n: int, read: Callable[[], TrialColumns]) -> None:
        self._n = n
        self._read = read
        self._last: Callable[[], TrialColumns | None] = lambda: None  # a weak reference

    @property
    def columns(self) -> TrialColumns:
        """The trials; hold on to them while you compute."""
        columns = self._last()
        if columns is None:
            columns = self._read()
            self._last = weakref.ref(columns)
        return columns

    @overload
    def __getitem__(self, index: int) -> Trial: ...

    @overload
    def __getitem__(self, index: slice) -> TrialColumns: ...

    def __getitem__(self, index: int | slice) -> Trial | TrialColumns:
        """A trial, or several."""
        return self.columns[index]

    def __iter__(self) -> Iterator[Trial]:
        """The trials in their order, with their texts."""
        return iter(self.columns)

    def __len__(self) -> int:
        """The number of trials, without reading them."""
        return self._n


class VariantOrder:
    """The place of each variant in the order in which a pattern makes them.

    What a judge was shown is no order of options: those stand by their contestants.
    """

    def __init__(self, pattern: Pattern) -> None:
        self._pattern: Pattern = pattern
        self._places: dict[int, dict[Variant, int]] = {}

    def sort_key(self, variant: Variant) -> tuple[int, int, tuple[int, ...]]:
        """Sorts the first repeat first, and in each the file's own order."""
        repeat, variant = variant.repeat, variant.order
        if variant.is_origin or self._pattern == "origin":
            return repeat, 0, variant.permutation
        count = len(variant.permutation)
        if count not in self._places:
            made = variants(count, self._pattern)
            self._places[count] = {known: place for place, known in enumerate(made)}
        return repeat, self._places[count][variant], variant.permutation


def read_recorded_answers(database: Database, cell_id: int) -> dict[str, tuple[str, ...]]:
    """The answers that a cell has brought along."""
    rows = database.rows("SELECT sample, turns FROM answer WHERE cell = ?", (cell_id,))
    return {row["sample"]: tuple(json.loads(row["turns"])) for row in rows}


def read_contestants(database: Database, row: CellRow) -> tuple[Contestant, ...]:
    """The contestants of a cell's dataset in the order of its run, with their answers so far.

    Cells that cannot run take no part; one that has not begun has no answers.
    """
    return tuple(
        Contestant(name, _answers_so_far(database, id_))
        for id_, name in contestant_cells(database, row)
    )


def contestant_cells(database: Database, row: CellRow) -> tuple[tuple[int, str], ...]:
    """The cells whose answers take part in a cell's dataset, each with its model's name."""
    cells = database.rows(
        "SELECT c.id, c.model FROM cell c JOIN dataset d ON d.id = c.dataset"
        " WHERE c.run = ? AND d.key = ? AND c.gives = 'answers' AND c.state != 'impossible'"
        " ORDER BY c.place",
        (row.run_id, row.dataset_key),
    )
    return tuple((cell["id"], cell["model"]) for cell in cells)


def _row(number: int, cell_id: int, trial: Trial) -> tuple[object, ...]:
    return (
        number,
        cell_id,
        trial.sample_id,
        encode_variant(trial.variant),
        trial.reply,
        encode_turns(trial.turns),
        trial.thoughts or None,
    )


def _row_bytes(row: tuple[object, ...]) -> int:
    """About the bytes of a row in the store: its texts, and the rest with its columns."""
    return _ROW_BYTES + sum(
        len(each) if each.isascii() else len(each.encode()) for each in row if isinstance(each, str)
    )


def _update_rate(connection: Connection, cell_id: int, count: int) -> None:
    row = connection.execute("SELECT written, rate FROM cell WHERE id = ?", (cell_id,)).fetchone()
    now = time.time()
    # The clock of a computer may be set back.
    spent = max(1e-3, now - (row["written"] or now))
    latest = count / spent
    memory = math.exp(-spent / _RATE_DECAY_S)
    rate = latest if row["rate"] is None else memory * row["rate"] + (1 - memory) * latest
    connection.execute(
        "UPDATE cell SET written = ?, seconds = seconds + ?, rate = ? WHERE id = ?",
        (now, spent, rate, cell_id),
    )


def read_answers_of(
    database: Database, cell_id: int, sample_ids: Iterable[str]
) -> dict[str, tuple[str, ...]]:
    """The answers of a cell to these questions, as far as there are some."""
    rows = database.rows(
        _ANSWERS_SQL + " AND sample IN (SELECT value FROM json_each(?))",  # noqa: S608 (a constant)
        (cell_id, json.dumps(list(sample_ids))),
    )
    return {row["sample"]: decode_answers(row["reply"], row["turns"]) for row in rows}


def _answers_so_far(database: Database, cell_id: int) -> dict[str, tuple[str, ...]]:
    rows = database.rows(_ANSWERS_SQL, (cell_id,))
    return {row["sample"]: decode_answers(row["reply"], row["turns"]) for row in rows}
