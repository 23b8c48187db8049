"""What people have uploaded: the sizes of their files, which lie in a folder of each owner."""

import time
from collections.abc import Callable

from evalui.runs.database.connection import Database


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


def stored_bytes(database: Database, owner: str) -> int:
    """The bytes of all uploads of an owner."""
    row = database.row("SELECT coalesce(sum(bytes), 0) AS n FROM upload WHERE owner = ?", (owner,))
    return row["n"] if row else 0
