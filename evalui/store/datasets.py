"""Datasets in the store: their questions are kept, so a run outlives the uploaded files."""

import json
import time
from collections.abc import Iterable, Sequence
from sqlite3 import Connection, Row
from typing import get_args

from evalui.access import LOCAL
from evalui.errors import StoreError
from evalui.store.codec import dataset_key, decode_sample, encode_sample
from evalui.store.connection import Database
from evalui.store.pictures import keep_bodies, link_pictures, pictures_of, place_of
from evalui.types import Dataset, DatasetKind, Sample


def add_dataset(
    database: Database,
    dataset: Dataset,
    owner: str = LOCAL,
    paths: Sequence[str] = (),
    faults: int = 0,
) -> str:
    """Keep a dataset and return its key; one that is there already stays as it is."""
    key = dataset_key(dataset)
    with database.writing() as connection:
        # One that is used anew is not taken by upkeep for one that no run uses.
        known = connection.execute(
            "UPDATE dataset SET created = ? WHERE owner = ? AND key = ? RETURNING id",
            (time.time(), owner, key),
        ).fetchone()
    if known:
        return key
    pictured = pictures_of((*dataset.samples, *dataset.shots)) if dataset.pictures else ()
    digests = keep_bodies(database, pictured, dataset.pictures)
    with database.writing() as connection:
        added = connection.execute(
            """
            INSERT INTO dataset
                (key, owner, name, kind, sha256, paths, n_samples, n_shots, faults, created)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT (owner, key) DO NOTHING
            RETURNING id
            """,
            (
                key,
                owner,
                dataset.name,
                dataset.kind,
                dataset.sha256,
                json.dumps([str(path) for path in paths]),
                len(dataset.samples),
                len(dataset.shots),
                faults,
                time.time(),
            ),
        ).fetchone()
        if added:
            _add_samples(connection, added["id"], "sample", dataset.samples)
            _add_samples(connection, added["id"], "shot", dataset.shots)
            link_pictures(connection, added["id"], digests, dataset.pictures)
    return key


def read_dataset(database: Database, key: str, owner: str = LOCAL) -> Dataset:
    """A stored dataset, equal to the one that was added; raises `StoreError` if there is none."""
    row = database.row("SELECT * FROM dataset WHERE key = ? AND owner = ?", (key, owner))
    if row is None:
        raise StoreError("no-dataset", key=key[:8], owner=owner)
    return _read(database, row)


def read_cell_dataset(database: Database, cell_id: int) -> Dataset:
    """The dataset of a cell."""
    row = database.row(
        "SELECT * FROM dataset WHERE id = (SELECT dataset FROM cell WHERE id = ?)", (cell_id,)
    )
    if row is None:
        raise StoreError("no-cell", cell=cell_id)
    return _read(database, row)


def fewest_shots(database: Database, run_id: str) -> int:
    """How many worked examples every subject has of each multiple-choice dataset of a run."""
    row = database.row(
        "SELECT min((SELECT count(*) FROM sample WHERE dataset = s.dataset AND role = 'shot'"
        "  AND subject = s.subject)) AS n"
        " FROM (SELECT DISTINCT dataset, subject FROM sample WHERE role = 'sample' AND dataset IN"
        "  (SELECT dataset FROM cell WHERE run = ? AND gives = 'choices')) s",
        (run_id,),
    )
    return (row["n"] if row else 0) or 0


def _add_samples(
    connection: Connection, dataset_id: int, role: str, samples: Sequence[Sample]
) -> None:
    rows = ((sample, encode_sample(sample)) for sample in samples)
    insert_samples(connection, dataset_id, role, 0, rows)


def insert_samples(
    connection: Connection,
    dataset_id: int,
    role: str,
    first: int,
    encoded: Iterable[tuple[Sample, str]],
) -> None:
    """Inside a transaction: add samples with what `encode_sample` makes of them, from the place
    `first` on.
    """
    connection.executemany(
        "INSERT INTO sample VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            (
                dataset_id,
                role,
                place,
                sample.id,
                _line(sample),
                sample.subject,
                sample.question,
                body,
            )
            for place, (sample, body) in enumerate(encoded, start=first)
        ),
    )


def _read(database: Database, row: Row) -> Dataset:
    def samples(role: str) -> tuple[Sample, ...]:
        bodies = database.rows(
            "SELECT body FROM sample WHERE dataset = ? AND role = ? ORDER BY place",
            (row["id"], role),
        )
        return tuple(decode_sample(body["body"]) for body in bodies)

    return Dataset(
        row["name"],
        _kind(row["kind"]),
        samples("sample"),
        samples("shot"),
        row["sha256"],
        pictures=place_of(database, row["id"]),
    )


def _line(sample: Sample) -> int:
    line = sample.metadata.get("line", "")
    return int(line) if line.isdecimal() else 0


def _kind(name: str) -> DatasetKind:
    for kind in get_args(DatasetKind):
        if kind == name:
            return kind
    raise StoreError("stored-kind", kind=name)
