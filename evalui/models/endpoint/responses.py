"""What a server's JSON holds, read with distrust: HTTP 200 proves nothing.

Whatever cannot be used raises `RetryableError` with `blame` "answer"; it is never taken for an
answer.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evalui.messages import sentence
from evalui.models.endpoint.answers import usage_of
from evalui.models.endpoint.failures import RejectedError, RetryableError
from evalui.models.endpoint.json_values import (
    Json,
    as_list,
    as_object,
    as_text,
    replace_surrogates,
)
from evalui.replies.thoughts import begins_with_mark, closes_thought
from evalui.types import GeneratedText

_ROUNDING = 1e-3  # a sum of listed probabilities may pass 1 by so much
_MIN_LOGPROB = -100.0  # no network finds one of its first choices so improbable
MAX_ID_DIGITS = 12  # digits
_TOKEN_ID_PREFIX = "token_id:"  # vLLM's spelling of a token by its number
# Why a text ends, in the words of several servers. Any other reason is an interruption.
_STOP_REASONS = {"stop", "eos", "eos_token", "stop_sequence", "end_turn"}
_LENGTH_REASONS = {"length", "max_tokens", "model_length", "max_output_tokens"}
_FILTER_REASONS = {
    "blocklist",
    "content_filter",
    "prohibited_content",
    "recitation",
    "safety",
    "sensitive",
}
_TOOL_REASONS = {"tool_calls", "function_call", "tool_use"}
_TEXT_PARTS = {"text", "output_text"}
_THOUGHT_PARTS = {"thinking", "reasoning"}
_THOUGHT_FIELDS = ("reasoning_content", "reasoning")
# How vocabularies spell a blank at the beginning of a token; some servers pass it on (LMDeploy).
_BLANK_SPELLINGS = ("\u0120", "\u2581")


@dataclass(frozen=True, slots=True)
class TopLogprob:
    """One token at some place, and its natural log-probability there."""

    token: str
    logprob: float

    @property
    def id(self) -> int | None:
        """The token's number, if the server spells tokens so."""
        number = self.token.removeprefix(_TOKEN_ID_PREFIX)
        is_id = number != self.token and number.isdecimal() and len(number) <= MAX_ID_DIGITS
        return int(number) if is_id else None


@dataclass(frozen=True, slots=True)
class PromptToken:
    """One token of a prompt as the model saw it come; `is_top` if it was the model's own choice.

    `logprob` is None where nothing is known, as for the first token of a text.
    """

    token: str
    logprob: float | None
    is_top: bool


def choices(answer: Json, count: int = 1) -> list[Json]:
    """The server's answers to `count` prompts, in the order of the prompts."""
    listed = as_list(answer.get("choices"))
    if not listed:
        raise invalid_response(sentence("error.endpoint-no-choice"))
    parsed = [as_object(choice) for choice in listed]
    by_index = {str(each.get("index", place)): each for place, each in enumerate(parsed)}
    if len(listed) != count or any(str(place) not in by_index for place in range(count)):
        raise invalid_response(
            sentence(
                "error.endpoint-choice-count",
                found=len(listed),
                count=count,
            )
        )
    return [by_index[str(place)] for place in range(count)]


def response_format(json_schema: str) -> Json:
    """The field by which OpenAI's chat makes a model write what fits a JSON schema."""
    named = {"name": "reply", "schema": json.loads(json_schema), "strict": True}
    return {"type": "json_schema", "json_schema": named}


def read_text(answer: Json, stop: Sequence[str]) -> GeneratedText:
    """What the model wrote, up to the first of the stop texts, and apart from it its thoughts.

    Raises:
        RejectedError: the server withheld the text, all tokens went into thoughts, or the text
            stands in the field of thoughts.
    """
    (choice,) = choices(answer)
    reason = str(choice.get("finish_reason")).lower()
    if reason in _FILTER_REASONS:
        raise RejectedError(sentence("error.endpoint-filtered"))
    message = as_object(choice.get("message"))
    # Some state the reason of a reply all the same, OpenAI among them.
    if reason in _TOOL_REASONS or message.get("tool_calls") or message.get("function_call"):
        raise RejectedError(sentence("error.endpoint-calls-tool"))
    # Without a reason it is unknown whether this is all of the text.
    if reason not in _STOP_REASONS | _LENGTH_REASONS:
        raise invalid_response(sentence("error.endpoint-broken-off"))
    text, thoughts = _read_message(choice)
    if reason in _LENGTH_REASONS and _has_no_visible_text(choice, text, thoughts):
        raise RejectedError(sentence("error.endpoint-only-thoughts"))
    if thoughts and not (text or "").strip():
        raise RejectedError(sentence("error.endpoint-answer-in-thoughts"))
    usage = usage_of(answer)
    wrote_nothing = usage is not None and usage.completion_tokens == 0
    if text is None or (wrote_nothing and not text.strip()):
        raise invalid_response(sentence("error.endpoint-no-text"))
    ends = [place for place in map(text.find, stop) if place >= 0]
    stopped = bool(ends) or reason in _STOP_REASONS
    return GeneratedText(
        text[: min(ends, default=len(text))],
        usage,
        finish_reason="stop" if stopped else "length",
        thoughts=thoughts,
    )


