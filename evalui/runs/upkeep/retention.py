"""Ended runs and unused files are deleted after a number of days, announced 14 days before.

When the server began to delete after so many days stands in the store. Nothing is deleted within
14 days of that, and a server that was off, or whose clock jumped, begins anew. So each run is
announced on its page for 14 days, whatever was set before, and a wrong clock deletes nothing.
"""

import hashlib
import json
import logging
import re
import shutil
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from evalui.runs.database.connection import Database
from evalui.runs.database.records import RunRow

_DAY_S = 86_400.0
_ANNOUNCED_S = 15 * _DAY_S  # 14 whole ones: a page may be a day old
_MAX_GAP_S = 3 * _DAY_S  # between two passes of a server that runs
_ENDED_SQL = "state IN ('done', 'failed', 'cancelled') AND finished < :limit"
_UPLOAD = re.compile(r"([0-9a-f]{16})/([0-9a-f]{16})/")  # in a path: folder of the owner, id

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Retention:
    """Since when a server deletes runs `days` after their end, and when it last did (`seen`).

    Both are seconds since 1970.
    """

    days: int
    since: float
    seen: float

    def deletion_time(self, finished: float) -> float:
        """The earliest time at which a run that ended then is deleted."""
        return max(finished + self.days * _DAY_S, self.since + _ANNOUNCED_S)


@dataclass(frozen=True, slots=True)
class Removed:
    """How much one pass has deleted."""

    runs: int = 0
    datasets: int = 0
    uploads: int = 0


def announced_deletion(database: Database, days: int, run: RunRow) -> float | None:
    """When an ended run will be deleted, in seconds since 1970; None while it is not announced."""
    if not days or run.finished is None or run.state not in ("done", "failed", "cancelled"):
        return None
    retention = _read(database)
    if retention is None or retention.days != days:
        return None  # its first pass begins the 14 days
    at = retention.deletion_time(run.finished)
    return at if at - time.time() <= _ANNOUNCED_S else None


def delete_expired(database: Database, uploads: Path, days: int) -> Removed:
    """One pass: delete what has been announced for 14 days; nothing if `days` is 0.

    Raises:
        StoreError: the store cannot be written.
    """
    if not days:
        return Removed()
    now = time.time()
    before = _read(database)
    steady = before and before.days == days and 0 <= now - before.seen < _MAX_GAP_S
    retention = Retention(days, before.since if before and steady else now, now)
    with database.writing(durable=True) as connection:
        connection.execute(
            "INSERT OR REPLACE INTO decision VALUES ('retention', ?)",
            (json.dumps(asdict(retention)),),
        )
    if now < retention.since + _ANNOUNCED_S:
        return Removed()
    limit = now - days * _DAY_S
    removed = Removed(
        _delete_runs(database, limit),
        _delete_datasets(database, limit),
        _delete_uploads(database, uploads, limit),
    )
    _log.info(
        "Retention: deleted %d runs, %d datasets, %d uploads",
        *(removed.runs, removed.datasets, removed.uploads),
    )
    return removed


def _read(database: Database) -> Retention | None:
    row = database.row("SELECT value FROM decision WHERE name = 'retention'")
    return Retention(**json.loads(row["value"])) if row else None


def _delete_runs(database: Database, limit: float) -> int:
    ended = database.rows(f"SELECT id FROM run WHERE {_ENDED_SQL}", {"limit": limit})  # noqa: S608
    count = 0
    for row in ended:
        # Each on its own: deleting a million trials takes a while, in which no worker could write.
        with database.writing() as connection:
            # The condition anew, because its owner may have resumed it meanwhile.
            gone = connection.execute(
                f"DELETE FROM run WHERE id = :id AND {_ENDED_SQL}",  # noqa: S608 - a constant
                {"id": row["id"], "limit": limit},
            )
            count += gone.rowcount
            connection.execute("UPDATE clock SET revision = revision + 1")
    return count


def _delete_datasets(database: Database, limit: float) -> int:
    with database.writing() as connection:
        gone = connection.execute(
            "DELETE FROM dataset WHERE created < ? AND id NOT IN (SELECT dataset FROM cell)",
            (limit,),
        )
        return gone.rowcount


def _delete_uploads(database: Database, uploads: Path, limit: float) -> int:
    used = {
        place.groups()
        for row in database.rows("SELECT spec FROM run")
        for place in _UPLOAD.finditer(row["spec"])
    }
    unused = [
        folder
        for folder in uploads.glob("*/*")
        if (folder.parent.name, folder.name) not in used and folder.stat().st_mtime < limit
        if folder.is_dir()
    ]
    for folder in unused:
        with database.writing() as connection:
            rows = connection.execute("SELECT owner FROM upload WHERE id = ?", (folder.name,))
            for row in rows.fetchall():
                if hashlib.sha256(row["owner"].encode()).hexdigest()[:16] == folder.parent.name:
                    connection.execute(
                        "DELETE FROM upload WHERE owner = ? AND id = ?", (row["owner"], folder.name)
                    )
        shutil.rmtree(folder)
    return len(unused)
