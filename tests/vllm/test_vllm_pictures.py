"""Pictures in vLLM: what transformers answers, in the order of the pictures."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from picture_models import mark, picture, save_seeing
from vllm_questions import TOLERANCE, answer, apart, conversation

from evalui.errors import RequestRejected
from evalui.models import Model, ModelEntry, open_model
from evalui.models.base import BACKENDS
from evalui.models.vllm import VllmModel
from evalui.pictures import ids
from evalui.types import Generate, LabelProbs, Loglik, NextToken, Request, texts_of

RED, BLUE = picture("red"), picture("blue")
_LETTERS = ("A", "B")


@pytest.fixture(scope="module")
def seeing(tmp_path_factory: pytest.TempPathFactory) -> ModelEntry:
    """Idefics3, which vLLM reads without torchvision, with heads that its CPU kernels take."""
    folder = tmp_path_factory.mktemp("seeing")
    return save_seeing("idefics3", folder, hidden_size=128, max_position_embeddings=1024)


@pytest.fixture(scope="module")
def ours(seeing: ModelEntry, python: str) -> Iterator[VllmModel]:
    options = {"python": python, "eager": True}
    entry = ModelEntry("tiny", "vllm", seeing.path, dtype="float32", options=options)
    model = open_model(entry)
    assert isinstance(model, VllmModel)
    yield model
    model.close()


@pytest.fixture(scope="module")
def reference(seeing: ModelEntry) -> Iterator[Model]:
    model = open_model(seeing)
    yield model
    model.close()


def shown(request: Request) -> Request:
    """The request with the pictures that it names."""
    named = ids(texts_of(request))
    return replace(request, pictures=tuple(each for each in (RED, BLUE) if each.id in named))


TEXTS = (
    "Which colour is it? A or B? Answer:",
    f"{mark(RED)}\nWhich colour is it? A or B? Answer:",
    f"{mark(BLUE)}\nWhich colour is it? A or B? Answer:",
    f"{mark(RED)} and {mark(BLUE)}: which is it? Answer:",
    f"{mark(BLUE)} and {mark(RED)}: which is it? Answer:",
)


@pytest.mark.parametrize("chat", [False, True])
def test_answers_are_those_of_transformers(ours: VllmModel, reference: Model, chat: bool):
    prompts = [conversation(text) if chat else text for text in TEXTS]
    requests: list[Request] = [
        request
        for prompt in prompts
        for request in (
            NextToken(prompt, _LETTERS),
            Loglik(prompt, " red, as a rose is"),
            Loglik(prompt, " blue"),
            Generate(prompt, 8),
        )
    ]
    requests = list(map(shown, requests))
    mine, theirs = answer(ours, requests), answer(reference, requests)
    assert max(map(apart, mine, theirs)) < TOLERANCE


def test_another_picture_and_another_order_are_other_questions(ours: VllmModel):
    found = answer(ours, [shown(NextToken(text, _LETTERS)) for text in TEXTS])
    logprobs = {each.logprobs for each in found if isinstance(each, LabelProbs)}
    assert len(logprobs) == len(TEXTS)


def test_a_prompt_that_is_too_long_with_its_picture_is_refused(ours: VllmModel):
    long = shown(NextToken(f"{mark(RED)}" + "Which colour is it? " * 400, _LETTERS))
    with pytest.raises(RequestRejected):
        answer(ours, [long])


def test_the_folder_says_that_it_sees(seeing: ModelEntry, tmp_path: Path):
    assert BACKENDS["vllm"].sees_pictures(seeing)
    assert not BACKENDS["vllm"].sees_pictures(ModelEntry("none", "vllm", str(tmp_path)))
