"""What people have uploaded: the sizes of their files, which lie in a folder of each owner."""

import time
from collections.abc import Callable

from evalui.runs.fair_queue.limits import (
    UserLimits,
    check_may_store,
    read_limits,
    stored_bytes,
)
from evalui.store.connection import Database


def record_upload(
    database: Database,
    owner: str,
    upload: str,
    name: str,
    size: int,
    *,
    clock: Callable[[], float] = time.time,
) -> None:
    """Write down an upload of `size` bytes; of one that is there already, the newest time counts.

    Raises:
        StoreError: the store cannot be written.
    """
    with database.writing() as connection:
        connection.execute(
            "INSERT INTO upload (owner, id, name, bytes, created) VALUES (?, ?, ?, ?, ?)"
            " ON CONFLICT DO UPDATE SET created = excluded.created",
            (owner, upload, name, size, clock()),
        )


def forget_upload(database: Database, owner: str, upload: str) -> None:
    """An upload is not there any more; raises `StoreError` if the store cannot be written."""
    with database.writing() as connection:
        connection.execute("DELETE FROM upload WHERE owner = ? AND id = ?", (owner, upload))
        # Lists state which runs can be repeated with it.
        connection.execute("UPDATE clock SET revision = revision + 1")


def check_may_upload(database: Database, owner: str, usual: UserLimits, size: int) -> None:
    """Check that an owner may store `size` more bytes; raises `SpecError`."""
    with database.reading() as connection:
        limits = read_limits(connection, owner, usual)
        stored = stored_bytes(connection, owner)
    check_may_store(stored, limits, size)
