from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from evalui.models.local.loading import Causal, load
from evalui.models.local.tree.memory import room, trunk_room


@dataclass
class Memory:
    available: int


@pytest.fixture(scope="module")
def causal(small_folder: Path) -> Causal:
    return load(small_folder, dtype="float32", device="cpu", threads=1, ends=frozenset())


def test_a_pass_takes_a_quarter_of_the_free_memory(causal: Causal, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(psutil, "virtual_memory", lambda: Memory(2**30))
    # 256 wide, 512 between: (12 * 256 + 4 * 512) floats for each token.
    assert room(causal) == 2**28 // (4 * (12 * 256 + 4 * 512))


def test_trunks_take_an_eighth_of_the_free_memory_up_to_a_limit(
    causal: Causal, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(psutil, "virtual_memory", lambda: Memory(2**30))
    assert trunk_room(causal) == 2**27
    monkeypatch.setattr(psutil, "virtual_memory", lambda: Memory(2**40))
    assert trunk_room(causal) == 2**32


def test_there_is_room_for_one_token_at_least(causal: Causal, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(psutil, "virtual_memory", lambda: Memory(0))
    assert room(causal) == 1
