"""One run of a store into another store: its datasets, cells, trials and judgements, as they are.

Nothing is graded again, so every figure stays what it was. What is of people (who owns it, votes,
links) and the responses that are kept for other runs do not go along.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from sqlite3 import Connection, Row

import numpy as np

from evalui.access import LOCAL
from evalui.errors import StoreError
from evalui.store.column_blocks import (
    count_trials,
    decode_columns,
    encode_columns,
    no_texts,
)
from evalui.store.connection import Database
from evalui.store.imported_runs import (
    add_imported_dataset,
    begin_import,
    complete_imported_dataset,
    discard_import,
)
from evalui.store.queue import Admit, bump_revision, renew_lease
from evalui.store.records import Lease
from evalui.types import DatasetKind

ENDED = ("done", "failed", "cancelled")
_PAGE = 1 << 13  # questions in one transaction
# What a cell of another store has beside its run, its dataset, and what its trials count.
_CELL_COLUMNS = (
    *("place", "source", "dataset_name", "model", "mode", "gives", "label", "pattern"),
    *("signature", "fingerprint", "plan", "questions", "total", "requests", "state", "error"),
    *("started", "finished", "written", "seconds", "input_tokens", "output_tokens", "bytes"),
    *("replies", "changes"),
)
_TRIAL_COLUMNS = ("sample", "variant", "reply", "turns", "thoughts")


def copy_run(
    source: Database,
    run_id: str,
    target: Database,
    *,
    owner: str = LOCAL,
    name: str = "",
    spec: str = "",
    admit: Admit | None = None,
) -> str:
    """Copy a run that has ended and return its id in the other store.

    With `spec`, the specification is that one and no path of a folder is copied: the run leaves
    the machine. `admit` raises where the owner may not keep one more run.

    Raises:
        StoreError: there is no such run, it has not ended, a part of it is damaged, or a store
            cannot be read or written. Nothing is kept then.
    """
    run = source.row("SELECT * FROM run WHERE id = ?", (run_id,))
    if run is None or run["state"] not in ENDED:
        raise StoreError("copy-unfinished", run=run_id)
    lease = begin_import(target, name or run["name"], owner, admit=admit)
    try:
        cells = source.rows("SELECT * FROM cell WHERE run = ? ORDER BY place", (run_id,))
        datasets: dict[int, int] = {}
        for cell in cells:
            if cell["dataset"] not in datasets:
                own = _copy_dataset(source, cell["dataset"], target, lease, owner, bare=bool(spec))
                datasets[cell["dataset"]] = own
            _copy_cell(source, cell, target, lease, datasets[cell["dataset"]], bare=bool(spec))
        _end(target, lease, run, spec or run["spec"])
    except BaseException:
        discard_import(target, lease)
        raise
    return lease.run_id


def _end(target: Database, lease: Lease, run: Row, spec: str) -> None:
    with target.writing() as connection:
        renew_lease(connection, lease)
        connection.execute(
            "UPDATE run SET spec = ?, left_out = ?, error = ?, created = ?, started = ?,"
            " finished = ?, state = ? WHERE id = ?",
            (
                spec,
                run["left_out"],
                run["error"],
                run["created"],
                run["started"],
                run["finished"],
                run["state"],
                lease.run_id,
            ),
        )
        bump_revision(connection, lease.run_id)


def _copy_dataset(
    source: Database, dataset_id: int, target: Database, lease: Lease, owner: str, *, bare: bool
) -> int:
    """Copy a dataset with its worked examples and return its id: that of an equal one if there is
    one.
    """
    row = source.row("SELECT * FROM dataset WHERE id = ?", (dataset_id,))
    assert row, "the schema has a dataset for each cell"
    kinds: Mapping[str, DatasetKind] = {
        "multiple_choice": "multiple_choice",
        "general_qa": "general_qa",
        "subjective": "subjective",
    }
    if row["kind"] not in kinds:
        raise StoreError("stored-kind", kind=row["kind"])
    paths: list[str] = json.loads(row["paths"])
    names = [Path(path).name for path in paths] if bare else paths
    new_id = add_imported_dataset(target, lease, row["name"], kinds[row["kind"]], names, owner)
    for page in _samples(source, dataset_id):
        with target.writing() as connection:
            renew_lease(connection, lease)
            connection.executemany(
                "INSERT INTO sample VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [(new_id, *tuple(sample)[1:]) for sample in page],
            )
    with target.writing() as connection:
        connection.execute("UPDATE dataset SET n_shots = ? WHERE id = ?", (row["n_shots"], new_id))
    return complete_imported_dataset(
        target,
        lease,
        new_id,
        name=row["name"],
        key=row["key"],
        sha256=row["sha256"],
        questions=row["n_samples"],
        left_out=row["faults"],
    )


def _samples(source: Database, dataset_id: int) -> Iterator[list[Row]]:
    for role in ("sample", "shot"):
        place = 0
        while page := source.rows(
            "SELECT dataset, role, place, id, line, subject, question, body FROM sample"
            " WHERE dataset = ? AND role = ? AND place >= ? ORDER BY place LIMIT ?",
            (dataset_id, role, place, _PAGE),
        ):
            yield page
            place = page[-1]["place"] + 1


def _copy_cell(
    source: Database, cell: Row, target: Database, lease: Lease, dataset_id: int, *, bare: bool
) -> None:
    values = {name: cell[name] for name in _CELL_COLUMNS}
    if bare and values["source"].startswith("/"):
        values["source"] = Path(values["source"]).name
    marks = ", ".join("?" * (2 + len(values)))
    with target.writing() as connection:
        renew_lease(connection, lease)
        (new_id,) = connection.execute(
            f"INSERT INTO cell (run, dataset, {', '.join(values)}) VALUES ({marks}) RETURNING id",  # noqa: S608 (ours)
            (lease.run_id, dataset_id, *values.values()),
        ).fetchone()
        connection.executemany(
            "INSERT INTO answer VALUES (?, ?, ?)",
            [
                (new_id, row["sample"], row["turns"])
                for row in source.rows("SELECT * FROM answer WHERE cell = ?", (cell["id"],))
            ],
        )
    blocks = source.rows(
        "SELECT first FROM trial_block WHERE cell = ? ORDER BY first", (cell["id"],)
    )
    for block in blocks:
        _copy_block(source, cell["id"], block["first"], target, lease, new_id)


def _copy_block(
    source: Database, cell_id: int, first: int, target: Database, lease: Lease, new_cell: int
) -> None:
    """Copy the trials of a block: their rows and their columns, under numbers of their own."""
    row = source.row("SELECT body FROM trial_block WHERE cell = ? AND first = ?", (cell_id, first))
    assert row, "it was listed"
    columns = decode_columns(row["body"], no_texts)
    trials = source.rows(
        f"SELECT id, {', '.join(_TRIAL_COLUMNS)} FROM trial"  # noqa: S608 (ours)
        " WHERE cell = ? AND id BETWEEN ? AND ? ORDER BY id",
        (cell_id, int(columns.number[0]), int(columns.number[-1])),
    )
    if [trial["id"] for trial in trials] != columns.number.tolist():
        raise StoreError("block-damaged", reason=f"{len(columns)} / {len(trials)}")
    with target.writing() as connection:
        renew_lease(connection, lease)
        start = _next_number(connection)
        marks = ", ".join("?" * (2 + len(_TRIAL_COLUMNS)))
        connection.executemany(
            f"INSERT INTO trial (id, cell, {', '.join(_TRIAL_COLUMNS)}) VALUES ({marks})",  # noqa: S608 (ours)
            [(start + n, new_cell, *tuple(trial)[1:]) for n, trial in enumerate(trials)],
        )
        numbers = np.arange(start, start + len(trials), dtype=columns.number.dtype)
        connection.execute(
            "INSERT INTO trial_block VALUES (?, ?, ?, ?)",
            (new_cell, start, len(trials), encode_columns(replace(columns, number=numbers))),
        )
        count_trials(connection, new_cell, columns)


def _next_number(connection: Connection) -> int:
    """The number of the next trial; those of deleted trials are not given again."""
    given = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'trial'").fetchone()
    return (given["seq"] if given else 0) + 1