def shows_thoughts(answer: Json) -> bool:
    """Whether a reply that was cut off early has thoughts, or nothing that is visible."""
    try:
        (choice,) = choices(answer)
    except RetryableError:
        return False
    text, _ = _read_message(choice)
    return has_thoughts(answer) or not (text or "").strip()


def shows_end_of_thoughts(answer: Json) -> bool:
    """Whether a reply has the mark that closes thoughts, and none that opens them."""
    try:
        (choice,) = choices(answer)
    except RetryableError:
        return False
    return closes_thought(_read_message(choice)[0] or "") and not has_thoughts(answer)


def has_thoughts(answer: Json) -> bool:
    """Whether a reply shows thoughts: in a field or a part of their own, or by a mark at its
    beginning, be it the most probable first token alone.
    """
    try:
        (choice,) = choices(answer)
        listed = read_top(choice)
    except RetryableError:
        return False
    text, thoughts = _read_message(choice)
    marks = [text or "", *(each.token for each in listed[:1])]
    return bool(thoughts) or any(map(begins_with_mark, marks))


def read_top(choice: Json) -> list[TopLogprob]:
    """The most probable first tokens of a reply, the best first; [] if the server lists none."""
    logprobs = as_object(choice.get("logprobs"))
    content = as_list(logprobs.get("content"))  # chat, and the completions of llama.cpp
    listed = _from_content(content) if content else _from_columns(logprobs)
    if math.fsum(math.exp(each.logprob) for each in listed) > 1 + _ROUNDING:
        raise invalid_response(sentence("error.endpoint-more-than-one"))
    return sorted(listed, key=lambda each: -each.logprob)


def invalid_top_reason(listed: Sequence[TopLogprob]) -> str:
    """Why a list of tokens, the best first, cannot be the model's own; "" if it can.

    Some servers list what is left after sampling at temperature 0. vLLM (0.32) fills the lists of
    all requests of a batch with token 0 if one of them has `logprob_token_ids`.
    """
    if not listed or listed[-1].logprob >= _MIN_LOGPROB:
        return ""
    return sentence("error.endpoint-ruled-out")


def read_echo(choice: Json) -> list[PromptToken]:
    """The tokens of the prompt and of what was written after it; [] if the server sends none."""
    logprobs = as_object(choice.get("logprobs"))
    tokens, scores = as_list(logprobs.get("tokens")), as_list(logprobs.get("token_logprobs"))
    tops = as_list(logprobs.get("top_logprobs"))
    return [
        _echo_token(str(token), score, as_object(tops[at] if at < len(tops) else None))
        for at, (token, score) in enumerate(zip(tokens, scores, strict=False))
    ]


def read_prompt(choice: Json, ids: Sequence[int]) -> list[PromptToken]:
    """What vLLM's `prompt_logprobs` holds of each token id of a prompt.

    A server that ignores the setting scores none of them, which is not to be summed to 0.
    """
    rows = as_list(choice.get("prompt_logprobs"))
    if len(rows) != len(ids):
        raise invalid_response(
            sentence(
                "error.endpoint-token-count",
                found=len(rows),
                count=len(ids),
            )
        )
    return [_prompt_token(row, token) for row, token in zip(rows, ids, strict=True)]


def read_row(row: object, token: int) -> PromptToken:
    """What `prompt_logprobs` holds of one token."""
    fields = as_object(row)
    return PromptToken(str(token), _logprob(fields.get("logprob")), is_top=fields.get("rank") == 1)


def reported_model(answer: Json) -> str:
    """The name under which the server answered, "" if it gives none."""
    name = answer.get("model")
    return replace_surrogates(name) if isinstance(name, str) else ""


