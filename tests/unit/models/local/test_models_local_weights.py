import json
import os
import shutil
from pathlib import Path

import pytest

from evalui.errors import ModelError
from evalui.models import ModelEntry, describe
from evalui.models.local import weights


@pytest.fixture
def folder(small_folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(small_folder, tmp_path / "model"))


def test_no_problem_is_reported_of_a_whole_model(folder: Path):
    assert weights.problem(folder) == ""


def test_a_missing_folder_is_named(tmp_path: Path):
    assert weights.problem(tmp_path / "nowhere") == f"There is no folder {tmp_path / 'nowhere'}."


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("config.json", "no config.json"),
        ("model.safetensors", "no weights"),
        ("tokenizer.json", "no tokenizer"),
    ],
)
def test_each_missing_file_has_its_sentence(folder: Path, name: str, complaint: str):
    (folder / name).unlink()
    assert complaint in weights.problem(folder)


def test_an_adapter_in_place_of_a_model_is_reported_as_what_it_is(tmp_path: Path):
    (tmp_path / "adapter_config.json").write_text("{}")
    assert "holds a LoRA adapter" in weights.problem(tmp_path)


def test_pickled_weights_are_refused_with_the_reason(folder: Path):
    (folder / "model.safetensors").rename(folder / "pytorch_model.bin")
    assert "pickles only, which can run code" in weights.problem(folder)


def test_missing_parts_of_the_weights_are_counted(folder: Path):
    index = {"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    assert "lacks model-1.safetensors, one of 2 missing parts" in weights.problem(folder)


def test_settings_of_the_tokenizer_that_are_no_json_are_reported(folder: Path):
    for file in folder.glob("chat_template*"):
        file.unlink()
    (folder / "tokenizer_config.json").write_text("[1")
    for chat in (False, True):
        state = describe(ModelEntry("m", "transformers", str(folder), chat=chat))
        assert "tokenizer_config.json is not a JSON object" in state.problem


def test_an_index_that_is_no_json_is_reported(folder: Path):
    (folder / "model.safetensors.index.json").write_text("[1")
    assert "is not a JSON object" in weights.problem(folder)


@pytest.mark.parametrize("kept", [0, 4, 1000, 5_000_000])
def test_weights_cut_short_are_damaged(folder: Path, kept: int):
    os.truncate(folder / "model.safetensors", kept)
    assert "is damaged" in weights.problem(folder)


def test_a_pointer_of_git_lfs_is_no_weights(folder: Path):
    (folder / "model.safetensors").write_text("version https://git-lfs.github.com/spec/v1\n")
    assert "is damaged" in weights.problem(folder)


@pytest.mark.parametrize(
    "tensor",
    [
        7,
        "F32",
        None,
        {},
        {"shape": [2]},
        {"data_offsets": [0, 8]},
        {"shape": 2, "data_offsets": [0, 8]},
        {"shape": [None], "data_offsets": [0, 8]},
        {"shape": ["2"], "data_offsets": [0, 8]},
        {"shape": [2], "data_offsets": []},
        {"shape": [2], "data_offsets": [0, None]},
    ],
)
def test_a_header_that_tells_of_no_tensors_is_damaged(folder: Path, tensor: object):
    header = json.dumps({"weight": tensor}).encode()
    whole = len(header).to_bytes(8, "little") + header + bytes(8)
    (folder / "model.safetensors").write_bytes(whole)
    assert "is damaged: its header cannot be read" in weights.problem(folder)


def test_parameters_are_counted_from_the_header(folder: Path):
    assert weights.parameters(folder) == 2_887_936


def test_parameters_of_damaged_weights_are_an_error(folder: Path):
    os.truncate(folder / "model.safetensors", 1000)
    with pytest.raises(ModelError, match="damaged"):
        weights.parameters(folder)


def test_a_chat_template_is_found_in_its_file_or_in_the_tokenizers(folder: Path):
    assert weights.has_chat_template(folder)
    (folder / "chat_template.jinja").unlink()
    assert weights.has_chat_template(folder)
    settings = folder / "tokenizer_config.json"
    about = json.loads(settings.read_text())
    del about["chat_template"]
    settings.write_text(json.dumps(about))
    assert not weights.has_chat_template(folder)


def test_the_fingerprint_is_of_contents_and_not_of_place_or_time(folder: Path, small_folder: Path):
    assert weights.fingerprint(folder, "float32") == weights.fingerprint(small_folder, "float32")


def test_the_fingerprint_changes_with_the_settings(folder: Path):
    assert weights.fingerprint(folder, "float32") != weights.fingerprint(folder, "bfloat16")


@pytest.mark.parametrize("name", ["model.safetensors", "config.json", "tokenizer.json"])
def test_the_fingerprint_changes_with_each_file(folder: Path, name: str):
    before = weights.fingerprint(folder)
    with (folder / name).open("ab") as file:
        file.write(b" ")
    assert weights.fingerprint(folder) != before


def test_large_weights_go_by_size_and_time_and_the_fingerprint_says_so(folder: Path):
    os.truncate(folder / "model.safetensors", 2**30 + 1)  # a sparse file: no space is taken
    before = weights.fingerprint(folder)
    assert before.startswith("stat:")
    os.utime(folder / "model.safetensors", (1, 1))
    assert weights.fingerprint(folder) != before


@pytest.mark.parametrize("name", ["adapter_config.json", "adapter_model.safetensors"])
def test_the_fingerprint_changes_with_each_file_of_an_adapter(
    folder: Path, tmp_path: Path, name: str
):
    adapter = tmp_path / "adapter"
    adapter.mkdir()
    (adapter / "adapter_config.json").write_text("{}")
    (adapter / "adapter_model.safetensors").write_bytes(b"1")
    before = weights.fingerprint(folder, adapter=adapter)
    (adapter / name).write_bytes(b"2")
    after = weights.fingerprint(folder, adapter=adapter)
    assert len({before, after, weights.fingerprint(folder)}) == 3


def test_a_large_base_lets_its_adapter_go_by_size_and_time_too(folder: Path, tmp_path: Path):
    os.truncate(folder / "model.safetensors", 2**30 + 1)
    (tmp_path / "adapter_model.safetensors").write_bytes(b"1")
    before = weights.fingerprint(folder, adapter=tmp_path)
    os.utime(tmp_path / "adapter_model.safetensors", (1, 1))
    assert before.startswith("stat:")
    assert weights.fingerprint(folder, adapter=tmp_path) != before


def test_files_of_llama_cpp_are_named_with_what_serves_them(tmp_path: Path):
    folder, file = tmp_path / "quantised", tmp_path / "quantised" / "model-q8_0.gguf"
    folder.mkdir()
    file.write_bytes(b"GGUF")
    for place in (folder, file):
        assert "GGUF format, which is not read here. Serve it" in weights.problem(place)


def test_a_repository_of_the_hub_named_after_the_format_is_one(tmp_path: Path):
    """Its files are not downloaded, so only the name is left."""
    folder = tmp_path / "models--someone--Small-GGUF" / "snapshots" / "1"
    folder.mkdir(parents=True)
    assert "GGUF format" in weights.problem(folder)
