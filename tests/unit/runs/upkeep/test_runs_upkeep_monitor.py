"""What a monitor reads of a store."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from runs_examples import add_run

from evalui.runs.upkeep.monitor import DiskUse, disk_use, not_ready, read_store
from evalui.runs.worker.heartbeat import WorkerStatus
from evalui.store import queue
from evalui.store.connection import Database
from evalui.store.runs import Lease


def test_an_empty_store_has_counts_of_zero(database: Database):
    readings = read_store(database)
    assert set(readings.runs.values()) == {0}  # an alert on failed runs has something to watch
    assert (readings.waiting_s, readings.trials, dict(readings.models)) == (0, 0, {})
    assert (readings.busy_workers, readings.idle_workers, readings.worker_bytes) == (0, 0, 0)


def test_runs_cells_and_workers_are_counted(database: Database, lease: Lease):
    add_run(database)
    queue.finish_cell(database, lease, 1, "It failed.")
    WorkerStatus(database, "worker-1").update(run=lease.run_id)
    WorkerStatus(database, "worker-2").update()
    with database.writing() as connection:
        connection.execute("UPDATE cell SET done = 5, input_tokens = 70 WHERE id = 1")
        connection.execute("UPDATE run SET created = created - 60 WHERE state = 'queued'")
    readings = read_store(database)
    assert {state: n for state, n in readings.runs.items() if n} == {"running": 1, "queued": 1}
    assert 60 <= readings.waiting_s < 90
    assert readings.trials == 5
    assert sum(model.failed_cells for model in readings.models.values()) == 1
    assert sum(model.read_tokens for model in readings.models.values()) == 70
    assert (readings.busy_workers, readings.idle_workers) == (1, 1)
    assert readings.worker_bytes > 0


def test_a_server_whose_worker_is_there_is_ready(database: Database):
    assert not_ready(database, needs_worker=False) == ""
    assert not_ready(database, needs_worker=True) == "workers"
    WorkerStatus(database, "worker-1").update()
    assert not_ready(database, needs_worker=True) == ""


def test_a_store_that_cannot_be_written_is_not_ready(tmp_path: Path):
    with closing(Database(tmp_path / "evalui.sqlite")) as database:
        database.path.rename(tmp_path / "moved")
        assert not_ready(database, needs_worker=False) == "store"
        database.read_only = True
        assert not_ready(database, needs_worker=False) == ""


def test_a_writer_at_work_is_no_fault_and_is_not_waited_for(
    database: Database, monkeypatch: pytest.MonkeyPatch
):
    def waiting(**_: object) -> None:
        raise AssertionError("pages would wait with it")

    monkeypatch.setattr(database, "writing", waiting)
    with closing(sqlite3.connect(database.path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        assert not_ready(database, needs_worker=False) == ""


def test_the_room_on_the_disk_is_that_of_df(tmp_path: Path):
    use = disk_use(tmp_path)
    assert 0 < use.free <= use.total
    # Some bytes are kept for root: full for others is not all of it.
    assert DiskUse(total=1000, used=900, free=50).share == pytest.approx(900 / 950)
    assert [DiskUse(1000, used, 1000 - used).is_nearly_full for used in (899, 900)] == [False, True]
    assert DiskUse(2**40, 2**40, 2**20).is_full
    assert not DiskUse(2**40, 0, 2**40).is_full
