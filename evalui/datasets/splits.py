"""The subject and the split of files that come together, by their names and folders.

The name of a file counts first (law_val.csv), then the nearest folder that is called like a split
(dev/law.csv). A name that is a split alone (law/test.csv) leaves the subject to its folder.
"""

import re
from collections.abc import Sequence
from pathlib import PurePosixPath

from evalui.datasets.model import FileRole
from evalui.types import Split

SHOWN_SPLITS: tuple[Split, ...] = ("dev", "train")  # of worked examples, of which there may be none
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


def roles_of(paths: Sequence[PurePosixPath]) -> tuple[FileRole, ...]:
    """The roles of files that come together.

    A role that earlier versions did not know counts only where there are several splits; else a
    file in test/ keeps the role, and its questions the ids, that they had in earlier versions.
    """
    roles = tuple(map(role_of, paths))
    if len({role.split for role in roles if role.split}) > 1:
        return roles
    return tuple(
        FileRole(path.stem, None, path.name) if role.is_new else role
        for path, role in zip(paths, roles, strict=True)
    )


def role_of(path: PurePosixPath) -> FileRole:
    """The role that the path of a file within a folder or an archive states by itself."""
    stem, name = path.stem, path.name
    if match := _SUBJECT_AND_SPLIT.fullmatch(stem):
        known = bool(_VERSION_0_1_NAME.fullmatch(stem))
        return FileRole(match["subject"], _SPLITS[match["split"].lower()], name, is_new=not known)
    folder_name = path.parent.name
    if match := _SPLIT_ONLY.fullmatch(stem):
        split = _SPLITS[match["split"].lower()]
        if folder_name and folder_name.lower() not in _SPLITS:
            return FileRole(folder_name, split, f"{folder_name}/{name}", is_new=True)
        return FileRole(_DEFAULT_SUBJECT, split, name, is_new=True)
    for folder in reversed(path.parent.parts):
        if split := _SPLITS.get(folder.lower()):
            return FileRole(stem, split, f"{folder}/{name}", is_new=True)
    return FileRole(stem, None, name)


def part_role(role: FileRole, title: str) -> FileRole:
    """The role of one of several sheets or lists: its title is a split, or a subject."""
    name = f"{role.name}/{title}"
    if split := _SPLITS.get(title.strip().lower()):
        return FileRole(role.subject, role.split or split, name, is_new=True)
    own = role_of(PurePosixPath(title.replace("/", " ").strip() or "sheet"))
    split = role.split or own.split
    subject = own.subject if own.split else title
    return FileRole(f"{role.subject} {subject}".strip(), split, name, is_new=True)
