import json
import os
import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from safetensors.torch import load_file, save_file

from evalui.errors import ModelError
from evalui.models import ModelEntry, local, open_model
from evalui.models.base import load_notes
from evalui.models.local.loading import LoadedModel, largest_number, load, processor_quota

pytestmark = pytest.mark.slow  # it loads models


def loaded(folder: Path, dtype: str = "float32", device: str = "cpu") -> LoadedModel:
    return load(folder, dtype=dtype, device=device, threads=1, eos_ids=frozenset())


def test_a_missing_weight_is_an_error_and_not_a_random_number(small_folder: Path, tmp_path: Path):
    folder = Path(shutil.copytree(small_folder, tmp_path / "model"))
    tensors = load_file(folder / "model.safetensors")
    del tensors["model.layers.0.mlp.up_proj.weight"]
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelError, match=r"lacks 1 weights .*layers\.0\.mlp\.up_proj"):
        loaded(folder)


def test_weights_of_another_shape_are_an_error(small_folder: Path, tmp_path: Path):
    folder = Path(shutil.copytree(small_folder, tmp_path / "model"))
    about = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(about | {"intermediate_size": 256}))
    with pytest.raises(ModelError, match="cannot be loaded"):
        loaded(folder)


def test_an_unheard_of_architecture_is_an_error(small_folder: Path, tmp_path: Path):
    folder = Path(shutil.copytree(small_folder, tmp_path / "model"))
    (folder / "config.json").write_text(json.dumps({"model_type": "unheard"}))
    with pytest.raises(ModelError, match=r"does not know the architecture unheard\. Install"):
        loaded(folder)


@pytest.mark.parametrize(
    ("dtype", "kept"), [("auto", "float32"), ("bfloat16", "bfloat16"), ("float16", "float16")]
)
def test_auto_is_float32_on_a_cpu_whatever_the_file_has(small_folder: Path, dtype: str, kept: str):
    assert loaded(small_folder, dtype).dtype == kept


def test_an_unknown_device_is_an_error(small_folder: Path):
    with pytest.raises(ModelError, match="'abacus' is not a device"):
        loaded(small_folder, device="abacus")


def test_memory_that_torch_keeps_for_itself_counts_as_free(
    small_folder: Path, monkeypatch: pytest.MonkeyPatch
):
    kept = [2**30]
    monkeypatch.setattr(torch.cuda, "empty_cache", kept.clear)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda _: (2**31 - sum(kept), 2**31))
    causal = replace(loaded(small_folder), device=torch.device("cuda"))
    about = causal.model.config
    token = (
        2
        * 4
        * about.num_hidden_layers
        * about.num_key_value_heads
        * (about.hidden_size // about.num_attention_heads)
    )
    assert causal.kv_cache_tokens == 2**30 // token


@pytest.mark.skipif(torch.cuda.is_available(), reason="needs a machine without a GPU")
def test_a_gpu_that_is_not_there_is_an_error(small_folder: Path):
    with pytest.raises(ModelError, match="finds no GPU"):
        loaded(small_folder, device="cuda")


def test_threads_are_set_only_if_stated(small_folder: Path):
    before = torch.get_num_threads()
    load(small_folder, dtype="float32", device="cpu", threads=0, eos_ids=frozenset())
    assert torch.get_num_threads() == before
    load(small_folder, dtype="float32", device="cpu", threads=2, eos_ids=frozenset())
    assert torch.get_num_threads() == 2
    torch.set_num_threads(before)


def described(small_folder: Path, folder: Path, **config: object) -> Path:
    """A copy of the small model whose config.json states something else."""
    shutil.copytree(small_folder, folder)
    about = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(about | config))
    return folder


OWN_CODE = {
    "AutoConfig": "configuration_x.XConfig",
    "AutoModelForCausalLM": "modeling_x.XForCausalLM",
}


