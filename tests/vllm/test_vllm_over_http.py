from collections.abc import Iterator

import pytest
from vllm_questions import DEMO, PAPERS, TOLERANCE, Paper, apart, sit

from evalui.models import Model, ModelEntry, describe, open_model
from evalui.models.endpoint.backend import EndpointModel


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
