import gc
import weakref

import pytest
import torch

from evalui.models.tree_linear import quicken


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
        assert quicken(layers, machine="x86_64") == 2
        assert torch.allclose(layers(states), before, atol=1e-6)


def test_gradients_still_flow():
    layers = net()
    quicken(layers, machine="x86_64")
    layers(torch.randn(1, 8)).sum().backward()
    assert layers[0].weight.grad is not None


def test_a_layer_is_freed_with_its_last_holder():
    layers = net()
    assert quicken(layers, machine="x86_64") == 2
    first = weakref.ref(layers[0].weight)
    gc.disable()  # else the collection could come in between
    try:
        del layers
        assert first() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("machine", ["arm64", ""])
def test_where_it_was_not_measured_nothing_is_changed(machine: str):
    assert quicken(net(), machine=machine) == 0


def test_coarser_numbers_are_left_alone():
    assert quicken(net().bfloat16(), machine="x86_64") == 0
