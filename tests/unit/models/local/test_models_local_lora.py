import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from adapter_examples import make_adapter
from peft import PeftModel
from safetensors.torch import load_file, save_file
from transformers import (
    AutoModelForCausalLM,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
)

from evalui.errors import ModelError
from evalui.models import Model, ModelEntry, describe, open_model
from evalui.models.local import lora as adapters
from evalui.models.local.loading import LoadedModel, load
from evalui.types import Loglik, Logprob

TEXTS = (" ice", " fire and sand", " wood")
pytestmark = pytest.mark.slow  # peft takes seconds to import
IDS = torch.tensor([[5, 6, 7, 8, 9, 30, 31]])


@pytest.fixture(scope="module")
def lora(small_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_adapter(small_folder, tmp_path_factory.mktemp("adapter"))


@pytest.fixture
def copy(lora: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(lora, tmp_path / "adapter"))


def tuned(folder: Path, adapter: Path | None, dtype: str = "float32", **more: Any) -> LoadedModel:
    return load(
        folder, dtype=dtype, device="cpu", threads=1, eos_ids=frozenset(), adapter=adapter, **more
    )


def logits(causal: LoadedModel) -> torch.Tensor:
    with torch.inference_mode():
        return causal.model(input_ids=IDS).logits.float()


def scores(model: Model) -> list[float]:
    requests = [Loglik("Which one?", text) for text in TEXTS]
    responses = dict(model.answer(requests))
    return [each.total for each in responses.values() if isinstance(each, Logprob)]


def change_config(folder: Path, **change: object) -> None:
    about = json.loads((folder / "adapter_config.json").read_text())
    (folder / "adapter_config.json").write_text(json.dumps(about | change))


def change_weights(
    folder: Path, change: Callable[[dict[str, torch.Tensor]], dict[str, torch.Tensor]]
) -> None:
    file = folder / "adapter_model.safetensors"
    save_file(change(load_file(file)), file, metadata={"format": "pt"})


def test_an_entry_with_an_adapter_scores_otherwise_than_its_base(
    small: Model, small_entry: ModelEntry, lora: Path
):
    entry = replace(small_entry, name="tuned", adapter=str(lora))
    assert describe(entry).problem == ""
    model = open_model(entry)
    base, ours = scores(small), scores(model)
    assert len(base) == len(ours) == 3
    assert all(abs(one - other) > 0.01 for one, other in zip(base, ours, strict=True))
    assert model.fingerprint != small.fingerprint


def test_merged_weights_score_as_weights_beside(small_folder: Path, lora: Path):
    merged, beside = (tuned(small_folder, lora, merge=merge) for merge in (True, False))
    assert (merged.adapter, beside.adapter) == ("merged", "beside")
    assert torch.allclose(logits(merged), logits(beside), atol=1e-4)
    assert not torch.allclose(logits(merged), logits(tuned(small_folder, None)), atol=1e-2)


def test_an_adapter_is_what_its_formula_says(small_folder: Path, lora: Path):
    """W + B A alpha / r, the formula of https://arxiv.org/abs/2106.09685, section 4.1."""
    about = json.loads((lora / "adapter_config.json").read_text())
    pair = load_file(lora / "adapter_model.safetensors")
    name = "model.layers.2.self_attn.v_proj"
    a, b = (pair[f"base_model.model.{name}.lora_{letter}.weight"] for letter in "AB")
    base = tuned(small_folder, None).model.get_parameter(f"{name}.weight")
    merged = tuned(small_folder, lora).model.get_parameter(f"{name}.weight")
    assert torch.allclose(merged, base + b @ a * about["lora_alpha"] / about["r"], atol=1e-6)


def test_an_adapter_that_adds_nothing_changes_nothing(small_folder: Path, tmp_path: Path):
    nothing = make_adapter(small_folder, tmp_path, zero=True)
    base = logits(tuned(small_folder, None))
    for merge in (True, False):
        assert torch.equal(logits(tuned(small_folder, nothing, merge=merge)), base)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_an_adapter_is_merged_unless_the_entry_forbids_it(
    small_folder: Path, lora: Path, dtype: str
):
    assert tuned(small_folder, lora, dtype).adapter == "merged"


def test_an_adapter_beside_its_base_computes_in_the_precision_of_its_base(
    small_folder: Path, lora: Path
):
    model = tuned(small_folder, lora, "bfloat16", merge=False).model
    assert {weight.dtype for weight in model.parameters()} == {torch.bfloat16}


@pytest.mark.filterwarnings("ignore:Model.*tie_word_embeddings")
def test_weights_that_the_base_uses_twice_are_never_merged(small_folder: Path, tmp_path: Path):
    shared = make_adapter(small_folder, tmp_path, target_modules=["lm_head"])
    assert tuned(small_folder, shared).adapter == "beside"
    with pytest.raises(ModelError, match=r"cannot be merged. Leave out options.merge"):
        tuned(small_folder, shared, merge=True)


@pytest.fixture(scope="module")
def tied_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A GPT-2 whose embedding, called wte, is its output layer."""
    folder = tmp_path_factory.mktemp("tied")
    torch.manual_seed(3)
    config = GPT2Config(vocab_size=200, n_embd=32, n_layer=2, n_head=4, initializer_range=0.3)
    GPT2LMHeadModel(config).save_pretrained(folder)
    return folder


def by_peft(base: Path, adapter: Path) -> torch.Tensor:
    plain = AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32)
    with torch.inference_mode():
        return PeftModel.from_pretrained(plain, str(adapter)).eval()(input_ids=IDS).logits


def test_shared_weights_are_reported_whatever_their_names(tied_folder: Path, tmp_path: Path):
    adapter = make_adapter(tied_folder, tmp_path, target_modules=["c_attn", "wte"])
    ours = tuned(tied_folder, adapter)
    assert ours.adapter == "beside"
    assert torch.allclose(logits(ours), by_peft(tied_folder, adapter), atol=1e-5)
    with pytest.raises(ModelError, match=r"cannot be merged. Leave out options.merge"):
        tuned(tied_folder, adapter, merge=True)


def test_a_tied_base_is_merged_with_an_adapter_of_other_layers(tied_folder: Path, tmp_path: Path):
    adapter = make_adapter(tied_folder, tmp_path, target_modules=["c_attn"])
    ours = tuned(tied_folder, adapter)
    assert ours.adapter == "merged"
    assert torch.allclose(logits(ours), by_peft(tied_folder, adapter), atol=1e-4)


def test_replicated_layers_are_not_merged(tmp_path: Path):
    base = tmp_path / "base"
    sizes = {"hidden_size": 32, "intermediate_size": 64, "num_attention_heads": 4}
    config = LlamaConfig(vocab_size=200, num_hidden_layers=3, initializer_range=0.3, **sizes)
    LlamaForCausalLM(config).save_pretrained(base)
    adapter = make_adapter(base, tmp_path / "adapter", layer_replication=[(0, 2), (1, 3)])
    ours = tuned(base, adapter)
    assert ours.adapter == "beside"
    assert torch.allclose(logits(ours), by_peft(base, adapter), atol=1e-4)


@pytest.mark.parametrize("merge", [None, False])
def test_new_tokens_of_a_tied_base_are_not_missed_in_its_output_layer(
    tied_folder: Path, tmp_path: Path, merge: bool | None
):
    adapter = make_adapter(
        tied_folder, tmp_path, trainable_token_indices={"wte": [5, 30]}, target_modules=["c_attn"]
    )
    name = "base_model.model.transformer.wte.token_adapter.trainable_tokens_delta"
    change_weights(adapter, lambda all_: all_ | {name: all_[name] + 0.5})
    ours = tuned(tied_folder, adapter, merge=merge)
    assert torch.allclose(logits(ours), by_peft(tied_folder, adapter), atol=1e-4)


@pytest.mark.parametrize(("bias", "n"), [("lora_only", 2), ("all", 13)])
def test_missing_biases_of_an_adapter_are_an_error(
    tied_folder: Path, tmp_path: Path, bias: str, n: int
):
    adapter = make_adapter(tied_folder, tmp_path, target_modules=["c_attn"], bias=bias)
    assert tuned(tied_folder, adapter).adapter == "merged"
    change_weights(adapter, lambda all_: {k: each for k, each in all_.items() if "lora" in k})
    with pytest.raises(ModelError, match=rf"lacks {n} of its weights, e.g. .*bias"):
        tuned(tied_folder, adapter)


@pytest.mark.parametrize("option", [True, False])
def test_the_entry_decides_about_merging(small_entry: ModelEntry, lora: Path, option: bool):
    entry = replace(small_entry, adapter=str(lora))
    given = open_model(replace(entry, options={"merge": option}))
    assert (given.fingerprint == open_model(entry).fingerprint) is option


def test_merging_is_a_matter_of_true_or_false(small_entry: ModelEntry, lora: Path):
    entry = replace(small_entry, adapter=str(lora), options={"merge": "no"})
    assert describe(entry).problem == "options.merge must be true or false, found 'no'."
    with pytest.raises(ModelError, match="must be true or false"):
        open_model(entry)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"peft_type": "IA3"}, "an adapter of type IA3. Only LoRA"),
        ({"task_type": "SEQ_CLS"}, "an adapter for SEQ_CLS, not for a causal language model"),
    ],
)
def test_other_kinds_of_adapters_are_refused(copy: Path, change: dict[str, str], complaint: str):
    change_config(copy, **change)
    assert complaint in adapters.problem(copy)


def test_no_problem_is_reported_of_a_whole_adapter(lora: Path, small_folder: Path):
    assert adapters.problem(lora) == adapters.problem(lora, base=small_folder) == ""


def test_a_missing_folder_of_an_adapter_is_named(tmp_path: Path):
    assert "There is no folder" in adapters.problem(tmp_path / "nowhere")


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("adapter_config.json", "no adapter_config.json, so it holds no adapter"),
        ("adapter_model.safetensors", "has no adapter_model.safetensors"),
    ],
)
def test_each_missing_file_of_an_adapter_has_its_sentence(copy: Path, name: str, complaint: str):
    (copy / name).unlink()
    assert complaint in adapters.problem(copy)


def test_a_pickled_adapter_is_refused_even_where_the_base_is_safe(
    copy: Path, small_entry: ModelEntry
):
    (copy / "adapter_model.safetensors").rename(copy / "adapter_model.bin")
    assert "pickles only" in describe(replace(small_entry, adapter=str(copy))).problem
    with pytest.raises(ModelError, match="pickles only"):
        open_model(replace(small_entry, adapter=str(copy)))


def test_a_damaged_adapter_is_reported_before_loading(copy: Path):
    (copy / "adapter_model.safetensors").write_bytes(b"version https://git-lfs")
    assert "is damaged" in adapters.problem(copy)


def test_an_adapter_made_for_another_folder_is_reported_before_loading(
    copy: Path, small_folder: Path, small_entry: ModelEntry, tmp_path: Path
):
    other = Path(shutil.copytree(small_folder, tmp_path / "other"))
    about = json.loads((other / "config.json").read_text())
    (other / "config.json").write_text(json.dumps(about | {"hidden_size": 512}))
    change_config(copy, base_model_name_or_path=str(other))
    assert "with hidden_size = 512;" in adapters.problem(copy, base=small_folder)
    entry = replace(small_entry, adapter=str(copy))
    assert "with hidden_size = 512;" in describe(entry).problem
    # A hub id, a folder that is not here, and one that cannot be read (the name is too long).
    for elsewhere in ("someone/elsewhere", "/no/folder", "/" + "x" * 300):
        change_config(copy, base_model_name_or_path=elsewhere)
        assert adapters.problem(copy, base=small_folder) == ""


def test_a_missing_weight_of_an_adapter_is_an_error(small_folder: Path, copy: Path):
    name = "base_model.model.model.layers.3.self_attn.v_proj.lora_B.weight"
    change_weights(copy, lambda all_: {key: each for key, each in all_.items() if key != name})
    with pytest.raises(ModelError, match=r"lacks 1 of its weights, e.g. .*layers.3.*lora_B"):
        tuned(small_folder, copy)


def test_a_weight_without_a_place_is_an_error(small_folder: Path, copy: Path):
    change_config(copy, target_modules=["q_proj"])
    with pytest.raises(ModelError, match=r"has 8 weights that .* has no place for"):
        tuned(small_folder, copy)


def test_weights_of_another_shape_do_not_fit(small_folder: Path, copy: Path):
    change_weights(
        copy,
        lambda all_: {key: each[..., :100].contiguous() for key, each in all_.items()},
    )
    with pytest.raises(ModelError, match=r"does not fit .*size mismatch"):
        tuned(small_folder, copy)


def test_modules_the_base_does_not_have_do_not_fit(small_folder: Path, copy: Path):
    change_config(copy, target_modules=["c_attn"])
    with pytest.raises(ModelError, match=r"does not fit .*c_attn"):
        tuned(small_folder, copy)
