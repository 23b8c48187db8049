import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import serving
from picture_models import mark, picture, save_seeing
from thinking_model import save_thinking_model
from vllm_questions import DEMO, PAPERS, TOLERANCE, Paper, answer, apart, conversation, sit

from evalui.models import Model, ModelEntry, describe, open_model
from evalui.models.endpoint.backend import EndpointModel
from evalui.models.endpoint.config import read_endpoint
from evalui.models.endpoint.probe import probe
from evalui.models.endpoint.server import HttpServer
from evalui.types import LabelProbs, Loglik, Logprob, NextToken


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
    assert state.missing_reasons.keys() == {"decide"}


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


def test_pictures_are_scored_in_chat_as_transformers_scores_them(python: str, tmp_path: Path):
    """Random weights name no colour, so that the server counts as one that does not look."""
    seeing = save_seeing(
        "idefics3", tmp_path / "model", hidden_size=128, max_position_embeddings=1024
    )
    red, blue = picture("red"), picture("blue")
    texts = (
        f"{mark(red)}\nWhich colour is it? Answer:",
        f"{mark(red)} and {mark(blue)}: which is it? Answer:",
        f"{mark(blue)} and {mark(red)}: which is it? Answer:",
    )
    requests = [
        Loglik(conversation(text), continuation, pictures=(red, blue) if "and" in text else (red,))
        for text in texts
        for continuation in (" red, as a rose is", " blue")
    ]
    with serving(python, tmp_path / "model", tmp_path) as url:
        entry = ModelEntry("served", "openai", "demo", options={"base_url": url}, max_length=510)
        state = describe(entry)
        assert not state.sees_pictures
        assert "it does not look at them" in state.text_only["loglik"]
        server = HttpServer(url, key="", timeout_s=60, total_s=300)
        found = probe(server, "demo")
        server.close()
        assert found.chat_prompt_logprobs
        shown = replace(found, sees_pictures=True, scores_pictures=True)
        model = EndpointModel("served", read_endpoint(entry), shown)
        mine = answer(model, requests)
        model.close()
    reference = open_model(seeing)
    theirs = answer(reference, requests)
    reference.close()
    assert max(map(apart, mine, theirs)) < TOLERANCE
    assert len({each.total for each in mine if isinstance(each, Logprob)}) == len(requests)
