"""Options in one place: every shape in which data sets and people write a list of them.

A list of texts, or of {"label", "text"} objects; an object of a list of labels and one of texts, or
of labels with their texts; texts with marks of the right ones. The cell of a table holds the same
as JSON or as Python writes it, a text with a letter before each option, or texts between
separators, which the whole column has to agree on.
"""

import ast
import json
import re
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from evalui.datasets.containers.json import parse_json
from evalui.datasets.model import cell_text, normalise_cell
from evalui.datasets.names import LETTER_PLACES, OTHER_LETTERS, find_series
from evalui.types import LETTERS

_TEXT_KEYS = ("text", "content", "value", "option", "choice", "answer")
_LABEL_KEYS = ("label", "key", "id", "letter", "index")
_RIGHT_KEYS = ("is_correct", "iscorrect", "correct", "is_right", "right", "is_answer")
_MARK_KEYS = ("labels", "label", "targets", "scores")
_MAX_CHARS = 100_000  # characters of a cell that is read as a list
_MAX_OPTION_CHARS = 2_000  # characters of an option that stands in a text with others
# What data frames of the hub's files write into a table: ['a' 'b'], which Python would take for
# one text, and {'text': array(['a', 'b'], dtype=object), ...}. No part can be matched two ways.
_QUOTED = r"(?:'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\")"
_NUMPY_LIST = re.compile(rf"\[\s*(?:{_QUOTED}\s*)++\]", re.DOTALL)
_NUMPY_ARRAY = re.compile(
    rf"(?<='): array\((\[(?:{_QUOTED}|[-\d.,\s])*+\])(?:, dtype=\w+)?\)", re.DOTALL
)
_STATEMENTS = re.compile(r"[①-⑳\s]*")  # numbers of statements that an option names
_OPTION_LABEL = re.compile(r"[A-Za-z]|[0-9]{1,2}")
# A letter with what sets it apart from the text behind it: "A." "A、" "(A)" "【A】" "A) ".
_LETTER_MARK = (
    rf"(?:[(（\[【](?:选项)?(?P<wrapped>[A-ZＡ-Ｚa-zａ-ｚ{OTHER_LETTERS}])[)）\]】]\s*[.．、:：]?"
    r"|(?:选项)?(?P<bare>[A-ZＡ-Ｚ])\s*[.．、:：)）]|(?P<small>[a-zａ-ｚ])\s*[.．、)）]"
    rf"|(?<!\w)(?P<other>[{OTHER_LETTERS}])(?:\s*[.．、:：)）]|\s?[-–]\s))\s*"
)
_OWN_LETTER = re.compile(rf"{_LETTER_MARK}|(?P<circled>[①-⑩])[.．、]?\s*")
# Not inside a word or an abbreviation ("U.S.A."), and not before a number ("A.5").
_MARK_IN_TEXT = re.compile(rf"(?<![A-Za-z0-9])(?<![A-Za-z]\.){_LETTER_MARK}")
_NUMBER_LINE = re.compile(r"^[ \t]*[(（]?(\d{1,2})[.．、:：)）]\s*(?=\S)", re.MULTILINE)
_CIRCLED = "①②③④⑤⑥⑦⑧⑨⑩"
_HEADING = re.compile(r"(?:选项|options?|choices?|answers?) ?[:：]?", re.IGNORECASE)
_HEADING_AT_END = re.compile(r"(?:选项|options?|choices?) ?[:：]$", re.IGNORECASE)
_ANSWER_CUE = re.compile(
    r"\n[ \t]*(?:(?:the|your|correct|right|正确|你的) ?)*(?:answer|答案)(?: is|是|为)?"
    r" ?[:：]?[ \t(（【]*$",
    re.IGNORECASE,
)
_SEPARATORS = ("\n", ";", "；", "|", "｜", "/", "、", "\t", "，", ",")
_BETWEEN_OPTIONS = " \t\n;；|,，.。"
_MAX_MARKS = 500  # letters in a text that may each begin an option; a hostile one has millions


