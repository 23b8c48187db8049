"""Log-probabilities of token ids, asked of a server that takes prompts as ids: exact ones."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from evalui.messages import sentence
from evalui.models.endpoint.http.client import Json
from evalui.models.endpoint.responses import choices, invalid_response, read_prompt, read_top
from evalui.models.scoring_requests import ScoringBatch
from evalui.models.tokenization import EncodedPair
from evalui.types import Response

T = TypeVar("T")
CompletionCall = Callable[[Json], Json]

_OTHER_TOKEN = -1  # stands for whichever token the model would have preferred


def token_id_logprobs(
    batch: ScoringBatch, key: int, complete: CompletionCall, *, picks_token_ids: bool
) -> Response:
    """The response to request number `key`; `picks_token_ids` as in `Capabilities`."""
    if key in batch.pairs:
        pair = batch.pairs[key]
        return batch.response(key, *_score_continuation(pair, complete))
    context = batch.contexts[key].ids
    wanted = [token for spelt in batch.labels[key] for token in spelt]
    look = _picked_logprobs if picks_token_ids else _logprobs_one_by_one
    logprobs, top = look(context, wanted, complete)
    return batch.response(key, logprobs, [top])


def _score_continuation(
    pair: EncodedPair, complete: CompletionCall
) -> tuple[list[float], list[int]]:
    """Of each token of the continuation the log-probability, and the model's own choice there."""
    ids = pair.context + pair.continuation
    body: Json = {"prompt": list(ids), "prompt_logprobs": 0}
    (choice,) = choices(complete(body))
    places = read_prompt(choice, ids)[len(pair.context) :]
    best = [
        token if place.is_top else _OTHER_TOKEN
        for token, place in zip(pair.continuation, places, strict=True)
    ]
    return [_require_score(place.logprob) for place in places], best


def _picked_logprobs(
    context: Sequence[int], wanted: Sequence[int], complete: CompletionCall
) -> tuple[list[float], int]:
    """The next token's log-probabilities of some tokens, and the most probable of all."""
    body: Json = {
        "prompt": list(context),
        "logprobs": 1,
        "logprob_token_ids": sorted(set(wanted)),
        "return_tokens_as_token_ids": True,
    }
    (choice,) = choices(complete(body))
    listed = read_top(choice)
    by_id = {each.id: each.logprob for each in listed}
    if not listed or any(token not in by_id for token in wanted):
        raise invalid_response(sentence("error.endpoint-labels-missing"))
    # At temperature 0 the token it wrote is the most probable, and it is always listed.
    return [by_id[token] for token in wanted], _require_score(listed[0].id)


def _logprobs_one_by_one(
    context: Sequence[int], wanted: Sequence[int], complete: CompletionCall
) -> tuple[list[float], int]:
    """The same, each token put after the context as a prompt of its own."""
    distinct = sorted(set(wanted))
    prompts = [list(context), *([*context, token] for token in distinct)]
    body: Json = {
        "prompt": prompts,
        "logprobs": 1,
        "prompt_logprobs": 0,
        "return_tokens_as_token_ids": True,
    }
    bare, *tried = choices(complete(body), len(prompts))
    found = {
        ids[-1]: _require_score(read_prompt(choice, ids)[-1].logprob)
        for ids, choice in zip(prompts[1:], tried, strict=True)
    }
    top = read_top(bare)
    return [found[token] for token in wanted], _require_score(top[0].id if top else None)


def _require_score(value: T | None) -> T:
    if value is None:
        raise invalid_response(sentence("error.endpoint-token-unscored"))
    return value
