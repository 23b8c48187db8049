"""The sizes of uploads, by owner."""

from pathlib import Path

from evalui.accounts.uploads import record_upload, stored_bytes
from evalui.runs.database.connection import Database


def test_the_bytes_of_an_owner_are_those_of_all_their_uploads(tmp_path: Path):
    database = Database(tmp_path / "store.sqlite")
    record_upload(database, "ann", "u1", "law.csv", 10)
    record_upload(database, "ann", "u2", "art.csv", 5)
    record_upload(database, "bob", "u1", "law.csv", 7)
    assert [stored_bytes(database, owner) for owner in ("ann", "bob", "eve")] == [15, 7, 0]


def test_an_upload_that_comes_again_counts_once_and_is_new(tmp_path: Path):
    database = Database(tmp_path / "store.sqlite")
    for moment in (100.0, 200.0):
        record_upload(database, "ann", "u1", "law.csv", 10, clock=lambda: moment)  # noqa: B023
    assert stored_bytes(database, "ann") == 10
    (row,) = database.rows("SELECT created FROM upload")
    assert row["created"] == 200.0
