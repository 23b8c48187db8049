from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
import torch

from evalui.errors import ModelError
from evalui.models.local import forward as tree_network
from evalui.models.local import prefix_tree
from evalui.models.local.forward import OutOfMemory, PaddedNetwork, TreeNetwork
from evalui.models.local.fp32 import LIBRARIES
from evalui.models.local.loading import LoadedModel, load
from evalui.models.local.prefix_tree import TreeBatch
from evalui.models.local.scorer import Scorer
from evalui.models.local.self_check import check_paths
from evalui.models.local.tree_attention import TreeAttention, UnsupportedArchitecture
from evalui.models.scoring_requests import LogprobQuery, continuation_query, plan_batches
from tests.unit.models.checked_models import notes, scorer
from tests.unit.models.tree_architectures import STRETCHED, tiny

SHOTS = tuple(range(50, 90))
# Options that share nothing but the examples, and some that share a stem.
QUESTIONS = [
    continuation_query(4 * stem + option, (*SHOTS, *range(100 + stem, 120)), (option, 7, stem + 20))
    for stem in range(12)
    for option in range(4)
]


@pytest.fixture(params=LIBRARIES)
def causal(small_folder: Path, request: pytest.FixtureRequest) -> LoadedModel:
    loaded = load(small_folder, dtype="float32", device="cpu", threads=1, eos_ids=frozenset())
    return replace(loaded, library=request.param)


_EXPECTED: dict[str, dict[int, list[float]]] = {}


def expected(causal: LoadedModel) -> dict[int, list[float]]:
    """The scores of each question alone, computed once by each library."""
    if causal.library in _EXPECTED:
        return _EXPECTED[causal.library]
    found = _EXPECTED[causal.library] = {}
    for batch in plan_batches(QUESTIONS, token_budget=1, max_logit_rows=99):
        readout = PaddedNetwork(causal).compute_logprobs(batch)
        found |= {q.key: list(readout.logprobs[own]) for q, own in batch.query_slices}
    return found


def assert_right(reader: Scorer, causal: LoadedModel) -> None:
    found = {each.query.key: list(each.logprobs) for each in reader.score(QUESTIONS)}
    for key, scores in expected(causal).items():
        assert found[key] == pytest.approx(scores, abs=1e-4)


def test_trees_give_what_each_text_gives_alone(causal: LoadedModel):
    assert notes(causal) == ""
    reader = scorer(causal, token_budget=4096)
    assert_right(reader, causal)


def test_the_best_token_is_reported_for_each_place(causal: LoadedModel):
    question = LogprobQuery(0, (5, 6, 7), ((2, (1, 2)), (3, (1,))))
    (found,) = scorer(causal, token_budget=99).score([question])
    with torch.inference_mode():
        best = causal.model(torch.tensor([question.tokens])).logits[0].argmax(-1).tolist()
    assert found.best == (best[1], best[1], best[2])


@pytest.mark.parametrize("budget", [1, 7, 60])
def test_a_small_budget_changes_no_score(causal: LoadedModel, budget: int):
    assert_right(scorer(causal, token_budget=budget), causal)


def test_a_device_short_of_memory_gets_smaller_batches_and_loses_no_answer(
    causal: LoadedModel, monkeypatch: pytest.MonkeyPatch
):
    sizes: list[int] = []
    forward = TreeNetwork._forward

    def limited(self: TreeNetwork, tree_batch: object, prefix: object) -> object:
        sizes.append(len(tree_batch.tokens))  # type: ignore[attr-defined]
        if sizes[-1] > 100:
            raise OutOfMemory
        return forward(self, tree_batch, prefix)  # type: ignore[arg-type]

    reader = scorer(causal, token_budget=4096)
    monkeypatch.setattr(TreeNetwork, "_forward", limited)
    assert_right(reader, causal)
    assert max(sizes) > 100 >= sizes[-1]


def test_a_device_that_holds_nothing_is_an_error(
    causal: LoadedModel, monkeypatch: pytest.MonkeyPatch
):
    def full(*_: object) -> None:
        raise OutOfMemory

    reader = scorer(causal, token_budget=4096)
    monkeypatch.setattr(TreeNetwork, "_forward", full)
    with pytest.raises(ModelError, match="ran out of memory"):
        list(reader.score(QUESTIONS))


