import os
import sqlite3
import sys
import time
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from evalui.errors import SpecError, StoreError
from evalui.messages import Sentence
from evalui.models import ModelEntry
from evalui.runs.worker import devices
from evalui.runs.worker.devices import (
    device_of,
    gpus,
    machine_memory,
    use_device,
    worker_devices,
)
from evalui.runs.worker.heartbeat import WorkerStatus
from evalui.settings import Settings
from evalui.store.connection import Database
from evalui.store.runs import read_workers


class Driver(SimpleNamespace):
    """Stands for the GPU driver's library: two GPUs, one of them a slice that tells no load."""

    class NVMLError(Exception): ...

    def __init__(self) -> None:
        super().__init__(opened=0)
        self.nvmlInit = lambda: setattr(self, "opened", self.opened + 1)
        self.nvmlShutdown = lambda: setattr(self, "opened", self.opened - 1)
        self.nvmlDeviceGetCount = lambda: 2
        self.nvmlDeviceGetHandleByIndex = lambda number: number
        self.nvmlDeviceGetName = lambda handle: f"H{handle}"
        self.nvmlDeviceGetMemoryInfo = lambda _: SimpleNamespace(total=100, free=60)
        self.nvmlDeviceGetUtilizationRates = self._rates

    def _rates(self, handle: int) -> Any:
        if handle:
            raise self.NVMLError("not supported")
        return SimpleNamespace(gpu=35)


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Driver:
    driver = Driver()
    monkeypatch.setitem(sys.modules, "pynvml", driver)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    return driver


def no_driver(driver: Driver) -> None:
    def fail() -> None:
        raise driver.NVMLError("library not found")

    driver.nvmlInit = fail


def test_a_worker_tells_what_it_does(database: Database):
    presence = WorkerStatus(database, "w:1")
    presence.update(model="m", run="r", device="cpu")
    (row,) = read_workers(database)
    assert (row.name, row.model, row.run, row.device) == ("w:1", "m", "r", "cpu")
    assert row.bytes > 1e6
    assert row.is_busy
    assert row.has_loaded_model


def test_a_model_that_is_being_loaded_is_not_held_yet(database: Database):
    WorkerStatus(database, "w:1").update(model="m", run="r")
    (row,) = read_workers(database)
    assert row.is_busy
    assert not row.has_loaded_model


def test_being_alive_changes_nothing_but_the_time(database: Database):
    presence = WorkerStatus(database, "w:1")
    presence.update(model="m", device="cpu")
    (before,) = read_workers(database)
    time.sleep(0.01)
    presence.refresh()
    (after,) = read_workers(database)
    assert after.seen > before.seen
    assert (after.model, after.device) == ("m", "cpu")


def test_a_silent_worker_is_not_there(database: Database):
    WorkerStatus(database, "w:1").update()
    with database.writing() as connection:
        connection.execute("UPDATE worker SET seen = seen - 21")
    assert read_workers(database) == []


def test_a_worker_that_ends_takes_the_silent_with_it(database: Database):
    WorkerStatus(database, "w:1").update()
    with database.writing() as connection:
        connection.execute("UPDATE worker SET seen = seen - 21")
    last = WorkerStatus(database, "w:2")
    last.update()
    last.remove()
    assert database.rows("SELECT name FROM worker") == []


def test_a_full_disk_stops_no_work(database: Database, monkeypatch: pytest.MonkeyPatch):
    def full() -> sqlite3.Connection:
        raise StoreError(Sentence("The disk is full."))

    monkeypatch.setattr(database, "writing", full)
    WorkerStatus(database, "w:1").update(model="m")


def test_the_machine_has_memory():
    memory = machine_memory()
    assert 0 < memory.free < memory.total
    assert memory.used == memory.total - memory.free


def test_gpus_are_reported_by_their_driver(driver: Driver):
    first, second = gpus()
    assert (first.name, first.total, first.free, first.utilization) == ("H0", 100, 60, 0.35)
    assert second.utilization is None
    assert driver.opened == 0


def test_a_gpu_without_memory_of_its_own_shares_the_machines(driver: Driver):
    def none(_: int) -> None:
        raise driver.NVMLError("not supported")

    driver.nvmlDeviceGetMemoryInfo = none
    assert [gpu.total for gpu in gpus()] == [machine_memory().total] * 2


