"""Linear layers in float32 on a CPU, by oneDNN instead of the BLAS torch came with.

Which of the two is faster depends on the processor, see `fp32`. Their sums differ in the last
digits only.
"""

import weakref
from typing import Any, cast

import torch

from evalui.errors import ModelError


def use_onednn(model: torch.nn.Module) -> int:
    """Let plain float32 linear layers on the CPU compute by oneDNN; how many do.

    Raises:
        ModelError: this torch was built without oneDNN.
    """
    if not torch.backends.mkldnn.is_available():
        raise ModelError(
            "no-onednn",
        )
    layers = [layer for layer in model.modules() if _is_plain_linear(layer)]
    for layer in layers:
        layer.forward = _forward(cast(torch.nn.Linear, layer))
    return len(layers)


def supports_onednn(tensor: torch.Tensor) -> bool:
    """Whether products with the tensor can be computed by oneDNN."""
    return tensor.device.type == "cpu" and tensor.dtype == torch.float32


def onednn_matmul(left: torch.Tensor, right: torch.Tensor) -> torch.Tensor:
    """left @ right.T of two matrices that fit."""
    return torch.ops.mkldnn._linear_pointwise(left, right, None, "none", [], "")


def _is_plain_linear(layer: torch.nn.Module) -> bool:
    # A subclass may compute something else, so the type must be the very one.
    if type(layer) is not torch.nn.Linear:
        return False
    return layer.weight.is_contiguous() and supports_onednn(layer.weight)


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
