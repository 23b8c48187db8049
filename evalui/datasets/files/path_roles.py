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
_WORDS = "|".join(_SPLITS)
_NAME = re.compile(rf"(?P<subject>.+?)[_.-](?P<split>{_WORDS})", re.IGNORECASE)
_ALONE = re.compile(rf"(?P<split>{_WORDS})(?:_rand_split(?:_no_answers)?)?", re.IGNORECASE)
_FIRST = re.compile(r".+?[_.-](?:dev|val|test)", re.IGNORECASE)  # all that version 0.1.0 knew
_NOBODY = "default"  # SWIFT's name for a subject without one


@dataclass(frozen=True, slots=True)
class Role:
    """Subject and split of a file; `name` is what it is called, with the folder that counts.

    `news`: the path said something else, or nothing, to earlier versions.
    """

    subject: str
    split: Split | None
    name: str
    news: bool = False


def roles_of(paths: Sequence[PurePosixPath]) -> tuple[Role, ...]:
    """The roles of files that come together.

    What is news counts only where there are several splits to tell apart; else a file in test/
    stays the one that it always was, with the ids that its questions always had.
    """
    roles = tuple(map(role_of, paths))
    if len({role.split for role in roles if role.split}) > 1:
        return roles
    return tuple(
        Role(path.stem, None, path.name) if role.news else role
        for path, role in zip(paths, roles, strict=True)
    )


def role_of(path: PurePosixPath) -> Role:
    """What the path of a file within a folder or an archive says by itself."""
    stem, name = path.stem, path.name
    if found := _NAME.fullmatch(stem):
        known = bool(_FIRST.fullmatch(stem))
        return Role(found["subject"], _SPLITS[found["split"].lower()], name, news=not known)
    above = path.parent.name
    if found := _ALONE.fullmatch(stem):
        split = _SPLITS[found["split"].lower()]
        if above and above.lower() not in _SPLITS:
            return Role(above, split, f"{above}/{name}", news=True)
        return Role(_NOBODY, split, name, news=True)
    for folder in reversed(path.parent.parts):
        if split := _SPLITS.get(folder.lower()):
            return Role(stem, split, f"{folder}/{name}", news=True)
    return Role(stem, None, name)
