"""What only administrators see of a shared server: its disk, failures, sessions and settings."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import SecretStr

from evalui.accounts.shares import Share, list_shares
from evalui.app import readings
from evalui.app.permissions import requires
from evalui.app.service import AppService
from evalui.runs.upkeep.disk import DiskUse, disk_use

_SECRET = ("password", "secret", "key", "webhook")  # in names of settings, whose values may be one


@requires("administer")
def read_disk(service: AppService) -> DiskUse:
    """How full the disk is on which everything is kept."""
    return disk_use(service.settings.data_dir)


@requires("administer")
def count_week(service: AppService) -> tuple[int, int]:
    """How many runs were queued since Monday 00:00 UTC, and by how many people."""
    return readings.count_week(service.database)


@requires("administer")
def list_failures(service: AppService) -> Sequence[readings.Failure]:
    """The newest failed runs and cells."""
    return readings.read_failures(service.database)


@requires("administer")
def count_sessions(service: AppService) -> tuple[int, int]:
    """How many browsers are signed in now, and of how many people."""
    return readings.count_sessions(service.database)


@requires("administer")
def read_upload_bytes(service: AppService) -> Mapping[str, int]:
    """Bytes of uploads by owner."""
    return readings.read_upload_bytes(service.database)


@requires("administer")
def list_largest_runs(service: AppService) -> Sequence[tuple[str, str, str, int]]:
    """Id, name, owner and bytes of the runs with the most bytes of answers."""
    return readings.read_largest_runs(service.database)


@requires("administer")
def list_share_links(service: AppService) -> Sequence[Share]:
    """The links to frozen pages of everybody, those that have ended too."""
    return list_shares(service.database)


@requires("administer")
def list_settings(service: AppService) -> Sequence[tuple[str, str | None]]:
    """The settings in force by the name of their variable, None for one that is set and secret.

    Paths of the machine are left out.
    """
    shown: list[tuple[str, str | None]] = []
    for name in type(service.settings).model_fields:
        value = getattr(service.settings, name)
        if isinstance(value, Path):
            continue
        is_secret = isinstance(value, SecretStr) or any(part in name for part in _SECRET)
        shown.append((f"EVALUI_{name.upper()}", None if is_secret and value else str(value)))
    return shown
