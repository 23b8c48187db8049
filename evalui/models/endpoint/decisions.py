"""What decision servers are asked and what they say, in each of the three forms that they have.

The body of a request and the object of an answer; nothing is sent here. An answer is read exactly
or not at all: whatever it must not hold raises `RetryableError` with `blame` "answer".
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, cast, get_args

from evalui.messages import sentence
from evalui.models.endpoint.protocol import (
    MAX_MESSAGE_LENGTH,
    Json,
    RejectedError,
    as_list,
    as_object,
    invalid_response,
    replace_surrogates,
    token_count,
)
from evalui.types import Decide, Decision

# The name of each is the path of its requests, too.
DecisionForm = Literal["systemone", "decisions", "decide"]
DECISION_FORMS: tuple[DecisionForm, ...] = get_args(DecisionForm)
_MOST_OPTIONS = 255
_QUESTION = "answer"  # what the only question of a request is called
SMALL_DECISION = Decide(
    "The ball is red.", "Which colour is the ball?", (("A", "red"), ("B", "blue"))
)


def decision_body(form: DecisionForm, model: str, request: Decide) -> Json:
    """A request in one of the forms; options in the order shown, each with its key.

    A text that says no more than its key is left out. `/decide` has no place for keys: each stands
    before its text there, as in "A. Paris".

    Raises:
        RejectedError: it has more options than any server takes.
    """
    if len(request.options) > _MOST_OPTIONS:
        raise RejectedError(
            sentence("error.endpoint-many-options", found=len(request.options), most=_MOST_OPTIONS)
        )
    described = {key: None if text in ("", key) else text for key, text in request.options}
    if form == "decide":
        return {
            "kind": "choice",
            "state": request.context,
            "question": request.question,
            "options": _whole_texts(request),
            "thinking": "off",
        }
    question: Json = {"type": "choice", "instructions": request.question}
    if form == "systemone":
        questions = {_QUESTION: question | {"criteria": described}}
        return {"model": model, "state": request.context, "questions": questions}
    choices = [
        {"value": key} if text is None else {"value": key, "description": text}
        for key, text in described.items()
    ]
    named = question | {"name": _QUESTION, "choices": choices}
    return {"model": model, "input": request.context, "questions": [named]}


class _WrongOptionError(Exception):
    """An option that an answer must not hold: none that was asked, or one for the second time."""

    def __init__(self, option: object, *, again: bool = False) -> None:
        super().__init__(option)
        self.option = option
        self.again = again


def decision_of(
    form: DecisionForm, answer: Json, request: Decide, *, redact: Callable[[str], str] = str
) -> Decision:
    """The decision that an answer to the request is; `redact` takes secrets out of its words.

    Its probabilities are passed on as they were given, whatever their sum; they are missing unless
    each option has one. No answer to the question, where the form has a place for it, is a refusal.

    Raises:
        RetryableError: the answer is about something else than was asked, or holds what is no
            probability, or neither a choice nor a probability.
    """
    try:
        return _read(form, answer, request)
    except _WrongOptionError as wrong:
        told = str(wrong.option) if isinstance(wrong.option, str | int) else "-"
        # Cut last: the beginning of a key would not be recognised.
        name = redact(replace_surrogates(told))[:MAX_MESSAGE_LENGTH]
        if wrong.again:
            raise invalid_response(sentence("error.endpoint-option-twice", name=name)) from None
        raise invalid_response(sentence("error.endpoint-other-option", name=name)) from None


def _read(form: DecisionForm, answer: Json, request: Decide) -> Decision:
    truncated = _is_truncated(as_object(answer.get("usage")))
    if form == "decide":
        given, options = _only_decision(answer, request), _whole_texts(request)
    else:
        given, options = _own_answer(answer), [key for key, _ in request.options]
    if given is None or given.get("type") == "refusal":
        return Decision(refused=True, truncated=truncated)
    if given.get("type", "choice") != "choice":
        raise invalid_response(sentence("error.endpoint-other-question"))
    listed = _probabilities(given.get("probabilities"), options)
    choice, confidence = given.get("choice"), given.get("confidence")
    if choice is None and not any(each is not None for each in listed):
        raise invalid_response(sentence("error.endpoint-undecided"))
    whole = tuple(each for each in listed if each is not None)
    return Decision(
        probabilities=whole if len(whole) == len(options) else (),
        choice=None if choice is None else _place_of(choice, options),
        confidence=None if confidence is None else _probability(confidence),
        truncated=truncated,
    )


def _is_truncated(usage: Json) -> bool:
    """Whether a server says that it has cut the state, or the question."""
    return (
        usage.get("truncated") is True
        or token_count(usage.get("state_tokens_dropped")) > 0
        or bool(as_list(usage.get("truncated_questions")))
    )


def _whole_texts(request: Decide) -> list[str]:
    """Each option as one text, which names its key."""
    return [key if text in ("", key) else f"{key}. {text}" for key, text in request.options]


def _own_answer(answer: Json) -> Json | None:
    """The answer to the only question that was asked, by its name or as the only one of a list;
    None if there is none.
    """
    answers = answer.get("answers")
    if isinstance(answers, dict):
        named = cast(Json, answers)
    elif isinstance(answers, list):
        each = [as_object(one) for one in as_list(answer["answers"])]
        named = {str(one.get("name") or _QUESTION): one for one in each}
        if len(each) > 1:
            raise invalid_response(sentence("error.endpoint-other-question"))
    else:
        raise invalid_response(sentence("error.endpoint-no-answers"))
    if set(named) - {_QUESTION}:
        raise invalid_response(sentence("error.endpoint-other-question"))
    own = named.get(_QUESTION)
    if own is not None and not as_object(own):
        raise invalid_response(sentence("error.endpoint-no-answers"))
    return own


def _only_decision(answer: Json, request: Decide) -> Json:
    """What `/decide` answers, its choice by the text of an option."""
    if "probabilities" not in answer and "choice" not in answer:
        raise invalid_response(sentence("error.endpoint-no-answers"))
    options = _whole_texts(request)
    if answer.get("kind", "choice") != "choice" or answer.get("options", options) != options:
        raise invalid_response(sentence("error.endpoint-other-question"))
    at, choice = answer.get("choice_index"), answer.get("choice")
    if at is not None:
        if type(at) is not int or not 0 <= at < len(options):
            raise _WrongOptionError(at)
        if choice not in (None, options[at]):
            raise invalid_response(sentence("error.endpoint-two-choices"))
        choice = options[at]
    return answer | {"type": "choice", "choice": choice}


def _probabilities(given: object, options: Sequence[str]) -> list[float | None]:
    """By option: from a table, a list of values with their probabilities, or a plain list in the
    order of the request. None where there is none.
    """
    if given is None:
        return [None] * len(options)
    if isinstance(given, dict):
        by_option = cast("Mapping[str, Any]", given)
        pairs = list(by_option.items())
    else:
        pairs = _listed(given, options)
    found: dict[int, float | None] = {}
    for option, value in pairs:
        place = _place_of(option, options)
        if place in found:
            raise _WrongOptionError(option, again=True)
        found[place] = None if value is None else _probability(value)
    return [found.get(place) for place in range(len(options))]


def _listed(given: object, options: Sequence[str]) -> list[tuple[object, object]]:
    listed = as_list(given)
    if not isinstance(given, list):
        raise invalid_response(sentence("error.endpoint-no-probability"))
    if all(isinstance(each, dict) for each in listed):
        return [(each.get("value"), each.get("probability")) for each in map(as_object, listed)]
    if len(listed) != len(options):
        count = len(options)
        raise invalid_response(
            sentence("error.endpoint-option-count", found=len(listed), count=count)
        )
    return list(zip(options, listed, strict=True))


def _place_of(option: object, options: Sequence[str]) -> int:
    if not isinstance(option, str) or option not in options:
        raise _WrongOptionError(option)
    return options.index(option)


def _probability(value: object) -> float:
    # Not `isinstance`: true and false are whole numbers in Python. NaN fails the comparison.
    if type(value) not in (int, float) or not 0 <= cast(float, value) <= 1:
        raise invalid_response(sentence("error.endpoint-no-probability"))
    return float(cast(float, value)) or 0.0  # -0.0 is written as it is
