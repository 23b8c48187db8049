"""Rows of open questions become samples: what question-and-answer and subjective files share.

Histories, messages, turns and lists of references are read by functions that return what they read,
or a text that describes what stands there instead. In a table a cell holds the same as JSON. The
question may be a conversation itself, as OpenAI's, ShareGPT's and Inspect's files have it.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, cast, get_args

from evalui.datasets.heads import INSTRUCTION_NAMES, fold_head
from evalui.datasets.model import (
    PANDAS_EMPTY,
    FaultList,
    Layout,
    ParsedRows,
    Source,
    collapse_whitespace,
    counted,
    pandas_empty_fault,
    shorten,
    sort_by_line,
)
from evalui.datasets.questions.passages import passage_text, with_instruction, with_passage
from evalui.datasets.questions.reshaping import split_passages
from evalui.datasets.tables.records import (
    Record,
    Records,
    fold_name,
    missing_column_fault,
    no_rows_fault,
    read_records,
)
from evalui.datasets.tables.table import cell_text, parse_json, read_header
from evalui.text_tokenizers.han import is_chinese
from evalui.types import Fault, Language, Message, Sample

_LANGUAGE_PREFIX = re.compile(r"(cn|zh|en)-", re.IGNORECASE)
_WHOLE_NUMBER = re.compile(r"(-?\d+)\.0+")
_COMMON_COLUMNS: Final = (
    *("history", "system", "messages", "turns", "subject"),
    *("capability", "evaluating_guidance"),
)
# What samples know of themselves; no column of the file may replace it.
_RESERVED_METADATA: Final = ("file", "line", "language", "guidance", "index")
HISTORY_FORMAT = "a list of [question, answer] pairs, or of objects with role and content"
MESSAGES_FORMAT = "a list of objects with role and content, in which the user speaks last"
TURNS_FORMAT = "a list of texts, one for each turn of the user"
REFERENCE_FORMAT = "a text, or a list of texts"
Role = Literal["system", "user", "assistant"]
# What files call who speaks.
_ROLES: Mapping[str, Role] = {
    **{role: role for role in get_args(Role)},
    **dict.fromkeys(("human", "prompter"), "user"),
    **dict.fromkeys(("gpt", "chatgpt", "bot", "model", "bard", "bing", "ai"), "assistant"),
}
_TEXTS_OF_REFERENCE = ("text", "texts", "spans", "value", "aliases", "answer", "answers")


@dataclass(frozen=True, slots=True)
class OpenColumnNames:
    """What a format calls its columns; of several the first that is there counts."""

    question: tuple[str, ...]
    reference: tuple[str, ...]
    id: tuple[str, ...]
    capability: tuple[str, ...] = ("capability",)
    subject: str = "subject"
    passage: str = ""
    explanation: str = ""
    cluster: str = ""

    def with_layout(self, layout: Layout) -> "OpenColumnNames":
        """These names, with those of the user's own."""
        question = (fold_name(layout.question),) if layout.question else self.question
        reference = (fold_name(layout.answer),) if layout.answer else self.reference
        return replace(
            self,
            question=question,
            reference=reference,
            id=(fold_name(layout.id),) if layout.id else self.id,
            capability=(fold_name(layout.capability),) if layout.capability else self.capability,
            subject=fold_name(layout.subject or "subject"),
            passage=fold_name(layout.passage),
            explanation=fold_name(layout.explanation),
            cluster=fold_name(layout.cluster),
        )

    @property
    def all_names(self) -> tuple[str, ...]:
        """Every name that means something."""
        own = (*self.question, *self.reference, *self.id, *self.capability, self.subject)
        named = (name for name in (self.passage, self.explanation) if name)
        return (*own, *_COMMON_COLUMNS, *named)


@dataclass(frozen=True, slots=True)
class _OpenColumns:
    """The columns of one file, folded; "" where there is none."""

    question: str
    reference: str
    id: str
    capability: str
    subject: str
    passage: str
    explanation: str
    cluster: str


@dataclass(frozen=True, slots=True)
class _OpenQuestion:
    history: tuple[Message, ...]
    question: str
    follow_ups: tuple[str, ...]
    answer: str


def column_names(source: Source, names: OpenColumnNames) -> frozenset[str]:
    """The folded column names of a file, without reading its rows."""
    return frozenset(map(fold_name, read_header(source, names.all_names)))


