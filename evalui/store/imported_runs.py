"""Runs whose answers another harness has collected: written in batches while its log is read.

Such a run is at work from its first row on, in the hands of who reads the log, so that no worker
takes it. What the log comes to is known at its end: then its datasets and cells are completed.
"""

import json
import time
from collections.abc import Sequence

from evalui.access import LOCAL
from evalui.store.codec import encode_left_out, encode_sample
from evalui.store.connection import Database, new_id
from evalui.store.datasets import insert_samples
from evalui.store.pictures import keep_bodies, link_pictures, pictures_of
from evalui.store.queue import Admit, bump_revision, finish, finish_cell, renew_lease
from evalui.store.runs import Lease
from evalui.types import Cell, DatasetKind, LeftOut, Sample

IMPORTED = "imported"  # stands for the model's fingerprint, and begins the name of the worker


def begin_import(
    database: Database, name: str, owner: str = LOCAL, *, admit: Admit | None = None
) -> Lease:
    """Begin a run of nothing yet; `admit` raises inside the transaction if it may not be kept."""
    lease, now = Lease(new_id(8)[:10], f"{IMPORTED}-{new_id(6)}", 1), time.time()
    with database.writing() as connection:
        if admit:
            admit(connection)
        connection.execute(
            "INSERT INTO run (id, owner, name, spec, state, created, queued, started, worker,"
            " attempt, beat) VALUES (?, ?, ?, '', 'running', ?, ?, ?, ?, ?, ?)",
            (lease.run_id, owner, name, now, now, now, lease.worker, lease.attempt, now),
        )
        bump_revision(connection, lease.run_id)
    return lease


def add_imported_dataset(
    database: Database, lease: Lease, name: str, kind: DatasetKind, files: Sequence[str], owner: str
) -> int:
    """Add a dataset of no samples yet and return its id."""
    with database.writing() as connection:
        renew_lease(connection, lease)
        row = connection.execute(
            "INSERT INTO dataset (key, owner, name, kind, sha256, paths, n_samples, n_shots,"
            " faults, created) VALUES (?, ?, ?, ?, '', ?, 0, 0, 0, ?) RETURNING id",
            (new_id(16), owner, name, kind, json.dumps(list(files)), time.time()),
        ).fetchone()
    return row["id"]


def write_imported_samples(
    database: Database,
    lease: Lease,
    dataset_id: int,
    first: int,
    samples: Sequence[Sample],
    *,
    pictures: str = "",
) -> bytes:
    """Add samples from the place `first` on and return what they are stored as, for a digest.

    Their pictures are in the folder `pictures`; raises `StoreError` as `keep_bodies` does.
    """
    encoded = [(sample, encode_sample(sample)) for sample in samples]
    digests = keep_bodies(database, pictures_of(samples) if pictures else (), pictures)
    with database.writing() as connection:
        renew_lease(connection, lease)
        insert_samples(connection, dataset_id, "sample", first, encoded)
        link_pictures(connection, dataset_id, digests, pictures)
    return "\n".join(body for _, body in encoded).encode("utf-8", "surrogatepass")


def drop_imported_dataset(database: Database, lease: Lease, dataset_id: int) -> None:
    """Delete a dataset to which no answer of the log can be used."""
    with database.writing() as connection:
        renew_lease(connection, lease)
        connection.execute("DELETE FROM dataset WHERE id = ?", (dataset_id,))


def merge_imported_datasets(
    database: Database, lease: Lease, dataset_id: int, other_id: int
) -> int | None:
    """Add the questions of another dataset that the first lacks, give it the other's cells, and
    return how many questions it has; None, and nothing is changed, if the two share no question,
    or one id stands for another question, other options or another answer.
    """
    with database.writing() as connection:
        renew_lease(connection, lease)
        shared, differing = connection.execute(
            "SELECT count(*), count(*) FILTER (WHERE json_extract(s.body, '$[1]', '$[2]', '$[3]')"
            " <> json_extract(o.body, '$[1]', '$[2]', '$[3]'))"  # question, options, target
            " FROM sample s JOIN sample o ON o.id = s.id AND o.dataset = ? AND o.role = 'sample'"
            " WHERE s.dataset = ? AND s.role = 'sample'",
            (other_id, dataset_id),
        ).fetchone()
        if not shared or differing:
            return None
        # Questions are numbered from 1 in the order in which they stand here.
        connection.execute(
            "INSERT INTO sample SELECT :id, 'sample', place - 1, id, place, subject, question,"
            " json_set(body, '$[4].line', CAST(place AS TEXT))"
            " FROM (SELECT (SELECT count(*) FROM sample WHERE dataset = :id)"
            "  + row_number() OVER (ORDER BY place) AS place, id, subject, question, body"
            "  FROM sample WHERE dataset = :other"
            "  AND id NOT IN (SELECT id FROM sample WHERE dataset = :id))",
            {"id": dataset_id, "other": other_id},
        )
        connection.execute(
            "INSERT INTO dataset_picture SELECT ?, id, picture FROM dataset_picture"
            " WHERE dataset = ? ON CONFLICT DO NOTHING",
            (dataset_id, other_id),
        )
        connection.execute("UPDATE cell SET dataset = ? WHERE dataset = ?", (dataset_id, other_id))
        connection.execute("DELETE FROM dataset WHERE id = ?", (other_id,))
        (n,) = connection.execute(
            "SELECT count(*) FROM sample WHERE dataset = ?", (dataset_id,)
        ).fetchone()
    return n


