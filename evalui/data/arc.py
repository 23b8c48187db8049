"""ARC's JSON Lines: a question with its list of choices, labelled A to E or 1 to 5.

Both published shapes are read: AI2's own, where the choices are {"text", "label"} objects within
the question, and the one of the hub, where they are two lists beside it.
"""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from evalui.data.base import READERS, Layout, Part, Reader, Source, plain
from evalui.data.questions import Question, judge
from evalui.data.table import cell_text, is_json_lines, json_objects
from evalui.types import LETTERS, Fault

_KNOWN = ("id", "question", "choices", "answerKey", "file", "line", "ceval_subject")


def recognises(source: Source, layout: Layout) -> bool:
    """Whether the first object has an answer key, and choices in one of the two places."""
    del layout
    if not is_json_lines(source):
        return False
    _, record = next(json_objects(source))
    if not isinstance(record, dict):
        return False
    inner = _mapping(record.get("question"))
    return "choices" in inner or ("choices" in record and "answerKey" in record)


def read(source: Source, layout: Layout) -> Part:
    """The samples and faults of one file; the format's own names count, not the layout's."""
    del layout
    questions: Iterator[Question | Fault] = (
        Fault(source.name, line, "", "invalid-json", record, "a JSON object")
        if isinstance(record, str)
        else _question(record, line, number, source.name)
        for number, (line, record) in enumerate(json_objects(source), start=1)
    )
    return judge(questions, source, Layout())


def _question(record: dict[str, Any], line: int, number: int, file: str) -> Question | Fault:
    inner = _mapping(record.get("question"))
    stem = inner.get("stem") if inner else record.get("question")
    choices = tuple(_choices(inner.get("choices", record.get("choices"))))
    if len(choices) > len(LETTERS):
        found, expected = f"{len(choices)} choices", f"at most {len(LETTERS)}"
        return Fault(file, line, "choices", "too-many-options", found, expected)
    labels = [label for label, _ in choices]
    if len(set(labels) - {""}) < len(labels):
        found, expected = f"the labels “{', '.join(labels)}”", "a label of its own for each choice"
        return Fault(file, line, "choices", "duplicate-option", found, expected)
    metadata = {name: _text(record[name]) for name in record if name not in _KNOWN}
    return Question(
        line=line,
        id=_text(record.get("id")) or f"row-{number}",
        text=_text(stem),
        options=choices,
        answer=_text(record.get("answerKey")),
        subject="",
        columns=("question", "answerKey"),
        answers_with_label=True,
        metadata={name: text for name, text in metadata.items() if text},
    )


def _choices(value: Any) -> Iterator[tuple[str, str]]:
    """(label, text) of each choice in either shape."""
    if isinstance(value, list):
        for choice in map(_mapping, cast(list[Any], value)):
            yield plain(_text(choice.get("label"))), _text(choice.get("text"))
        return
    lists = _mapping(value)
    labels, texts = lists.get("label"), lists.get("text")
    if isinstance(labels, list) and isinstance(texts, list):
        pairs = zip(cast(list[Any], labels), cast(list[Any], texts), strict=False)
        yield from ((plain(_text(label)), _text(text)) for label, text in pairs)


def _mapping(value: Any) -> Mapping[str, Any]:
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    # Numbers arrive as the strings they are written as; null and true are no text.
    return cell_text(value).strip() if isinstance(value, str) else ""


READERS.register("arc")(Reader("multiple_choice", recognises, read))
