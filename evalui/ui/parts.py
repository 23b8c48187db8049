"""The datasets of one upload: a SWIFT configuration has several, each with an id of its own.

The first of them is called "<upload>.1". An upload that is one dataset is its only part.
"""

from collections.abc import Sequence
from pathlib import Path

from evalui.data.base import Limits
from evalui.data.bundle import entries
from evalui.errors import DataError


def parts(upload: str, paths: Sequence[Path], limits: Limits) -> tuple[str, ...]:
    """The ids of the datasets in an upload; raises `DataError` if it cannot be read."""
    found = entries(paths, limits=limits)
    if len(found) < 2:
        return (upload,)
    return tuple(f"{upload}.{place}" for place in range(1, len(found) + 1))


def upload_of(part: str) -> str:
    """The upload that a part belongs to."""
    return part.partition(".")[0]


def entry_of(part: str, paths: Sequence[Path], limits: Limits) -> str:
    """The entry of the configuration that a part stands for, "" for a whole upload.

    Raises:
        DataError: there is no such part.
    """
    _, dot, place = part.partition(".")
    if not dot:
        return ""
    for number, found in enumerate(entries(paths, limits=limits), 1):
        if place == str(number):
            return found.name
    raise DataError("This upload is no longer here. Drop the file again.", "upload-gone")


def part_of(upload: str, entry: str, paths: Sequence[Path], limits: Limits) -> str:
    """The part of an upload that an entry is; raises `DataError` if it has no such entry."""
    if not entry:
        return upload
    names = [found.name for found in entries(paths, limits=limits)]
    if entry not in names:
        raise DataError("This upload is no longer here. Drop the file again.", "upload-gone")
    return f"{upload}.{names.index(entry) + 1}"
