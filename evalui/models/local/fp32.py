"""Which library multiplies float32 matrices on a processor: measured once, then kept in a file.

torch brings two, a BLAS (MKL on x86-64) and oneDNN. Which is faster depends on the processor: on an
AMD EPYC (Zen 5) one core reaches 90 GFLOP/s with MKL and 200 with oneDNN, on a recent Intel Xeon
150 with both. Their sums differ in the last digits, so a choice is made once and then stays.
"""

import json
import logging
import os
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from evalui.errors import StoreError
from evalui.models.base import ModelEntry

if TYPE_CHECKING:
    from evalui.settings import Settings

Library = Literal["onednn", "blas"]
LIBRARIES: tuple[Library, ...] = get_args(Library)
TITLES: Mapping[Library, str] = {"onednn": "oneDNN", "blas": "torch's own"}

FILE = "fp32.json"
# Rows of a batch, and inputs and outputs of linear layers as models have them.
_SHAPES = ((64, 768, 2048), (256, 2048, 768), (512, 768, 2048), (512, 1024, 1024))
_REPETITIONS = 7
# The ratio of two measurements on one machine varies by some 2 %. Within this, torch's own stays.
_MIN_SPEEDUP = 1.1
_MEASURED_ARCHITECTURES = frozenset(
    {"x86_64", "AMD64"}
)  # elsewhere nobody has compared what oneDNN computes

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class MatmulRate:
    """GFLOP/s of one core, for products of (rows, inner) and (inner, columns) by each library."""

    rows: int
    inner: int
    columns: int
    onednn: float
    blas: float

    def seconds(self, library: Library) -> float:
        """What a product takes by this library."""
        work = 2e-9 * self.rows * self.inner * self.columns
        return work / (self.onednn if library == "onednn" else self.blas)


@dataclass(frozen=True, slots=True)
class LibraryChoice:
    """The library for the processor and torch version that `machine_name` names, and why.

    Without `rates` there was nothing to choose from.
    """

    library: Library
    machine_name: str
    rates: tuple[MatmulRate, ...]


Measure = Callable[[], tuple[MatmulRate, ...]]


def measure() -> tuple[MatmulRate, ...]:
    """Measure both libraries in turn, in half a second or so; nothing where only one can be used.

    Seconds are those of one thread on the processor, the least of several tries, so that other
    work on the machine does not count.
    """
    import torch

    if (
        platform.machine() not in _MEASURED_ARCHITECTURES
        or not torch.backends.mkldnn.is_available()
    ):
        return ()
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.inference_mode():
            return tuple(_rate(*shape) for shape in _SHAPES)
    finally:
        torch.set_num_threads(threads)


def choose(rates: Sequence[MatmulRate]) -> Library:
    """oneDNN if it is clearly faster over all shapes together, else torch's own."""
    onednn = sum(rate.seconds("onednn") for rate in rates)
    blas = sum(rate.seconds("blas") for rate in rates)
    return "onednn" if blas > _MIN_SPEEDUP * onednn else "blas"


def library_of(entry: ModelEntry, settings: "Settings") -> Library:
    """The library for a model: the one its entry names, else the server, else the measured one."""
    if pinned := entry.options.get("fp32"):
        return pinned
    return (
        library_choice(settings.data_dir).library if settings.fp32 == "measured" else settings.fp32
    )


def library_choice(folder: Path, *, measured: Measure = measure) -> LibraryChoice:
    """The choice kept in the folder for this machine; if there is none, it is made and kept.

    Where it cannot be kept it holds for this process, and the log says so once.
    """
    on = machine()
    if kept := _read_choices(folder / FILE).get(on):
        return kept
    choice = _measured_choice(on, measured)
    try:
        return _store_choice(folder / FILE, choice, replacing=False)
    except OSError as error:
        _warn_once(
            f"{folder / FILE} cannot be written ({error.strerror}). fp32:{choice.library} was "
            "measured for this process only; set EVALUI_FP32 so that runs repeat exactly."
        )
        return choice


