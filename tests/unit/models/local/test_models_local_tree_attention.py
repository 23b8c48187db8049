"""Whatever the architecture: scores are those of each text computed alone."""

import random

import pytest

from evalui.models.local.forward import PaddedNetwork
from evalui.models.local.loading import LoadedModel
from evalui.models.local.scorer import Scorer
from evalui.models.scoring_requests import LogprobQuery, TokenIds, continuation_query, plan_batches
from tests.unit.models.checked_models import notes, scorer
from tests.unit.models.tree_architectures import OVER_TRIES, ROW_BY_ROW, tiny

pytestmark = pytest.mark.slow  # forty architectures are imported
Scores = dict[int, list[float]]


def questions() -> list[LogprobQuery]:
    """Options after stems after examples, a text of one token, and one longer than 64."""
    rng = random.Random(0)

    def some(least: int, most: int) -> TokenIds:
        return tuple(rng.randrange(3, 300) for _ in range(rng.randint(least, most)))

    shots = some(30, 30)
    found: list[LogprobQuery] = []
    for _ in range(8):
        stem = some(5, 20)
        found += [continuation_query(len(found) + at, shots + stem, some(1, 7)) for at in range(3)]
    return [
        *found,
        continuation_query(100, (5,), (6, 7)),
        continuation_query(101, some(90, 90), some(3, 3)),
    ]


def alone(causal: LoadedModel) -> Scores:
    network, found = PaddedNetwork(causal), Scores()
    for batch in plan_batches(questions(), token_budget=1, max_logit_rows=10**6):
        readout = network.compute_logprobs(batch)
        found |= {q.key: list(readout.logprobs[own]) for q, own in batch.query_slices}
    return found


def read(reader: Scorer) -> Scores:
    return {each.query.key: list(each.logprobs) for each in reader.score(questions())}


def assert_equal(found: Scores, expected: Scores) -> None:
    assert found.keys() == expected.keys()
    for key, scores in expected.items():
        assert found[key] == pytest.approx(scores, abs=5e-5)


@pytest.mark.parametrize("name", OVER_TRIES)
def test_these_are_read_over_prefix_trees(name: str):
    causal = tiny(name)
    expected = alone(causal)
    reader = scorer(causal, token_budget=2048)
    assert "Scored" not in notes(causal)
    assert_equal(read(reader), expected)
    assert_equal(read(reader), expected)  # with the prefix kept from before


@pytest.mark.parametrize("name", ROW_BY_ROW)
def test_these_are_read_row_by_row_and_say_so(name: str):
    causal = tiny(name)
    expected = alone(causal)
    reader = scorer(causal, token_budget=2048)
    assert "Scored prompt by prompt" in notes(causal)
    assert_equal(read(reader), expected)
