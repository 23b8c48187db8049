"""Which library multiplies float32 matrices on a CPU: measured once, stored in a file, applied.

torch comes with two, a BLAS (MKL on x86-64) and oneDNN. Which is faster depends on the processor:
on an AMD EPYC (Zen 5) one core reaches 90 GFLOP/s with MKL and 200 with oneDNN, on a recent Intel
Xeon 150 with both. Their sums differ in the last digits, so the choice is made once per machine.

torch is imported by the functions that compute; the report reads the choice without it.
"""

import json
import logging
import os
import platform
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from evalui.errors import ModelError
from evalui.models.base import ModelEntry

if TYPE_CHECKING:
    import torch

    from evalui.settings import Settings

Library = Literal["onednn", "blas"]
LIBRARIES: tuple[Library, ...] = get_args(Library)

FILE = "fp32.json"
# Rows of a batch, and inputs and outputs of linear layers as models have them.
_SHAPES = ((64, 768, 2048), (256, 2048, 768), (512, 768, 2048), (512, 1024, 1024))
_REPETITIONS = 7
# The ratio of two measurements on one machine varies by some 2 %. Within this, torch's own stays.
_MIN_SPEEDUP = 1.1
# On other architectures the results of oneDNN have not been compared.
_MEASURED_ARCHITECTURES = frozenset({"x86_64", "AMD64"})

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
        """The time of one such product by this library."""
        work = 2e-9 * self.rows * self.inner * self.columns
        return work / (self.onednn if library == "onednn" else self.blas)


@dataclass(frozen=True, slots=True)
class LibraryChoice:
    """The library for the processor and torch version that `machine_name` names.

    `rates` are the measurements it follows from, () if only one library can be used.
    """

    library: Library
    machine_name: str
    rates: tuple[MatmulRate, ...]


Measure = Callable[[], tuple[MatmulRate, ...]]


def measure() -> tuple[MatmulRate, ...]:
    """Measure both libraries in about half a second; () where only one can be used.

    Each rate is from the least of several times, in CPU seconds of one thread, so that other
    load on the machine does not count.
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
    """oneDNN if it is clearly faster over all shapes together, else the BLAS."""
    onednn = sum(rate.seconds("onednn") for rate in rates)
    blas = sum(rate.seconds("blas") for rate in rates)
    return "onednn" if blas > _MIN_SPEEDUP * onednn else "blas"


def library_of(entry: ModelEntry, settings: "Settings") -> Library:
    """The library for a model: as its entry states, else the settings, else as measured."""
    if pinned := entry.options.get("fp32"):
        return pinned
    return (
        library_choice(settings.data_dir).library if settings.fp32 == "measured" else settings.fp32
    )


def library_choice(folder: Path, *, measured: Measure = measure) -> LibraryChoice:
    """The choice stored in the folder for this machine; if there is none, measure and store it.

    If it cannot be stored it holds for this process only, which is logged once.
    """
    name = machine()
    if stored := _read_choices(folder / FILE).get(name):
        return stored
    choice = _measured_choice(name, measured)
    try:
        return _store_choice(folder / FILE, choice)
    except OSError as error:
        _warn_once(
            f"{folder / FILE} cannot be written ({error.strerror}). fp32:{choice.library} was "
            "measured for this process only; set EVALUI_FP32 so that runs repeat exactly."
        )
        return choice


@cache
def machine() -> str:
    """The processor and the version of torch, for which a choice holds."""
    from importlib.metadata import version

    return f"{processor()}, torch {version('torch')}"


def processor() -> str:
    """The processor's model as /proc/cpuinfo reports it, elsewhere as Python does."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    parts = [line.partition(":") for line in lines]
    fields = {name.strip(): value.strip() for name, _, value in parts}
    known = [f"{name} {fields[name]}" for name in ("cpu family", "model") if name in fields]
    name = fields.get("model name") or platform.processor()
    return ", ".join(part for part in (platform.machine(), name, *known) if part)


