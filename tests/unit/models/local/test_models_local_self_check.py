import json
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from evalui.errors import ModelError
from evalui.models.local import self_check
from evalui.models.local.forward import PaddedNetwork
from evalui.models.local.loading import LoadedModel
from evalui.models.local.scorer import Scorer
from evalui.models.local.self_check import (
    UNSUPPORTED,
    CheckedPaths,
    check_paths,
    max_tree_length,
    stored_paths,
)
from evalui.models.scoring_requests import UNLIMITED, continuation_query
from tests.models_matrix.matrix_models import ARCHITECTURES, REFUSED, build

DYNAMIC = {"rope_type": "dynamic", "rope_theta": 1e4}
PLAIN = {"rope_type": "default", "rope_theta": 1e4}
LONG = {"rope_type": "longrope", "original_max_position_embeddings": 1024}
FAR = {"rope_type": "dynamic", "original_max_position_embeddings": 8192}
NAMED = {"rope_type": "someones_dynamic", "rope_theta": 1e4}


def causal_of(about: dict[str, Any]) -> LoadedModel:
    config = SimpleNamespace(max_position_embeddings=4096, **about)
    config.get_text_config = lambda: config
    return LoadedModel(SimpleNamespace(config=config), torch.device("cpu"), frozenset())


@pytest.mark.parametrize(
    ("about", "tokens"),
    [
        ({}, UNLIMITED),
        ({"rope_parameters": PLAIN}, UNLIMITED),
        ({"rope_parameters": None}, UNLIMITED),
        ({"rope_parameters": DYNAMIC}, 4095),
        ({"rope_parameters": NAMED}, 4095),
        ({"rope_parameters": FAR}, 4095),
        ({"rope_parameters": LONG}, 1023),
        ({"rope_parameters": {"rope_theta": 1e4}}, UNLIMITED),
        ({"rope_parameters": {"full_attention": DYNAMIC, "sliding_attention": PLAIN}}, 4095),
        ({"rope_parameters": {"full_attention": PLAIN, "sliding_attention": LONG}}, 1023),
        ({"rope_parameters": LONG, "sliding_window": 512}, 512),
        ({"rope_parameters": {"full_attention": PLAIN, "sliding_attention": None}}, UNLIMITED),
        ({"sliding_window": 512}, 512),
        ({"sliding_window": 512, "layer_types": ["full_attention"]}, UNLIMITED),
        ({"attention_chunk_size": 8192}, 8192),
        ({"attention_chunk_size": 8192, "attn_temperature_tuning": True}, 0),
        ({"attention_chunk_size": 8192, "attn_temperature_tuning": False}, 8192),
    ],
)
def test_trees_reach_as_far_as_all_layers_see_all(about: dict[str, Any], tokens: int):
    assert max_tree_length(causal_of(about)) == tokens


def network(name: str) -> LoadedModel:
    model = build(ARCHITECTURES[name], vocabulary=300, dtype=torch.float32)
    return LoadedModel(model, torch.device("cpu"), frozenset())


@pytest.mark.parametrize(
    ("name", "ways", "note"),
    [
        ("llama", (), ""),
        ("gpt_neo", ("trees", "shared_prefix"), "without sharing the beginnings of prompts"),
        ("rwkv", ("trees", "cached", "shared_prefix", "left_padded"), "written one at a time"),
        ("bart", ("trees", "cached", "shared_prefix", "left_padded"), "written one at a time"),
        (
            "moshi",
            ("cached", "shared_prefix", "left_padded", "own_cache"),
            "without a cache",
        ),
        ("mistral", ("shared_prefix",), ""),
        ("lfm2", ("trees", "cached", "shared_prefix"), "sharing prompts changes scores"),
    ],
)
def test_ways_that_differ_are_not_used_and_the_model_says_so(
    name: str, ways: tuple[str, ...], note: str
):
    checked = check_paths(network(name))
    paths = ("trees", "rows", "cached", "shared_prefix", "left_padded", "own_cache")
    assert tuple(path for path in paths if getattr(checked, path)) == ways
    assert note in " ".join(checked.notes(name))
    assert bool(note) == bool(checked.notes(name))


def test_weak_convolutions_across_branches_are_noticed():
    """Their weights are so small that no score of a text is off by more than 0.004."""
    causal = network("lfm2")
    with torch.no_grad():
        for name, weight in causal.model.named_parameters():
            if "conv.conv" in name:
                weight *= 0.03
    assert check_paths(causal).trees not in ("", UNSUPPORTED)


