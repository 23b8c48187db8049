"""Trials and written answers in the store: written by the batch, read by the cell."""

import json
import math
import time
from collections.abc import Sequence
from dataclasses import replace
from sqlite3 import Connection, Row

from evalui.errors import UnknownRun
from evalui.runs.database.codec import decode_trial, decode_variant, encode_trial, encode_variant
from evalui.runs.database.connection import Database
from evalui.runs.database.datasets import read_cell_dataset
from evalui.runs.database.queue import renew_lease
from evalui.runs.database.records import CellRow, Lease
from evalui.runs.database.response_cache import put_responses
from evalui.runs.database.runs import read_cells
from evalui.runs.spec import OPEN, ModeSpec
from evalui.scoring.choice.permutations import variants
from evalui.types import CellResult, Contestant, Pattern, Response, Trial, Variant

_RATE_DECAY_S = 5.0  # the rate shown forgets what is this old


def write_trials(
    database: Database,
    lease: Lease,
    cell_id: int,
    trials: Sequence[Trial],
    responses: Sequence[tuple[bytes, Response]] = (),
) -> None:
    """Keep a batch of trials, and the responses for the cache, all at once.

    A trial that is there already stays as it is. The run has made progress, so its lost workers
    are forgiven.

    Raises:
        RunLeaseLost: the run was given to another worker, or deleted; nothing is written.
        StoreError: the disk is full, say; nothing is written.
    """
    values = [_columns(cell_id, trial) for trial in trials]
    with database.writing() as connection:
        renew_lease(connection, lease)
        connection.executemany(
            "INSERT INTO trial VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            values,
        )
        put_responses(connection, responses)
        _update_rate(connection, cell_id, len(trials))
        connection.execute("UPDATE run SET losses = 0 WHERE id = ?", (lease.run_id,))


def done_keys(database: Database, cell_id: int) -> frozenset[tuple[str, Variant]]:
    """The samples and variants of a cell that are done."""
    rows = database.rows("SELECT sample, variant FROM trial WHERE cell = ?", (cell_id,))
    orders = {text: decode_variant(text) for text in {row["variant"] for row in rows}}
    return frozenset((row["sample"], orders[row["variant"]]) for row in rows)


def read_trials(database: Database, cell_id: int) -> tuple[Trial, ...]:
    """All trials of a cell, questions in file order and variants in pattern order."""
    rows = database.rows(
        """
        SELECT t.sample, t.variant, t.reply, t.body, c.pattern
        FROM trial t
        JOIN cell c ON c.id = t.cell
        JOIN sample s ON s.dataset = c.dataset AND s.role = 'sample' AND s.id = t.sample
        WHERE t.cell = ? ORDER BY s.place
        """,
        (cell_id,),
    )
    return in_order(rows)


def in_order(rows: Sequence[Row]) -> tuple[Trial, ...]:
    """The trials of rows that stand in file order, each question's in the pattern's order."""
    if not rows:
        return ()
    ids: dict[str, str] = {}  # each row brings its own text: the trials of a question share one
    decoded = [
        decode_trial(
            ids.setdefault(row["sample"], row["sample"]), row["variant"], row["reply"], row["body"]
        )
        for row in rows
    ]
    places = {sample: place for place, sample in enumerate(ids)}
    orders = VariantOrder(rows[0]["pattern"])
    return tuple(sorted(decoded, key=lambda t: (places[t.sample_id], *orders.sort_key(t.variant))))


class VariantOrder:
    """The place of each variant in the order in which a pattern makes them.

    What a judge was shown is no order of options: those stand by their contestants.
    """

    def __init__(self, pattern: Pattern) -> None:
        self._pattern: Pattern = pattern
        self._places: dict[int, dict[Variant, int]] = {}

    def sort_key(self, variant: Variant) -> tuple[int, tuple[int, ...]]:
        """Sorts the file's own order first."""
        if variant.is_origin or self._pattern == "origin":
            return 0, variant.permutation
        count = len(variant.permutation)
        if count not in self._places:
            made = variants(count, self._pattern)
            self._places[count] = {known: place for place, known in enumerate(made)}
        return self._places[count][variant], variant.permutation


def read_results(database: Database, run_id: str) -> tuple[CellResult, ...]:
    """All cells of a run with their trials so far, in order; raises `UnknownRun`."""
    return tuple(_read_result(database, row) for row in read_cells(database, run_id))


def read_result(database: Database, run_id: str, cell_id: int) -> CellResult:
    """One cell of a run with its trials so far; raises `UnknownRun` if it has no such cell."""
    for row in read_cells(database, run_id):
        if row.id == cell_id:
            return _read_result(database, row)
    raise UnknownRun("run-cell", run=run_id, cell=cell_id)


def _read_result(database: Database, row: CellRow) -> CellResult:
    """All that a report needs to know of a cell, finished or not."""
    samples = read_cell_dataset(database, row.id).samples[: row.questions]
    result = CellResult(
        cell=row.cell,
        samples={sample.id: sample for sample in samples},
        trials=read_trials(database, row.id),
        total=row.total,
        state=row.state,
        error=row.error,
    )
    judging = ModeSpec.model_validate_json(row.plan).judging
    if judging is None:
        return result
    return replace(
        result,
        contestants=read_contestants(database, row),
        orders=judging.orders,
        conflict=judging.conflict,
    )


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
        " WHERE c.run = ? AND d.key = ? AND c.mode = ? AND c.state != 'impossible'"
        " ORDER BY c.place",
        (row.run_id, row.dataset_key, OPEN),
    )
    return tuple((cell["id"], cell["model"]) for cell in cells)


def _columns(cell_id: int, trial: Trial) -> tuple[object, ...]:
    reading = trial.reading
    return (
        cell_id,
        trial.sample_id,
        encode_variant(trial.variant),
        int(trial.variant.is_origin),
        trial.target,
        reading.choice,
        float(reading.credit),
        int(reading.tied),
        reading.rule,
        trial.reply,
        encode_trial(trial),
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


def _answers_so_far(database: Database, cell_id: int) -> dict[str, tuple[str, ...]]:
    rows = database.rows(
        "SELECT sample, variant, reply, body FROM trial WHERE cell = ?", (cell_id,)
    )
    answers: dict[str, tuple[str, ...]] = {}
    for row in rows:
        trial = decode_trial(row["sample"], row["variant"], row["reply"], row["body"])
        answers[row["sample"]] = trial.answers
    return answers
