"""What counts as progress of a worker, by a clock that only the test moves."""

import time

import pytest
from runs_examples import trial

from evalui.models import ModelEntry
from evalui.runs.worker.heartbeat import WorkerStatus
from evalui.runs.worker.model_tests import claim_model_test, queue_model_test
from evalui.runs.worker.supervisor import ProgressWatch
from evalui.store import queue, usage
from evalui.store.connection import Database
from evalui.store.runs import Lease
from evalui.store.trials import write_trials
from evalui.store.usage import ModelWait

HANG_S, LOADING_S = 10.0, 100.0


class Watched:
    def __init__(self, database: Database, hang_s: float = HANG_S) -> None:
        self.now = 0.0
        self.watch = ProgressWatch(
            database, "worker-1", hang_s=hang_s, loading_s=LOADING_S, clock=lambda: self.now
        )
        self.watch.hung_s()

    def after(self, seconds: float) -> float:
        self.now += seconds
        return self.watch.hung_s()


def test_a_cell_that_writes_nothing_hangs_though_its_heart_beats(
    database: Database, lease: Lease
) -> None:
    watched = Watched(database)
    queue.heartbeat(database, lease)
    assert watched.after(10.0) == 0
    queue.heartbeat(database, lease)
    assert watched.after(0.1) == HANG_S


def test_each_batch_is_progress(database: Database, lease: Lease) -> None:
    watched = Watched(database)
    for number in range(4):
        assert watched.after(9.0) == 0
        write_trials(database, lease, 1, [trial(number)])
        assert watched.after(0.0) == 0
    assert watched.after(10.1) == HANG_S


def test_a_model_that_loads_has_a_patience_of_its_own(database: Database, lease: Lease) -> None:
    queue.release(database, lease)
    queue.claim(database, "worker-1")
    watched = Watched(database)
    assert watched.after(99.0) == 0
    assert watched.after(1.1) == LOADING_S


def test_a_model_that_is_waited_for_does_not_hang(database: Database, lease: Lease) -> None:
    usage.set_wait(database, lease, 1, ModelWait("It does not answer.", time.time(), 0.0))
    watched = Watched(database)
    assert watched.after(1e6) == 0
    usage.clear_wait(database, lease, 1)
    assert watched.after(0.0) == 0
    assert watched.after(10.1) == HANG_S


def test_a_model_that_is_tried_out_may_take_as_long_as_one_that_loads(database: Database) -> None:
    queue_model_test(database, ModelEntry("m", "scripted"), "me")
    claim_model_test(database, "worker-1")
    watched = Watched(database)
    assert watched.after(99.0) == 0
    assert watched.after(1.1) == LOADING_S


def test_an_idle_worker_that_reports_nothing_hangs(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    status = WorkerStatus(database, "worker-1")
    monkeypatch.setattr("evalui.runs.worker.heartbeat.time.time", lambda: 1000.0)
    status.update()
    watched = Watched(database)
    assert watched.after(9.0) == 0
    monkeypatch.setattr("evalui.runs.worker.heartbeat.time.time", lambda: 1005.0)
    status.refresh()
    assert watched.after(9.0) == 0
    assert watched.after(10.1) == HANG_S


def test_a_worker_that_starts_has_the_time_of_a_model_that_loads(database: Database) -> None:
    watched = Watched(database)
    assert watched.after(99.0) == 0
    assert watched.after(1.1) == LOADING_S


@pytest.mark.usefixtures("lease")
def test_nothing_hangs_where_the_administrator_says_so(database: Database) -> None:
    watched = Watched(database, hang_s=0.0)
    assert watched.after(1e6) == 0
