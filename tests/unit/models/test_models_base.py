"""Traits of backends, which stand in for their names everywhere else."""

import ast
import hashlib
from pathlib import Path

import pytest
from source_trees import nodes_of

import evalui
from evalui.models import BACKENDS, BackendTraits, ModelEntry
from evalui.models.base import loads_weights, sampling_seed, traits_of
from evalui.types import Generate

PRODUCT = Path(evalui.__file__).parent


@pytest.mark.parametrize(
    ("backend", "remote", "rule_based", "loads"),
    [
        ("openai", True, False, False),
        ("scripted", False, True, False),
        ("transformers", False, False, True),
        ("vllm", False, False, True),
    ],
)
def test_the_traits_of_the_backends(backend: str, remote: bool, rule_based: bool, loads: bool):
    entry = ModelEntry("m", backend)
    traits = traits_of(entry)
    assert (traits.remote, traits.rule_based, loads_weights(entry)) == (remote, rule_based, loads)


def test_an_unknown_backend_has_no_traits_and_loads_nothing():
    entry = ModelEntry("m", "recorded")
    assert traits_of(entry) == BackendTraits()
    assert not loads_weights(entry)


def test_a_model_needs_one_accelerator_unless_its_backend_states_more():
    options = {"tensor_parallel": 2}
    entries = [ModelEntry("m", name, options=options) for name in ("transformers", "vllm")]
    assert [BACKENDS[each.backend].accelerators(each) for each in entries] == [1, 2]


def test_no_code_compares_the_name_of_a_backend():
    compared = [
        f"{path.relative_to(PRODUCT)}:{node.lineno}"
        for path in sorted(PRODUCT.rglob("*.py"))
        for node in nodes_of(path)
        if isinstance(node, ast.Compare)
        and isinstance(node.left, ast.Attribute)
        and node.left.attr == "backend"
        and not (isinstance(node.comparators[0], ast.Name) and node.comparators[0].id == "BACKENDS")
    ]
    assert compared == []


@pytest.mark.parametrize("bits", [31, 63])
def test_the_seed_of_the_first_repeat_is_that_of_a_run_without_repeats(bits: int):
    request = Generate("What?", temperature=0.7)
    digest = hashlib.sha256(b"5|'What?'").digest()
    # As earlier versions made it, so that kept replies and figures stay what they are.
    assert sampling_seed(5, request, bits=bits) == int.from_bytes(digest[: bits // 8 + 1]) >> 1


def test_every_repeat_prompt_and_entry_has_a_seed_of_its_own():
    requests = [Generate(text, repeat=repeat) for text in "ab" for repeat in range(20)]
    seeds = {sampling_seed(own, each) for own in range(3) for each in requests}
    assert len(seeds) == 3 * len(requests)
