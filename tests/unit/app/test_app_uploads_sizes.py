"""The sizes of uploads, by owner, and what more they may store."""

from pathlib import Path

import pytest

from evalui.app.uploads import check_may_upload, record_upload
from evalui.errors import SpecError
from evalui.runs.fair_queue.limits import UserLimits, stored_bytes
from evalui.store.connection import Database

USUAL = UserLimits(stored_bytes=20)


def stored(database: Database, owner: str) -> int:
    with database.reading() as connection:
        return stored_bytes(connection, owner)


def test_the_bytes_of_an_owner_are_those_of_all_their_uploads(tmp_path: Path):
    database = Database(tmp_path / "store.sqlite")
    record_upload(database, "ann", "u1", "law.csv", 10)
    record_upload(database, "ann", "u2", "art.csv", 5)
    record_upload(database, "bob", "u1", "law.csv", 7)
    assert [stored(database, owner) for owner in ("ann", "bob", "eve")] == [15, 7, 0]


def test_an_upload_that_comes_again_counts_once_and_is_new(tmp_path: Path):
    database = Database(tmp_path / "store.sqlite")
    for moment in (100.0, 200.0):
        record_upload(database, "ann", "u1", "law.csv", 10, clock=[moment].pop)
    assert stored(database, "ann") == 10
    (row,) = database.rows("SELECT created FROM upload")
    assert row["created"] == 200.0


def test_who_has_stored_much_may_store_a_little(tmp_path: Path):
    database = Database(tmp_path / "store.sqlite")
    record_upload(database, "ann", "u1", "law.csv", 15)
    check_may_upload(database, "ann", USUAL, 5)
    with pytest.raises(SpecError, match="store"):
        check_may_upload(database, "ann", USUAL, 6)
    check_may_upload(database, "bob", USUAL, 6)
