import asyncio
import math
from collections.abc import Sequence

import pytest

from evalui.models.endpoint.config import Endpoint
from evalui.models.endpoint.logprobs import token_id_logprobs
from evalui.models.endpoint.probe import Capabilities
from evalui.models.endpoint.protocol import Json, RetryableError
from evalui.models.endpoint.requests import RequestBuilder
from evalui.models.scoring_requests import ScoringBatch
from evalui.models.tokenization import EncodedContext, EncodedPair
from evalui.types import LabelProbs, Logprob, NextToken

SCORED = ScoringBatch(None, {}, {}, {0: EncodedPair((5, 6), (7, 8), merged=False, truncated=False)})  # type: ignore[arg-type]
CHOSEN = ScoringBatch(None, {0: EncodedContext((5, 6), truncated=False)}, {0: ((7,), (8,))}, {})  # type: ignore[arg-type]
ROWS = [None, {"6": {"logprob": -9.0, "rank": 3}}, {"7": {"logprob": -1.0, "rank": 1}}]
LAST = {"8": {"logprob": -2.0, "rank": 1}}


def test_a_continuation_is_scored_by_its_own_ids():
    answer: Json = {"choices": [{"prompt_logprobs": [*ROWS, LAST]}]}

    async def complete(_: Json) -> Json:
        return answer

    found = asyncio.run(token_id_logprobs(SCORED, 0, complete, picks_token_ids=False))
    assert SCORED.response(0, *found) == Logprob(-3.0, 2, greedy=True)


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

    found = SCORED.response(
        0, *asyncio.run(token_id_logprobs(SCORED, 0, complete, picks_token_ids=False))
    )
    assert isinstance(found, Logprob)
    assert (found.total, found.greedy) == (-math.inf, False)


@pytest.mark.parametrize("picks_token_ids", [True, False])
@pytest.mark.parametrize("written", ["1", "A"])
def test_a_model_that_would_write_something_else_than_a_letter_is_answered(
    written: str, picks_token_ids: bool
):
    """Its most probable token is one that no spelling of a letter has made known."""
    shares = {"A": 0.05, "B": 0.03, "Ａ": 1e-9, "Ｂ": 1e-9} | {written: 0.6}

    def listed(texts: Sequence[str]) -> Json:
        tokens = {f"token_id:{ord(text)}": math.log(shares[text]) for text in texts}
        return {"tokens": [f"token_id:{ord(written)}"], "top_logprobs": [tokens]}

    async def vllm(path: str, body: Json) -> Json:
        """A server whose tokens are characters."""
        if path == "/tokenize":
            tokens = [ord(sign) for sign in body["prompt"]]
            return {"tokens": tokens, "count": len(tokens)}
        if path == "/detokenize":
            return {"prompt": "".join(map(chr, body["tokens"]))}
        if "logprob_token_ids" in body:
            return {"choices": [{"logprobs": listed(list(shares))}]}
        rows = [
            {str(ids[-1]): {"logprob": math.log(shares.get(chr(ids[-1]), 0.01)), "rank": 2}}
            for ids in body["prompt"]
        ]
        scored = [
            {"index": at, "prompt_logprobs": [None] * (len(ids) - 1) + [row]}
            for at, (ids, row) in enumerate(zip(body["prompt"], rows, strict=True))
        ]
        scored[0]["logprobs"] = listed([written])
        return {"choices": scored}

    can = Capabilities(
        completions=True,
        prompt_logprobs=True,
        accepts_token_ids=True,
        picks_token_ids=picks_token_ids,
        has_tokenizer_routes=True,
    )
    builder = RequestBuilder("m", Endpoint("m", ("http://a/v1",)), can, None)
    job = builder.jobs([NextToken("Which one? Answer:", ("A", "B"))])[0]
    found = asyncio.run(job(vllm))
    assert isinstance(found, LabelProbs)
    assert found.top_token == written
    assert [math.exp(each) for each in found.logprobs] == pytest.approx([shares["A"], 0.03])