@pytest.mark.parametrize(
    ("config", "cure"),
    [
        ({"model_type": "x", "auto_map": OWN_CODE}, r"code of its own \(modeling_x.py\).*vLLM"),
        (
            {"model_type": "t5", "is_encoder_decoder": True},
            "encoder-decoder .* serve this",
        ),
        ({"model_type": "clip"}, "no causal language model of the type clip. Choose one"),
    ],
)
def test_what_cannot_be_loaded_says_what_helps(
    small_folder: Path, tmp_path: Path, config: dict[str, object], cure: str
):
    with pytest.raises(ModelError, match=cure):
        loaded(described(small_folder, tmp_path / "model", **config))


def test_a_model_of_a_known_type_that_brings_code_says_that_it_is_not_run(
    small_folder: Path, small_entry: ModelEntry, tmp_path: Path
):
    folder = described(small_folder, tmp_path / "model", auto_map=OWN_CODE)
    model = open_model(replace(small_entry, path=str(folder)))
    assert [str(note) for note in load_notes(model)] == [
        "The code that this model brings (modeling_x.py) is never run: it is computed by the class "
        "that transformers has for it."
    ]


def test_code_of_its_own_that_has_weights_of_its_own_is_needed(small_folder: Path, tmp_path: Path):
    folder = described(small_folder, tmp_path / "model", auto_map=OWN_CODE)
    tensors = load_file(folder / "model.safetensors")
    tensors["model.layers.0.extra.weight"] = torch.zeros(1)
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(ModelError, match=r"no place for 1 of its weights.*extra\.weight"):
        loaded(folder)


class LayerSettings:
    """Settings that differ by layer, which transformers does not let be read for all of them."""

    is_heterogeneous = True
    per_layer_config = (SimpleNamespace(head_dim=8), SimpleNamespace(head_dim=16))

    @property
    def head_dim(self) -> int:
        raise RuntimeError("'head_dim' is a per-layer attribute")


def test_settings_that_differ_by_layer_count_with_the_largest():
    assert largest_number(LayerSettings(), "head_dim") == 16
    assert largest_number(SimpleNamespace(intermediate_size=[16, 48]), "intermediate_size") == 48
    assert largest_number(SimpleNamespace(intermediate_size=None), "intermediate_size", "x") == 0


@pytest.mark.parametrize(
    ("own", "read"),
    [
        ({}, ("passive", "1000", None)),
        ({"GOMP_SPINCOUNT": "7"}, (None, "7", None)),
        ({"KMP_BLOCKTIME": "9"}, (None, None, "9")),
    ],
)
def test_threads_that_wait_leave_the_processor_to_others(
    monkeypatch: pytest.MonkeyPatch, own: dict[str, str], read: tuple[str | None, ...]
):
    names = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")
    monkeypatch.setattr(os, "environ", dict(own))
    seen: list[tuple[str | None, ...]] = []
    monkeypatch.setattr(
        local, "import_module", lambda _: seen.append(tuple(map(os.environ.get, names)))
    )
    local.import_libraries()
    assert seen[0] == read


@pytest.mark.parametrize(
    ("limits", "processors"),
    [
        ({"a/b": "150000 100000"}, 2),
        ({"a": "300000 100000", "a/b": "max 100000"}, 3),
        ({"a": "50000 100000", "a/b": "400000 100000"}, 1),
    ],
)
def test_no_more_threads_are_used_than_a_container_may(
    tmp_path: Path, limits: dict[str, str], processors: int
):
    (tmp_path / "cgroup").write_text("0::/a/b\n")
    (tmp_path / "groups" / "a" / "b").mkdir(parents=True)
    for group, limit in limits.items():
        (tmp_path / "groups" / group / "cpu.max").write_text(limit + "\n")
    assert processor_quota(tmp_path / "groups", tmp_path) == processors
    assert processor_quota(tmp_path / "groups", tmp_path / "none") > 10**6
