"""Reads and writes on a device that is made up, with tensors that have a shape but no numbers.

A program of its own: `python -m tests.unit.models.far_device "Qwen2"`. torch knows one made-up
device in a process, for good. Operations on tensors of two devices fail as on a GPU, and so does
whatever a GPU would have to be waited for, except where they are supplied.
"""

import sys
from typing import Any
from unittest.mock import patch

import torch
from torch._subclasses import fake_tensor
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.utils import backend_registration
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from evalui.models.local import forward, generator
from evalui.models.local.forward import PaddedNetwork, TreeNetwork
from evalui.models.local.generator import TokenGenerator
from evalui.models.local.kv_cache import CachedModel
from evalui.models.local.loading import LoadedModel
from evalui.models.local.prefix_tree import plan_tree_batches
from evalui.models.local.self_check import UNSUPPORTED, CheckedPaths
from evalui.models.scoring_requests import continuation_query, plan_batches
from tests.unit.models.tree_architectures import tiny

FAR = "faraway"
SHOTS = tuple(range(50, 90))
QUESTIONS = [
    continuation_query(4 * stem + option, (*SHOTS, *range(100 + stem, 120)), (option, 7, stem + 20))
    for stem in range(12)
    for option in range(4)
]


class Module:
    """What torch asks of the made-up device; nothing runs there."""

    def is_available(self) -> bool:
        return False

    def is_initialized(self) -> bool:
        return True

    def _is_in_bad_fork(self) -> bool:
        return False

    def current_device(self) -> int:
        return 0

    def device_count(self) -> int:
        return 1

    def manual_seed_all(self, _seed: int) -> None:
        pass


class Together(TorchDispatchMode):
    """Refuses an index on the CPU, too, which torch would move without a word."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        tensors = [each for each in tree_leaves((args, kwargs)) if isinstance(each, torch.Tensor)]
        places = {each.device.type for each in tensors if each.dim()}
        assert len(places) < 2, f"{func} of tensors on {sorted(places)}"
        return func(*args, **(kwargs or {}))


def made_up() -> None:
    torch.utils.rename_privateuse1_backend(FAR)
    torch._register_device_module(FAR, Module())
    guard = backend_registration._DummyDeviceGuard()
    torch._C._acc.register_python_privateuseone_device_guard(guard)


def zeros(tensor: torch.Tensor) -> list[int]:
    """Zeros in the place of numbers that are fetched from the device."""
    assert tensor.device.type == FAR
    return [0] * len(tensor)


def single(scores: torch.Tensor) -> torch.Tensor:
    assert scores.device.type == FAR
    assert scores.dtype == torch.float32, "too coarse for a sum over a vocabulary"
    return scores


def whatever(scores: torch.Tensor) -> torch.Tensor:
    assert scores.device.type == FAR
    return scores


def read(causal: LoadedModel) -> None:
    for batch in plan_batches(QUESTIONS, token_budget=500, max_logit_rows=99):
        PaddedNetwork(causal).compute_logprobs(batch)


def read_over_tries(causal: LoadedModel) -> None:
    tree = TreeNetwork(causal, prefix_cache_bytes=2**20)
    batches = list(plan_tree_batches(QUESTIONS, token_budget=500, max_logit_rows=99))
    assert len(batches) > 1, "the prefix is cached for a second batch"
    assert batches[0].prefix
    for tree_batch in batches:
        tree.compute_logprobs(tree_batch)


def write(causal: LoadedModel) -> None:
    for temperature in (0.0, 1.0):
        prompts = [each.tokens for each in QUESTIONS[:9]]
        cached = CachedModel(causal)
        checked = CheckedPaths(
            cached="" if cached.is_supported else UNSUPPORTED,
            shared_prefix="" if cached.supports_shared_prefix else UNSUPPORTED,
        )
        written = TokenGenerator(causal, checked).generate(
            prompts,
            max_tokens=3,
            temperature=temperature,
            seeds=range(9),
            stop_check=lambda _, __: False,
        )
        assert [text.ids for _, text in written] == [(0, 0, 0)] * 9


WAYS = {"read": read, "read_over_tries": read_over_tries, "write": write}


def main(names: list[str]) -> None:
    made_up()
    for name in names:
        numberless = FakeTensorMode()
        with numberless, torch.device(FAR):
            model = tiny(name, torch.bfloat16).model
        for way in WAYS.values():
            with numberless, Together():
                way(LoadedModel(model, torch.device(FAR), frozenset()))


if __name__ == "__main__":
    with (
        patch.object(fake_tensor, "CONSTANT_NUMEL_LIMIT", -1),  # else tiny ones are real
        patch.object(forward, "check_finite", single),
        patch.object(forward, "to_list", zeros),
        patch.object(generator, "check_finite", whatever),
        patch.object(generator, "to_list", zeros),
    ):
        main(sys.argv[1:])
