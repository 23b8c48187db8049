"""Runs, their cells and the workers, as pages and workers read them."""

import json
import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from sqlite3 import Row
from typing import Any

from evalui.access import LOCAL_PERSON, Owned, Person
from evalui.errors import UnknownRun
from evalui.store.codec import decode_left_out, decode_sentence
from evalui.store.connection import Database
from evalui.types import Cell, CellState, LeftOut, RunState

LIVE_STATES: tuple[RunState, ...] = ("queued", "running")  # of runs that can still change
ENDED_STATES: tuple[RunState, ...] = ("done", "failed", "cancelled")
_RUNS_SQL = """
    SELECT r.*, coalesce(sum(c.done), 0) AS done,
        coalesce(sum(c.total) FILTER (WHERE c.state != 'impossible'), 0) AS total,
        (SELECT json_group_array(person) FROM assigned_voter WHERE run = r.id) AS voters
    FROM run r LEFT JOIN cell c ON c.run = r.id
"""
_SEEN_BY_SQL = """
    WHERE r.owner = ?1 OR r.everyone
        OR r.id IN (SELECT run FROM assigned_voter WHERE person = ?1)
"""
_IN_STATE_SQL = "WHERE r.state IN (SELECT value FROM json_each(?)) "
WORKER_TIMEOUT_S = 20.0  # a worker that was silent for so long is not there
_NO_MODE = ("no-open-mode", "no-choice-mode")


@dataclass(frozen=True, slots=True)
class Lease:
    """A worker's right to write one run. `attempt` grows with every claim.

    A worker that was thought dead and comes back holds an old attempt, so it can write nothing.
    """

    run_id: str
    worker: str
    attempt: int


@dataclass(frozen=True, slots=True)
class RunRow:
    """One run. Times are seconds since 1970, None if not yet. `spec` is its JSON.

    `done` and `total` count trials over all cells that can run. `cancelling`: its owner has
    stopped it and its worker has not noticed yet. `attempt` counts the claims. `voters` are those
    whom its plan of votes names; `everyone` with an account may see it.
    """

    id: str
    owner: str
    name: str
    spec: str
    state: RunState
    created: float
    started: float | None
    finished: float | None
    cancelling: bool
    worker: str
    attempt: int
    error: str
    revision: int
    done: int
    total: int
    voters: frozenset[str]
    everyone: bool

    @property
    def owned(self) -> Owned:
        """The run as `access.may` knows it."""
        return Owned(self.owner, run=self.id, voters=self.voters, everyone=self.everyone)

    @property
    def lease(self) -> Lease:
        """The right to write the run, meant for the worker that claimed it."""
        return Lease(self.id, self.worker, self.attempt)


@dataclass(frozen=True, slots=True)
class CellRow:
    """One cell of a run and how far it is.

    `plan` is its `ModeSpec` as JSON, run on the first `questions` of the dataset. `done` and
    `total` count trials, `requests` what they send to the model. `rate` is in trials
    per second, lately; `seconds` is the time spent on the cell so far. Of the trials in the
    file's own order, `origin_n` are done and `origin_credit` is the sum of their credit.
    `unreadable` and `tied` count trials in any order; `unreferenced` those that a judge did not
    judge for lack of a reference. `width` is how many requests its model is sent at a time now, of
    `max_width`; 0 where that is not counted.
    """

    id: int
    run_id: str
    cell: Cell
    dataset_key: str
    source: str
    plan: str
    questions: int
    state: CellState
    done: int
    total: int
    requests: int
    error: str
    traceback: str
    started: float | None
    finished: float | None
    seconds: float
    rate: float | None
    origin_n: int
    origin_credit: float
    unreadable: int
    tied: int
    unreferenced: int
    width: int = 0
    max_width: int = 0

    @property
    def accuracy(self) -> float | None:
        """The accuracy so far in the file's own order, 0 to 1; None before the first trial."""
        return self.origin_credit / self.origin_n if self.origin_n else None

    @property
    def remaining_seconds(self) -> float | None:
        """Seconds until the cell is done at the present rate, None while it is unknown."""
        if self.done >= self.total:
            return 0.0
        return (self.total - self.done) / self.rate if self.rate else None


@dataclass(frozen=True, slots=True)
class WorkerRow:
    """One worker: `model` is "" while it is idle, `device` "" until the model is loaded.

    `run` is the id of its run, "" while it tries a model out, or only `keeps` one loaded for the
    next run. `bytes` is what its processes hold of the machine's memory. `own_device` is the one
    that it was started for, "" if for any.
    """

    name: str
    seen: float
    device: str = ""
    model: str = ""
    run: str = ""
    bytes: int = 0
    own_device: str = ""
    keeps: bool = False

    @property
    def is_busy(self) -> bool:
        """Whether it works on anything."""
        return bool(self.model or self.run) and not self.keeps

    @property
    def has_loaded_model(self) -> bool:
        """Whether its model is loaded."""
        return bool(self.model and self.device)


def read_run(database: Database, run_id: str) -> RunRow:
    """One run; raises `UnknownRun` if there is none with this id."""
    row = database.row(_RUNS_SQL + "WHERE r.id = ? GROUP BY r.id", (run_id,))
    if row is None:
        raise UnknownRun("no-run", run=run_id)
    return _run_row(row)


def read_runs(database: Database, person: Person = LOCAL_PERSON) -> list[RunRow]:
    """The runs of a person, everyone's, and those that they are named to vote on, newest first."""
    rows = database.rows(
        _RUNS_SQL + _SEEN_BY_SQL + "GROUP BY r.id ORDER BY r.created DESC, r.rowid DESC",
        (person.name,),
    )
    return [_run_row(row) for row in rows]


