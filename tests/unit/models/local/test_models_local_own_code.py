"""Code in the folder of a model is never run: neither pickles nor modules that its files name."""

import json
import pickle
import shutil
from pathlib import Path
from typing import Any

import pytest

from evalui.errors import ModelError
from evalui.models import ModelEntry, describe, open_model
from evalui.types import Generate

pytestmark = pytest.mark.slow  # it loads a model

MODULE = """
from pathlib import Path
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast
Path({folder!r}, "ran-module").touch()
class Config(LlamaConfig): pass
class Model(LlamaForCausalLM): pass
class Tokenizer(PreTrainedTokenizerFast): pass
def generate(*given, **named): Path({folder!r}, "ran-generate").touch()
"""
NAMED = {
    "AutoConfig": "own.Config",
    "AutoModelForCausalLM": "own.Model",
    "AutoTokenizer": ["own.Tokenizer", "own.Tokenizer"],
}


class Touches:
    """A pickle that makes a file when it is read."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


def hostile(small: Path, folder: Path) -> Path:
    """A model that loads, with code in every place where others look for it."""
    shutil.copytree(small, folder)
    for name in ("config.json", "tokenizer_config.json"):
        about = json.loads((folder / name).read_text())
        (folder / name).write_text(json.dumps(about | {"auto_map": NAMED}))
    module = MODULE.format(folder=str(folder))
    (folder / "own.py").write_text(module)
    (folder / "custom_generate").mkdir()
    (folder / "custom_generate" / "generate.py").write_text(module)
    for name in ("pytorch_model.bin", "training_args.bin", "optimizer.pt", "rng_state.pth"):
        (folder / name).write_bytes(pickle.dumps(Touches(folder / f"ran-{name}")))
    return folder


def test_code_beside_the_weights_is_not_run(small_folder: Path, tmp_path: Path):
    folder = hostile(small_folder, tmp_path / "model")
    entry = ModelEntry("hostile", "transformers", str(folder))
    assert describe(entry).problem == ""
    model = open_model(entry)
    (reply,) = model.answer([Generate("Which?", max_tokens=2)])
    assert reply
    assert [path.name for path in folder.rglob("ran-*")] == []


def test_a_model_of_code_alone_is_refused_and_not_run(small_folder: Path, tmp_path: Path):
    folder = hostile(small_folder, tmp_path / "model")
    about = json.loads((folder / "config.json").read_text()) | {"model_type": "own"}
    (folder / "config.json").write_text(json.dumps(about))
    with pytest.raises(ModelError, match=r"own\.py"):
        open_model(ModelEntry("hostile", "transformers", str(folder)))
    assert [path.name for path in folder.rglob("ran-*")] == []