def _rate(rows: int, inner: int, columns: int) -> MatmulRate:
    import torch

    # Any numbers will do. Random ones would advance torch's generator.
    left = torch.linspace(-1, 1, rows * inner).view(rows, inner)
    right = torch.linspace(-1, 1, columns * inner).view(columns, inner)
    products = (lambda: onednn_matmul(left, right), lambda: torch.nn.functional.linear(left, right))
    for product in products:
        product()
    times = [[_thread_seconds(product) for product in products] for _ in range(_REPETITIONS)]
    work = 2e-9 * rows * inner * columns
    onednn, blas = (work / min(column) for column in zip(*times, strict=True))
    return MatmulRate(rows, inner, columns, round(onednn, 1), round(blas, 1))


def _thread_seconds(product: Callable[[], object]) -> float:
    began = time.thread_time()
    product()
    return max(time.thread_time() - began, 1e-6)  # the resolution of some clocks


@cache
def _measured_choice(machine_name: str, measured: Measure) -> LibraryChoice:
    rates = measured()
    return LibraryChoice(choose(rates), machine_name, rates)


@cache
def _warn_once(sentence: str) -> None:
    _LOG.warning("%s", sentence)


def _store_choice(path: Path, choice: LibraryChoice) -> LibraryChoice:
    """Write the choice beside those of other machines; returns the stored one for this machine."""
    choices = _read_choices(path)
    if choice.machine_name in choices:  # another process was faster
        return choices[choice.machine_name]
    choices[choice.machine_name] = choice
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    values = {
        name: {"library": each.library, "rates": [asdict(rate) for rate in each.rates]}
        for name, each in choices.items()
    }
    try:
        temporary.write_text(json.dumps(values, indent=1), encoding="utf-8")
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
    return choice


def _read_choices(path: Path) -> dict[str, LibraryChoice]:
    """The choices in the file by machine; {} if it is missing, or damaged, which is logged."""
    try:
        content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return {name: _parse_choice(name, values) for name, values in content.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, LookupError, AttributeError) as error:
        _LOG.warning("%s cannot be read, so both libraries are measured again: %s", path, error)
        return {}


def _parse_choice(machine_name: str, values: Mapping[str, Any]) -> LibraryChoice:
    library = values["library"]
    if library not in LIBRARIES:
        raise ValueError(f"{library!r} is not one of {', '.join(LIBRARIES)}")
    rates = tuple(MatmulRate(**rate) for rate in values["rates"])
    return LibraryChoice(library, machine_name, rates)


def use_onednn(model: "torch.nn.Module") -> int:
    """Make plain float32 linear layers on the CPU compute by oneDNN; returns how many do.

    Raises:
        ModelError: this torch was built without oneDNN.
    """
    import torch

    if not torch.backends.mkldnn.is_available():
        raise ModelError("no-onednn")
    layers = [layer for layer in model.modules() if _is_plain_linear(layer)]
    for layer in layers:
        layer.forward = _forward(cast(torch.nn.Linear, layer))
    return len(layers)


def supports_onednn(tensor: "torch.Tensor") -> bool:
    """Whether products with the tensor can be computed by oneDNN."""
    import torch

    return tensor.device.type == "cpu" and tensor.dtype == torch.float32


def onednn_matmul(left: "torch.Tensor", right: "torch.Tensor") -> "torch.Tensor":
    """left @ right.T, (m, k) and (n, k) -> (m, n)."""
    import torch

    return torch.ops.mkldnn._linear_pointwise(left, right, None, "none", [], "")


def _is_plain_linear(layer: "torch.nn.Module") -> bool:
    import torch

    # A subclass may compute something else, so the type must be this one exactly.
    if type(layer) is not torch.nn.Linear:
        return False
    return layer.weight.is_contiguous() and supports_onednn(layer.weight)


def _forward(plain: "torch.nn.Linear") -> Any:
    import torch

    # The layer refers to this function. If the function referred to the layer, too, the memory of
    # both would not be freed before the next garbage collection.
    itself = weakref.ref(plain)
    linear = torch.ops.mkldnn._linear_pointwise

    def forward(states: "torch.Tensor") -> "torch.Tensor":
        layer = cast(torch.nn.Linear, itself())  # it is alive: it is the caller
        if torch.is_grad_enabled() or states.dtype != torch.float32:
            return torch.nn.functional.linear(states, layer.weight, layer.bias)
        return linear(states, layer.weight, layer.bias, "none", [], "")

    return forward
