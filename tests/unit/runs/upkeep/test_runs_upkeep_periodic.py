"""What a server does beside its requests, and how often."""

import logging
from pathlib import Path

import pytest

from evalui.errors import StoreError
from evalui.runs.database.connection import Database
from evalui.runs.upkeep import disk, periodic
from evalui.runs.upkeep.periodic import Upkeep
from evalui.runs.upkeep.retention import Removed
from evalui.settings import Settings


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The days of each pass that deletes."""
    made: list[int] = []

    def count(database: Database, uploads: Path, days: int) -> Removed:
        assert uploads.parent == database.path.parent
        made.append(days)
        return Removed()

    monkeypatch.setattr(periodic, "delete_expired", count)
    return made


def upkeep(database: Database, clock: Clock, **settings: object) -> Upkeep:
    given = {"data_dir": database.path.parent, "retention_days": 30} | settings
    return Upkeep(Settings.model_validate(given), database, clock)


def test_it_deletes_once_a_day(database: Database, passes: list[int]):
    clock = Clock()
    made = upkeep(database, clock)
    for _ in range(3 * 24 * 60):
        made.look()
        clock.now += 60
    assert passes == [30, 30, 30]


def test_a_server_that_only_shows_deletes_nothing(database: Database, passes: list[int]):
    upkeep(database, Clock(), read_only=True).look()
    assert passes == []


def test_a_disk_that_is_nearly_full_is_logged_once_an_hour(
    database: Database,
    passes: list[int],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
):
    del passes
    clock = Clock()
    made = upkeep(database, clock)
    made.look()
    assert caplog.messages == []
    monkeypatch.setattr(disk, "_NEARLY_FULL", 0.0)
    for _ in range(121):
        made.look()
        clock.now += 60
    assert len(caplog.messages) == 3
    assert caplog.messages[0].startswith("The disk of the data folder is ")


def test_a_fault_of_the_store_is_logged_and_tried_again(
    database: Database, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    tried: list[int] = []

    def locked(*_: object) -> Removed:
        tried.append(1)
        raise StoreError("store-damaged")

    monkeypatch.setattr(periodic, "delete_expired", locked)
    clock = Clock()
    made = upkeep(database, clock)
    made.look()
    clock.now = 60.0
    made.look()
    assert len(tried) == 2
    assert {record.levelno for record in caplog.records} == {logging.WARNING}


def test_it_runs_beside_the_server_and_ends_with_it(database: Database, passes: list[int]):
    made = upkeep(database, Clock())
    with made.running():
        pass
    assert passes in ([], [30])  # it may have been ended before its first look
    assert made._ending.is_set()


@pytest.mark.usefixtures("passes")
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
