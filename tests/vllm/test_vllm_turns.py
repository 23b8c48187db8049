"""vLLM behind a gateway that passes chat on and nothing else."""

from collections.abc import Iterator

import pytest
from vllm_questions import TOLERANCE, Paper, answer, apart, conversation, sit

from evalui.models import Model, ModelEntry, describe, open_model
from evalui.models.endpoint.backend import EndpointModel
from evalui.types import Loglik, Logprob

CLOZE = Paper("cloze", "origin", chat=True)
AFTER_TURNS, AFTER_NOTHING = 4, 4  # requests for each question of it
REPLIES = ("火", " fire", "fire and ice\n", "hot: 火山。", "  two blanks", "<b>1</b>", "🔥")


@pytest.fixture(scope="module")
def chat_entry(server: str) -> ModelEntry:
    options = {"base_url": server, "api": "chat"}
    return ModelEntry("chat", "openai", "demo", max_length=510, options=options)


@pytest.fixture(scope="module")
def chat(chat_entry: ModelEntry) -> Iterator[Model]:
    model = open_model(chat_entry)
    assert isinstance(model, EndpointModel)
    yield model
    model.close()


def test_chat_alone_is_found_to_score_replies(chat_entry: ModelEntry, chat: Model):
    assert chat.abilities == {"next_token", "loglik", "generate", "schema"}
    assert describe(chat_entry).missing_reasons.keys() == {"decide"}


def test_options_after_a_question_are_scored_as_transformers_does(chat: Model, reference: Model):
    mine, theirs = sit(chat, CLOZE), sit(reference, CLOZE)
    pairs = [
        pair
        for place, pair in enumerate(zip(mine.responses, theirs.responses, strict=True))
        # What stands after nothing is another prompt in a conversation than in a text.
        if place % (AFTER_TURNS + AFTER_NOTHING) < AFTER_TURNS
    ]
    assert max(apart(one, other) for one, other in pairs) < TOLERANCE
    assert mine.choices == theirs.choices


@pytest.mark.parametrize("reply", REPLIES)
def test_any_beginning_of_a_reply_is_scored(chat: Model, reference: Model, reply: str):
    turns = conversation("哪个是热的? Which one is hot?")
    (mine,), (theirs,) = (answer(model, [Loglik(turns, reply)]) for model in (chat, reference))
    assert isinstance(mine, Logprob)
    assert apart(mine, theirs) < TOLERANCE
