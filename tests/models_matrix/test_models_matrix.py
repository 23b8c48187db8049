"""Whatever the architecture, what evalui computes is what plain transformers does row by row."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch
from transformers import AutoModelForCausalLM

from evalui.errors import ModelError
from evalui.models import ModelEntry, open_model
from evalui.models.local.loading import LoadedModel
from evalui.models.local.self_check import check_paths
from tests.models_matrix.matrix_models import ARCHITECTURES, REFUSED, Architecture, build, save
from tests.models_matrix.matrix_oracle import assert_equal, oracle
from tests.models_matrix.matrix_tokenizers import TOKENIZERS, save_tokenizer
from tests.unit.models.adapter_examples import make_adapter

DTYPES = (torch.float32, torch.bfloat16, torch.float16)  # of the files
NAMES = tuple(ARCHITECTURES)
DOCS = (Path(__file__).parents[2] / "docs" / "models.md").read_text(encoding="utf-8")


def made(
    architecture: Architecture, tokenizer: str, dtype: torch.dtype, folder: Path
) -> ModelEntry:
    """A folder with the model, and its entry."""
    vocabulary = save_tokenizer(tokenizer, folder)
    save(architecture, folder, vocabulary=vocabulary, dtype=dtype)
    return ModelEntry("tiny", "transformers", path=str(folder), device="cpu")


# GPT-BigCode compiles parts of itself in a way that torch has deprecated.
@pytest.mark.filterwarnings("ignore:.torch.jit.script.:DeprecationWarning")
@pytest.mark.parametrize("name", NAMES)
def test_an_architecture_computes_as_plain_transformers(name: str, tmp_path: Path):
    """Tokenizers and the precision of the files take turns."""
    number = NAMES.index(name)
    tokenizer = tuple(TOKENIZERS)[number % len(TOKENIZERS)]
    architecture = ARCHITECTURES[name]
    entry = made(architecture, tokenizer, DTYPES[number % len(DTYPES)], tmp_path)
    assert_equal(open_model(entry), oracle(tmp_path, attention=architecture.attention))


def documented_row(architecture: Architecture) -> str:
    """What docs/models.md says of an architecture: how it scores, and how it writes."""
    model = build(architecture, vocabulary=360, dtype=torch.float32)
    checked = check_paths(LoadedModel(model, torch.device("cpu"), frozenset()))
    scoring = "shared prefixes" if not checked.trees else "rows together"
    if checked.trees and checked.rows:
        scoring = "one row at a time"
    if checked.own_cache:
        writing = "one reply at a time, without a cache"
    elif checked.left_padded:
        writing = "one reply at a time"
    elif checked.cached:
        writing = "together, by transformers"
    else:
        writing = "together" if checked.shared_prefix else "together, prefixes shared"
    return f"{scoring} | {writing}"


@pytest.mark.parametrize("name", NAMES)
def test_the_documentation_lists_what_an_architecture_does(name: str):
    (row,) = [line for line in DOCS.splitlines() if line.startswith("|") and f"`{name}`" in line]
    assert row.endswith(f"| {documented_row(ARCHITECTURES[name])} |")


@pytest.mark.parametrize("merge", [True, False])
@pytest.mark.parametrize("name", ["llama", "gpt_neo", "bart", "mamba", "gemma3_text"])
def test_an_adapter_computes_as_peft(name: str, merge: bool, tmp_path: Path):
    from peft import PeftModel

    base, folder = tmp_path / "base", tmp_path / "adapter"
    entry = made(ARCHITECTURES[name], "bytes", torch.float32, base)
    targets = ["in_proj"] if name == "mamba" else ["q_proj", "v_proj"]
    make_adapter(base, folder, target_modules=targets)
    plain = AutoModelForCausalLM.from_pretrained(base, attn_implementation="eager")
    tuned = PeftModel.from_pretrained(plain, str(folder)).eval()
    entry = replace(entry, adapter=str(folder), options={"merge": merge})
    assert_equal(open_model(entry), oracle(base, tuned))


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_causal_model_is_refused(name: str, tmp_path: Path):
    entry = made(REFUSED[name], "wordpiece", torch.float32, tmp_path)
    with pytest.raises(ModelError, match="is not a causal language model"):
        open_model(entry)
