"""A second vLLM, with an adapter, which comes to a bad end."""

import os
import signal
import warnings
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from vllm_questions import DEMO, TOLERANCE, Paper, apart, sit

from evalui.errors import ModelError
from evalui.models import Model, ModelEntry, open_model
from evalui.models.vllm import VllmModel
from evalui.types import Generate

LETTERS = Paper("multiple_choice", "origin")


@pytest.fixture(scope="module")
def adapter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from peft import LoraConfig, PeftModel
    from transformers import AutoModelForCausalLM

    folder = tmp_path_factory.mktemp("adapter")
    torch.manual_seed(7)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        base = AutoModelForCausalLM.from_pretrained(DEMO, dtype=torch.float32)
        targets = ["q_proj", "v_proj", "down_proj"]
        config = LoraConfig(r=4, lora_alpha=8, target_modules=targets, task_type="CAUSAL_LM")
        tuned = PeftModel(base, config)
        for name, weight in tuned.named_parameters():
            if "lora_B" in name:
                torch.nn.init.normal_(weight, std=0.05)
        tuned.save_pretrained(str(folder))
    return folder


@pytest.fixture(scope="module")
def tuned(entry: ModelEntry, adapter: Path) -> Iterator[VllmModel]:
    model = open_model(replace(entry, name="tuned", adapter=str(adapter)))
    assert isinstance(model, VllmModel)
    yield model
    model.close()


def test_an_adapter_answers_as_in_transformers_and_otherwise_than_its_base(
    tuned: VllmModel, reference: Model, adapter: Path
):
    same = ModelEntry(
        "tuned", "transformers", str(DEMO), dtype="float32", device="cpu", adapter=str(adapter)
    )
    theirs = open_model(same)
    mine, tuned_there, base = (sit(model, LETTERS) for model in (tuned, theirs, reference))
    theirs.close()
    pairs = zip(mine.responses, tuned_there.responses, strict=True)
    assert max(apart(one, other) for one, other in pairs) < TOLERANCE
    assert mine.choices == tuned_there.choices
    changed = zip(mine.responses, base.responses, strict=True)
    assert max(apart(one, other) for one, other in changed) > 0.1


def test_the_adapter_is_part_of_the_fingerprint(tuned: VllmModel, ours: VllmModel):
    assert tuned.fingerprint != ours.fingerprint


def test_a_process_killed_in_the_middle_is_an_error_and_no_answer(tuned: VllmModel):
    # The first is answered after one step of the network, the others hundreds of steps later.
    requests = [Generate("Question:", 1), *(Generate(f"{n}?", 450) for n in range(40))]
    begun = tuned.answer(requests)
    assert next(begun)[0] == 0
    os.kill(tuned.pid, signal.SIGKILL)
    with pytest.raises(ModelError, match="The vLLM process of tuned ended with code -9"):
        list(begun)
    with pytest.raises(ModelError, match="ended with code -9"):
        list(tuned.answer(requests[:1]))
