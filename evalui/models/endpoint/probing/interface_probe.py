"""What an interface sends when one token and a list of the most probable ones are requested."""

import math
import re
from dataclasses import dataclass, field
from typing import Any

from evalui.errors import ModelError
from evalui.messages import sentence
from evalui.models.endpoint.failures import RetryableError
from evalui.models.endpoint.json_values import Json, as_object
from evalui.models.endpoint.responses import (
    choices,
    first_text,
    invalid_top_reason,
    read_top,
    reported_model,
)

NEWER_LIMIT_FIELD = "max_completion_tokens"
LIMIT_FIELDS = ("max_tokens", NEWER_LIMIT_FIELD)
# What models that think before they reply may refuse. One goes at a time, since a refusal may
# also name what is allowed: the one that changes no reply first, as texts are cut here anyway.
OPTIONAL_FIELDS = ("stop", "temperature")
_MIN_LETTER_MASS = 0.5  # the probability of all letters where a letter is what a reply begins with
# Thoughts may begin with "I", which is a word; one more request shows what it is.
_LETTER = re.compile(r"\s*[A-HJ-Z]\s*")
_LIMIT_REACHED = "output limit was reached"  # OpenAI's word where one token is not enough to think


@dataclass(frozen=True, slots=True)
class ProbeReply:
    """One attempt: the server's answer, or the reason why there is none.

    `auth_error` is what to raise if the key was refused everywhere.
    """

    answer: Json
    reason: str = ""
    status: int = 0
    auth_error: ModelError | None = None


@dataclass(frozen=True, slots=True)
class InterfaceProbe:
    """Whether one interface answers at all, and how long a list of tokens it gives.

    `thinks`, `opens_thoughts`, `limit_field` and `refused_fields` as in `Capabilities`.
    """

    works: bool = False
    top: int = 0
    thinks: bool = False
    opens_thoughts: bool = False
    reason: str = ""
    reported_model: str = ""
    limit_field: str = "max_tokens"
    refused_fields: frozenset[str] = frozenset()
    auth_error: ModelError | None = None
    answer: Json = field(default_factory=dict[str, Any], repr=False)


def adapt_request(body: Json, reason: str) -> Json:
    """The same question in the manner of OpenAI's newer models, as far as the refusal names it."""
    if NEWER_LIMIT_FIELD in reason and "max_tokens" in body:
        others = {field: value for field, value in body.items() if field != "max_tokens"}
        return others | {NEWER_LIMIT_FIELD: body["max_tokens"]}
    named = (each for each in OPTIONAL_FIELDS if each in body and re.search(rf"\b{each}\b", reason))
    refused = next(named, "")
    return {field: value for field, value in body.items() if field != refused}


def read_plain_probe(tried: ProbeReply) -> InterfaceProbe:
    """What the answer to a question without a list shows."""
    if _LIMIT_REACHED in tried.reason:
        return InterfaceProbe(works=True)
    if tried.reason:
        return InterfaceProbe(reason=tried.reason, auth_error=tried.auth_error)
    try:
        choices(tried.answer)
    except RetryableError as error:
        return InterfaceProbe(reason=error.reason)
    return InterfaceProbe(
        works=True, reported_model=reported_model(tried.answer), answer=tried.answer
    )


def read_top_probe(answer: Json, top: int) -> InterfaceProbe:
    """What the answer to a question for a list of `top` tokens shows."""
    try:
        (choice,) = choices(answer)
    except RetryableError as error:
        return InterfaceProbe(reason=error.reason)
    why = _missing_top_reason(choice)
    return InterfaceProbe(
        works=True,
        top=0 if why else top,
        reason=why,
        reported_model=reported_model(answer),
        answer=answer,
    )


def has_invalid_logprobs(tried: ProbeReply) -> bool:
    """Whether the list cannot be the model's own; another time it may be."""
    try:
        return any(invalid_top_reason(read_top(choice)) for choice in choices(tried.answer))
    except RetryableError:
        return False


def begins_with_letter(answer: Json) -> bool:
    """Whether a reply begins with what it was to be, a letter: by its list of first tokens, else
    by its text.
    """
    try:
        (choice,) = choices(answer)
        listed = read_top(choice)
    except RetryableError:
        return False
    if not listed:
        return bool(_LETTER.fullmatch(first_text(choice)))
    mass = math.fsum(math.exp(each.logprob) for each in listed if _LETTER.fullmatch(each.token))
    return mass >= _MIN_LETTER_MASS


def lacks_list(tried: ProbeReply) -> bool:
    """Whether an answer came without a list of tokens, as from some of a router's providers."""
    try:
        return any(not read_top(choice) for choice in choices(tried.answer))
    except RetryableError:
        return False


def fits_probe_schema(choice: Json) -> bool:
    """Whether a reply is JSON, as far as it goes; thoughts alone are the beginning of any reply."""
    message = as_object(choice.get("message"))
    text = message.get("content")
    if isinstance(text, str) and text.strip():
        return text.lstrip().startswith("{")
    thinks = message.get("reasoning_content") or message.get("reasoning")
    return bool(thinks) and choice.get("finish_reason") == "length"


def _missing_top_reason(choice: Json) -> str:
    try:
        listed = read_top(choice)
    except RetryableError as error:
        return error.reason
    if not listed:
        return sentence("error.endpoint-ignores-logprobs")
    if len(listed) == 1:
        return sentence("error.endpoint-one-token")
    return invalid_top_reason(listed)
