import math
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import serving
from thinking_model import save_thinking_model
from vllm_questions import DEMO, PAPERS, TOLERANCE, Paper, answer, apart, sit

from evalui.models import Model, ModelEntry, describe, open_model
from evalui.models.endpoint.backend import EndpointModel
from evalui.types import LabelProbs, NextToken


@pytest.fixture(scope="module")
def served_entry(server: str) -> ModelEntry:
    options = {"base_url": server, "tokenizer": str(DEMO)}
    return ModelEntry("served", "openai", "demo", max_length=510, options=options)


@pytest.fixture(scope="module")
def served(served_entry: ModelEntry) -> Iterator[Model]:
    model = open_model(served_entry)
    assert isinstance(model, EndpointModel)
    yield model
    model.close()


def test_the_server_is_found_to_answer_every_kind(served_entry: ModelEntry, served: Model):
    state = describe(served_entry)
    assert state.problem == ""
    assert state.abilities == served.abilities == {"next_token", "loglik", "generate", "schema"}
    assert not state.missing_reasons


@pytest.mark.parametrize("paper", PAPERS, ids=str)
def test_the_server_answers_as_transformers_does(served: Model, reference: Model, paper: Paper):
    mine, theirs = sit(served, paper), sit(reference, paper)
    pairs = list(zip(mine.responses, theirs.responses, strict=True))
    assert max(apart(one, other) for one, other in pairs) < TOLERANCE
    assert mine.choices == theirs.choices


def test_letters_of_a_model_that_would_rather_write_a_number(python: str, tmp_path: Path):
    """The number is a token that no spelling of a letter has made known to the client."""
    shares = {"1": 0.6, "A": 0.05, "B": 0.25, "C": 0.06, "D": 0.04}
    save_thinking_model(tmp_path / "model", shares)
    with serving(python, tmp_path / "model", tmp_path) as url:
        entry = ModelEntry("numbers", "openai", "demo", options={"base_url": url}, max_length=510)
        model = open_model(entry)
        (found,) = answer(model, [NextToken("Which of these fits? Answer:", tuple("ABCD"))])
        model.close()
    assert isinstance(found, LabelProbs)
    assert found.top_token == "1"
    expected = [shares[letter] for letter in "ABCD"]
    assert [math.exp(each) for each in found.logprobs] == pytest.approx(expected, abs=1e-4)
