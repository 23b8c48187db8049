"""What the workers are at, and how full the memory of the machine and of its GPUs is.

A worker tells what it does; everybody who opens the database may read it. Nothing here loads a
model or opens a device.
"""

import logging
import os
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, cast

from evalui.errors import StoreError
from evalui.models.base import ModelEntry, traits_of
from evalui.runs.database.connection import Database

WORKER_TIMEOUT_S = 20.0  # a worker that has told nothing for so long is not there

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class WorkerRow:
    """One worker: `model` is "" while it is idle, `device` "" until the model is loaded.

    `run` is the id of its run, "" while it tries a model out. `bytes` is what its processes hold
    of the machine's memory.
    """

    name: str
    seen: float
    device: str = ""
    model: str = ""
    run: str = ""
    bytes: int = 0

    @property
    def is_busy(self) -> bool:
        """Whether it works on anything."""
        return bool(self.model or self.run)

    @property
    def has_loaded_model(self) -> bool:
        """Whether its model is loaded."""
        return bool(self.model and self.device)


@dataclass(frozen=True, slots=True)
class DeviceMemory:
    """A device's memory in bytes. `utilization` is the share of time it computes, or None."""

    name: str
    total: int
    free: int
    utilization: float | None = None

    @property
    def used(self) -> int:
        """What is taken by anybody."""
        return self.total - self.free


class WorkerStatus:
    """What one worker tells of itself.

    That it cannot be written (a full disk) is logged and stops no work: it is for the eye only.
    """

    def __init__(self, database: Database, name: str) -> None:
        self._database = database
        self._row = WorkerRow(name, 0.0)
        # Protects the order: the heart must not write what the worker did before.
        self._lock = threading.Lock()

    def update(self, *, model: str = "", run: str = "", device: str = "") -> None:
        """Tell what the worker does from now on; nothing is idle."""
        with self._lock:
            self._row = WorkerRow(self._row.name, 0.0, device, model, run)
            self._write()

    def refresh(self) -> None:
        """Tell that the worker is there, doing what it did."""
        with self._lock:
            self._write()

    def remove(self) -> None:
        """Take the worker off the list, and those with it that died without a word."""
        values = (self._row.name, time.time() - WORKER_TIMEOUT_S)
        try:
            with self._database.writing() as connection:
                connection.execute("DELETE FROM worker WHERE name = ? OR seen < ?", values)
        except StoreError as error:
            _log.warning("The worker cannot be taken off the list: %s", error)

    def _write(self) -> None:
        row = self._row
        values = (row.name, time.time(), row.device, row.model, row.run, _process_tree_bytes())
        try:
            with self._database.writing() as connection:
                connection.execute("INSERT OR REPLACE INTO worker VALUES (?,?,?,?,?,?)", values)
        except StoreError as error:
            _log.warning("What the worker does cannot be written: %s", error)


def workers(database: Database) -> list[WorkerRow]:
    """The workers that were seen lately, by name."""
    rows = database.rows(
        "SELECT * FROM worker WHERE seen > ? ORDER BY name", (time.time() - WORKER_TIMEOUT_S,)
    )
    return [WorkerRow(**{name: row[name] for name in WorkerRow.__slots__}) for row in rows]


def device_of(entry: ModelEntry) -> str:
    """Where a model computes: a device, "endpoint", or "rule" for one that only follows a rule."""
    if traits_of(entry).remote:
        return "endpoint"
    if traits_of(entry).rule_based:
        return "rule"
    if entry.device != "auto":
        return entry.device
    return "cuda" if has_gpu() else "cpu"


def has_gpu() -> bool:
    """Whether models go to a GPU here: the driver has one, and this process may see it."""
    return bool(visible_gpus(gpus()))


def visible_gpus(gpus: Sequence[DeviceMemory]) -> tuple[DeviceMemory, ...]:
    """Those of the driver's GPUs that programs here see, in the order of their numbers.

    CUDA_VISIBLE_DEVICES lists them, up to the first that is none. Where it names them by their
    long identifiers instead of numbers, all count.
    """
    told = os.environ.get("CUDA_VISIBLE_DEVICES")
    if told is None:
        return tuple(gpus)
    names = [name.strip() for name in told.split(",")]
    if names[0].startswith(("GPU-", "MIG-")):
        return tuple(gpus)
    known = {str(number): gpu for number, gpu in enumerate(gpus)}
    return tuple(known[name] for name in takewhile(known.__contains__, names))


def machine_memory() -> DeviceMemory:
    """The memory of the machine; what its file cache holds counts as free."""
    import psutil

    told = psutil.virtual_memory()
    return DeviceMemory("", told.total, told.available)


def gpus() -> tuple[DeviceMemory, ...]:
    """The NVIDIA GPUs of the machine in the driver's order, () without a driver.

    Asks the driver's own library, so that nothing is computed and no memory of a GPU is taken.
    """
    import pynvml

    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError:
        return ()
    try:
        return tuple(_gpu(number) for number in range(pynvml.nvmlDeviceGetCount()))
    except pynvml.NVMLError as error:
        _log.warning("The GPU driver gives no answer: %s", error)
        return ()
    finally:
        pynvml.nvmlShutdown()


def _gpu(number: int) -> DeviceMemory:
    import pynvml

    handle = pynvml.nvmlDeviceGetHandleByIndex(number)
    name = str(pynvml.nvmlDeviceGetName(handle))
    try:
        told = pynvml.nvmlDeviceGetMemoryInfo(handle)
        total, free = int(told.total), int(told.free)
    except pynvml.NVMLError:  # it has none of its own and shares that of the machine
        total, free = machine_memory().total, machine_memory().free
    try:
        rates = cast(Any, pynvml.nvmlDeviceGetUtilizationRates(handle))  # typed as a C field
        busy = float(rates.gpu) / 100
    except pynvml.NVMLError:  # a slice of a GPU is not told of
        busy = None
    return DeviceMemory(name, total, free, busy)


def _process_tree_bytes() -> int:
    """Bytes of this process and of those it started: a model may live in one of its own."""
    import psutil

    own = psutil.Process()
    try:
        children = own.children(recursive=True)
    except psutil.Error:  # the machine shows no processes
        children = []
    total = 0
    for process in (own, *children):
        try:
            total += process.memory_info().rss
        except psutil.Error:  # it ended just now, or is not shown
            continue
    return total
