import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evalui.errors import ModelError
from evalui.models.base import ModelEntry
from evalui.models.vllm.options import (
    VllmOptions,
    engine,
    environment,
    missing,
    read_options,
)

ENTRY = ModelEntry("m", "vllm", path="/m")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "config.json").write_text(json.dumps({"max_position_embeddings": 512}))
    return tmp_path


def test_options_of_others_are_left_alone():
    given = {"role": "judge", "eager": True, "memory_share": 1}
    assert read_options(replace(ENTRY, options=given)) == VllmOptions(eager=True, memory_share=1)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"tensor_parallel": 0}, "tensor_parallel must be >= 1, found 0"),
        ({"tensor_parallel": True}, "tensor_parallel must be int, found True"),
        ({"memory_share": 1.5}, "memory_share must be 0..1, found 1.5"),
        ({"memory_share": "half"}, "memory_share must be float, found 'half'"),
        ({"eager": 1}, "eager must be bool, found 1"),
        ({"python": 3}, "python must be str, found 3"),
        ({"seed": -1}, r"seed must be 0\.\.2\*\*32 - 1, found -1"),
        ({"seed": 2**32}, r"seed must be 0\.\.2\*\*32 - 1, found 4294967296"),
    ],
)
def test_a_wrong_option_is_reported_with_what_was_wanted(options: dict[str, Any], complaint: str):
    with pytest.raises(ModelError, match=complaint):
        read_options(replace(ENTRY, options=options))


def test_of_several_wrong_options_the_first_is_reported_in_one_line():
    wrong = {"seed": "x", "python": 3, "tensor_parallel": 0}
    with pytest.raises(ModelError) as caught:
        read_options(replace(ENTRY, options=wrong))
    assert str(caught.value) == "options.tensor_parallel must be >= 1, found 0."


def test_without_vllm_the_extra_and_the_option_are_named():
    complaint = missing(VllmOptions())
    assert "evalui[vllm]" in complaint
    assert "options.python" in complaint


def test_an_interpreter_is_looked_at_from_outside(tmp_path: Path):
    assert "there is no" in missing(VllmOptions(python=str(tmp_path / "bin" / "python")))
    assert "there is no" in missing(VllmOptions(python="~nobody-of-this-name/bin/python"))
    (tmp_path / "bin").mkdir()
    python = tmp_path / "bin" / "python"
    python.touch()
    assert missing(VllmOptions(python=str(python))) == ""  # no virtual environment: unknown
    (tmp_path / "pyvenv.cfg").write_text("include-system-site-packages = false\n")
    assert "has no vLLM" in missing(VllmOptions(python=str(python)))
    package = tmp_path / "lib" / "python3.11" / "site-packages" / "vllm"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    assert missing(VllmOptions(python=str(python))) == ""
    (package / "__init__.py").unlink()
    (tmp_path / "pyvenv.cfg").write_text("include-system-site-packages = true\n")
    assert missing(VllmOptions(python=str(python))) == ""


@pytest.mark.parametrize(
    ("max_length", "expected"), [(0, None), (-1, None), (100, 102), (511, 512), (10**6, 512)]
)
def test_the_length_includes_two_tokens_more_if_the_model_has(
    folder: Path, max_length: int, expected: int | None
):
    arguments = engine(replace(ENTRY, max_length=max_length), VllmOptions(), folder)
    assert arguments.get("max_model_len") == expected


@pytest.mark.parametrize(
    "config", [{"n_positions": 64}, {"text_config": {"max_position_embeddings": 64}}]
)
def test_the_models_own_length_is_found_under_its_other_names(folder: Path, config: dict[str, Any]):
    (folder / "config.json").write_text(json.dumps(config))
    arguments = engine(replace(ENTRY, max_length=64), VllmOptions(), folder)
    assert arguments["max_model_len"] == 64


def test_what_is_not_stated_is_left_to_vllm(folder: Path):
    plain = engine(ENTRY, VllmOptions(), folder)
    assert {"gpu_memory_utilization", "quantization", "enable_lora"}.isdisjoint(plain)
    given = VllmOptions(tensor_parallel=2, memory_share=0.5, quantization="fp8", eager=True)
    full = engine(ENTRY, given, folder)
    assert full["tensor_parallel_size"] == 2
    assert full["gpu_memory_utilization"] == 0.5
    assert full["quantization"] == "fp8"
    assert full["enforce_eager"]


