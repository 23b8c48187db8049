"""What an interface shows when it is asked for one token and a list of the most probable ones."""

import re
from dataclasses import dataclass

from evalui.errors import ModelError
from evalui.messages import sentence
from evalui.models.endpoint.http.client import Faltered, Json
from evalui.models.endpoint.responses import choices, read_top, told_model, why_unbelievable

NEWER_LIMIT = "max_completion_tokens"
# What models that think before they reply may refuse. One goes at a time, since a refusal may
# also name what is allowed: the one that changes no reply first, as texts are cut here anyway.
DISPENSABLE = ("stop", "temperature")
_TOO_SHORT = "output limit was reached"  # OpenAI's word where one token is not enough to think


@dataclass(frozen=True, slots=True)
class Try:
    """One attempt: the server's answer, or the reason why there is none.

    `locked` is what to raise if the key was refused everywhere.
    """

    answer: Json
    reason: str = ""
    status: int = 0
    locked: ModelError | None = None


@dataclass(frozen=True, slots=True)
class Listing:
    """Whether one interface answers at all, and how long a list of tokens it gives.

    `limit_field` and `refused` as in `Findings`.
    """

    works: bool = False
    top: int = 0
    reason: str = ""
    told: str = ""
    limit_field: str = "max_tokens"
    refused: frozenset[str] = frozenset()
    locked: ModelError | None = None


def adapted(body: Json, reason: str) -> Json:
    """The same question in the manner of OpenAI's newer models, as far as the refusal names it."""
    if NEWER_LIMIT in reason and "max_tokens" in body:
        others = {field: value for field, value in body.items() if field != "max_tokens"}
        return others | {NEWER_LIMIT: body["max_tokens"]}
    named = (each for each in DISPENSABLE if each in body and re.search(rf"\b{each}\b", reason))
    refused = next(named, "")
    return {field: value for field, value in body.items() if field != refused}


def answered(tried: Try) -> Listing:
    """What the answer to a question without a list shows."""
    if _TOO_SHORT in tried.reason:
        return Listing(works=True)
    if tried.reason:
        return Listing(reason=tried.reason, locked=tried.locked)
    try:
        choices(tried.answer)
    except Faltered as error:
        return Listing(reason=error.reason)
    return Listing(works=True, told=told_model(tried.answer))


def listed(answer: Json, top: int) -> Listing:
    """What the answer to a question for a list of `top` tokens shows."""
    try:
        (choice,) = choices(answer)
    except Faltered as error:
        return Listing(reason=error.reason)
    why = _why_unlisted(choice)
    return Listing(works=True, top=0 if why else top, reason=why, told=told_model(answer))


def is_spoilt(tried: Try) -> bool:
    """Whether the list cannot be the model's own; another time it may be."""
    try:
        return any(why_unbelievable(read_top(choice)) for choice in choices(tried.answer))
    except Faltered:
        return False


def _why_unlisted(choice: Json) -> str:
    try:
        found = read_top(choice)
    except Faltered as error:
        return error.reason
    if not found:
        return sentence("error.endpoint-ignores-logprobs")
    if len(found) == 1:
        return sentence("error.endpoint-one-token")
    return why_unbelievable(found)
