"""What the path of a file says of its questions: their subject and their split.

The name counts first (law_val.csv), then the nearest folder that is called like a split
(dev/law.csv). A name that is a split alone (law/test.csv) leaves the subject to its folder.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from evalui.types import Split

_SPLITS: dict[str, Split] = {
    "dev": "dev",
    "val": "val",
    "validation": "val",
    "test": "test",
    "train": "train",
}
_SPLIT_NAMES = "|".join(_SPLITS)
_SUBJECT_AND_SPLIT = re.compile(rf"(?P<subject>.+?)[_.-](?P<split>{_SPLIT_NAMES})", re.IGNORECASE)
_SPLIT_ONLY = re.compile(
    rf"(?P<split>{_SPLIT_NAMES})(?:_rand_split(?:_no_answers)?)?", re.IGNORECASE
)
_VERSION_0_1_NAME = re.compile(
    r".+?[_.-](?:dev|val|test)", re.IGNORECASE
)  # all that version 0.1.0 knew
_DEFAULT_SUBJECT = "default"  # SWIFT's name for a subject without one


@dataclass(frozen=True, slots=True)
class FileRole:
    """Subject and split of a file; `name` is what it is called, with the folder that counts.

    `is_new`: the path said something else, or nothing, to earlier versions.
    """

    subject: str
    split: Split | None
    name: str
    is_new: bool = False


def roles_of(paths: Sequence[PurePosixPath]) -> tuple[FileRole, ...]:
    """The roles of files that come together.

    What is news counts only where there are several splits to tell apart; else a file in test/
    stays the one that it always was, with the ids that its questions always had.
    """
    roles = tuple(map(role_of, paths))
    if len({role.split for role in roles if role.split}) > 1:
        return roles
    return tuple(
        FileRole(path.stem, None, path.name) if role.is_new else role
        for path, role in zip(paths, roles, strict=True)
    )


def role_of(path: PurePosixPath) -> FileRole:
    """What the path of a file within a folder or an archive says by itself."""
    stem, name = path.stem, path.name
    if found := _SUBJECT_AND_SPLIT.fullmatch(stem):
        known = bool(_VERSION_0_1_NAME.fullmatch(stem))
        return FileRole(found["subject"], _SPLITS[found["split"].lower()], name, is_new=not known)
    above = path.parent.name
    if found := _SPLIT_ONLY.fullmatch(stem):
        split = _SPLITS[found["split"].lower()]
        if above and above.lower() not in _SPLITS:
            return FileRole(above, split, f"{above}/{name}", is_new=True)
        return FileRole(_DEFAULT_SUBJECT, split, name, is_new=True)
    for folder in reversed(path.parent.parts):
        if split := _SPLITS.get(folder.lower()):
            return FileRole(stem, split, f"{folder}/{name}", is_new=True)
    return FileRole(stem, None, name)