def read_open(source: Source, layout: Layout, names: OpenColumnNames) -> ParsedRows:
    """The samples and faults of one file."""
    names = names.with_layout(layout)
    records = split_passages(read_records(source, names.all_names))
    if not records.rows and records.faults:
        return ParsedRows((), records.faults, records.n_rows, unlisted=records.unlisted)
    if not records.rows:
        return ParsedRows((), (no_rows_fault(source.name, records.header_line),))
    faults = _missing_column_faults(records, names, layout, source.name)
    if faults:
        wrong = FaultList((*records.faults, *faults), unlisted=records.unlisted)
        return ParsedRows((), wrong.kept, records.n_rows, unlisted=wrong.unlisted)
    columns = _find_columns(records, names)
    samples: list[Sample] = []
    wrong = FaultList()
    for record in counted(records.rows):
        read = _OpenRow(record, columns, records.names, source).to_sample()
        if isinstance(read, Sample):
            samples.append(read)
        else:
            wrong.add(*read)
    merged = FaultList(
        sort_by_line(records.faults, wrong.kept), unlisted=records.unlisted + wrong.unlisted
    )
    return ParsedRows(tuple(samples), merged.kept, records.n_rows, unlisted=merged.unlisted)


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


def _missing_column_faults(
    records: Records, names: OpenColumnNames, layout: Layout, file: str
) -> tuple[Fault, ...]:
    shown = tuple(records.names.values())
    wanted = [layout.answer] if layout.answer else []
    others = () if layout.question else ("messages", "turns")
    if records.names.keys().isdisjoint((*names.question, *others)):
        wanted.insert(0, layout.question or names.question[0])
    return tuple(
        missing_column_fault(name, shown, wanted, file=file, line=records.header_line)
        for name in wanted
        if fold_name(name) not in records.names
    )


def _find_columns(records: Records, names: OpenColumnNames) -> _OpenColumns:
    def first(wanted: Sequence[str]) -> str:
        return next((name for name in wanted if name in records.names), "")

    wanted = (names.question, names.reference, names.id, names.capability, (names.subject,))
    question, reference, id_, capability, subject = map(first, wanted)
    more = (names.passage, names.explanation, names.cluster)
    return _OpenColumns(question, reference, id_, capability, subject, *more)


@dataclass(frozen=True, slots=True)
class _OpenRow:
    """One row on its way to a sample."""

    record: Record
    columns: _OpenColumns
    names: Mapping[str, str]
    source: Source

    def to_sample(self) -> Sample | list[Fault]:
        parsed, references = self._parse_question(), self._read_references()
        if isinstance(parsed, Fault) or isinstance(references, Fault):
            return [fault for fault in (parsed, references) if isinstance(fault, Fault)]
        if not references and parsed.answer.strip():
            references = (parsed.answer,)
        subject = self._text(self.columns.subject) or self.source.prefix
        index = normalise_index(self._text(self.columns.id))
        return Sample(
            id=f"{subject}/{index or f'row-{self.record.number}'}",
            question=parsed.question,
            target=references,
            metadata=self._read_metadata(parsed.question, index),
            history=parsed.history,
            follow_ups=parsed.follow_ups,
        )

    def _parse_question(self) -> _OpenQuestion | Fault:
        column, chat = self.columns.question, "messages"
        value = self._value(column)
        if are_messages(value):
            column, chat = "", column
        elif isinstance(value, list | dict):
            return self._fault(column, "empty-question", "no text", "some text")
        messages = read_messages(self._value(chat))
        if isinstance(messages, str):
            return self._fault(chat, "bad-messages", messages, MESSAGES_FORMAT)
        turns = read_turns(self._value("turns"))
        if isinstance(turns, str):
            return self._fault("turns", "bad-turns", turns, TURNS_FORMAT)
        history = read_history(self._value("history"))
        if isinstance(history, str):
            return self._fault("history", "bad-history", history, HISTORY_FORMAT)
        question = self._text(column)
        if messages and (question or turns or history):
            expected = "messages alone, or a question with its history"
            return self._fault(chat, "bad-messages", "a question beside them", expected)
        if messages:
            history, question = messages.history, messages.question
        if turns and question and turns[0] != question:
            actual, expected = "a first turn that is not the question", "one of the two"
            return self._fault("turns", "bad-turns", actual, expected)
        question = question or (turns[0] if turns else "")
        if not question:
            return self._fault(column or chat, "empty-question", "empty", "some text")
        if question == PANDAS_EMPTY:
            return pandas_empty_fault(self.source.name, self.record.line, self.names[column])
        before = self._with_system_message(history)
        if isinstance(before, Fault):
            return before
        answer = messages.answer if messages else ""
        return _OpenQuestion(before, self._with_passage(question), turns[1:], answer)

    def _with_passage(self, question: str) -> str:
        """The question with what is read before it, or what the instruction is about below it."""
        passage = passage_text(self._value(self.columns.passage))
        if fold_head(self.columns.question) in INSTRUCTION_NAMES:
            return with_instruction(question, passage)
        return with_passage(passage, question)

    def _with_system_message(self, history: tuple[Message, ...]) -> tuple[Message, ...] | Fault:
        system = self._text("system")
        if not system:
            return history
        if any(turn.role == "system" and turn.content.strip() != system for turn in history):
            actual = "another system message in the conversation"
            return self._fault("system", "bad-messages", actual, "one system message")
        rest = (turn for turn in history if turn.role != "system")
        return (Message("system", system), *rest)

    def _read_references(self) -> tuple[str, ...] | Fault:
        column = self.columns.reference
        references = read_texts(self._value(column))
        if isinstance(references, str):
            return self._fault(column, "bad-reference", references, REFERENCE_FORMAT)
        if PANDAS_EMPTY in references:
            return pandas_empty_fault(self.source.name, self.record.line, self.names[column])
        return references

    def _read_metadata(self, question: str, index: str) -> Mapping[str, str]:
        used = {
            self.columns.question,
            self.columns.reference,
            self.columns.id,
            self.columns.subject,
            self.columns.passage,
            self.columns.explanation,
            *_COMMON_COLUMNS,
            *_RESERVED_METADATA,
        }
        further = {
            self.names[name]: text
            for name, value in self.record.texts.items()
            if name and (name not in used or name == self.columns.cluster)
            if (text := value.strip())
        }
        own = {
            "subject": self._text(self.columns.subject) or self.source.subject,
            "language": language_of(question, index),
            "capability": self._text(self.columns.capability),
            "guidance": self._text("evaluating_guidance"),
            "explanation": self._text(self.columns.explanation),
            "index": normalise_index(self._text("index")) or index,
            "file": self.source.name,
            "line": str(self.record.line),
        }
        return {
            **further,
            **{name: text for name, text in own.items() if text or name == "subject"},
        }

    def _value(self, column: str) -> Any:
        return self.record.values.get(column)

    def _text(self, column: str) -> str:
        return self.record.texts.get(column, "").strip()

    def _fault(self, column: str, rule: str, actual: str, expected: str) -> Fault:
        shown = self.names.get(column, column)
        return Fault(self.source.name, self.record.line, shown, rule, actual, expected)


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
    turns = [
        cast(dict[str, Any], item) for item in cast(list[Any], value) if isinstance(item, dict)
    ]
    named = all(("role" in turn or "from" in turn) for turn in turns)
    return named and len(turns) == len(cast(list[Any], value))


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
    if not all(isinstance(item, str) and item.strip() for item in items):
        return "a turn that is empty or no text"
    return tuple(cell_text(item).strip() for item in items)


