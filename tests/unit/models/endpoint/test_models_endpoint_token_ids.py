import math

import pytest

from evalui.models.endpoint.http.client import Faltered, Json
from evalui.models.endpoint.token_ids import look_up
from evalui.models.scoring_requests import Asked
from evalui.models.tokenization import Context, Pair
from evalui.types import Logprob

SCORED = Asked(None, {}, {}, {0: Pair((5, 6), (7, 8), merged=False, truncated=False)})  # type: ignore[arg-type]
CHOSEN = Asked(None, {0: Context((5, 6), truncated=False)}, {0: ((7,), (8,))}, {})  # type: ignore[arg-type]
ROWS = [None, {"6": {"logprob": -9.0, "rank": 3}}, {"7": {"logprob": -1.0, "rank": 1}}]
LAST = {"8": {"logprob": -2.0, "rank": 1}}


def test_a_continuation_is_scored_by_its_own_ids():
    answer: Json = {"choices": [{"prompt_logprobs": [*ROWS, LAST]}]}
    found = look_up(SCORED, 0, lambda _: answer, picks=False)
    assert found == Logprob(-3.0, 2, greedy=True)


@pytest.mark.parametrize("choice", [{}, {"prompt_logprobs": None}, {"prompt_logprobs": ROWS}])
@pytest.mark.parametrize("asked", [SCORED, CHOSEN])
def test_a_server_that_scores_no_prompt_makes_up_no_score(asked: Asked, choice: Json):
    """Nothing summed is 0, the best of all scores."""

    def complete(body: Json) -> Json:
        count = len(body["prompt"]) if isinstance(body["prompt"][0], list) else 1
        return {"choices": [{"index": at, **choice} for at in range(count)]}

    with pytest.raises(Faltered, match=r"it scores \d tokens where \d were sent|other tokens"):
        look_up(asked, 0, complete, picks=False)


def test_what_the_model_rules_out_has_no_probability():
    rows = [*ROWS, {"8": {"logprob": -math.inf, "rank": 9}}]
    found = look_up(SCORED, 0, lambda _: {"choices": [{"prompt_logprobs": rows}]}, picks=False)
    assert isinstance(found, Logprob)
    assert (found.total, found.greedy) == (-math.inf, False)