def test_without_a_driver_there_is_no_gpu(driver: Driver):
    no_driver(driver)
    assert gpus() == ()


@pytest.mark.parametrize(
    ("backend", "device", "where"),
    [
        ("openai", "auto", "endpoint"),
        ("scripted", "auto", "rule"),
        ("transformers", "cuda:1", "cuda:1"),
        ("transformers", "auto", "cuda"),
    ],
)
@pytest.mark.usefixtures("driver")
def test_where_a_model_computes(backend: str, device: str, where: str):
    assert device_of(ModelEntry("m", backend, device=device)) == where


@pytest.mark.parametrize(
    ("listed", "seen"),
    [("1,0", "H1 H0"), ("1", "H1"), ("0,7,1", "H0"), ("", ""), ("-1", ""), ("GPU-8a", "H0 H1")],
)
@pytest.mark.usefixtures("driver")
def test_some_gpus_are_visible_in_an_order(monkeypatch: pytest.MonkeyPatch, listed: str, seen: str):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", listed)
    assert " ".join(gpu.name for gpu in devices.visible_gpus(gpus())) == seen
    assert devices.has_gpu() is bool(seen)


def test_a_machine_that_shows_no_processes_stops_no_work(
    database: Database, monkeypatch: pytest.MonkeyPatch
):
    def denied(*_: object, **__: object) -> None:
        raise psutil.AccessDenied

    monkeypatch.setattr(psutil.Process, "children", denied)
    presence = WorkerStatus(database, "w:1")
    presence.update(model="m")
    assert read_workers(database)[0].bytes > 1e6
    monkeypatch.setattr(psutil.Process, "memory_info", denied)
    presence.refresh()
    assert read_workers(database)[0].bytes == 0


def test_a_hidden_gpu_is_none(driver: Driver, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    assert device_of(ModelEntry("m", "transformers")) == "cpu"
    no_driver(driver)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    assert not devices.has_gpu()


@pytest.mark.parametrize(
    ("outside", "device", "inside"),
    [
        (None, "cuda:1", "1"),
        ("5, 3", "cuda:1", "3"),
        ("GPU-a,GPU-b", "cuda:0", "GPU-a"),
        ("0,1", "cpu", ""),
        ("0,1", "", "0,1"),
        (None, "", None),
    ],
)
@pytest.mark.usefixtures("driver")
def test_a_worker_sees_only_its_own_device(
    monkeypatch: pytest.MonkeyPatch, outside: str | None, device: str, inside: str | None
):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", outside or "")
    if outside is None:
        monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    use_device(device)
    assert os.environ.get("CUDA_VISIBLE_DEVICES") == inside


@pytest.mark.parametrize("device", ["gpu", "cuda", "cuda:", "cuda:x", "cpu:0", "cuda:-1"])
def test_what_is_no_device_of_a_worker_is_refused(device: str):
    with pytest.raises(SpecError, match="is not a device of a worker"):
        use_device(device)


@pytest.mark.usefixtures("driver")
def test_a_gpu_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    with pytest.raises(SpecError, match=r"There is no cuda:2 here: 2 GPUs are visible"):
        use_device("cuda:2")
    for listed, message in (("1", "1 GPU is visible"), ("", "0 GPUs are visible")):
        monkeypatch.setenv("CUDA_VISIBLE_DEVICES", listed)
        with pytest.raises(SpecError, match=f"There is no cuda:1 here: {message}"):
            use_device("cuda:1")


def test_a_server_starts_a_worker_for_each_gpu_if_it_is_to(
    driver: Driver, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    assert worker_devices("auto") == ("cuda:0", "cuda:1")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    assert worker_devices("auto") == ("",)
    assert worker_devices(2) == ("", "")
    assert worker_devices(0) == ()
    no_driver(driver)
    assert worker_devices("auto") == ("",)


def test_the_number_of_workers_is_a_setting(monkeypatch: pytest.MonkeyPatch):
    for value, expected in (("auto", "auto"), ("3", 3)):
        monkeypatch.setenv("EVALUI_WORKERS", value)
        assert Settings().workers == expected
    monkeypatch.setenv("EVALUI_WORKERS", "-1")
    with pytest.raises(ValueError, match="greater than or equal to 0"):
        Settings()
