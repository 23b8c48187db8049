"""Rows of open questions become samples, or faults.

Histories, messages, turns and lists of references are read by functions that return what they read,
or a text that describes what stands there instead. In a table a cell holds the same as JSON. The
question may be a conversation itself, as OpenAI's, ShareGPT's and Inspect's files have it.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, NamedTuple, cast, get_args

from evalui.datasets.model import (
    PANDAS_EMPTY,
    Cell,
    FaultList,
    FileRole,
    FileTable,
    Layout,
    ParsedRows,
    Roles,
    Row,
    as_list,
    as_object,
    cell_text,
    counted,
    fold_name,
    long_row_fault,
    pandas_empty_fault,
    quoted,
    row_numbers,
    sort_by_line,
)
from evalui.datasets.names import INSTRUCTION_NAMES, fold_head
from evalui.datasets.options import parse_cell
from evalui.pictures import without
from evalui.replies import is_chinese
from evalui.types import Fault, Language, Message, Sample

_LANGUAGE_PREFIX = re.compile(r"(cn|zh|en)-", re.IGNORECASE)
_WHOLE_NUMBER = re.compile(r"(-?\d+)\.0+")
# Columns that are read by their names alone.
READ_BY_NAME: Final = ("history", "system", "messages", "turns")
# Columns of questions that a program answers: what decides whether it is right, and its beginning
# where that is given. Samples have both among their metadata.
TESTS, STARTER = "python_tests", "starter_code"
_SYSTEM_NAMES = ("system_prompt", "system prompt", "系统提示", "系统提示词")
# What samples know of themselves; no column of the file may replace it.
_RESERVED_METADATA: Final = (
    *("subject", "capability", "evaluating_guidance"),
    *("file", "line", "language", "guidance", "index"),
)
_HISTORY_FORMAT = "a list of [question, answer] pairs, or of objects with role and content"
_MESSAGES_FORMAT = "a list of objects with role and content, in which the user speaks last"
_TURNS_FORMAT = "a list of texts, one for each turn of the user"
_REFERENCE_FORMAT = "a text, or a list of texts"
Speaker = Literal["system", "user", "assistant"]
# What files call who speaks.
_SPEAKERS: Mapping[str, Speaker] = {
    **{role: role for role in get_args(Speaker)},
    **dict.fromkeys(("human", "prompter"), "user"),
    **dict.fromkeys(("gpt", "chatgpt", "bot", "model", "bard", "bing", "ai"), "assistant"),
}
_TEXTS_OF_REFERENCE = ("number", "text", "texts", "spans", "value", "aliases", "answer", "answers")


def read_open(table: FileTable, roles: Roles, role: FileRole, layout: Layout) -> ParsedRows:
    """The samples and faults of a table of open questions."""
    columns = _Columns(table, roles, role, layout)
    samples: list[Sample] = []
    wrong = FaultList()
    for number, row in zip(row_numbers(table), counted(table.rows), strict=True):
        fault = long_row_fault(table, row, role.name)
        read = [fault] if fault else columns.to_sample(row, number)
        if isinstance(read, Sample):
            samples.append(read)
        else:
            wrong.add(*read)
    merged = FaultList(
        sort_by_line(table.faults, wrong.kept), unlisted=table.unlisted + wrong.unlisted
    )
    unread = FaultList(table.faults).rows + table.unlisted.total()
    return ParsedRows(
        tuple(samples), merged.kept, len(table.rows) + unread, unlisted=merged.unlisted
    )


def language_of(question: str, index: str = "") -> Language:
    """The language that an index like "cn-12" names, else that of the question's script."""
    if named := _LANGUAGE_PREFIX.match(index):
        return "en" if named[1].lower() == "en" else "zh"
    return "zh" if is_chinese(question) else "en"


def normalise_index(text: str) -> str:
    """An index without blanks around it, and without what a spreadsheet adds to 12."""
    stripped = text.strip()
    number = _WHOLE_NUMBER.fullmatch(stripped)
    return number[1] if number else stripped