def invalid_response(reason: str) -> RetryableError:
    """The error of an answer that cannot be used."""
    return RetryableError(reason, blame="answer")


def first_text(choice: Json) -> str:
    """The text of a choice, "" if it has none."""
    return _read_message(choice)[0] or ""


def _read_message(choice: Json) -> tuple[str | None, str]:
    """The text of a choice, None if it has none, and its thoughts."""
    text = choice.get("text")
    if isinstance(text, str):
        return replace_surrogates(text), ""
    message = as_object(choice.get("message"))
    fields = [as_text(message.get(key)) for key in _THOUGHT_FIELDS]
    thoughts = next((each for each in fields if each), "")
    # A refusal in words is what the model wrote.
    for key in ("content", "refusal"):
        content = message.get(key)
        if isinstance(content, str):
            return replace_surrogates(content), thoughts
        if isinstance(content, list):
            parts = [as_object(part) for part in as_list(message[key])]
            written = [_part_text(part) for part in parts if part.get("type") in _TEXT_PARTS]
            inside = [_part_text(part) for part in parts if part.get("type") in _THOUGHT_PARTS]
            return "".join(written) if written else None, thoughts or "\n\n".join(inside)
    return None, thoughts


def _part_text(part: Json) -> str:
    """The text of one part of a content; thoughts may have parts of their own."""
    for key in ("text", "thinking", "reasoning", "summary"):
        if isinstance(part.get(key), str):
            return replace_surrogates(part[key])
        if isinstance(part.get(key), list):
            return "\n\n".join(_part_text(as_object(each)) for each in as_list(part[key]))
    return ""


def _has_no_visible_text(choice: Json, text: str | None, thoughts: str) -> bool:
    """Whether a reply that was cut off has no visible word: some servers hide the thoughts that
    took its place. A text that goes on with a prompt has none.
    """
    is_reply = "text" not in choice
    return is_reply and not (text or "").strip() and (not text or bool(thoughts))


def _from_content(content: list[Any]) -> list[TopLogprob]:
    first = as_object(content[0])
    rows = [as_object(row) for row in as_list(first.get("top_logprobs"))]
    if "token" in first and all(row.get("token") != first["token"] for row in rows):
        rows.append(first)  # LMDeploy lists the others only
    return [
        TopLogprob(_plain_token(str(row.get("token", ""))), _logprob(row.get("logprob")))
        for row in rows
    ]


def _plain_token(token: str) -> str:
    """The text of a token that the server may spell as its vocabulary does."""
    is_spelt = token.startswith(_BLANK_SPELLINGS)
    return replace_surrogates(f" {token[1:]}" if is_spelt else token)


def _from_columns(logprobs: Json) -> list[TopLogprob]:
    tops = as_list(logprobs.get("top_logprobs"))
    first = as_object(tops[0]) if tops else {}
    listed = {token: _logprob(logprob) for token, logprob in first.items()}
    _check_duplicate_texts(logprobs, listed)
    return [TopLogprob(replace_surrogates(token), logprob) for token, logprob in listed.items()]


def _check_duplicate_texts(logprobs: Json, listed: Mapping[str, float]) -> None:
    """Tokens listed by their texts replace each other where two have the same text, such as "A"
    with its blank left out and "A". It shows if the token that was written is among the lost.
    """
    tokens, scores = as_list(logprobs.get("tokens")), as_list(logprobs.get("token_logprobs"))
    if not tokens or not scores or str(tokens[0]) not in listed:
        return
    if _logprob(scores[0]) > listed[str(tokens[0])] + _ROUNDING:
        raise invalid_response(sentence("error.endpoint-same-text"))


def _echo_token(token: str, score: object, top: Json) -> PromptToken:
    if score is None:
        return PromptToken(token, None, is_top=False)
    logprob = _logprob(score)
    best = max((_logprob(other) for other in top.values()), default=math.inf)
    return PromptToken(token, logprob, is_top=logprob >= best)


def _prompt_token(row: object, token: int) -> PromptToken:
    if row is None:
        return PromptToken(str(token), None, is_top=False)
    fields = as_object(as_object(row).get(str(token)))
    if not fields:
        raise invalid_response(sentence("error.endpoint-other-tokens"))
    return read_row(fields, token)


def _logprob(value: object) -> float:
    """A log-probability; one that is none spoils the whole answer."""
    if isinstance(value, (int, float)) and not isinstance(value, bool) and value <= _ROUNDING:
        return min(0.0, float(value))
    raise invalid_response(sentence("error.endpoint-no-logprob"))
