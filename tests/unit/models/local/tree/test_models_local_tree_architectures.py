"""Whatever the architecture: scores are those of each text computed alone."""

import random

import pytest

from evalui.models.local.loading import Causal
from evalui.models.local.padded_forward import Network
from evalui.models.local.scorer import Reader
from evalui.models.logprob_queries import Question, Tokens, plan, scored
from tests.unit.models.tree_architectures import OVER_TRIES, ROW_BY_ROW, tiny

pytestmark = pytest.mark.slow  # forty architectures are imported
Scores = dict[int, list[float]]


def questions() -> list[Question]:
    """Options after stems after examples, a text of one token, and one longer than 64."""
    dice = random.Random(0)

    def some(least: int, most: int) -> Tokens:
        return tuple(dice.randrange(3, 300) for _ in range(dice.randint(least, most)))

    shots = some(30, 30)
    found: list[Question] = []
    for _ in range(8):
        stem = some(5, 20)
        found += [scored(len(found) + at, shots + stem, some(1, 7)) for at in range(3)]
    return [*found, scored(100, (5,), (6, 7)), scored(101, some(90, 90), some(3, 3))]


def alone(causal: Causal) -> Scores:
    network, found = Network(causal), Scores()
    for batch in plan(questions(), token_budget=1, place_budget=10**6):
        readout = network.read(batch)
        found |= {q.key: list(readout.logprobs[own]) for q, own in batch.answers}
    return found


def read(reader: Reader) -> Scores:
    return {each.question.key: list(each.logprobs) for each in reader.read(questions())}


def assert_equal(found: Scores, expected: Scores) -> None:
    assert found.keys() == expected.keys()
    for key, scores in expected.items():
        assert found[key] == pytest.approx(scores, abs=5e-5)


@pytest.mark.parametrize("name", OVER_TRIES)
def test_these_are_read_over_tries(name: str):
    causal = tiny(name)
    expected = alone(causal)
    reader = Reader(causal, token_budget=2048)
    assert reader.note == ""
    assert_equal(read(reader), expected)
    assert_equal(read(reader), expected)  # with the trunk kept from before


@pytest.mark.parametrize("name", ROW_BY_ROW)
def test_these_are_read_row_by_row_and_say_so(name: str):
    causal = tiny(name)
    expected = alone(causal)
    reader = Reader(causal, token_budget=2048)
    assert "Scored prompt by prompt" in reader.note
    assert_equal(read(reader), expected)