def remeasure(
    folder: Path, *, measured: Measure = measure
) -> tuple[LibraryChoice | None, LibraryChoice]:
    """Measure again and keep the new choice; the one before, None if there was none, and the new.

    Raises:
        StoreError: the choice cannot be written.
    """
    path, rates = folder / FILE, measured()
    before = _read_choices(path).get(machine())
    try:
        return before, _store_choice(
            path, LibraryChoice(choose(rates), machine(), rates), replacing=True
        )
    except OSError as error:
        raise StoreError(
            "not-written",
            path=str(path),
            reason=str(error.strerror),
        ) from error


@cache
def machine() -> str:
    """The processor and the version of torch, for which a choice holds."""
    from importlib.metadata import version

    return f"{processor()}, torch {version('torch')}"


def processor() -> str:
    """The kind of processor, as exactly as Linux says it; elsewhere what Python knows of it."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    parts = [line.partition(":") for line in lines]
    fields = {name.strip(): value.strip() for name, _, value in parts}
    known = [f"{name} {fields[name]}" for name in ("cpu family", "model") if name in fields]
    name = fields.get("model name") or platform.processor()
    return ", ".join(part for part in (platform.machine(), name, *known) if part)


def _rate(rows: int, inner: int, columns: int) -> MatmulRate:
    import torch

    from evalui.models.local.onednn_linear import onednn_matmul

    # Any numbers will do. Drawn ones would move torch's dice.
    left = torch.linspace(-1, 1, rows * inner).view(rows, inner)
    right = torch.linspace(-1, 1, columns * inner).view(columns, inner)
    ways = (lambda: onednn_matmul(left, right), lambda: torch.nn.functional.linear(left, right))
    for way in ways:
        way()
    tries = [[_thread_seconds(way) for way in ways] for _ in range(_REPETITIONS)]
    work = 2e-9 * rows * inner * columns
    onednn, blas = (work / min(column) for column in zip(*tries, strict=True))
    return MatmulRate(rows, inner, columns, round(onednn, 1), round(blas, 1))


def _thread_seconds(way: Callable[[], object]) -> float:
    began = time.thread_time()
    way()
    return max(time.thread_time() - began, 1e-6)  # some clocks stand still for that long


@cache
def _measured_choice(on: str, measured: Measure) -> LibraryChoice:
    rates = measured()
    return LibraryChoice(choose(rates), on, rates)


@cache
def _warn_once(sentence: str) -> None:
    _LOG.warning("%s", sentence)


def _store_choice(path: Path, choice: LibraryChoice, *, replacing: bool) -> LibraryChoice:
    """Write the choice beside those for other machines; what the file then has for this one."""
    kept = _read_choices(path)
    if not replacing and choice.machine_name in kept:  # another process was faster
        return kept[choice.machine_name]
    kept[choice.machine_name] = choice
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    whole = path.with_name(f"{path.name}.{os.getpid()}")
    written = {
        on: {"library": each.library, "rates": [asdict(rate) for rate in each.rates]}
        for on, each in kept.items()
    }
    try:
        whole.write_text(json.dumps(written, indent=1), encoding="utf-8")
        whole.replace(path)
    finally:
        whole.unlink(missing_ok=True)
    return choice


def _read_choices(path: Path) -> dict[str, LibraryChoice]:
    """The choices in the file, by machine; none if it is missing or damaged, which is logged."""
    try:
        written: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return {on: _parse_choice(on, told) for on, told in written.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, LookupError, AttributeError) as error:
        _LOG.warning("%s cannot be read, so both libraries are measured again: %s", path, error)
        return {}


def _parse_choice(on: str, written: Mapping[str, Any]) -> LibraryChoice:
    library = written["library"]
    if library not in LIBRARIES:
        raise ValueError(f"{library!r} is not one of {', '.join(LIBRARIES)}")
    rates = tuple(MatmulRate(**rate) for rate in written["rates"])
    return LibraryChoice(library, on, rates)