def test_a_device_too_small_for_the_check_is_noticed(
    causal: LoadedModel, monkeypatch: pytest.MonkeyPatch
):
    def full(*_: object) -> None:
        raise OutOfMemory

    monkeypatch.setattr(PaddedNetwork, "compute_logprobs", full)
    with pytest.raises(OutOfMemory):
        check_paths(causal)


def test_what_torch_says_for_want_of_memory_is_understood(
    causal: LoadedModel, monkeypatch: pytest.MonkeyPatch
):
    def full(*_: object, **__: object) -> None:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried 9 bytes")

    (batch,) = plan_batches(QUESTIONS[:1], token_budget=99, max_logit_rows=99)
    monkeypatch.setattr(causal.model, "forward", full)
    with pytest.raises(OutOfMemory):
        PaddedNetwork(causal).compute_logprobs(batch)


def test_an_architecture_that_shows_itself_unfit_late_is_read_row_by_row(
    causal: LoadedModel, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    def unfit(*_: object) -> None:
        raise UnsupportedArchitecture("a window shorter than the text")

    reader = scorer(causal, token_budget=4096)
    monkeypatch.setattr(TreeNetwork, "_forward", unfit)
    assert_right(reader, causal)
    assert_right(reader, causal)
    assert caplog.text.count("a window shorter than the text") == 1, "and not tried again"


def test_a_network_without_attention_says_why_it_is_slower():
    assert notes(tiny("Mamba")) == (
        "Scored prompt by prompt, which is slower: mamba computes attention in its own way."
    )


def test_scores_that_differ_over_prefix_trees_are_not_believed(
    causal: LoadedModel, monkeypatch: pytest.MonkeyPatch
):
    forward = TreeNetwork._forward

    def off(self: TreeNetwork, tree_batch: object, prefix: object) -> object:
        logits, seen = forward(self, tree_batch, prefix)  # type: ignore[arg-type]
        return logits * 1.2, seen

    monkeypatch.setattr(TreeNetwork, "_forward", off)
    reader = scorer(causal, token_budget=4096)
    assert "sharing prompts changes scores by" in notes(causal)
    assert_right(reader, causal)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16"])
def test_a_neighbour_in_sight_is_noticed_in_every_precision(
    small_folder: Path, monkeypatch: pytest.MonkeyPatch, dtype: str
):
    right = tree_network.build_attention

    def recording(
        tree_batch: TreeBatch, prefix: Any, *, like: torch.Tensor, library: str
    ) -> TreeAttention:
        everyone = (len(tree_batch.tokens),) * len(tree_batch.tokens)
        return right(replace(tree_batch, subtree_ends=everyone), prefix, like=like, library=library)

    monkeypatch.setattr(tree_network, "build_attention", recording)
    causal = load(small_folder, dtype=dtype, device="cpu", threads=1, eos_ids=frozenset())
    assert "sharing prompts changes scores by" in notes(causal)


def test_the_next_window_finds_the_prefix_of_the_one_before(
    causal: LoadedModel, monkeypatch: pytest.MonkeyPatch
):
    reader = scorer(causal, token_budget=4096)
    list(reader.score(QUESTIONS))
    sizes: list[int] = []
    forward = TreeNetwork._forward

    def counting(self: TreeNetwork, tree_batch: object, prefix: object) -> object:
        sizes.append(len(tree_batch.tokens))  # type: ignore[attr-defined]
        return forward(self, tree_batch, prefix)  # type: ignore[arg-type]

    monkeypatch.setattr(TreeNetwork, "_forward", counting)
    list(reader.score(QUESTIONS[:1]))
    assert sizes == [len(QUESTIONS[0].tokens) - len(SHOTS)]


def test_only_what_the_next_window_may_use_is_kept(causal: LoadedModel):
    """Each question comes in 24 orders and never again: its prefix goes, the examples stay."""
    reader = scorer(causal, token_budget=4096)
    for window in range(5):
        stems = [(*SHOTS, *[3 * window + number + 100] * 30) for number in range(2)]
        orders = [
            continuation_query(24 * number + at, stem + sum(order, ()), (5, 6))
            for number, stem in enumerate(stems)
            for at, order in enumerate(permutations(((1, 2, 3), (2, 3, 4), (3, 4, 5), (4, 5, 6))))
        ]
        found = {each.query.key: list(each.logprobs) for each in reader.score(orders)}
        alone = {each.query.key: list(each.logprobs) for each in reader._row_by_row(orders)}
        assert all(found[key] == pytest.approx(alone[key], abs=1e-4) for key in alone)
        assert sorted(map(len, reader._tree_network.prefix_cache)) == [len(SHOTS), len(SHOTS) + 30]


def test_no_prefix_is_computed_twice_in_a_window(
    causal: LoadedModel, monkeypatch: pytest.MonkeyPatch
):
    nodes: list[int] = []
    forward = TreeNetwork._forward

    def counting(self: TreeNetwork, tree_batch: object, prefix: object) -> object:
        nodes.append(len(tree_batch.tokens))  # type: ignore[attr-defined]
        return forward(self, tree_batch, prefix)  # type: ignore[arg-type]

    reader = scorer(causal, token_budget=4096)
    stems = [(*SHOTS, *[100 + number] * 30) for number in range(3)]
    texts = [
        continuation_query(100 * number + at, (*stem, at + 200, *range(20)), (5,))
        for number, stem in enumerate(stems)
        for at in range(24)
    ]
    monkeypatch.setattr(TreeNetwork, "_forward", counting)
    list(reader.score(texts))
    assert sum(nodes) == len(SHOTS) + 3 * 30 + 72 * 21


def test_a_long_text_alone_is_read_as_it_is_row_by_row(
    causal: LoadedModel, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(prefix_tree, "_LONG_PREFIX_TOKENS", 32)
    monkeypatch.setattr(tree_network, "_PREFIX_CHUNK_TOKENS", 24)
    reader = scorer(causal, token_budget=4096)
    assert_right(reader, causal)
    texts = [
        continuation_query(key, tuple(range(key, key + 90 * (key + 1))), (5, 6)) for key in range(2)
    ]
    found = {each.query.key: list(each.logprobs) for each in reader.score(texts)}
    alone = {each.query.key: list(each.logprobs) for each in reader._row_by_row(texts)}
    assert all(found[key] == pytest.approx(alone[key], abs=1e-4) for key in alone)


def test_a_kept_prefix_that_goes_too_far_is_used_up_to_where_it_fits(causal: LoadedModel):
    reader = scorer(causal, token_budget=4096)
    longer = [
        continuation_query(key, (*SHOTS, *range(300, 340), 9 + key), (1, 2)) for key in range(200)
    ]
    list(reader.score(longer))
    assert_right(reader, causal)


@pytest.mark.parametrize("name", STRETCHED)
@pytest.mark.parametrize("way", ["score", "_row_by_row"])
def test_a_long_text_does_not_change_what_its_neighbours_score(name: str, way: str):
    """Beyond 64 tokens positions follow the longest text of a batch, and the longest before."""
    texts = [
        continuation_query(key, tuple(range(3 + key, 3 + key + length)), (5, 6))
        for key, length in enumerate((20, 21, 90, 62, 63, 64, 89, 65, 91, 40))
    ]
    alone = {
        text.key: list(PaddedNetwork(tiny(name)).compute_logprobs(batch).logprobs)
        for text in texts
        for batch in plan_batches([text], token_budget=1, max_logit_rows=99)
    }
    reader = scorer(tiny(name), token_budget=4096)
    for requested in (texts, texts[::-1], texts[3:6]):
        for each in getattr(reader, way)(requested):
            expected = pytest.approx(alone[each.query.key], abs=1e-5)
            assert list(each.logprobs) == expected, len(each.query.tokens)


def test_reading_leaves_the_model_as_it_was(causal: LoadedModel):
    before = causal.model.config._attn_implementation
    list(scorer(causal, token_budget=4096).score(QUESTIONS))
    assert causal.model.config._attn_implementation == before


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_coarser_numbers_are_read_over_prefix_trees_too(small_folder: Path, dtype: str):
    coarse = load(small_folder, dtype=dtype, device="cpu", threads=1, eos_ids=frozenset())
    assert notes(coarse) == ""
