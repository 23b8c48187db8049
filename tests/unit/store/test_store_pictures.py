from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from sqlite3 import Connection

import pytest
from runs_examples import add_run, dataset, spec

from evalui.errors import StoreError
from evalui.pictures import Picture, mark_of
from evalui.store.codec import dataset_key
from evalui.store.connection import Database
from evalui.store.datasets import add_dataset, read_dataset
from evalui.store.pictures import (
    keep_bodies,
    link_pictures,
    place_of,
    read_picture,
    read_run_picture,
    require_pictures,
    small_pictures,
)
from evalui.types import Dataset

RED = b"\x89PNG red"
MARK = mark_of(RED)


def with_picture(folder: Path, name: str = "sums") -> Dataset:
    """Two questions about one picture, which lies in the folder."""
    (folder / MARK.id).write_bytes(RED)
    (folder / f"{MARK.id}.small").write_bytes(b"small")
    given = dataset(2)
    samples = tuple(replace(each, question=f"{MARK}\n{each.question}") for each in given.samples)
    return replace(given, name=name, samples=samples, pictures=str(folder))


def test_a_picture_is_kept_once_and_outlives_its_folder(database: Database, tmp_path: Path):
    given = with_picture(tmp_path)
    key = add_dataset(database, given)
    add_dataset(database, replace(given, name="other"))
    (tmp_path / MARK.id).unlink()
    stored = read_dataset(database, key)
    assert stored == replace(given, pictures=stored.pictures)
    assert read_picture(database, stored.pictures, MARK.id) == Picture(MARK.id, RED)
    assert len(database.rows("SELECT sha256 FROM picture")) == 1


def test_a_stored_dataset_is_kept_for_somebody_else_with_its_pictures(
    database: Database, tmp_path: Path
):
    key = add_dataset(database, with_picture(tmp_path))
    add_dataset(database, read_dataset(database, key), "ada")
    assert len(database.rows("SELECT * FROM dataset_picture")) == 2


def test_a_picture_goes_with_the_last_dataset_that_has_it(database: Database, tmp_path: Path):
    for name in ("one", "two"):
        add_dataset(database, with_picture(tmp_path, name))
    for left, name in ((1, "one"), (0, "two")):
        with database.writing() as connection:
            connection.execute("DELETE FROM dataset WHERE name = ?", (name,))
        assert len(database.rows("SELECT sha256 FROM picture")) == left


def test_nothing_is_kept_of_a_dataset_whose_picture_is_nowhere(database: Database, tmp_path: Path):
    given = with_picture(tmp_path)
    (tmp_path / MARK.id).unlink()
    with pytest.raises(StoreError, match=f"The picture {MARK.id[:8]} is not in the store"):
        add_dataset(database, given)
    assert not database.rows("SELECT id FROM dataset")


def test_a_mark_leads_to_the_picture_that_came_with_its_dataset(database: Database, tmp_path: Path):
    keys: dict[str, bytes] = {}
    for owner, body in (("mallory", b"\x89PNG other"), ("ada", RED)):
        given = with_picture(tmp_path)
        (tmp_path / MARK.id).write_bytes(body)
        add_dataset(database, given, owner)
        keys[owner] = body
    key = dataset_key(given)
    for owner, body in keys.items():
        place = read_dataset(database, key, owner).pictures
        assert read_picture(database, place, MARK.id) == Picture(MARK.id, body)


def test_a_run_has_the_pictures_of_its_own_questions(database: Database, tmp_path: Path):
    given = with_picture(tmp_path)
    runs = [add_run(database, spec(), each) for each in (given, dataset(2))]
    for run_id, known in zip(runs, (True, False), strict=True):
        small = {MARK.id: Picture(MARK.id, b"small")} if known else {}
        assert small_pictures(database, run_id, [MARK.id]) == small
        assert bool(read_run_picture(database, run_id, MARK.id, small=False)) is known


def test_a_picture_that_others_delete_meanwhile_is_kept_again(database: Database, tmp_path: Path):
    given = with_picture(tmp_path, "first")
    add_dataset(database, given)
    digests = keep_bodies(database, [MARK.id], str(tmp_path))
    with database.writing() as connection:
        connection.execute("DELETE FROM dataset")
    assert not database.rows("SELECT * FROM picture")
    other = add_dataset(database, dataset(1))
    (row,) = database.rows("SELECT id FROM dataset WHERE key = ?", (other,))
    with database.writing() as connection:
        link_pictures(connection, row["id"], digests, str(tmp_path))
    place = place_of(database, row["id"])
    assert read_picture(database, place, MARK.id) == Picture(MARK.id, RED)


def test_each_picture_is_written_by_itself(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with_picture(tmp_path)
    other = mark_of(b"\x89PNG blue")
    (tmp_path / other.id).write_bytes(b"\x89PNG blue")
    (tmp_path / f"{other.id}.small").write_bytes(b"small")
    written: list[int] = []
    writing = database.writing

    @contextmanager
    def counted() -> Generator[Connection]:
        with writing() as connection:
            yield connection
            written.append(len(connection.execute("SELECT 1 FROM picture").fetchall()))

    monkeypatch.setattr(database, "writing", counted)
    keep_bodies(database, [MARK.id, other.id], str(tmp_path))
    assert written == [1, 2]


def test_a_cell_whose_picture_is_not_kept_sends_nothing(database: Database, tmp_path: Path):
    asked = with_picture(tmp_path).samples
    with pytest.raises(StoreError, match=f"The picture {MARK.id[:8]} is not in the store"):
        require_pictures(database, 1, asked)
