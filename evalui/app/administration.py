"""What only administrators see of a shared server: its disk, failures, sessions and settings."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from evalui.accounts.shares import Share, list_shares
from evalui.app import readings
from evalui.app.permissions import requires
from evalui.app.service import AppService
from evalui.runs.upkeep.disk import DiskUse, disk_use


@requires("administer")
def read_disk(service: AppService) -> DiskUse:
    """How full the disk is on which everything is kept."""
    return disk_use(service.settings.data_dir)


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
def list_settings(service: AppService) -> Sequence[tuple[str, str]]:
    """The settings in force by the name of their variable, without paths of the machine."""
    values = {name: getattr(service.settings, name) for name in type(service.settings).model_fields}
    return [
        (f"EVALUI_{name.upper()}", str(value))
        for name, value in values.items()
        if not isinstance(value, Path)
    ]
