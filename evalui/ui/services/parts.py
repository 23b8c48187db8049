"""The datasets of one upload: a SWIFT configuration has several, each with an id of its own.

The first of them is called "<upload>.1". An upload that is one dataset is its only part. `names`
are those of the configuration's entries in their order.
"""

from collections.abc import Sequence

from evalui.errors import DataError


def parts(upload: str, names: Sequence[str]) -> tuple[str, ...]:
    """The ids of the datasets in an upload."""
    if len(names) < 2:
        return (upload,)
    return tuple(f"{upload}.{place}" for place in range(1, len(names) + 1))


def upload_of(part: str) -> str:
    """The upload that a part belongs to."""
    return part.partition(".")[0]


def is_whole(part: str) -> bool:
    """Whether a part is all of its upload."""
    return "." not in part


def entry_of(part: str, names: Sequence[str]) -> str:
    """The entry that a part of a configuration stands for; raises `DataError` if there is none."""
    upload = upload_of(part)
    for place, name in enumerate(names, 1):
        if part == f"{upload}.{place}":
            return name
    raise _gone()


def part_of(upload: str, entry: str, names: Sequence[str]) -> str:
    """The part of an upload that an entry is; raises `DataError` if it has no such entry."""
    if entry not in names:
        raise _gone()
    return f"{upload}.{names.index(entry) + 1}"


def _gone() -> DataError:
    return DataError("upload-gone")