@dataclass(frozen=True, slots=True)
class OptionList:
    """The options of one question; `labels` are the file's own, () where it has none.

    `right` are the places of those that the list itself marks as right, None where it marks none.
    """

    texts: tuple[str, ...]
    labels: tuple[str, ...] = ()
    right: tuple[int, ...] | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """The label of each option; without one its letter, or its number beyond Z."""
        places = range(len(self.texts))
        return self.labels or tuple(LETTERS[at : at + 1] or str(at + 1) for at in places)

    @property
    def labelled(self) -> tuple[tuple[str, str], ...]:
        """(name, text) of each option."""
        return tuple(zip(self.names, self.texts, strict=True))


@dataclass(frozen=True, slots=True)
class SplitQuestion:
    """A question whose text ends with its options."""

    text: str
    options: OptionList


def read_options(value: Any) -> OptionList | None:
    """The options in a JSON value or in a cell, None if it is no list of options."""
    if isinstance(value, str):
        parsed = parse_cell(value)
        if parsed is None:
            return _from_lettered_cell(value)
    else:
        parsed = value
    if isinstance(parsed, list):
        return _from_list(cast(list[Any], parsed))
    return _from_object(cast(dict[str, Any], parsed)) if isinstance(parsed, dict) else None


def find_separator(cells: Iterable[str]) -> str:
    """What separates the options in each of the cells, "" if nothing does in all of them."""
    texts = [text for cell in cells if (text := cell.strip())]
    for separator in _SEPARATORS:
        if texts and all(len(split_cell(text, separator).texts) > 1 for text in texts):
            return separator
    return ""


def split_cell(cell: str, separator: str) -> OptionList:
    """The options between separators; what is empty at the ends is none."""
    parts = [part.strip() for part in cell.strip().strip(separator).split(separator)]
    if separator == "\n":
        parts = [part for part in parts if part]
    return OptionList(strip_letters(parts))


def split_question(text: str) -> SplitQuestion | None:
    """A question that ends with its options under letters, None if it does not."""
    split = _split_at_letters(_ANSWER_CUE.sub("", text.rstrip()))
    if split is None or not split.text:
        return None
    *others, last = split.options.texts
    if "\n" in last and not any("\n" in other for other in others):
        return None  # what stands behind the options may be anything
    stem = _HEADING_AT_END.sub("", split.text).rstrip()
    return SplitQuestion(stem, split.options) if stem else None


def strip_letters(texts: Sequence[str]) -> tuple[str, ...]:
    """Without "A. ", "B. " and so on where each text begins with its own: prompts add them."""
    if 2 <= len(texts) <= len(LETTERS):
        starts = [_own_letter(text, place) for place, text in enumerate(texts)]
        if all(starts) and all(
            len(text) > start and not _STATEMENTS.fullmatch(text[start:])
            for start, text in zip(starts, texts, strict=True)
        ):
            return tuple(text[start:] for start, text in zip(starts, texts, strict=True))
    return tuple(texts)


def strip_spaced_letters(texts: tuple[str, ...]) -> tuple[str, ...]:
    """Without "A ", "B " and so on where each text begins with its own; "A dog" may be none."""
    if not texts or not texts[0].startswith("A") or not 2 <= len(texts) <= len(LETTERS):
        return texts
    own = zip(texts, LETTERS, strict=False)
    if all(text[:1] == letter and text[1:2].isspace() for text, letter in own):
        return tuple(text[1:].lstrip() for text in texts)
    return texts


def without_options(text: str, options: Sequence[str]) -> str:
    """A question without its options, if all of them stand in it too, each behind its letter."""
    if len(options) < 2 or any(option not in text for option in options):
        return text
    start = end = place = 0
    for match in _MARK_IN_TEXT.finditer(text):
        if match.start() < end:
            continue  # within an option
        if place and text[end : match.start()].strip(_BETWEEN_OPTIONS):
            place = 0
        if _letter_of(match) != LETTERS[place] or not text.startswith(options[place], match.end()):
            place = 0
            continue
        start = start if place else match.start()
        end = match.end() + len(options[place])
        place += 1
        if place == len(options):
            break
    if place < len(options) or text[end : end + 1].isalnum():
        return text
    before = _HEADING_AT_END.sub("", text[:start].rstrip()).rstrip()
    behind = _ANSWER_CUE.sub("", text[end:].rstrip()).lstrip(_BETWEEN_OPTIONS)
    return "\n".join(filter(None, (before, behind))) or text


