"""Datasets that others let one's teams use: taken as uploads of one's own, under the same id."""

import json
from dataclasses import dataclass
from pathlib import Path

from evalui.access import Person
from evalui.accounts.belongings import copy_upload, folder_of
from evalui.accounts.uploads import check_may_upload
from evalui.errors import DataError
from evalui.runs.database.connection import Database
from evalui.runs.fair_queue.limits import UserLimits


@dataclass(frozen=True, slots=True)
class TeamDataset:
    """An upload of somebody that a team may use; whoever has `taken` it has it as well."""

    id: str
    owner: str
    name: str
    bytes: int
    taken: bool


def read_team_datasets(database: Database, person: Person) -> tuple[TeamDataset, ...]:
    """What a person may take, the newest first; not their own."""
    rows = database.rows(
        "SELECT u.id, min(u.owner), u.name, u.bytes, own.id IS NOT NULL FROM upload u"
        " JOIN team_right r ON r.kind = 'dataset' AND r.right_ = 'run'"
        " AND r.thing = u.owner || '/' || u.id"
        " LEFT JOIN upload own ON own.id = u.id AND own.owner = ?1"
        " WHERE r.team IN (SELECT value FROM json_each(?2)) AND u.owner != ?1"
        " GROUP BY u.id ORDER BY min(u.created) DESC, u.id",
        (person.name, json.dumps(sorted(person.teams))),
    )
    return tuple(TeamDataset(*row[:4], taken=bool(row[4])) for row in rows)


def take_dataset(
    database: Database, root: Path, person: Person, upload: str, usual: UserLimits
) -> None:
    """Make a dataset of a team an upload of the person's own: the same files, under both names.

    It stays when the other one deletes theirs, or ends the right. `root` is the folder of uploads;
    `usual` are the limits of people without their own.

    Raises:
        DataError: the person may not use it, or its files cannot be linked.
        SpecError: the person would store more than they may.
    """
    offered = [each for each in read_team_datasets(database, person) if each.id == upload]
    if not offered:
        raise DataError("upload-gone")
    if offered[0].taken:
        return
    owner = offered[0].owner
    check_may_upload(database, person.name, usual, offered[0].bytes)
    source, target = (root / folder_of(name) / upload for name in (owner, person.name))
    try:
        copy_upload(source, target)
    except OSError as error:
        raise DataError("upload-unwritten", reason=error.strerror or str(error)) from error
    with database.writing() as connection:
        connection.execute(
            "INSERT OR IGNORE INTO upload (owner, id, name, bytes, created)"
            " SELECT ?, id, name, bytes, unixepoch() FROM upload WHERE owner = ? AND id = ?",
            (person.name, owner, upload),
        )
