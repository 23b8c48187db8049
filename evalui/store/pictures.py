"""Pictures in the store: equal files once, and gone with the last dataset that has them.

A mark leads to the file that came with its dataset: what others have under the same id may be
another, since the file that an id is the digest of is not kept.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from sqlite3 import Connection

from evalui.errors import StoreError
from evalui.pictures import Picture, ids
from evalui.store.connection import Database
from evalui.types import Sample

_STORED = "stored:"  # and the dataset's number: `Dataset.pictures` of one that is in a store
_PICTURE = "FROM dataset_picture d JOIN picture p ON p.sha256 = d.picture WHERE d.id = ?"


def pictures_of(samples: Iterable[Sample]) -> tuple[str, ...]:
    """The ids of all pictures that models may be shown of some samples."""
    return ids(text for sample in samples for text in sample.texts)


def keep_bodies(database: Database, wanted: Sequence[str], place: str) -> Mapping[str, str]:
    """Keep the pictures of these ids, for `link_pictures`; the digest of each by its id.

    They are in the `place` of `Dataset.pictures`. Each is written by itself: 10,000 at once would
    keep all others from writing for long.

    Raises:
        StoreError: one is not there.
    """
    if place.startswith(_STORED):
        rows = database.rows(
            "SELECT id, picture FROM dataset_picture WHERE dataset = ?", (_number(place),)
        )
        known = {row["id"]: row["picture"] for row in rows}
        _check_all(wanted, known)
        return {id_: known[id_] for id_ in wanted}
    folder = Path(place)
    _check_all(wanted, {id_ for id_ in wanted if (folder / id_).is_file()})
    return {id_: _keep_body(database, folder, id_) for id_ in wanted}


def link_pictures(
    connection: Connection, dataset_id: int, digests: Mapping[str, str], place: str
) -> None:
    """Inside a transaction: give a dataset the pictures that `keep_bodies` has kept.

    Raises:
        StoreError: one is not here any more, and there is no folder with it.
    """
    for id_, digest in digests.items():
        # Those of others, who had it, may have been deleted since.
        query = "SELECT 1 FROM picture WHERE sha256 = ?"
        if not connection.execute(query, (digest,)).fetchone():
            if place.startswith(_STORED):
                raise _missing(id_)
            _insert(connection, digest, *_files(Path(place), id_))
        connection.execute(
            "INSERT INTO dataset_picture VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            (dataset_id, id_, digest),
        )


def place_of(database: Database, dataset_id: int) -> str:
    """`Dataset.pictures` of a stored dataset, "" if it has none."""
    query = "SELECT 1 FROM dataset_picture WHERE dataset = ? LIMIT 1"
    return f"{_STORED}{dataset_id}" if database.row(query, (dataset_id,)) else ""


def read_picture(database: Database, place: str, id_: str) -> Picture | None:
    """A picture of the dataset whose `Dataset.pictures` is `place`; None if it has no such one."""
    if place.startswith(_STORED):
        row = database.row(f"SELECT p.body {_PICTURE} AND d.dataset = ?", (id_, _number(place)))
        return Picture(id_, row["body"]) if row else None
    file = Path(place) / id_
    return Picture(id_, file.read_bytes()) if place and file.is_file() else None


def require_pictures(database: Database, cell_id: int, samples: Iterable[Sample]) -> None:
    """Raise `StoreError` if a picture that models are shown of a cell's samples is not kept."""
    rows = database.rows(
        "SELECT id FROM dataset_picture WHERE dataset = (SELECT dataset FROM cell WHERE id = ?)",
        (cell_id,),
    )
    _check_all(
        ids(text for sample in samples for text in sample.texts_for_models),
        {row["id"] for row in rows},
    )


def read_run_picture(database: Database, run_id: str, id_: str, *, small: bool) -> Picture | None:
    """A picture of the questions of a run, or the small one; None if it has no such picture."""
    row = database.row(
        f"SELECT p.{'small' if small else 'body'} AS body {_PICTURE}"  # noqa: S608 (ours)
        " AND d.dataset IN (SELECT dataset FROM cell WHERE run = ?) LIMIT 1",
        (id_, run_id),
    )
    return Picture(id_, row["body"]) if row else None


def read_cell_picture(database: Database, cell_id: int, id_: str) -> Picture | None:
    """A picture of the questions of a cell; None if its dataset has no such picture."""
    row = database.row(
        f"SELECT p.body {_PICTURE}"  # noqa: S608 (ours)
        " AND d.dataset = (SELECT dataset FROM cell WHERE id = ?)",
        (id_, cell_id),
    )
    return Picture(id_, row["body"]) if row else None


def small_pictures(database: Database, run_id: str, wanted: Iterable[str]) -> dict[str, Picture]:
    """Those of the pictures that the questions of a run have, in small, by id."""
    rows = database.rows(
        "SELECT d.id, p.small FROM dataset_picture d JOIN picture p ON p.sha256 = d.picture"
        " WHERE d.dataset IN (SELECT dataset FROM cell WHERE run = ?)"
        " AND d.id IN (SELECT value FROM json_each(?))",
        (run_id, json.dumps(list(wanted))),
    )
    return {row["id"]: Picture(row["id"], row["small"]) for row in rows}


def _keep_body(database: Database, folder: Path, id_: str) -> str:
    body, small = _files(folder, id_)
    digest = hashlib.sha256(body).hexdigest()
    if not database.row("SELECT 1 FROM picture WHERE sha256 = ?", (digest,)):
        with database.writing() as connection:
            _insert(connection, digest, body, small)
    return digest


def _insert(connection: Connection, digest: str, body: bytes, small: bytes) -> None:
    connection.execute(
        "INSERT INTO picture VALUES (?, ?, ?) ON CONFLICT DO NOTHING", (digest, body, small)
    )


def _files(folder: Path, id_: str) -> tuple[bytes, bytes]:
    return (folder / id_).read_bytes(), (folder / f"{id_}.small").read_bytes()


def _number(place: str) -> int:
    return int(place.removeprefix(_STORED))


def _check_all(wanted: Iterable[str], known: Iterable[str]) -> None:
    for id_ in wanted:
        if id_ not in known:
            raise _missing(id_)


def _missing(id_: str) -> StoreError:
    return StoreError("no-picture", picture=id_[:8])