def add_imported_cell(
    database: Database, lease: Lease, place: int, dataset_id: int, cell: Cell, plan: str
) -> int:
    """Add a cell at work and return its id; `complete_imported_cell` states what it holds."""
    now = time.time()
    with database.writing() as connection:
        renew_lease(connection, lease)
        row = connection.execute(
            "INSERT INTO cell (run, place, dataset, source, dataset_name, model, mode, gives,"
            " label, pattern, signature, fingerprint, plan, questions, total, requests, state,"
            " started, written)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '', ?, ?, 0, 0, 0, 'running', ?, ?)"
            " RETURNING id",
            (
                lease.run_id,
                place,
                dataset_id,
                cell.dataset,
                cell.dataset,
                cell.model,
                cell.mode,
                cell.gives,
                cell.label,
                cell.pattern,
                IMPORTED,
                plan,
                now,
                now,
            ),
        ).fetchone()
    return row["id"]


def complete_imported_dataset(
    database: Database,
    lease: Lease,
    dataset_id: int,
    *,
    name: str,
    key: str,
    sha256: str,
    questions: int,
    left_out: int,
) -> int:
    """Name a dataset by its contents and return its id: that of an equal one if there is one."""
    with database.writing() as connection:
        renew_lease(connection, lease)
        known = connection.execute(
            "SELECT d.id FROM dataset d JOIN dataset own ON own.owner = d.owner"
            " WHERE own.id = ? AND d.key = ?",
            (dataset_id, key),
        ).fetchone()
        if known:
            connection.execute(
                "UPDATE cell SET dataset = ? WHERE dataset = ?", (known["id"], dataset_id)
            )
            connection.execute("DELETE FROM dataset WHERE id = ?", (dataset_id,))
            return known["id"]
        connection.execute(
            "UPDATE dataset SET name = ?, key = ?, sha256 = ?, n_samples = ?, faults = ?"
            " WHERE id = ?",
            (name, key, sha256, questions, left_out, dataset_id),
        )
    return dataset_id


def complete_imported_cell(
    database: Database,
    lease: Lease,
    cell_id: int,
    cell: Cell,
    plan: str,
    *,
    questions: int,
) -> None:
    """State what a cell holds, which its trials decide, and end it."""
    with database.writing() as connection:
        renew_lease(connection, lease)
        connection.execute(
            "UPDATE cell SET source = ?, dataset_name = ?, model = ?, label = ?, pattern = ?,"
            " signature = ?, plan = ?, questions = ?, total = done WHERE id = ?",
            (
                cell.dataset,
                cell.dataset,
                cell.model,
                cell.label,
                cell.pattern,
                cell.signature,
                plan,
                questions,
                cell_id,
            ),
        )
    finish_cell(database, lease, cell_id)


def finish_import(
    database: Database, lease: Lease, name: str, spec: str, left_out: Sequence[LeftOut]
) -> None:
    """End the run: from here on it is like any other."""
    with database.writing() as connection:
        renew_lease(connection, lease)
        connection.execute(
            "UPDATE run SET name = ?, spec = ?, left_out = ? WHERE id = ?",
            (name, spec, encode_left_out(left_out), lease.run_id),
        )
    finish(database, lease)


def discard_import(database: Database, lease: Lease) -> None:
    """Delete a run whose log could not be read to its end, and the datasets that came with it."""
    with database.writing() as connection:
        connection.execute("DELETE FROM run WHERE id = ?", (lease.run_id,))
        # A dataset that was not completed has no digest.
        connection.execute(
            "DELETE FROM dataset WHERE sha256 = '' AND n_samples = 0"
            " AND id NOT IN (SELECT dataset FROM cell)"
        )
        connection.execute("UPDATE clock SET revision = revision + 1")