def test_a_selection_of_tokens_is_not_made_beside_other_texts():
    checked = check_paths(network("deepseek_v4"))
    assert checked.checked_length == 16 * 4
    assert "Texts of over 64 tokens are computed one at a time" in " ".join(checked.notes("x"))


def test_what_is_not_causal_is_refused_with_a_way_out():
    model = build(REFUSED["bert"], vocabulary=300, dtype=torch.float32)
    with pytest.raises(ModelError, match=r"bert is not a causal language model: .* Choose a model"):
        check_paths(LoadedModel(model, torch.device("cpu"), frozenset()))


def test_a_window_too_long_to_check_limits_what_is_computed_together(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setitem(self_check._MAX_WORK, "cpu", 1.0)
    checked = check_paths(network("mistral"))
    assert checked.checked_length == 48
    assert "Texts of over 48 tokens are computed one at a time" in " ".join(checked.notes("x"))


def test_a_text_longer_than_what_was_checked_is_computed_alone(monkeypatch: pytest.MonkeyPatch):
    causal = network("mistral")
    scorer = Scorer(causal, CheckedPaths(checked_length=48), token_budget=4096)
    rows: list[int] = []
    forward = PaddedNetwork.compute_logprobs

    def counted(network: PaddedNetwork, batch: Any) -> Any:
        rows.append(len(batch.rows))
        return forward(network, batch)

    monkeypatch.setattr(PaddedNetwork, "compute_logprobs", counted)
    texts = [continuation_query(n, tuple(range(3, 70 + n)), (5,)) for n in range(3)]
    assert len(list(scorer.score(texts))) == 3
    assert rows == [1, 1, 1]


def test_rows_on_a_cpu_are_computed_few_at_a_time(monkeypatch: pytest.MonkeyPatch):
    """Batches of thousands of tokens took longer than one row after another."""
    sizes: list[int] = []
    forward = PaddedNetwork.compute_logprobs

    def counted(network: PaddedNetwork, batch: Any) -> Any:
        sizes.append(len(batch.rows) * max(map(len, batch.rows)))
        return forward(network, batch)

    monkeypatch.setattr(PaddedNetwork, "compute_logprobs", counted)
    scorer = Scorer(network("bloom"), CheckedPaths(trees=UNSUPPORTED), token_budget=4096)
    texts = [continuation_query(n, tuple(range(3 + n, 93 + n)), (5,)) for n in range(12)]
    assert len(list(scorer.score(texts))) == 12
    assert max(sizes) == 5 * 90


def test_the_ways_that_are_not_used_are_part_of_what_a_model_is():
    """Answers that were given before they were checked are not taken for its own."""
    assert CheckedPaths().differences == ()
    checked = CheckedPaths(rows="0.3", left_padded=UNSUPPORTED, checked_length=64)
    assert checked.differences == ("not:rows", "not:left_padded", "to:64")


def test_a_result_is_kept_in_the_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    causal = network("gpt_neo")
    checked = stored_paths(tmp_path, "a model", causal)
    with monkeypatch.context() as patch:
        patch.setattr(self_check, "check_paths", lambda _: pytest.fail("it is known"))
        assert stored_paths(tmp_path, "a model", causal) == checked
    again: list[LoadedModel] = []
    monkeypatch.setattr(self_check, "check_paths", lambda each, _: again.append(each) or checked)
    stored_paths(tmp_path, "the same model in another version", causal)
    assert again == [causal]


def test_a_damaged_file_of_results_is_made_anew(tmp_path: Path):
    (tmp_path / self_check.FILE).write_text("{")
    checked = stored_paths(tmp_path, "a model", network("llama"))
    assert json.loads((tmp_path / self_check.FILE).read_text()) == {
        f"{self_check.VERSION}:a model": asdict(checked)
    }


def test_rows_are_compared_only_where_a_text_may_need_them(monkeypatch: pytest.MonkeyPatch):
    """A first opening is as slow as its passes are many."""
    compared: list[str] = []
    rows = self_check._row_scores

    def noted(*arguments: Any, **options: Any) -> Any:
        compared.append("rows")
        return rows(*arguments, **options)

    monkeypatch.setattr(self_check, "_row_scores", noted)
    llama, passes = network("llama"), list[int]()
    llama.model.register_forward_pre_hook(lambda *_: passes.append(1))
    assert check_paths(llama) == CheckedPaths()
    assert (compared, len(passes)) == ([], 11)
    check_paths(network("gemma3_text"))
    check_paths(network("bloom"))
    assert compared == ["rows", "rows"]
