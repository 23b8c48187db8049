"""How full the memory of the machine and of its GPUs is; no model is loaded, no device opened."""

import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, cast

from evalui.models.base import ModelEntry, traits_of

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class DeviceMemory:
    """A device's memory in bytes. `utilization` is the share of time it computes, or None."""

    name: str
    total: int
    free: int
    utilization: float | None = None

    @property
    def used(self) -> int:
        """Bytes that are in use."""
        return self.total - self.free


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
    value = os.environ.get("CUDA_VISIBLE_DEVICES")
    if value is None:
        return tuple(gpus)
    names = [name.strip() for name in value.split(",")]
    if names[0].startswith(("GPU-", "MIG-")):
        return tuple(gpus)
    known = {str(number): gpu for number, gpu in enumerate(gpus)}
    return tuple(known[name] for name in takewhile(known.__contains__, names))


def machine_memory() -> DeviceMemory:
    """The memory of the machine; what its file cache holds counts as free."""
    import psutil

    memory = psutil.virtual_memory()
    return DeviceMemory("", memory.total, memory.available)


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
        memory = pynvml.nvmlDeviceGetMemoryInfo(handle)
        total, free = int(memory.total), int(memory.free)
    except pynvml.NVMLError:  # it has none of its own and shares that of the machine
        total, free = machine_memory().total, machine_memory().free
    try:
        rates = cast(Any, pynvml.nvmlDeviceGetUtilizationRates(handle))  # typed as a C field
        busy = float(rates.gpu) / 100
    except pynvml.NVMLError:  # not reported for a slice of a GPU
        busy = None
    return DeviceMemory(name, total, free, busy)


def process_tree_bytes() -> int:
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
