from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from evalui.models.local.loading import LoadedModel, load
from evalui.models.local.scorer import max_batch_tokens, prefix_cache_bytes


@dataclass
class Memory:
    available: int


@pytest.fixture(scope="module")
def causal(small_folder: Path) -> LoadedModel:
    return load(small_folder, dtype="float32", device="cpu", threads=1, eos_ids=frozenset())


def test_a_pass_takes_a_quarter_of_the_free_memory(
    causal: LoadedModel, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(psutil, "virtual_memory", lambda: Memory(2**30))
    # 256 wide, 512 between: (12 * 256 + 4 * 512) floats for each token.
    assert max_batch_tokens(causal) == 2**28 // (4 * (12 * 256 + 4 * 512))


def test_prefixs_take_an_eighth_of_the_free_memory_up_to_a_limit(
    causal: LoadedModel, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(psutil, "virtual_memory", lambda: Memory(2**30))
    assert prefix_cache_bytes(causal) == 2**27
    monkeypatch.setattr(psutil, "virtual_memory", lambda: Memory(2**40))
    assert prefix_cache_bytes(causal) == 2**32


def test_one_token_always_fits(causal: LoadedModel, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(psutil, "virtual_memory", lambda: Memory(0))
    assert max_batch_tokens(causal) == 1