def read_all_runs(database: Database) -> list[RunRow]:
    """The runs of all owners, newest first."""
    rows = database.rows(_RUNS_SQL + "GROUP BY r.id ORDER BY r.created DESC, r.rowid DESC")
    return [_run_row(row) for row in rows]


def read_runs_in(database: Database, states: Collection[str]) -> list[RunRow]:
    """The runs of all owners that are in one of these states, the oldest first."""
    rows = database.rows(
        _RUNS_SQL + _IN_STATE_SQL + "GROUP BY r.id ORDER BY r.created, r.rowid",
        (json.dumps(sorted(states)),),
    )
    return [_run_row(row) for row in rows]


def read_runs_of_worker(database: Database, worker: WorkerRow) -> list[RunRow]:
    """The runs that a worker is at, the one that it states first, then as they began."""
    rows = database.rows(
        _RUNS_SQL + "WHERE (r.worker = ? AND r.state = 'running') OR r.id = ?"
        " GROUP BY r.id ORDER BY r.id != ?, r.started, r.rowid",
        (worker.name, worker.run, worker.run),
    )
    return [_run_row(row) for row in rows]


def count_runs(database: Database, owner: str, states: Collection[str]) -> int:
    """How many runs of an owner are in one of these states."""
    row = database.row(
        "SELECT count(*) AS n FROM run WHERE owner = ?"
        " AND state IN (SELECT value FROM json_each(?))",
        (owner, json.dumps(list(states))),
    )
    return row["n"] if row else 0


def read_cells(database: Database, run_id: str) -> list[CellRow]:
    """The cells of a run in the order they are done in; raises `UnknownRun`."""
    read_run(database, run_id)
    rows = database.rows(
        "SELECT c.*, d.key AS dataset_key FROM cell c JOIN dataset d ON d.id = c.dataset"
        " WHERE c.run = ? ORDER BY c.place",
        (run_id,),
    )
    return [_cell_row(row) for row in rows]


def read_cells_of(database: Database, run_ids: Sequence[str]) -> dict[str, list[CellRow]]:
    """The cells of several runs by run, in the order they are done in."""
    rows = database.rows(
        "SELECT c.*, d.key AS dataset_key FROM cell c JOIN dataset d ON d.id = c.dataset"
        " WHERE c.run IN (SELECT value FROM json_each(?)) ORDER BY c.run, c.place",
        (json.dumps(list(run_ids)),),
    )
    cells: dict[str, list[CellRow]] = {run_id: [] for run_id in run_ids}
    for row in rows:
        cells[row["run"]].append(_cell_row(row))
    return cells


def read_left_out(database: Database, run_id: str) -> tuple[LeftOut, ...]:
    """What the run was given and does not evaluate, the cells that cannot run among it.

    Raises:
        UnknownRun: there is no run with this id.
    """
    cells = read_cells(database, run_id)
    row = database.row("SELECT left_out FROM run WHERE id = ?", (run_id,))
    return with_impossible_cells(decode_left_out(row["left_out"]) if row else (), cells)


def with_impossible_cells(
    entries: Sequence[LeftOut], rows: Sequence[CellRow]
) -> tuple[LeftOut, ...]:
    """The entries and the cells that cannot run; a dataset without a fitting mode counts once."""
    reported = {each.dataset for each in entries if each.rule in _NO_MODE}
    cells = (
        LeftOut("model", row.cell.dataset, row.cell.model, row.cell.label, row.error)
        for row in rows
        if row.state == "impossible" and row.cell.dataset not in reported
    )
    return (*entries, *cells)


def read_revision(database: Database) -> int:
    """A number that grows with every change of any run."""
    row = database.row("SELECT revision FROM clock")
    return row["revision"] if row else 0


def read_workers(database: Database) -> list[WorkerRow]:
    """The workers that were seen lately, by name."""
    rows = database.rows(
        "SELECT * FROM worker WHERE seen > ? ORDER BY name", (time.time() - WORKER_TIMEOUT_S,)
    )
    return [_worker_row(row) for row in rows]


def with_fingerprint(signature: str, fingerprint: str) -> str:
    """The signature with the model's fingerprint after its name; unchanged before it is loaded.

    A part of its own says which library multiplied, where the fingerprint begins with one.
    """
    if not fingerprint:
        return signature
    library, bar, _ = fingerprint.rpartition("|")
    digest = fingerprint.rpartition(":")[2][:8]  # some begin with what they are a digest of
    return "|".join(
        f"{part}@{digest}{bar}{library}" if part.startswith(("model:", "judge:")) else part
        for part in signature.split("|")
    )


def _worker_row(row: Row) -> WorkerRow:
    values: dict[str, Any] = {name: row[name] for name in WorkerRow.__slots__}
    values["keeps"] = bool(row["keeps"])
    return WorkerRow(**values)


def _run_row(row: Row) -> RunRow:
    values: dict[str, Any] = {name: row[name] for name in RunRow.__slots__}
    values["cancelling"] = bool(row["cancelling"])
    values["error"] = decode_sentence(row["error"])
    values["everyone"] = bool(row["everyone"])
    values["voters"] = frozenset[str](json.loads(row["voters"]))
    return RunRow(**values)


def _cell_row(row: Row) -> CellRow:
    signature = with_fingerprint(row["signature"], row["fingerprint"])
    cell = Cell(
        row["dataset_name"],
        row["model"],
        row["mode"],
        row["label"],
        row["pattern"],
        signature,
        row["gives"],
    )
    plain = [name for name in CellRow.__slots__ if name not in ("run_id", "cell", "error")]
    values = {name: row[name] for name in plain}
    return CellRow(run_id=row["run"], cell=cell, error=decode_sentence(row["error"]), **values)
