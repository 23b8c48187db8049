"""A run as a file of its own, which another evalui opens and imports: a store with one run in it.

A bundle may come from anybody: before it is opened as a store, its tables must be those that
evalui makes, to the letter.
"""

import sqlite3
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from evalui.access import LOCAL
from evalui.errors import DataError
from evalui.store.connection import Database, create_tables, has_tables
from evalui.store.queue import Admit
from evalui.store.run_copy import copy_run
from evalui.store.runs import read_run, read_runs

_MAGIC = b"SQLite format 3\x00"
_PIECE = 2**20  # bytes


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
        DataError: the file is no store of evalui's, or has no run or several.
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
