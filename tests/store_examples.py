"""New stores, made once in a process and copied: the schema costs more than most tests."""

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from evalui.store.connection import Database


@cache
def _empty_store() -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "evalui.sqlite"
        Database(path).close()
        return path.read_bytes()


def open_database(path: Path) -> Database:
    """A store as `Database` opens it; a new one has its tables from a copy."""
    if not path.exists():
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(mode=0o600)
        path.write_bytes(_empty_store())
    return Database(path)
