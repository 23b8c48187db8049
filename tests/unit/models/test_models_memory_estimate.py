import json
from dataclasses import replace
from pathlib import Path

import pytest

from evalui.models.base import ModelEntry
from evalui.models.memory_estimate import footprint

# Qwen2.5-0.5B's own figures: 24 layers, 14 heads of 64, of which 2 hold keys and values.
QWEN = {
    "num_hidden_layers": 24,
    "num_attention_heads": 14,
    "num_key_value_heads": 2,
    "hidden_size": 896,
    "max_position_embeddings": 32768,
    "torch_dtype": "bfloat16",
}
PARAMETERS = 494_032_768


def entry(folder: Path, config: object = QWEN, **fields: object) -> ModelEntry:
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return ModelEntry("m", "transformers", path=str(folder), **fields)  # type: ignore[arg-type]


def found(of: ModelEntry, *, gpu: bool = False, budget: int = 4096):
    return footprint(of, parameters=PARAMETERS, token_budget=budget, gpu=gpu)


def test_keys_and_values_of_a_known_model(tmp_path: Path):
    on_gpu = found(entry(tmp_path), gpu=True)
    assert on_gpu
    assert (on_gpu.dtype, on_gpu.weights) == ("bfloat16", 988_065_536)
    assert on_gpu.cache == 2 * 24 * 2 * 64 * 4096 * 2  # 12 KiB for a token
    assert on_gpu.total == 988_065_536 + 50_331_648
    assert on_gpu.max_input_tokens == 32768
    assert on_gpu.peak == 988_065_536 + 402_653_184


def test_a_processor_takes_float32_unless_stated(tmp_path: Path):
    usual, given = found(entry(tmp_path)), found(entry(tmp_path, dtype="bfloat16"))
    assert usual
    assert given
    assert (usual.dtype, given.dtype) == ("float32", "bfloat16")
    assert usual.total == 2 * given.total


@pytest.mark.parametrize(
    ("max_length", "budget", "tokens", "longest"),
    [(0, 4096, 4096, 32768), (512, 4096, 4096, 512), (8192, 4096, 8192, 8192)],
)
def test_a_pass_holds_the_budget_or_the_input_that_the_entry_allows(
    tmp_path: Path, max_length: int, budget: int, tokens: int, longest: int
):
    it = found(entry(tmp_path, max_length=max_length), budget=budget)
    assert it
    assert (it.tokens, it.max_input_tokens) == (tokens, longest)
    assert it.peak >= it.total


def test_vllm_includes_the_longest_input(tmp_path: Path):
    it = found(replace(entry(tmp_path), backend="vllm"))
    assert it
    assert (it.tokens, it.max_input_tokens) == (32768, 32768)
    assert it.peak == it.total


def test_the_text_part_of_a_larger_model_counts(tmp_path: Path):
    it = found(entry(tmp_path, {"text_config": QWEN, "hidden_size": 1}))
    assert it
    assert it.cache == 2 * 24 * 2 * 64 * 4096 * 4


def test_a_head_may_have_a_size_of_its_own(tmp_path: Path):
    it = found(entry(tmp_path, QWEN | {"head_dim": 128}))
    assert it
    assert it.cache == 2 * 24 * 2 * 128 * 4096 * 4


@pytest.mark.parametrize("config", [{}, [], {"num_hidden_layers": "24"}, {"n_layer": 12}])
def test_a_folder_that_does_not_tell_gives_no_figure(tmp_path: Path, config: object):
    assert found(entry(tmp_path, config)) is None


def test_a_hub_id_gives_no_figure():
    assert found(ModelEntry("m", "transformers", path="Qwen/Qwen2.5-0.5B")) is None


def test_uncounted_weights_give_no_figure(tmp_path: Path):
    assert footprint(entry(tmp_path), parameters=0, token_budget=1, gpu=False) is None


def test_an_endpoint_takes_nothing_here_whatever_it_calls_its_model(tmp_path: Path):
    assert found(replace(entry(tmp_path), backend="openai")) is None
