"""What a person leaves behind: handed on to another one, or deleted. Votes stay as they were cast.

Uploads are folders below `uploads` beside the store, a folder per owner.
"""

import hashlib
import os
import shutil
import tempfile
from pathlib import Path
from sqlite3 import Connection

from evalui.runs.fair_queue.turns import PRIORITY_PREFIX
from evalui.store.connection import Database

_OF_OTHERS = """
    UPDATE OR IGNORE dataset SET owner = (
        SELECT r.owner FROM cell c JOIN run r ON r.id = c.run WHERE c.dataset = dataset.id
    ) WHERE owner = ? AND id IN (SELECT dataset FROM cell)
"""


def folder_of(owner: str) -> str:
    """The name of the folder of an owner; names come from a login and are never a path."""
    return hashlib.sha256(owner.encode()).hexdigest()[:16]


def copy_uploads(database: Database, owner: str, heir: str) -> None:
    """Give an heir the uploads of an owner, who keeps them: the same files under both names."""
    old, new = _uploads(database, owner), _uploads(database, heir)
    if not old.exists():
        return
    for folder in old.iterdir():
        if (target := new / folder.name).exists():  # an upload is named by its content
            continue
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        unfinished = Path(tempfile.mkdtemp(dir=target.parent))
        shutil.copytree(folder, unfinished, copy_function=os.link, dirs_exist_ok=True)
        unfinished.rename(target)


def delete_files(database: Database, owner: str) -> None:
    """Delete the uploads of an owner, and what was remembered of their files."""
    if _uploads(database, owner).exists():
        shutil.rmtree(_uploads(database, owner))
    columns = database.path.parent / "columns" / f"{folder_of(owner)}.json"
    columns.unlink(missing_ok=True)


def hand_over(connection: Connection, owner: str, heir: str) -> None:
    """Inside a transaction: make everything of an owner somebody else's."""
    names = {"owner": owner, "heir": heir}
    folders = names | {"old": f"/{folder_of(owner)}/", "new": f"/{folder_of(heir)}/"}
    # Both may have stored the same questions: then the runs of the one refer to those of the other.
    connection.execute(
        "UPDATE cell SET dataset = twin.id FROM dataset own JOIN dataset twin ON twin.key = own.key"
        " WHERE cell.dataset = own.id AND own.owner = :owner AND twin.owner = :heir",
        names,
    )
    for statement in (
        "UPDATE OR IGNORE dataset SET owner = :heir, paths = replace(paths, :old, :new)"
        " WHERE owner = :owner",
        "UPDATE run SET owner = :heir, spec = replace(spec, :old, :new) WHERE owner = :owner",
        "UPDATE OR IGNORE upload SET owner = :heir WHERE owner = :owner",
        "UPDATE share SET owner = :heir WHERE owner = :owner",
        "UPDATE guest_link SET owner = :heir WHERE owner = :owner",
    ):
        connection.execute(statement, folders)


def delete_belongings(connection: Connection, owner: str) -> None:
    """Inside a transaction: delete what is still an owner's, but for what runs of others use."""
    connection.execute("DELETE FROM run WHERE owner = ?", (owner,))
    connection.execute(_OF_OTHERS, (owner,))
    connection.execute(
        "DELETE FROM dataset WHERE owner = ? AND id NOT IN (SELECT dataset FROM cell)", (owner,)
    )
    for table in ("upload", "share", "guest_link", "trial_of_model", "turn", "spending"):
        connection.execute(f"DELETE FROM {table} WHERE owner = ?", (owner,))  # noqa: S608 (ours)
    for table in ("notice", "assigned_voter"):
        connection.execute(f"DELETE FROM {table} WHERE person = ?", (owner,))  # noqa: S608 (ours)
    connection.execute("DELETE FROM decision WHERE name = ?", (PRIORITY_PREFIX + owner,))
    connection.execute("UPDATE clock SET revision = revision + 1")


def _uploads(database: Database, owner: str) -> Path:
    return database.path.parent / "uploads" / folder_of(owner)
