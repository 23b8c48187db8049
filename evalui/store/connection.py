"""The SQLite file: one connection, transactions, and errors as sentences."""

import os
import re
import secrets
import shutil
import sqlite3
import threading
import time
import weakref
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

from evalui.errors import DataError, StoreError
from evalui.messages import sentence
from evalui.pictures import without

_SCHEMA = Path(__file__).with_name("schema.sql").read_text(encoding="utf-8")
BUSY_TIMEOUT_S = 10.0  # how long a writer waits for another process
_FRESH_S = 10.0  # for how long an empty file may be one that another process has just made

_SENTENCES = {
    sqlite3.SQLITE_FULL: "error.disk-full",
    sqlite3.SQLITE_IOERR: "error.disk-broken",
    sqlite3.SQLITE_READONLY: "error.store-read-only",
    sqlite3.SQLITE_CANTOPEN: "error.store-closed",
    sqlite3.SQLITE_PERM: "error.store-forbidden",
    sqlite3.SQLITE_BUSY: "error.store-locked",
    sqlite3.SQLITE_CORRUPT: "error.store-damaged",
    sqlite3.SQLITE_NOTADB: "error.store-foreign",
}


class Database:
    """The connection of one process; safe to use from several threads.

    Write-ahead logging lets pages read while a worker writes. `synchronous=NORMAL` may lose the
    last commits when the machine itself loses power, never when a process is killed; what nobody
    could give again (a vote, an account, a key) is written `durable`. With `read_only` every
    `writing` is refused, once a new file has its tables.

    Raises:
        StoreError: another version of evalui wrote the file, or it cannot be used.
        DataError: it is no store of evalui's.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self.path = path
        self.read_only = False
        self.damage = ""  # what the last `check` says is wrong with the file
        # Protects the connection: SQLite has one transaction per connection, so a statement of
        # another thread (a heartbeat, another page) would become part of ours.
        self._lock = threading.RLock()
        _make_folder(path.parent)
        _make_private(path)
        _refuse_emptied(path)
        with _translated_errors(self.path):
            self._connection = sqlite3.connect(
                path, timeout=BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
            )
        # Python 3.13 warns of a connection that is given up without being closed.
        weakref.finalize(self, self._connection.close).atexit = False
        self._connection.row_factory = sqlite3.Row
        self._connection.create_function("without_pictures", 1, without, deterministic=True)
        try:
            self._make_usable()
        except BaseException:
            self._connection.close()
            raise
        self.read_only = read_only

    def _make_usable(self) -> None:
        with _translated_errors(self.path):
            is_new = not has_tables(self._connection, self.path)  # what is refused stays as it is
            _use_wal(self._connection)
            for pragma in ("synchronous = NORMAL", "foreign_keys = ON"):
                self._connection.execute(f"PRAGMA {pragma}")
        if is_new:
            with self.writing() as connection:
                if not has_tables(connection, self.path):  # another process may make them, too
                    create_tables(connection)

    @contextmanager
    def writing(self, *, durable: bool = False) -> Generator[sqlite3.Connection, None, None]:
        """A transaction that may write: everything in it happens, or nothing.

        Once a `durable` one has ended, it is on the disk with all before it (`synchronous=FULL`).

        Raises:
            StoreError: the file cannot be written, or must not be.
        """
        if self.read_only:
            raise StoreError("read-only")
        with self._lock, _translated_errors(self.path), self._synchronous(full=durable):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            finally:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")

    @contextmanager
    def _synchronous(self, *, full: bool) -> Generator[None]:
        """Within, a commit waits for the disk; SQLite takes the setting outside transactions."""
        if not full:
            yield
            return
        self._connection.execute("PRAGMA synchronous = FULL")
        try:
            yield
        finally:
            self._connection.execute("PRAGMA synchronous = NORMAL")

    @contextmanager
    def reading(self) -> Generator[sqlite3.Connection, None, None]:
        """The connection, for statements that only read; each sees the newest commit.

        Raises:
            StoreError: the file cannot be read.
        """
        with self._lock, _translated_errors(self.path):
            yield self._connection

    def rows(self, sql: str, values: Any = ()) -> list[sqlite3.Row]:
        """All rows of one query. They are decoded outside the lock."""
        with self.reading() as connection:
            return connection.execute(sql, values).fetchall()

    def row(self, sql: str, values: Any = ()) -> sqlite3.Row | None:
        """The first row of one query, None if there is none."""
        with self.reading() as connection:
            return connection.execute(sql, values).fetchone()

    def version(self) -> int:
        """A number that is another one after others than this object have written."""
        with self.reading() as connection:
            return connection.execute("PRAGMA data_version").fetchone()[0]

    def check(self) -> None:
        """Look through the whole file for damage, beside whatever else goes on; sets `damage`."""
        self.damage = damage_of(self.path)

    def close(self) -> None:
        """Close the file; the last process that does so folds the log into it."""
        with self._lock:
            self._connection.close()


def has_tables(connection: sqlite3.Connection, path: Path) -> bool:
    """Whether a file has the tables of this version; False if it has none at all.

    Raises:
        StoreError: another version of evalui wrote it.
        DataError: it is no store of evalui's.
    """
    (own,) = re.findall(r"(?m)^PRAGMA user_version = (\d+);$", _SCHEMA)
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if version == int(own):
        return True
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    if "migration" in tables:
        (version,) = connection.execute("SELECT max(number) FROM migration").fetchone()
    if not version and tables:
        raise DataError("bundle-foreign", file=path.name)
    if version:
        raise StoreError("other-schema", file=path.name, version=version, own=own)
    return False


def create_tables(connection: sqlite3.Connection) -> None:
    """Make the tables of this version within a transaction."""
    for statement in schema_statements():
        connection.execute(statement)


def schema_statements() -> Iterator[str]:
    """The statements of the schema in their order, each with the comment before it."""
    statement = ""
    for line in _SCHEMA.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""


@contextmanager
def _translated_errors(path: Path) -> Generator[None, None, None]:
    try:
        yield
    except sqlite3.Error as error:
        key = _SENTENCES.get(_primary_code(error))
        if key is None:  # our own mistake
            raise
        if key == "error.disk-broken" and not shutil.disk_usage(path.parent).free:
            key = "error.disk-full"  # SQLite names the file it could not make, not the reason
        what = sentence(key, n=BUSY_TIMEOUT_S)
        raise StoreError("store", what=what, file=str(path), reason=str(error)) from error


def _primary_code(error: sqlite3.Error) -> int:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


def damage_of(path: Path) -> str:
    """What SQLite's quick check finds wrong with a store, "" for nothing.

    Raises:
        StoreError: it cannot be examined, because the disk is full, for example.
    """
    address = f"{path.absolute().as_uri()}?mode=ro"
    with _translated_errors(path):
        try:
            with closing(sqlite3.connect(address, uri=True, timeout=BUSY_TIMEOUT_S)) as opened:
                (verdict,) = opened.execute("PRAGMA quick_check(1)").fetchone()
        except sqlite3.DatabaseError as error:
            if _primary_code(error) not in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
                raise
            verdict = error
    return "" if verdict == "ok" else str(verdict)


def new_id(n_bytes: int) -> str:
    """A random id for addresses and commands, four characters for three bytes.

    None begins with a dash: a command would take it for an option.
    """
    return re.sub("^-", "_", secrets.token_urlsafe(n_bytes))


def _make_folder(folder: Path) -> None:
    try:
        # Uploads and answers may be confidential, and the machine may have other users.
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError("data-folder", reason=str(error)) from error


def _make_private(path: Path) -> None:
    # Before SQLite would make it readable for all users; its other files get the mode of this one.
    with suppress(OSError):  # it is there already, or SQLite will say what is wrong
        os.close(os.open(path, os.O_CREAT | os.O_EXCL, 0o600))


def _refuse_emptied(path: Path) -> None:
    """Raise `StoreError` for a file without a byte that no process has just made.

    SQLite would begin a new store in it without a word, and all runs would be gone.
    """
    try:
        state = path.stat()
    except OSError:
        return  # SQLite will say what is wrong
    log = path.with_name(f"{path.name}-wal")
    is_fresh = abs(time.time() - state.st_mtime) < _FRESH_S
    if not state.st_size and not is_fresh and not (log.exists() and log.stat().st_size):
        raise StoreError("store-empty", file=str(path))


def _use_wal(connection: sqlite3.Connection) -> None:
    # Two processes that create the file at the same moment collide here, and SQLite does not
    # apply its busy timeout to this change.
    for _ in range(int(BUSY_TIMEOUT_S * 20)):
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                raise
            time.sleep(0.05)
        else:
            return
    connection.execute("PRAGMA journal_mode = WAL")
