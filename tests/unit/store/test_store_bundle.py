"""Pictures of runs that leave a store and come into another, which anybody may have made."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from pictured_runs import BLUE, RED, RED_MARK, asked, put_pictures
from runs_examples import add_run, dataset, spec

from evalui.datasets.sandbox import reading_here
from evalui.errors import DataError, StoreError
from evalui.pictures import Picture
from evalui.store.bundle import bundle_parts, import_bundle
from evalui.store.connection import Database
from evalui.store.datasets import add_dataset
from evalui.store.pictures import read_run_picture, small_pictures
from evalui.types import Dataset


@pytest.fixture(autouse=True)
def read_here() -> Iterator[None]:
    with reading_here():
        yield


@pytest.fixture
def given(tmp_path: Path) -> Dataset:
    folder = tmp_path / "pictures"
    folder.mkdir()
    put_pictures(folder, RED)
    samples = [replace(each, question=asked(RED_MARK)) for each in dataset(2).samples]
    return replace(dataset(samples=samples, shots=0), pictures=str(folder))


@pytest.fixture
def bundle(given: Dataset, tmp_path: Path) -> Path:
    """One with a run whose questions have a red picture."""
    path = tmp_path / "run.sqlite"
    with closing(Database(tmp_path / "theirs.sqlite")) as theirs:
        run_id = add_run(theirs, spec(), given)
        with theirs.writing() as connection:
            connection.execute("UPDATE run SET state = 'done'")
        path.write_bytes(b"".join(bundle_parts(theirs, run_id, "{}")))
    return path


def change(bundle: Path, statement: str, *values: object) -> None:
    with closing(sqlite3.connect(bundle)) as opened, opened:
        opened.execute(statement, values)


def test_a_run_brings_its_pictures_as_they_were(bundle: Path, database: Database):
    run_id = import_bundle(bundle, database)
    kept = read_run_picture(database, run_id, RED_MARK.id, small=False)
    assert kept == Picture(RED_MARK.id, RED)


def test_the_small_picture_is_made_of_the_large_one(bundle: Path, database: Database):
    change(bundle, "UPDATE picture SET small = ?", b"\x89PNG<script>")
    run_id = import_bundle(bundle, database)
    (small,) = small_pictures(database, run_id, [RED_MARK.id]).values()
    assert small.media_type == "image/jpeg"


@pytest.mark.parametrize("body", [b"<script>", b"\x89PNG, and no more", b""])
def test_a_run_whose_picture_is_none_is_refused(body: bytes, bundle: Path, database: Database):
    change(bundle, "UPDATE picture SET body = ?", body)
    with pytest.raises(DataError, match=f"The run’s picture {RED_MARK.id[:8]} cannot be used: a "):
        import_bundle(bundle, database)
    for table in ("run", "dataset", "picture"):
        assert not database.rows(f"SELECT * FROM {table}")


def test_no_run_changes_or_shows_a_picture_of_others(
    bundle: Path, given: Dataset, database: Database
):
    change(bundle, "UPDATE picture SET body = ?", BLUE)
    brought = import_bundle(bundle, database, owner="mallory")
    own = add_run(database, spec(), replace(given, name="own"))
    for run_id, body in ((brought, BLUE), (own, RED)):
        kept = read_run_picture(database, run_id, RED_MARK.id, small=False)
        assert kept == Picture(RED_MARK.id, body)


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM picture",
        "UPDATE dataset_picture SET picture = 'x'",
    ],
)
def test_a_link_without_its_picture_leads_to_no_picture_of_others(
    statement: str, bundle: Path, given: Dataset, database: Database
):
    add_dataset(database, given, "ada")
    change(bundle, statement)
    with pytest.raises(StoreError, match="is not in the store"):
        import_bundle(bundle, database)


def test_an_id_that_is_none_is_no_file(bundle: Path, database: Database):
    change(bundle, "UPDATE dataset_picture SET id = '../../../sly'")
    run_id = import_bundle(bundle, database)
    assert read_run_picture(database, run_id, RED_MARK.id, small=False) is None
    assert not database.rows("SELECT * FROM picture")