def read_texts(value: Any) -> tuple[str, ...] | str:
    """A text or the texts of a list, those left out that are blank.

    In place of a text there may be SQuAD's, DROP's and TriviaQA's object with texts under one of
    its names.
    """
    if isinstance(value, dict):
        answer = cast(dict[str, Any], value)
        named = [answer[name] for name in _TEXTS_OF_REFERENCE if name in answer]
        parts = [read_texts(each) for each in named if not isinstance(each, dict)]
        texts = tuple(dict.fromkeys(text for part in parts if part for text in part))
        wrong = not parts or any(isinstance(part, str) for part in parts)
        return _quote(answer) if wrong else texts
    items = cast(list[Any], value) if isinstance(value, list) else [value]
    if any(isinstance(item, list | dict) for item in items):
        return _quote(value)
    return tuple(text for item in items if (text := cell_text(item)).strip())


def _parse_list(value: Any) -> Sequence[Any] | str:
    parsed = _parse_cell(value)
    if parsed is None:
        return ()
    return cast(list[Any], parsed) if isinstance(parsed, list) else _quote(parsed)


def _parse_cell(value: Any) -> Any:
    """The JSON in a cell; what is no JSON stays the text it is."""
    if not isinstance(value, str):
        return value
    if not value.strip():
        return None
    try:
        return parse_json(value)
    except (ValueError, RecursionError):
        return value


def _parse_pair(pair: Sequence[Any]) -> Sequence[Message] | str:
    if len(pair) != 2 or not all(isinstance(text, str) for text in pair):
        return _quote(pair)
    question, answer = map(cell_text, pair)
    return Message("user", question), Message("assistant", answer)


def _parse_message(item: Any) -> Sequence[Message] | str:
    turn = cast(dict[str, Any], item) if isinstance(item, dict) else {}
    role = _ROLES.get(str(turn.get("role", turn.get("from"))).casefold())
    content = _content_text(turn.get("content", turn.get("value")))
    if role is None or content is None:
        return _quote(item)
    return (Message(role, content),)


def _content_text(content: Any) -> str | None:
    """The text of a message, also of one in parts; None if it has others than texts."""
    if isinstance(content, str):
        return cell_text(content)
    parts = cast(list[Any], content) if isinstance(content, list) else []
    texts = [cast(dict[str, Any], part).get("text") for part in parts if isinstance(part, dict)]
    if not texts or len(texts) < len(parts) or not all(isinstance(text, str) for text in texts):
        return None
    return "\n".join(map(cell_text, texts))


def _quote(value: Any) -> str:
    """A value that is none of these, as a fault shows it."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return f"“{shorten(collapse_whitespace(text))}”"