def strip_letter(text: str, place: int) -> str:
    """The text without the letter of its place, if it begins with that and goes on."""
    start = _own_letter(text, place)
    return text[start:] if start < len(text) else text


def _own_letter(text: str, place: int) -> int:
    """Where a text goes on behind the letter of its place; 0 if it does not begin with that."""
    match = _OWN_LETTER.match(text)
    return match.end() if match and _letter_of(match) == LETTERS[place] else 0


def _letter_of(match: re.Match[str]) -> str:
    return LETTERS[LETTER_PLACES[next(filter(None, match.groupdict().values()))]]


def parse_cell(cell: str) -> Any:
    """The list or object that a cell holds as JSON or Python writes it, None for any other text."""
    text = cell.strip()
    if text[:1] not in ("[", "{") or len(text) > _MAX_CHARS:
        return None
    try:
        return _parse_value(text)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None


def _parse_value(text: str) -> Any:
    """What a cell holds, as JSON has it; raises one of many errors if it is no value."""
    try:
        return parse_json(text)
    except (ValueError, RecursionError):
        pass
    if _NUMPY_LIST.fullmatch(text):
        return [ast.literal_eval(each) for each in re.findall(_QUOTED, text, re.DOTALL)]
    plain = _NUMPY_ARRAY.sub(r": \1", text) if "array(" in text else text
    # By way of JSON, which has no sets, bytes or ellipses, and texts for the keys of objects.
    return parse_json(json.dumps(ast.literal_eval(plain)))


def _from_list(items: Sequence[Any]) -> OptionList | None:
    if all(isinstance(item, dict) for item in items):
        return _from_objects([cast(dict[str, Any], item) for item in items])
    pairs = [cast(list[Any], item) for item in items if isinstance(item, list)]
    if pairs and len(pairs) == len(items) and all(map(_is_marked_text, pairs)):
        marks = [_as_text(mark).casefold() for _, mark in pairs]
        return OptionList(strip_letters([_as_text(text) for text, _ in pairs]), (), _marked(marks))
    if any(isinstance(item, list | dict) for item in items):
        return None
    return OptionList(strip_letters([_as_text(item) for item in items]))


def _is_marked_text(pair: Sequence[Any]) -> bool:
    """Whether a pair is a text and whether it is right."""
    return len(pair) == 2 and isinstance(pair[0], str) and isinstance(pair[1], bool)


def _from_objects(objects: Sequence[Mapping[str, Any]]) -> OptionList | None:
    """The options of {"label", "text"} objects, or of objects of one label with its text each."""
    if all(len(item) == 1 for item in objects):
        merged = {name: text for item in objects for name, text in item.items()}
        if len(merged) == len(objects) and not merged.keys() & {*_TEXT_KEYS}:
            return _from_object(merged)
    if not all(any(name in item for name in _TEXT_KEYS) for item in objects):
        return None
    texts = [_first_value(item, _TEXT_KEYS) for item in objects]
    labels = tuple(normalise_cell(_first_value(item, _LABEL_KEYS)) for item in objects)
    marks = [_first_value(item, _RIGHT_KEYS).casefold() for item in objects]
    return OptionList(
        strip_letters(texts), labels if any(labels) else (), _marked(marks) if any(marks) else None
    )


def _from_object(mapping: Mapping[str, Any]) -> OptionList | None:
    texts = mapping.get("text", mapping.get("choices"))
    if isinstance(texts, list):
        return _from_parallel_lists(mapping, cast(list[Any], texts))
    values = list(mapping.values())
    if not mapping or any(isinstance(value, list | dict) for value in values):
        return None
    names = [normalise_cell(name) for name in mapping]
    if _are_labels(names):
        # Empty ones at the end are a question with fewer options than others.
        return OptionList(strip_letters([*map(_as_text, values)]), tuple(names))
    marks = [_as_text(value).casefold() for value in values]
    if len(marks) > 1 and {*marks} <= {"0", "1", "true", "false"} and _marked(marks):
        return OptionList(tuple(name.strip() for name in mapping), (), _marked(marks))
    return _from_named_options(mapping)


