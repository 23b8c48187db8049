"""What a server does beside its requests, and how often."""

import logging
import threading

import pytest

from evalui.errors import StoreError
from evalui.runs.upkeep import monitor
from evalui.runs.upkeep.monitor import Upkeep
from evalui.settings import Settings
from evalui.store.connection import Database


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def upkeep(database: Database, clock: Clock) -> Upkeep:
    return Upkeep(Settings(data_dir=database.path.parent), database, clock)


def test_a_disk_that_is_nearly_full_is_logged_once_an_hour(
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
):
    clock = Clock()
    made = upkeep(database, clock)
    made.look()
    assert caplog.messages == []
    monkeypatch.setattr(monitor, "_NEARLY_FULL", 0.0)
    for _ in range(121):
        made.look()
        clock.now += 60
    assert len(caplog.messages) == 3
    assert caplog.messages[0].startswith("The disk of the data folder is ")


def test_a_fault_of_the_store_is_logged_and_tried_again(
    database: Database, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    tried: list[int] = []

    def gone(_: object) -> monitor.DiskUse:
        tried.append(1)
        raise StoreError("data-folder", reason="gone")

    monkeypatch.setattr(monitor, "disk_use", gone)
    clock = Clock()
    made = upkeep(database, clock)
    made.look()
    clock.now = 60.0
    made.look()
    assert len(tried) == 2
    assert {record.levelno for record in caplog.records} == {logging.WARNING}


def test_it_runs_beside_the_server_and_ends_with_it(
    database: Database, monkeypatch: pytest.MonkeyPatch
):
    looked = threading.Event()
    monkeypatch.setattr(database, "check", looked.set)
    with upkeep(database, Clock()).running():
        assert looked.wait(60)
    assert "upkeep" not in {thread.name for thread in threading.enumerate()}


def test_the_store_is_looked_through_at_the_start_and_once_a_day(
    database: Database, monkeypatch: pytest.MonkeyPatch
):
    clock, looks = Clock(), list[float]()
    monkeypatch.setattr(database, "check", lambda: looks.append(clock.now))
    made = upkeep(database, clock)
    for _ in range(2 * 24 * 60):
        made.look()
        clock.now += 60
    assert looks == [0, 86_400]
