"""Written answers in the store: those brought along with a run, and those a judge compares."""

import json
from collections.abc import Mapping
from sqlite3 import Connection

from evalui.runs.database.codec import decode_trial
from evalui.runs.database.connection import Database
from evalui.runs.spec import OPEN
from evalui.types import Contestant

AnswersBySample = Mapping[str, tuple[str, ...]]


def add_answers(connection: Connection, cell_id: int, answers: AnswersBySample) -> None:
    """Inside a transaction: keep what a contestant brings along, for the worker to grade."""
    connection.executemany(
        "INSERT INTO answer VALUES (?, ?, ?)",
        ((cell_id, sample, json.dumps(turns)) for sample, turns in answers.items()),
    )


def recorded_answers(database: Database, cell_id: int) -> AnswersBySample:
    """The answers that a cell has brought along."""
    rows = database.rows("SELECT sample, turns FROM answer WHERE cell = ?", (cell_id,))
    return {row["sample"]: tuple(json.loads(row["turns"])) for row in rows}


def contestants(database: Database, run_id: str, dataset_key: str) -> tuple[Contestant, ...]:
    """Everybody who answers a dataset in a run, in the run's order, with the answers so far.

    Cells that cannot run take no part; one that has not begun has no answers.
    """
    cells = database.rows(
        "SELECT c.id, c.model FROM cell c JOIN dataset d ON d.id = c.dataset"
        " WHERE c.run = ? AND d.key = ? AND c.mode = ? AND c.state != 'impossible'"
        " ORDER BY c.place",
        (run_id, dataset_key, OPEN),
    )
    return tuple(Contestant(cell["model"], _answers_so_far(database, cell["id"])) for cell in cells)


def _answers_so_far(database: Database, cell_id: int) -> dict[str, tuple[str, ...]]:
    rows = database.rows(
        "SELECT sample, variant, reply, body FROM trial WHERE cell = ?", (cell_id,)
    )
    found: dict[str, tuple[str, ...]] = {}
    for row in rows:
        trial = decode_trial(row["sample"], row["variant"], row["reply"], row["body"])
        found[row["sample"]] = trial.answers
    return found