def _are_labels(names: Sequence[str]) -> bool:
    """Whether names are letters from A or numbers from 0 or 1 on, in order."""
    if not all(map(_OPTION_LABEL.fullmatch, names)):
        return False
    if names[0].isdecimal():
        first = int(names[0])
        return first in (0, 1) and names == [str(first + at) for at in range(len(names))]
    return [name.upper() for name in names] == list(LETTERS[: len(names)])


def _from_parallel_lists(mapping: Mapping[str, Any], items: list[Any]) -> OptionList | None:
    """A list of texts, beside one of their labels or of marks of the right ones."""
    options = _from_list(items)
    beside = next((mapping[name] for name in _MARK_KEYS if name in mapping), None)
    if options is None or not isinstance(beside, list):
        return options
    names = tuple(normalise_cell(_as_text(item)) for item in cast(list[Any], beside))
    if names and len(names) != len(options.texts):
        return None
    if "choices" in mapping or len(set(names)) < len(names):
        marks = [name.casefold() for name in names]
        if {*marks} <= {"0", "1", "true", "false"}:
            return OptionList(options.texts, (), _marked(marks))
    return OptionList(options.texts, names)


def _from_named_options(mapping: Mapping[str, Any]) -> OptionList | None:
    """An object of options under names of one series: {"option_a": ..., "option_b": ...}."""
    names = list(mapping)
    series = next((each for each in find_series(names) if len(each.columns) == len(names)), None)
    if series is None or not series.names_options:
        return None
    return OptionList(strip_letters([_as_text(mapping[names[at]]) for at in series.columns]))


def _marked(marks: Sequence[str]) -> tuple[int, ...]:
    return tuple(at for at, mark in enumerate(marks) if mark in ("1", "true", "yes", "1.0"))


def _from_lettered_cell(cell: str) -> OptionList | None:
    """The options of "A. …  B. …", of "①… ②…", or of numbered lines."""
    if len(cell) > _MAX_CHARS:
        return None
    text = cell.strip()
    if split := _split_at_letters(text):
        return split.options if not split.text or _HEADING.fullmatch(split.text) else None
    return _split_at_numbers(text)


def _split_at_letters(text: str) -> SplitQuestion | None:
    """A text at its last run of A, B, C …, each letter behind the one before."""
    last = deque(_MARK_IN_TEXT.finditer(text), _MAX_MARKS)
    marks = [(_letter_of(match), match) for match in last]
    best: list[re.Match[str]] = []
    for start, (letter, _) in enumerate(marks):
        if letter != "A":
            continue
        run: list[re.Match[str]] = []
        for other, match in marks[start:]:
            if len(run) < len(LETTERS) and other == LETTERS[len(run)]:
                run.append(match)
        if len(run) > 1 and len(run) >= len(best):
            best = run
    if not best:
        return None
    ends = [*(match.start() for match in best[1:]), len(text)]
    options = [
        text[match.end() : end].strip().rstrip(";；|,，").strip()
        for match, end in zip(best, ends, strict=True)
    ]
    if not all(options) or max(map(len, options)) > _MAX_OPTION_CHARS:
        return None
    return SplitQuestion(text[: best[0].start()].strip(), OptionList(tuple(options)))


def _split_at_numbers(text: str) -> OptionList | None:
    if text[:1] == _CIRCLED[0]:
        parts = re.split(f"[{_CIRCLED}]", text)[1:]
        circles = re.findall(f"[{_CIRCLED}]", text)
        if len(parts) > 1 and circles == list(_CIRCLED[: len(parts)]):
            return OptionList(tuple(part.strip().rstrip(";；,，").strip() for part in parts))
    marks = list(_NUMBER_LINE.finditer(text))
    numbers = [int(match[1]) for match in marks]
    if (
        len(marks) < 2
        or marks[0].start()
        or numbers != [*range(numbers[0], numbers[0] + len(marks))]
    ):
        return None
    ends = [*(match.start() for match in marks[1:]), len(text)]
    texts = tuple(text[match.end() : end].strip() for match, end in zip(marks, ends, strict=True))
    return OptionList(texts, tuple(map(str, numbers))) if numbers[0] in (0, 1) else None


def _first_value(item: Mapping[str, Any], names: Sequence[str]) -> str:
    return next((_as_text(item[name]) for name in names if name in item), "")


def _as_text(value: Any) -> str:
    return cell_text(value).strip()