def passage_text(value: Cell) -> str:
    """A passage as one text; the parts of a list (of a dialogue, say) are its lines."""
    if isinstance(value, list):
        return "\n".join(text for item in cast(list[Any], value) if (text := _part_text(item)))
    return cell_text(value).strip()


def with_passage(passage: str, question: str) -> str:
    """The question below the text that is read with it, unless it has that text in it."""
    text = passage.strip()
    return f"{text}\n{question}" if text and question and text not in question else question


def _part_text(item: Any) -> str:
    if not isinstance(item, dict):
        return cell_text(item).strip()
    part = cast(dict[str, Any], item)
    speaker = cell_text(part.get("speaker") or part.get("role")).strip()
    text = cell_text(part.get("text") or part.get("content") or part.get("utterance")).strip()
    return f"{speaker}: {text}" if speaker and text else text


class _Question(NamedTuple):
    history: tuple[Message, ...]
    text: str
    follow_ups: tuple[str, ...]
    answer: str


class _Columns:
    """The columns of a table of open questions by their places, -1 for none."""

    def __init__(self, table: FileTable, roles: Roles, role: FileRole, layout: Layout) -> None:
        self._heads = tuple(head.strip() for head in table.heads)
        self._role = role
        places = {fold_name(head): at for at, head in reversed(tuple(enumerate(self._heads)))}
        self._question = roles.place("question")
        self._is_stated = bool(layout.question)
        self._instructs = (
            self._question >= 0 and fold_head(self._heads[self._question]) in INSTRUCTION_NAMES
        )
        self._reference = roles.place("answer")
        self._id = roles.place("id")
        self._subject = roles.place("subject")
        self._capability = roles.place("capability")
        self._passage = roles.place("passage")
        self._explanation = roles.place("explanation")
        self._guidance = roles.place("guidance")
        self._index = places.get("index", -1)
        self._tests = places.get(TESTS, -1) if roles.kind == "code" else None
        self._history, self._system, self._messages, self._turns = (
            places.get(name, -1) for name in READ_BY_NAME
        )
        if self._system < 0:
            self._system = next((places[name] for name in _SYSTEM_NAMES if name in places), -1)
        used = {at for at, name in enumerate(roles.roles) if name and name != "capability"}
        used |= {places[name] for name in (*READ_BY_NAME, *_RESERVED_METADATA) if name in places}
        used.add(self._system)
        cluster = fold_name(layout.cluster)
        self._others = tuple(
            (name, at)
            for at, name in enumerate(self._heads)
            if name and (at not in used or (cluster and fold_name(name) == cluster))
        )

    def to_sample(self, row: Row, number: int) -> Sample | list[Fault]:
        """The sample of a row, or everything that is wrong with it."""
        parsed, references = self._parse_question(row), self._read_references(row)
        if isinstance(parsed, Fault) or isinstance(references, Fault):
            return [fault for fault in (parsed, references) if isinstance(fault, Fault)]
        if self._tests is not None and not row.text(self._tests):
            return [self._fault(row, self._tests, "no-tests", "empty", "Python")]
        if not references and parsed.answer.strip():
            references = (parsed.answer,)
        own_subject = without(row.text(self._subject)).strip()
        index = normalise_index(row.text(self._id))
        metadata = {name: text for name, at in self._others if (text := row.text(at))}
        metadata["subject"] = own_subject or self._role.subject
        own = {
            "language": language_of(parsed.text, index),
            "capability": row.text(self._capability),
            "guidance": row.text(self._guidance),
            "explanation": row.text(self._explanation),
            "index": normalise_index(row.text(self._index)) or index,
            "file": self._role.name,
            "line": str(row.line),
        }
        metadata |= {name: text for name, text in own.items() if text}
        return Sample(
            id=f"{own_subject or self._role.prefix}/{index or f'row-{number}'}",
            question=parsed.text,
            target=references,
            metadata=metadata,
            history=parsed.history,
            follow_ups=parsed.follow_ups,
        )

    def _parse_question(self, row: Row) -> _Question | Fault:
        at, chat = self._question, self._messages
        value = row.cell(at)
        if are_messages(value):
            at, chat = -1, at
        elif isinstance(value, list | dict):
            return self._fault(row, at, "empty-question", "no text", "some text")
        question = row.text(at)
        messages = None if question and self._is_stated else read_messages(row.cell(chat))
        if isinstance(messages, str):
            return self._fault(row, chat, "bad-messages", messages, _MESSAGES_FORMAT)
        turns = read_turns(row.cell(self._turns))
        if isinstance(turns, str):
            return self._fault(row, self._turns, "bad-turns", turns, _TURNS_FORMAT)
        history = read_history(row.cell(self._history))
        if isinstance(history, str):
            return self._fault(row, self._history, "bad-history", history, _HISTORY_FORMAT)
        if messages and question == messages.question:
            question = ""  # the same question twice is one
        if messages and (question or turns or history):
            expected = "messages alone, or a question with its history"
            return self._fault(row, chat, "bad-messages", "a question beside them", expected)
        if messages:
            history, question = messages.history, messages.question
        if turns and question and turns[0] != question:
            actual, expected = "a first turn that is not the question", "one of the two"
            return self._fault(row, self._turns, "bad-turns", actual, expected)
        question = question or (turns[0] if turns else "")
        if not question:
            at = at if at >= 0 else chat
            return self._fault(row, at, "empty-question", "empty", "some text")
        if question == PANDAS_EMPTY:
            return pandas_empty_fault(self._role.name, row.line, self._heads[at])
        before = self._with_system_message(row, history)
        if isinstance(before, Fault):
            return before
        answer = messages.answer if messages else ""
        return _Question(before, self._with_passage(row, question), turns[1:], answer)

    def _with_passage(self, row: Row, question: str) -> str:
        """The question with what is read before it, or what the instruction is about below it."""
        passage = passage_text(row.cell(self._passage))
        if self._instructs:
            return f"{question}\n{passage}" if passage else question
        return with_passage(passage, question)

    def _with_system_message(
        self, row: Row, history: tuple[Message, ...]
    ) -> tuple[Message, ...] | Fault:
        system = row.text(self._system)
        if not system:
            return history
        if any(turn.role == "system" and turn.content.strip() != system for turn in history):
            actual = "another system message in the conversation"
            return self._fault(row, self._system, "bad-messages", actual, "one system message")
        rest = (turn for turn in history if turn.role != "system")
        return (Message("system", system), *rest)

    def _read_references(self, row: Row) -> tuple[str, ...] | Fault:
        references = read_texts(row.cell(self._reference))
        if isinstance(references, str):
            at = self._reference
            return self._fault(row, at, "bad-reference", references, _REFERENCE_FORMAT)
        if PANDAS_EMPTY in references:
            return pandas_empty_fault(self._role.name, row.line, self._heads[self._reference])
        return references

    def _fault(self, row: Row, at: int, rule: str, actual: str, expected: str) -> Fault:
        column = self._heads[at] if at >= 0 else ""
        return Fault(self._role.name, row.line, column, rule, actual, expected)


