"""The JSON object that an answer is, whichever way it came: as one, or as a stream of events.

Some gateways stream whether requested or not, and a few models do nothing else.
"""

import json
from collections.abc import Iterator
from typing import cast

from evalui.models.endpoint.json_values import Json, as_list, as_object, token_count
from evalui.types import Usage

_END = "[DONE]"
_DELTA_TEXTS = ("content", "reasoning_content", "reasoning", "refusal")
_CALLS = ("tool_calls", "function_call")  # that there is one is all that is read of them


def read_answer(content: bytes) -> Json | None:
    """The object that the body of an answer holds; None if it holds none."""
    try:
        answer: object = json.loads(content)
    except (ValueError, RecursionError):  # no JSON, or nested more deeply than can be read
        return _read_events(content)
    return cast(Json, answer) if isinstance(answer, dict) else None


def usage_of(answer: Json) -> Usage | None:
    """The tokens that an answer reports, None if it reports nothing.

    Thoughts are tokens written: where the total is more than the two parts, the rest is thoughts,
    which some servers (xAI's) leave out of the part.
    """
    usage = as_object(answer.get("usage"))
    if not usage:
        return None
    read = token_count(usage.get("prompt_tokens")) or token_count(usage.get("input_tokens"))
    written = token_count(usage.get("completion_tokens")) or token_count(usage.get("output_tokens"))
    total = token_count(usage.get("total_tokens"))
    return Usage(read, max(written, total - read))


def _read_events(content: bytes) -> Json | None:
    """The answer that a stream of events adds up to; None if this is none."""
    chunks = list(_event_objects(content))
    if not chunks:
        return None
    whole: Json = {}
    choices: dict[int, Json] = {}
    for chunk in chunks:
        whole |= {key: value for key, value in chunk.items() if key != "choices" and value}
        for place, choice in enumerate(map(as_object, as_list(chunk.get("choices")))):
            index = choice.get("index", place)
            _add_choice(choices.setdefault(index if type(index) is int else place, {}), choice)
    return whole | ({"choices": list(choices.values())} if choices else {})


def _event_objects(content: bytes) -> Iterator[Json]:
    for line in content.decode("utf-8", "replace").splitlines():
        name, colon, data = line.partition(":")
        if name != "data" or not colon or data.strip() == _END:
            continue
        try:
            yield as_object(json.loads(data))
        except (ValueError, RecursionError):
            return  # broken off: what is missing shows, since no reason to end is stated


def _add_choice(whole: Json, piece: Json) -> None:
    """Add a piece of a choice to what came of it before."""
    whole.setdefault("index", piece.get("index", 0))
    if reason := piece.get("finish_reason"):
        whole["finish_reason"] = reason
    if "text" in piece:  # completions
        whole["text"] = whole.get("text", "") + str(piece["text"] or "")
    if logprobs := as_object(piece.get("logprobs")):
        known = as_object(whole.setdefault("logprobs", {}))
        for key, listed in logprobs.items():
            known[key] = [*as_list(known.get(key)), *as_list(listed)]
    delta = as_object(piece.get("delta")) or as_object(piece.get("message"))
    if delta:
        message = as_object(whole.setdefault("message", {}))
        for key in _DELTA_TEXTS:
            if isinstance(delta.get(key), str):
                message[key] = message.get(key, "") + delta[key]
            elif isinstance(delta.get(key), list):
                message[key] = [*as_list(message.get(key)), *delta[key]]
        message |= {key: delta[key] for key in _CALLS if delta.get(key)}
