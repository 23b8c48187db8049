"""Conversations as files have them: histories, messages, turns and lists of references.

Each function returns what it read, or a text that says what it found instead. In a table a cell
holds the same as JSON.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast, get_args

from evalui.datasets.tables.table import cell_text, has_lone_surrogate
from evalui.types import Message

HISTORY_FORMAT = "a list of [question, answer] pairs, or of objects with role and content"
MESSAGES_FORMAT = "a list of objects with role and content, in which the user speaks last"
TURNS_FORMAT = "a list of texts, one for each turn of the user"
REFERENCE_FORMAT = "a text, or a list of texts"

_ROLES: tuple[str, ...] = get_args(Message.__annotations__["role"])
_MAX_SHOWN_CHARS = 40  # characters of a value that is none of these


@dataclass(frozen=True, slots=True)
class Conversation:
    """Messages taken apart: what was said before, the question, and its answer if there is one."""

    history: tuple[Message, ...]
    question: str
    answer: str


def read_history(value: Any) -> tuple[Message, ...] | str:
    """The earlier turns; SWIFT's files have them as pairs."""
    items = _parse_list(value)
    if isinstance(items, str):
        return items
    history: list[Message] = []
    for item in items:
        turns = (
            _parse_pair(cast(list[Any], item)) if isinstance(item, list) else _parse_message(item)
        )
        if isinstance(turns, str):
            return turns
        history += turns
    return tuple(history)


def read_messages(value: Any) -> Conversation | str | None:
    """The conversation, None if there is none; a last turn of the assistant is the answer."""
    items = _parse_list(value)
    if isinstance(items, str):
        return items
    if not items:
        return None
    messages: list[Message] = []
    for item in items:
        found = _parse_message(item)
        if isinstance(found, str):
            return found
        messages += found
    answered = messages[-1].role == "assistant"
    answer = messages.pop().content if answered else ""
    if not messages or messages[-1].role != "user" or not messages[-1].content.strip():
        return "no question of the user at the end"
    return Conversation(tuple(messages[:-1]), messages[-1].content.strip(), answer)


def read_turns(value: Any) -> tuple[str, ...] | str:
    """The user's turns of a conversation, each with some text."""
    items = _parse_list(value)
    if isinstance(items, str):
        return items
    if not all(isinstance(item, str) and item.strip() for item in items):
        return "a turn that is empty or no text"
    return tuple(cell_text(item).strip() for item in items)


def read_texts(value: Any) -> tuple[str, ...] | str:
    """A text or the texts of a list, those left out that are blank."""
    items = cast(list[Any], value) if isinstance(value, list) else [value]
    if any(isinstance(item, list | dict) for item in items):
        return f"“{_truncate(value)}”"
    return tuple(text for item in items if (text := cell_text(item)).strip())


def _parse_list(value: Any) -> Sequence[Any] | str:
    parsed = _parse_json(value)
    if parsed is None:
        return ()
    return cast(list[Any], parsed) if isinstance(parsed, list) else f"“{_truncate(parsed)}”"


def _parse_json(value: Any) -> Any:
    """The JSON in a cell; what is no JSON stays the text it is."""
    if not isinstance(value, str):
        return value
    if not value.strip():
        return None
    try:
        parsed: Any = json.loads(value, parse_int=str, parse_float=str, parse_constant=str)
        return value if has_lone_surrogate(parsed) else parsed
    except (ValueError, RecursionError):
        return value


def _parse_pair(pair: Sequence[Any]) -> Sequence[Message] | str:
    if len(pair) != 2 or not all(isinstance(text, str) for text in pair):
        return f"“{_truncate(pair)}”"
    question, answer = map(cell_text, pair)
    return Message("user", question), Message("assistant", answer)


def _parse_message(item: Any) -> Sequence[Message] | str:
    turn = cast(dict[str, Any], item) if isinstance(item, dict) else {}
    role, content = turn.get("role"), turn.get("content")
    if role not in _ROLES or not isinstance(content, str):
        return f"“{_truncate(item)}”"
    return (Message(role, cell_text(content)),)


def _truncate(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    flat = " ".join(text.split())
    return flat if len(flat) <= _MAX_SHOWN_CHARS else flat[: _MAX_SHOWN_CHARS - 1] + "…"
