"""What only administrators see of a shared server: its disk, failures, sessions and settings."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evalui.accounts.shares import Share, list_shares
from evalui.app.permissions import requires
from evalui.app.service import AppService
from evalui.runs.upkeep.monitor import DiskUse, disk_use
from evalui.store.codec import decode_sentence

_MOST = 20  # failures, and runs by size


@dataclass(frozen=True, slots=True)
class Failure:
    """A run or a cell of one that failed, `model` is "" of a whole run; `at` since 1970."""

    run: str
    run_name: str
    owner: str
    model: str
    error: str
    at: float


@requires("administer")
def read_disk(service: AppService) -> DiskUse:
    """How full the disk is on which everything is kept."""
    return disk_use(service.settings.data_dir)


@requires("administer")
def list_failures(service: AppService) -> list[Failure]:
    """The newest failed runs and cells."""
    rows = service.database.rows(
        """
        SELECT id, name, owner, '' AS model, error, finished AS at FROM run WHERE state = 'failed'
        UNION ALL
        SELECT r.id, r.name, r.owner, c.model, c.error, c.finished FROM cell c
        JOIN run r ON r.id = c.run WHERE c.state = 'failed'
        ORDER BY at DESC LIMIT ?
        """,
        (_MOST,),
    )
    return [
        Failure(*row[:4], error=decode_sentence(row["error"]), at=row["at"] or 0.0) for row in rows
    ]


@requires("administer")
def count_sessions(service: AppService) -> tuple[int, int]:
    """How many browsers are signed in now, and of how many people."""
    row = service.database.row(
        "SELECT count(*) AS n, count(DISTINCT person) AS people FROM session"
        " WHERE expires > :now AND seen + idle > :now",
        {"now": time.time()},
    )
    return (row["n"], row["people"]) if row else (0, 0)


@requires("administer")
def read_upload_bytes(service: AppService) -> Mapping[str, int]:
    """Bytes of uploads by owner."""
    rows = service.database.rows("SELECT owner, sum(bytes) AS n FROM upload GROUP BY owner")
    return {row["owner"]: row["n"] for row in rows}


@requires("administer")
def list_largest_runs(service: AppService) -> list[tuple[str, str, str, int]]:
    """Id, name, owner and bytes of the runs with the most bytes of answers."""
    rows = service.database.rows(
        "SELECT r.id, r.name, r.owner, sum(c.bytes) AS n FROM run r JOIN cell c ON c.run = r.id"
        " GROUP BY r.id HAVING n > 0 ORDER BY n DESC LIMIT ?",
        (_MOST,),
    )
    return [(row["id"], row["name"], row["owner"], row["n"]) for row in rows]


@requires("administer")
def list_share_links(service: AppService) -> Sequence[Share]:
    """The links to frozen pages of everybody, those that have ended too."""
    return list_shares(service.database)


@requires("administer")
def list_settings(service: AppService) -> Sequence[tuple[str, str]]:
    """The settings in force by the name of their variable, without paths of the machine."""
    values = {name: getattr(service.settings, name) for name in type(service.settings).model_fields}
    return [
        (f"EVALUI_{name.upper()}", str(value))
        for name, value in values.items()
        if not isinstance(value, Path)
    ]
