"""What is deleted, when, and that it was announced for 14 days before."""

import hashlib
import os
from pathlib import Path

import pytest
from runs_examples import add_run, spec

from evalui.runs.database import queue
from evalui.runs.database.connection import Database
from evalui.runs.database.runs import read_run
from evalui.runs.upkeep import retention
from evalui.runs.upkeep.retention import Removed, announced_deletion, delete_expired

DAY = 86_400.0
ADA = hashlib.sha256(b"ada").hexdigest()[:16]


class Clock:
    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def time(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    for module in (retention, queue):
        monkeypatch.setattr(module, "time", made)
    return made


def ended_run(database: Database, **fields: object) -> str:
    run_id = add_run(database, spec(**fields))
    queue.cancel(database, run_id)
    return run_id


def days_pass(
    database: Database, clock: Clock, days: int, uploads: Path, keep: int = 30
) -> Removed:
    removed = Removed()
    for _ in range(days):
        clock.now += DAY
        removed = delete_expired(database, uploads, keep)
    return removed


def ids(database: Database) -> set[str]:
    return {row["id"] for row in database.rows("SELECT id FROM run")}


def test_a_run_is_announced_for_14_days_and_then_deleted(
    database: Database, clock: Clock, tmp_path: Path
):
    delete_expired(database, tmp_path, 30)
    run_id = ended_run(database)
    end = clock.now
    days_pass(database, clock, 14, tmp_path)
    assert announced_deletion(database, 30, read_run(database, run_id)) is None
    days_pass(database, clock, 1, tmp_path)
    assert announced_deletion(database, 30, read_run(database, run_id)) == end + 30 * DAY
    days_pass(database, clock, 15, tmp_path)
    assert ids(database) == {run_id}
    assert days_pass(database, clock, 1, tmp_path).runs == 1
    assert ids(database) == set()


def test_a_run_that_is_old_when_the_setting_comes_is_announced_first(
    database: Database, clock: Clock, tmp_path: Path
):
    run_id = ended_run(database)
    clock.now += 500 * DAY
    assert delete_expired(database, tmp_path, 30) == Removed()
    announced = announced_deletion(database, 30, read_run(database, run_id))
    assert announced == clock.now + 15 * DAY
    days_pass(database, clock, 14, tmp_path)
    assert ids(database) == {run_id}
    days_pass(database, clock, 1, tmp_path)
    assert ids(database) == set()


@pytest.mark.parametrize("jump_days", [4000, -4000, 4])
def test_a_clock_that_jumps_deletes_nothing_at_once(
    database: Database, clock: Clock, tmp_path: Path, jump_days: int
):
    delete_expired(database, tmp_path, 30)
    days_pass(database, clock, 20, tmp_path)
    run_id = ended_run(database)
    clock.now += jump_days * DAY
    assert delete_expired(database, tmp_path, 30) == Removed()
    days_pass(database, clock, 14, tmp_path)
    assert ids(database) == {run_id}


def test_another_number_of_days_begins_anew(database: Database, clock: Clock, tmp_path: Path):
    delete_expired(database, tmp_path, 300)
    run_id = ended_run(database)
    days_pass(database, clock, 100, tmp_path, keep=300)
    assert delete_expired(database, tmp_path, 30) == Removed()
    assert announced_deletion(database, 300, read_run(database, run_id)) is None
    days_pass(database, clock, 14, tmp_path)
    assert ids(database) == {run_id}


def test_runs_that_wait_or_run_stay_however_old(database: Database, clock: Clock, tmp_path: Path):
    waiting = add_run(database)
    resumed = ended_run(database)
    running = add_run(database)
    queue.claim(database, "worker-1", running)
    queue.resume(database, resumed)
    delete_expired(database, tmp_path, 30)
    days_pass(database, clock, 90, tmp_path)
    assert ids(database) == {waiting, resumed, running}
    assert announced_deletion(database, 30, read_run(database, resumed)) is None


def test_without_the_setting_nothing_is_deleted(database: Database, clock: Clock, tmp_path: Path):
    run_id = ended_run(database)
    days_pass(database, clock, 90, tmp_path, keep=0)
    assert ids(database) == {run_id}
    assert announced_deletion(database, 0, read_run(database, run_id)) is None


def upload(root: Path, owner: str, name: str, at: float) -> Path:
    folder = root / owner / name
    folder.mkdir(parents=True)
    (folder / "x.csv").write_text("x", encoding="utf-8")
    os.utime(folder, (at, at))
    return folder


def test_old_uploads_and_datasets_that_no_run_uses_go(
    database: Database, clock: Clock, tmp_path: Path
):
    delete_expired(database, tmp_path, 30)
    used = upload(tmp_path, ADA, "a" * 16, clock.now)
    unused = upload(tmp_path, ADA, "b" * 16, clock.now)
    of_another = upload(tmp_path, "0" * 16, "a" * 16, clock.now)
    with database.writing() as connection:
        connection.executemany(
            "INSERT INTO upload VALUES (?, ?, 'x.csv', 1, 0)",
            [("ada", used.name), ("ada", unused.name), ("bob", unused.name)],
        )
    kept = add_run(database, spec(datasets=[{"path": str(used / "x.csv")}]))
    days_pass(database, clock, 30, tmp_path)
    fresh = upload(tmp_path, ADA, "c" * 16, clock.now)
    assert days_pass(database, clock, 1, tmp_path).uploads == 2
    assert [path.exists() for path in (used, unused, of_another, fresh)] == [
        True,
        False,
        False,
        True,
    ]
    rows = database.rows("SELECT owner, id FROM upload ORDER BY owner, id")
    assert [tuple(row) for row in rows] == [("ada", used.name), ("bob", unused.name)]
    assert database.row("SELECT 1 FROM dataset")
    queue.delete(database, kept)
    with database.writing() as connection:
        connection.execute("UPDATE dataset SET created = ?", (clock.now - 31 * DAY,))
    assert delete_expired(database, tmp_path, 30).datasets == 1
    assert not database.row("SELECT 1 FROM dataset")


def test_a_dataset_that_is_submitted_again_counts_as_new(database: Database):
    add_run(database)
    with database.writing() as connection:
        connection.execute("UPDATE dataset SET created = 0")
    add_run(database)
    row = database.row("SELECT created FROM dataset")
    assert row
    assert row["created"] > 0