@dataclass(frozen=True, slots=True)
class Conversation:
    """Messages taken apart: the turns before, the question, and its answer if there is one."""

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


def are_messages(value: Any) -> bool:
    """Whether a value, or the JSON in a cell, is a list of messages, readable or not."""
    if isinstance(value, str):
        if not value.lstrip().startswith("[{"):
            return False
        value = _parse_cell(value)
    if not isinstance(value, list) or not value:
        return False
    return all("role" in turn or "from" in turn for turn in map(as_object, as_list(value)))


def read_messages(value: Any) -> Conversation | str | None:
    """The conversation, None if there is none; a last turn of the assistant is the answer."""
    items = _parse_list(value)
    if isinstance(items, str):
        return items
    if not items:
        return None
    messages: list[Message] = []
    for item in items:
        turns = _parse_message(item)
        if isinstance(turns, str):
            return turns
        messages += turns
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
    turns = [
        _content_text(item.get("content") if isinstance(item, dict) else item) for item in items
    ]
    if not all(turn and turn.strip() for turn in turns):
        return "a turn that is empty or no text"
    return tuple(turn.strip() for turn in turns if turn)


def read_texts(value: Any) -> tuple[str, ...] | str:
    """A text or the texts of a list, those left out that are blank.

    In place of a text there may be SQuAD's, DROP's and TriviaQA's object with texts under one of
    its names.
    """
    if isinstance(value, str) and value.lstrip().startswith("{"):
        parsed = parse_cell(value)
        named = as_object(parsed)
        value = value if named.keys().isdisjoint(_TEXTS_OF_REFERENCE) else named
    if isinstance(value, dict):
        answer = cast(dict[str, Any], value)
        named = [answer[name] for name in _TEXTS_OF_REFERENCE if name in answer]
        parts = [read_texts(each) for each in named if not isinstance(each, dict)]
        texts = tuple(dict.fromkeys(text for part in parts if part for text in part))
        wrong = not parts or any(isinstance(part, str) for part in parts)
        return _quote(answer) if wrong else texts
    items = cast(list[Any], value) if isinstance(value, list) else [value]
    objects = [cast(dict[str, Any], item) for item in items if isinstance(item, dict)]
    if objects and len(objects) == len(items):
        # SQuAD's answers, each with its place.
        parts = [read_texts(each) for each in objects]
        wrong = any(isinstance(part, str) for part in parts)
        return _quote(value) if wrong else tuple(dict.fromkeys(t for part in parts for t in part))
    nested = [cast(list[Any], item) if isinstance(item, list) else [item] for item in items]
    items = [text for inner in nested for text in inner]
    if any(isinstance(item, list | dict) for item in items):
        return _quote(value)
    return tuple(text for item in items if (text := cell_text(item)).strip())


