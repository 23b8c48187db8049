import asyncio
import math

import pytest

from evalui.models.endpoint.failures import RetryableError
from evalui.models.endpoint.json_values import Json
from evalui.models.endpoint.tokenizer import token_id_logprobs
from evalui.models.scoring_requests import ScoringBatch
from evalui.models.tokenization import EncodedContext, EncodedPair
from evalui.types import Logprob

SCORED = ScoringBatch(None, {}, {}, {0: EncodedPair((5, 6), (7, 8), merged=False, truncated=False)})  # type: ignore[arg-type]
CHOSEN = ScoringBatch(None, {0: EncodedContext((5, 6), truncated=False)}, {0: ((7,), (8,))}, {})  # type: ignore[arg-type]
ROWS = [None, {"6": {"logprob": -9.0, "rank": 3}}, {"7": {"logprob": -1.0, "rank": 1}}]
LAST = {"8": {"logprob": -2.0, "rank": 1}}


def test_a_continuation_is_scored_by_its_own_ids():
    answer: Json = {"choices": [{"prompt_logprobs": [*ROWS, LAST]}]}

    async def complete(_: Json) -> Json:
        return answer

    found = asyncio.run(token_id_logprobs(SCORED, 0, complete, picks_token_ids=False))
    assert found == Logprob(-3.0, 2, greedy=True)


@pytest.mark.parametrize("choice", [{}, {"prompt_logprobs": None}, {"prompt_logprobs": ROWS}])
@pytest.mark.parametrize("asked", [SCORED, CHOSEN])
def test_a_server_that_scores_no_prompt_makes_up_no_score(asked: ScoringBatch, choice: Json):
    """Nothing summed is 0, the best of all scores."""

    async def complete(body: Json) -> Json:
        count = len(body["prompt"]) if isinstance(body["prompt"][0], list) else 1
        return {"choices": [{"index": at, **choice} for at in range(count)]}

    with pytest.raises(
        RetryableError, match=r"it scores \d tokens where \d were sent|other tokens"
    ):
        asyncio.run(token_id_logprobs(asked, 0, complete, picks_token_ids=False))


def test_what_the_model_rules_out_has_no_probability():
    rows = [*ROWS, {"8": {"logprob": -math.inf, "rank": 9}}]

    async def complete(_: Json) -> Json:
        return {"choices": [{"prompt_logprobs": rows}]}

    found = asyncio.run(token_id_logprobs(SCORED, 0, complete, picks_token_ids=False))
    assert isinstance(found, Logprob)
    assert (found.total, found.greedy) == (-math.inf, False)
