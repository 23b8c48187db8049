"""How full the memory of the machine and of its GPUs is; no model is loaded, no device opened."""

import logging
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import Any, Literal, cast

from evalui.errors import SpecError
from evalui.models.base import ModelEntry, traits_of

_VISIBLE = "CUDA_VISIBLE_DEVICES"  # the GPUs that a process sees, by the numbers of the driver
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
    value = os.environ.get(_VISIBLE)
    if value is None:
        return tuple(gpus)
    names = [name.strip() for name in value.split(",")]
    if names[0].startswith(("GPU-", "MIG-")):
        return tuple(gpus)
    known = {str(number): gpu for number, gpu in enumerate(gpus)}
    return tuple(known[name] for name in takewhile(known.__contains__, names))


def worker_devices(workers: int | Literal["auto"]) -> tuple[str, ...]:
    """The device of each worker that a server starts, "" for one that may use any.

    "auto" is one for each GPU that programs here see, or one on the CPU where there is none.
    """
    if workers != "auto":
        return ("",) * workers
    count = len(visible_gpus(gpus()))
    return tuple(f"cuda:{number}" for number in range(count)) if count > 1 else ("",)


def use_device(name: str) -> None:
    """Let this process and those it starts see one device only, before torch is imported; raises
    as `visible_device` does.
    """
    if name:
        os.environ[_VISIBLE] = visible_device(name)


def visible_device(name: str) -> str:
    """The CUDA_VISIBLE_DEVICES of a process that is to use one of the devices seen here alone.

    `name` is "cpu", or "cuda:1" for the second of the GPUs that are visible here.

    Raises:
        SpecError: it is neither, or there are not so many GPUs.
    """
    kind, _, number = name.partition(":")
    if name == "cpu":
        return ""
    if kind != "cuda" or not number.isdecimal():
        raise SpecError("device-unknown", device=name)
    visible = os.environ.get(_VISIBLE)
    listed = map(str, range(len(gpus()))) if visible is None else visible.split(",")
    every = [each.strip() for each in listed if each.strip()]
    if int(number) >= len(every):
        raise SpecError("device-missing", device=name, n=len(every))
    return every[int(number)]


def on_own_device(entry: ModelEntry, device: str) -> ModelEntry:
    """The entry as a worker opens it that sees this device only, under the number 0."""
    if device.startswith("cuda:") and entry.device.startswith("cuda:"):
        return replace(entry, device="cuda")
    return entry


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
