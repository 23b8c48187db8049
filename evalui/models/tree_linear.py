"""Linear layers in float32 on a CPU, by oneDNN instead of the BLAS torch came with.

MKL takes a slow path on processors that are not Intel's: on an AMD EPYC (Zen 5) it reaches 90
GFLOP/s on one core where oneDNN reaches 200. The sums differ in the last digits only.
"""

import weakref
from typing import Any, cast

import torch

_MACHINES = frozenset({"x86_64", "AMD64"})  # elsewhere oneDNN was not measured


def quicken(model: torch.nn.Module, *, machine: str) -> int:
    """Let plain float32 linear layers on the CPU compute by oneDNN; how many do.

    `machine` is what `platform.machine()` calls the processor's kind.
    """
    layers = [layer for layer in model.modules() if _plain(layer, machine)]
    for layer in layers:
        layer.forward = _forward(cast(torch.nn.Linear, layer))
    return len(layers)


def fits(tensor: torch.Tensor, *, machine: str) -> bool:
    """Whether products with the tensor are to be computed by oneDNN."""
    single = tensor.device.type == "cpu" and tensor.dtype == torch.float32
    return single and machine in _MACHINES and torch.backends.mkldnn.is_available()


def product(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """left @ right.T of two matrices that fit."""
    return torch.ops.mkldnn._linear_pointwise(left, right, None, "none", [], "")


def _plain(layer: torch.nn.Module, machine: str) -> bool:
    # A subclass may compute something else, so the type must be the very one.
    if type(layer) is not torch.nn.Linear:
        return False
    return layer.weight.is_contiguous() and fits(layer.weight, machine=machine)


def _forward(plain: torch.nn.Linear) -> Any:
    # The layer will hold what is made here; if this held the layer, too, neither would be freed
    # before the next garbage collection, nor their memory.
    itself = weakref.ref(plain)
    linear = torch.ops.mkldnn._linear_pointwise

    def forward(states: torch.Tensor) -> torch.Tensor:
        layer = cast(torch.nn.Linear, itself())  # it is there: it is what calls
        if torch.is_grad_enabled() or states.dtype != torch.float32:
            return torch.nn.functional.linear(states, layer.weight, layer.bias)
        return linear(states, layer.weight, layer.bias, "none", [], "")

    return forward
