"""A run as a file of its own, which another evalui opens and imports: a store with one run in it.

Datasets, cells, trials and judgements are copied as they are: nothing is graded again, so every
figure stays what it was. What is of people (who owns it, votes, links) and the responses that are
kept for other runs do not go along.

A bundle may come from anybody: before it is opened as a store, its tables must be those that
evalui makes, to the letter. Its pictures are read as those of any file.
"""

import json
import sqlite3
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from sqlite3 import Row
from tempfile import TemporaryDirectory

import numpy as np

from evalui.access import LOCAL
from evalui.datasets.picture_files import UnreadablePicture, normalised
from evalui.datasets.sandbox import confined
from evalui.errors import DataError, StoreError
from evalui.pictures import Mark, ids
from evalui.store.column_blocks import (
    count_trials,
    decode_columns,
    encode_columns,
    next_number,
    no_texts,
)
from evalui.store.connection import Database, create_tables, has_tables
from evalui.store.imported_runs import (
    add_imported_dataset,
    begin_import,
    complete_imported_dataset,
    discard_import,
)
from evalui.store.pictures import keep_bodies, link_pictures
from evalui.store.queue import Admit, bump_revision, renew_lease
from evalui.store.runs import ENDED_STATES, Lease, read_run, read_runs
from evalui.types import DatasetKind

_MAGIC = b"SQLite format 3\x00"
_PIECE = 2**20  # bytes
_PAGE = 1 << 13  # questions in one transaction
_PICTURES = 16  # that are checked together
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
    if run is None or run["state"] not in ENDED_STATES:
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


def is_store(path: Path) -> bool:
    """Whether a file is an SQLite database, by its first bytes."""
    try:
        with path.open("rb") as opened:
            return opened.read(len(_MAGIC)) == _MAGIC
    except OSError:
        return False


def bundle_parts(database: Database, run_id: str, spec: str) -> Iterator[bytes]:
    """A bundle of a run, piece by piece; `spec` is what it says of its specification.

    Raises:
        UnknownRun: there is no such run.
        StoreError: it has not ended, or a store cannot be read or written.
    """
    read_run(database, run_id)
    with TemporaryDirectory(prefix="evalui-") as folder:
        path = Path(folder) / "bundle.sqlite"
        with closing(Database(path)) as bundle:
            copy_run(database, run_id, bundle, spec=spec)
            # One file, and it can be read where nothing can be written.
            with bundle.reading() as connection:
                connection.execute("PRAGMA journal_mode = DELETE")
        with path.open("rb") as opened:
            while piece := opened.read(_PIECE):
                yield piece


def import_bundle(
    path: Path,
    database: Database,
    *,
    owner: str = LOCAL,
    name: str = "",
    admit: Admit | None = None,
) -> str:
    """Keep the one run of a bundle, or of the store in a folder of `evalui run`; its id here.

    Raises:
        DataError: the file is no store of evalui's, has no run or several, or a picture of it is
            none.
        StoreError: the run has not ended, or a store cannot be read or written.
    """
    with opened_bundle(path) as bundle:
        runs = read_runs(bundle)
        if len(runs) != 1:
            raise DataError("bundle-runs", file=path.name, n=len(runs))
        return copy_run(bundle, runs[0].id, database, owner=owner, name=name, admit=admit)


@contextmanager
def opened_bundle(path: Path) -> Generator[Database]:
    """A copy of a store, once its tables are evalui's own.

    Raises:
        DataError: the file is damaged, or no store of evalui's.
        StoreError: another version of evalui wrote it, or the copy cannot be made.
    """
    with TemporaryDirectory(prefix="evalui-") as folder:
        copy = Path(folder) / "bundle.sqlite"
        try:
            address = f"{path.absolute().as_uri()}?mode=ro"
            with closing(sqlite3.connect(address, uri=True)) as opened:
                opened.execute("PRAGMA trusted_schema = OFF")
                _check_tables(opened, path)
                with closing(sqlite3.connect(copy)) as made:
                    opened.backup(made)
        except sqlite3.Error as error:
            raise DataError("bundle-damaged", file=path.name, reason=str(error)) from error
        with closing(Database(copy)) as bundle:
            yield bundle


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
        "code": "code",
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
    _copy_pictures(source, dataset_id, target, lease, new_id, is_own=bare)
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


def _copy_pictures(
    source: Database, dataset_id: int, target: Database, lease: Lease, new_id: int, *, is_own: bool
) -> None:
    """Copy the pictures of a dataset, those of another store as readers of files keep them."""
    rows = source.rows("SELECT id FROM dataset_picture WHERE dataset = ?", (dataset_id,))
    named = ids(str(Mark(row["id"])) for row in rows)
    for first in range(0, len(named), _PICTURES):
        some = named[first : first + _PICTURES]
        with TemporaryDirectory(prefix="evalui-") as folder:
            for id_ in some:
                row = source.row(
                    "SELECT p.body, p.small FROM dataset_picture d"
                    " JOIN picture p ON p.sha256 = d.picture WHERE d.dataset = ? AND d.id = ?",
                    (dataset_id, id_),
                )
                if row is None:
                    raise StoreError("no-picture", picture=id_[:8])
                (Path(folder) / id_).write_bytes(row["body"])
                if is_own:
                    (Path(folder) / f"{id_}.small").write_bytes(row["small"])
            if not is_own:
                check_pictures(Path(folder))
            digests = keep_bodies(target, some, folder)
            with target.writing() as connection:
                renew_lease(connection, lease)
                link_pictures(connection, new_id, digests, folder)


def _check_pictures(folder: Path) -> None:
    """Write each picture of a folder as readers of files keep it, and a small one beside it.

    Raises:
        DataError: one is none, damaged or too large.
    """
    for path in [*folder.iterdir()]:
        try:
            body, small = normalised(path.read_bytes())
        except UnreadablePicture as error:
            raise DataError("bundle-picture", picture=path.name[:8], reason=error.reason) from error
        path.write_bytes(body)
        path.with_suffix(".small").write_bytes(small)


check_pictures = confined(_check_pictures)


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
        start = next_number(connection)
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


def _check_tables(opened: sqlite3.Connection, path: Path) -> None:
    (verdict,) = opened.execute("PRAGMA quick_check(1)").fetchone()
    if verdict != "ok":
        raise DataError("bundle-damaged", file=path.name, reason=str(verdict))
    with closing(sqlite3.connect(":memory:")) as made:
        create_tables(made)
        if not has_tables(opened, path) or _tables(opened) != _tables(made):
            raise DataError("bundle-foreign", file=path.name)


def _tables(opened: sqlite3.Connection) -> frozenset[tuple[str, ...]]:
    rows = opened.execute("SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_master")
    return frozenset(tuple(map(str, row)) for row in rows)