def test_probabilities_are_the_networks_own_and_prefixes_are_kept(folder: Path):
    arguments = engine(ENTRY, VllmOptions(), folder)
    assert arguments["logprobs_mode"] == "raw_logprobs"
    assert arguments["enable_prefix_caching"]
    assert not arguments["trust_remote_code"]


@pytest.mark.parametrize(
    ("about", "rank"),
    [({"r": 4}, 8), ({"r": 16}, 16), ({"r": 8, "rank_pattern": {"q_proj": 40}}, 64)],
)
def test_an_adapter_gets_the_smallest_rank_it_fits_in(
    folder: Path, about: dict[str, Any], rank: int
):
    (folder / "adapter_config.json").write_text(json.dumps(about))
    arguments = engine(replace(ENTRY, adapter=str(folder)), VllmOptions(), folder)
    assert arguments["enable_lora"]
    assert arguments["max_lora_rank"] == rank


def test_an_adapter_of_too_high_a_rank_is_reported(folder: Path):
    (folder / "adapter_config.json").write_text(json.dumps({"r": 600}))
    with pytest.raises(ModelError, match="has rank 600; vLLM takes at most 512"):
        engine(replace(ENTRY, adapter=str(folder)), VllmOptions(), folder)


@pytest.mark.parametrize(
    "about", [{"r": None}, {"r": 8, "rank_pattern": {"q_proj": "16"}}, {"rank_pattern": [16]}]
)
def test_a_rank_that_is_no_number_is_reported(folder: Path, about: dict[str, Any]):
    (folder / "adapter_config.json").write_text(json.dumps(about))
    with pytest.raises(ModelError, match="which is not a whole number"):
        engine(replace(ENTRY, adapter=str(folder)), VllmOptions(), folder)


@pytest.mark.parametrize(
    ("device", "outside", "seen"),
    [
        ("auto", {}, None),
        ("cuda:1", {}, "1"),
        ("cuda:1", {"CUDA_VISIBLE_DEVICES": "4,6"}, "6"),
    ],
)
def test_a_numbered_gpu_is_the_only_one_the_process_sees(
    device: str, outside: dict[str, str], seen: str | None
):
    ours = environment(replace(ENTRY, device=device), outside, 0)
    assert ours.get("CUDA_VISIBLE_DEVICES") == seen


@pytest.mark.parametrize(
    ("device", "visible", "left"), [("cuda:1", "3", 1), ("cuda:0", "", 0), ("cuda:2", "1, 2,", 2)]
)
def test_a_numbered_gpu_that_is_hidden_is_reported(device: str, visible: str, left: int):
    complaint = f"There is no {device}: CUDA_VISIBLE_DEVICES leaves {left} GPUs"
    with pytest.raises(ModelError, match=complaint):
        environment(replace(ENTRY, device=device), {"CUDA_VISIBLE_DEVICES": visible}, 0)


@pytest.mark.parametrize("device", ["cuda:x", "cuda:", "cuda:-1", "gpu", "cuda:0,1", ""])
def test_a_device_that_is_none_is_reported(device: str):
    with pytest.raises(ModelError, match=f"'{device}' is not a device"):
        read_options(replace(ENTRY, device=device))


def test_one_gpu_cannot_be_shared_by_several():
    several = replace(ENTRY, device="cuda:0", options={"tensor_parallel": 2})
    with pytest.raises(ModelError, match="wants 2 GPUs, but device cuda:0 is only one"):
        read_options(several)
    assert read_options(replace(several, device="cuda")).tensor_parallel == 2


def test_what_is_set_outside_wins():
    outside = {"VLLM_LOGGING_LEVEL": "INFO", "OMP_NUM_THREADS": "3", "HOME": "/h"}
    ours = environment(ENTRY, outside, 1)
    assert ours.items() >= outside.items()
    assert environment(ENTRY, {}, 1)["OMP_NUM_THREADS"] == "1"
