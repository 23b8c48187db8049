import gc
import weakref

import pytest
import torch

from evalui.errors import ModelError
from evalui.models.local.fp32 import use_onednn


class Twice(torch.nn.Linear):
    def forward(self, input: torch.Tensor) -> torch.Tensor:
        return 2 * super().forward(input)


def net() -> torch.nn.Sequential:
    return torch.nn.Sequential(
        torch.nn.Linear(8, 6), Twice(6, 5), torch.nn.Linear(5, 4, bias=False)
    )


def test_plain_layers_compute_the_same_by_another_way():
    layers, states = net(), torch.randn(2, 3, 8)
    with torch.inference_mode():
        before = layers(states)
        assert use_onednn(layers) == 2
        assert torch.allclose(layers(states), before, atol=1e-6)


def test_gradients_still_flow():
    layers = net()
    use_onednn(layers)
    layers(torch.randn(1, 8)).sum().backward()
    assert layers[0].weight.grad is not None


def test_a_layer_is_freed_with_its_last_holder():
    layers = net()
    assert use_onednn(layers) == 2
    first = weakref.ref(layers[0].weight)
    gc.disable()  # else the collection could come in between
    try:
        del layers
        assert first() is None
    finally:
        gc.enable()


def test_a_torch_without_onednn_is_an_error(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: False)
    with pytest.raises(ModelError, match="this torch was built without it"):
        use_onednn(net())


def test_coarser_numbers_are_left_alone():
    assert use_onednn(net().bfloat16()) == 0
