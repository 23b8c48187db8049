"""Datasets that others let one's teams use: taken as uploads of one's own, under the same id."""

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from evalui.access import Person
from evalui.accounts.belongings import folder_of
from evalui.errors import DataError
from evalui.runs.database.connection import Database


@dataclass(frozen=True, slots=True)
class TeamDataset:
    """An upload of somebody that a team may use; `created` is in seconds since 1970."""

    id: str
    owner: str
    name: str
    bytes: int
    created: float


def read_team_datasets(database: Database, person: Person) -> tuple[TeamDataset, ...]:
    """What a person may take, the newest first: neither their own nor what they have already."""
    rows = database.rows(
        "SELECT u.id, min(u.owner), u.name, u.bytes, min(u.created) AS since FROM upload u"
        " JOIN team_right r ON r.kind = 'dataset' AND r.right_ = 'run'"
        " AND r.thing = u.owner || '/' || u.id"
        " WHERE r.team IN (SELECT value FROM json_each(?))"
        " AND u.id NOT IN (SELECT id FROM upload WHERE owner = ?)"
        " GROUP BY u.id ORDER BY since DESC, u.id",
        (json.dumps(sorted(person.teams)), person.name),
    )
    return tuple(TeamDataset(*row) for row in rows)


def owner_of_upload(database: Database, person: Person, upload: str) -> str:
    """From whom a person takes an upload; raises `DataError` if they may take none of this id."""
    for dataset in read_team_datasets(database, person):
        if dataset.id == upload:
            return dataset.owner
    raise DataError("upload-gone")


def take_dataset(database: Database, root: Path, person: Person, upload: str) -> None:
    """Make a dataset of a team an upload of the person's own: the same files, under both names.

    `root` is the folder of uploads. It stays when the other one deletes theirs, or ends the right.

    Raises:
        DataError: the person may not use it, or its files cannot be linked.
    """
    owner = owner_of_upload(database, person, upload)
    source, target = (root / folder_of(name) / upload for name in (owner, person.name))
    try:
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not target.exists():  # an upload is named by its content
            shutil.copytree(source, target, copy_function=os.link)
    except OSError as error:
        raise DataError("upload-unwritten", reason=error.strerror or str(error)) from error
    with database.writing() as connection:
        connection.execute(
            "INSERT OR IGNORE INTO upload (owner, id, name, bytes, created)"
            " SELECT ?, id, name, bytes, unixepoch() FROM upload WHERE owner = ? AND id = ?",
            (person.name, owner, upload),
        )
