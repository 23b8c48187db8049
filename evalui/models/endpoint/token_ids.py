"""Log-probabilities of token ids, asked of a server that takes prompts as ids: exact ones."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from evalui.messages import sentence
from evalui.models.endpoint.http.client import Json
from evalui.models.endpoint.responses import choices, read_prompt, read_top, unusable
from evalui.models.scoring_requests import Asked
from evalui.models.tokenization import Pair
from evalui.types import Response

T = TypeVar("T")
Complete = Callable[[Json], Json]

_OTHER = -1  # stands for whichever token the model would have preferred


def look_up(asked: Asked, key: int, complete: Complete, *, picks: bool) -> Response:
    """The response to request number `key`; `picks` as in `Findings`."""
    if key in asked.pairs:
        pair = asked.pairs[key]
        return asked.response(key, *_continued(pair, complete))
    context = asked.contexts[key].ids
    wanted = [token for spelt in asked.labels[key] for token in spelt]
    look = _picked if picks else _each_tried
    logprobs, top = look(context, wanted, complete)
    return asked.response(key, logprobs, [top])


def _continued(pair: Pair, complete: Complete) -> tuple[list[float], list[int]]:
    """Of each token of the continuation the log-probability, and the model's own choice there."""
    ids = pair.context + pair.continuation
    body: Json = {"prompt": list(ids), "prompt_logprobs": 0}
    (choice,) = choices(complete(body))
    places = read_prompt(choice, ids)[len(pair.context) :]
    best = [
        token if place.first else _OTHER
        for token, place in zip(pair.continuation, places, strict=True)
    ]
    return [_known(place.logprob) for place in places], best


def _picked(
    context: Sequence[int], wanted: Sequence[int], complete: Complete
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
        raise unusable(sentence("error.endpoint-labels-missing"))
    # At temperature 0 the token it wrote is the most probable, and it is always listed.
    return [by_id[token] for token in wanted], _known(listed[0].id)


def _each_tried(
    context: Sequence[int], wanted: Sequence[int], complete: Complete
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
        ids[-1]: _known(read_prompt(choice, ids)[-1].logprob)
        for ids, choice in zip(prompts[1:], tried, strict=True)
    }
    top = read_top(bare)
    return [found[token] for token in wanted], _known(top[0].id if top else None)


def _known(value: T | None) -> T:
    if value is None:
        raise unusable(sentence("error.endpoint-token-unscored"))
    return value
