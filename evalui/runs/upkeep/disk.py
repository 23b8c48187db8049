"""How full the disk of the data folder is."""

import shutil
from dataclasses import dataclass
from pathlib import Path

from evalui.errors import StoreError

_NEARLY_FULL = 0.9
FULL_BYTES = 64 * 2**20  # below this SQLite may soon be unable to write


@dataclass(frozen=True, slots=True)
class DiskUse:
    """Bytes of a file system: `free` are those that this user may still write."""

    total: int
    used: int
    free: int

    @property
    def share(self) -> float:
        """The share in use, 0 to 1, as `df` states it."""
        return self.used / (self.used + self.free) if self.used + self.free else 1.0

    @property
    def is_nearly_full(self) -> bool:
        """Whether somebody should make room."""
        return self.share >= _NEARLY_FULL

    @property
    def is_full(self) -> bool:
        """Whether there is no room left to work with."""
        return self.free < FULL_BYTES


def disk_use(folder: Path) -> DiskUse:
    """Of the file system that holds `folder`; raises `StoreError` if there is no such folder."""
    try:
        usage = shutil.disk_usage(folder)
    except OSError as error:
        raise StoreError("data-folder", reason=str(error)) from error
    return DiskUse(usage.total, usage.used, usage.free)