def _parse_list(value: Any) -> Sequence[Any] | str:
    parsed = _parse_cell(value)
    if parsed is None:
        return ()
    return cast(list[Any], parsed) if isinstance(parsed, list) else _quote(parsed)


def _parse_cell(value: Any) -> Any:
    """The list or object in a cell; any other text stays as it is."""
    if not isinstance(value, str):
        return value
    if not value.strip():
        return None
    parsed = parse_cell(value)
    return value if parsed is None else parsed


def _parse_pair(pair: Sequence[Any]) -> Sequence[Message] | str:
    if len(pair) != 2 or not all(isinstance(text, str) for text in pair):
        return _quote(pair)
    question, answer = map(cell_text, pair)
    return Message("user", question), Message("assistant", answer)


def _parse_message(item: Any) -> Sequence[Message] | str:
    turn = as_object(item)
    role = _SPEAKERS.get(str(turn.get("role", turn.get("from"))).casefold())
    content = _content_text(turn.get("content", turn.get("value")))
    if content is None and (turn.get("tool_calls") or turn.get("function_call")):
        return "a call of a tool"
    if role is None or content is None:
        return _quote(item)
    return (Message(role, content),)


def _content_text(content: Any) -> str | None:
    """The text of a message, also of one in parts; None if it has others than texts."""
    if isinstance(content, str):
        return cell_text(content)
    parts = map(as_object, as_list(content))
    texts: list[Any] = [part.get("text", part.get("value")) for part in parts]
    if not texts or not all(isinstance(text, str) for text in texts):
        return None
    return "\n".join(map(cell_text, texts))


def _quote(value: Any) -> str:
    """A value that is none of these, as a fault shows it."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return quoted(text)
