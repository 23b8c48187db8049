"""Rows become samples, or all that is wrong with them: what tries a guess reads the whole table.

The letters before the options' texts are taken off, the answers of the whole table decide what they
say, and a question with a true or false answer and no options gets those two.
"""

import hashlib
import heapq
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from evalui.datasets.answers import (
    CELL_KEYS,
    NO_ANSWER,
    AnswerFunction,
    AnswerRow,
    DetectedAnswerKey,
    RawAnswer,
    answer_function,
    answer_letters,
    answer_places,
    by_letter,
    by_text,
    detect_answer_key,
    truth_of,
    truth_options,
)
from evalui.datasets.ceval_subjects import subject_metadata
from evalui.datasets.model import (
    PANDAS_EMPTY,
    Cell,
    FaultList,
    FileRole,
    FileTable,
    JsonNumber,
    Layout,
    ParsedRows,
    Roles,
    Row,
    UploadNote,
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
from evalui.datasets.names import FIRST_LETTERS, LABEL_NAMES, LETTER_PLACES, fold_head
from evalui.datasets.open_samples import passage_text, read_open, with_passage
from evalui.datasets.option_references import refers_to_other_options
from evalui.datasets.options import (
    OptionList,
    find_separator,
    read_options,
    split_cell,
    split_question,
    strip_letter,
    strip_letters,
    strip_spaced_letters,
    without_options,
)
from evalui.datasets.picture_places import place_pictures
from evalui.datasets.reshape import join_option_rows
from evalui.pictures import without
from evalui.types import LETTERS, Fault, Sample

SEVERAL_RULE = "multi-letter-answer"
NO_ANSWER_RULE = "answer-not-an-option"
_LETTERED_SHARE = 0.9  # of the questions whose options begin with their letters, for all to do so
_MIN_LETTERED = 3  # questions
_MANY_OPTIONS = 4  # that all begin with their letters show it in one question
_PLAIN_SHARE = 0.9  # of the answers of a file that are bare letters, for no other to be thought of
_MIN_MARKED_ROWS = 2  # rows whose first option is marked as right, for the order to tell it
_LETTER_STARTS = FIRST_LETTERS | frozenset("(（[【选")
_ROTATION = 1_000_000  # by which the number of a question grows with each place of its options
_MAX_DIGITS = 15  # of a number of a question
_SHUFFLE_SEED = "evalui-options-1"  # another one would be another order: raise its number
_LIST_SHAPES = "a list of options: JSON, one to a line, or A. … B. …"
# What samples know of themselves; no column of the file may replace it.
_RESERVED_METADATA = ("id", "subject", "explanation", "file", "line", "ceval_subject")
_LETTER_CELLS = frozenset(LETTERS)
_NO_METADATA: Mapping[str, str] = MappingProxyType({})


def read_rows(table: FileTable, roles: Roles, role: FileRole, layout: Layout) -> ParsedRows:
    """The samples and faults of a table whose columns are what `roles` says."""
    if not table.rows and not table.faults:
        return ParsedRows((), (_no_rows_fault(table, role),))
    table = place_pictures(table, roles, layout)
    if roles.kind != "multiple_choice":
        return read_open(table, roles, role, layout)
    if roles.place("row_option") >= 0:
        table, roles = join_option_rows(table, roles)
    reader = _ChoiceReader(table, roles, role, layout)
    questions = reader.questions()
    if table.faults:
        # The rows that could not be cut stand where they were in the file.
        questions = heapq.merge(questions, sort_by_line(table.faults), key=lambda each: each.line)
    return _validate(questions, reader, table)


class _Question(NamedTuple):
    """One question of multiple choice before any check.

    `options` are texts, with the empty ones, and `labels` are the file's own names of them. `right`
    are the places of the options that the file marks as right, None where it has an answer instead.
    `is_number`: JSON wrote the answer without quotes. `metadata` has all else. `cells` are all
    columns of the row, for a function that reads the answer from them, and empty without one.
    """

    line: int
    id: str
    text: str
    options: tuple[str, ...]
    answer: str
    subject: str
    labels: tuple[str, ...]
    right: tuple[int, ...] | None
    is_number: bool
    metadata: Mapping[str, str]
    cells: Mapping[str, Cell]

    @property
    def texts(self) -> tuple[str, ...]:
        """The options that are not empty."""
        return tuple(filter(None, self.options)) if "" in self.options else self.options


class _ChoiceReader:
    """The columns of a table of multiple choice, in the form in which a row is taken apart fastest.

    The options stand in columns, in a list, in the question or nowhere: then they are true and
    false.
    """

    def __init__(self, table: FileTable, roles: Roles, role: FileRole, layout: Layout) -> None:
        self.role = role
        self.layout = layout
        self.table = table
        self.heads = tuple(head.strip() for head in table.heads)
        self._place = {name: roles.place(name) for name in ("question", "answer", "id", "subject")}
        self.question, self.answer, self._id, self._subject = self._place.values()
        self._passage, self._explanation = roles.place("passage"), roles.place("explanation")
        self.options = roles.options
        self.listed = -1 if roles.options else roles.place("options")
        self._function = answer_function(layout.answer_key)
        self._others = self._other_columns(roles, fold_name(layout.cluster))
        self.is_first_right = False

    def questions(self) -> Iterator[_Question | Fault]:
        """The question of each row, or why it cannot be read."""
        if self.options:
            return self._questions_of_columns()
        return self._questions_of_lists()

    def name(self, at: int) -> str:
        """A column as the file writes it."""
        return self.heads[at] if at >= 0 else ""

    def option_name(self, question: _Question, at: int) -> str:
        """What the file calls an option: its column, its label or the letter of its place."""
        if self.options:
            return self.heads[self.options[at]]
        return question.labels[at] if question.labels else LETTERS[at : at + 1]

    def _other_columns(self, roles: Roles, cluster: str) -> tuple[tuple[str, int], ...]:
        """The columns that a sample keeps as they are."""
        used = {at for at, name in enumerate(roles.roles) if name and name != "capability"}
        names = enumerate(self.heads)
        others = [
            (name, at)
            for at, name in names
            if name and at not in used and fold_name(name) not in _RESERVED_METADATA
        ]
        if cluster:
            named = ((name, at) for at, name in enumerate(self.heads) if fold_name(name) == cluster)
            others += [each for each in named if each not in others][:1]
        return tuple(others)

    def _questions_of_columns(self) -> Iterator[_Question | Fault]:
        width = len(self.heads)
        get_options = itemgetter(*self.options, self.question)  # a tuple even of one option
        is_typed, by_letters = self.table.typed, self._expects_letters()
        padding = ("",) * width
        for number, row in enumerate(self.table.rows, start=1):
            cells = row.cells
            if len(cells) != width:
                cells = self._fitted(cells, padding)
            if len(cells) != width:
                yield self._width_fault(row)
                continue
            texts = tuple(map(cell_text, cells)) if is_typed else cells
            is_letter = not by_letters or texts[self.answer] in _LETTER_CELLS
            if not is_letter and (fault := self._shift_fault(row.line, texts)):
                yield fault
                continue
            options = tuple(map(str.strip, get_options(texts)[:-1]))
            right = _marked_places(row.cell(self.answer), len(options)) if is_typed else None
            # A row without an id must not take that of a numbered one.
            own_number = str(number) if self._id < 0 else f"row-{number}"
            yield self._question(row, texts, own_number, texts[self.question], options, (), right)

    def _questions_of_lists(self) -> Iterator[_Question | Fault]:
        lists = [self._options_of(row) for row in self.table.rows]
        separator = self._find_separator(lists)
        marked: list[tuple[int, ...] | None] = []
        for number, row, found in zip(row_numbers(self.table), self.table.rows, lists, strict=True):
            if fault := long_row_fault(self.table, row, self.role.name):
                yield fault
                continue
            options = found
            if isinstance(options, str):
                options = split_cell(options, separator) if separator else options
            if isinstance(options, str):
                actual = quoted(options)
                yield self._fault(row.line, self.listed, "no-option-list", actual, _LIST_SHAPES)
                continue
            text, options = self._text_and_options(row, options)
            if fault := self._list_fault(row.line, options):
                yield fault
                continue
            texts = tuple(map(cell_text, row.cells))
            texts += ("",) * (len(self.heads) - len(texts))
            right = _marked_places(row.cell(self.answer), len(options.texts))
            if right is None and not self._answer_text(texts):
                right = options.right
                marked += [right] if options.texts else []
            number_name = f"row-{number}"
            yield self._question(
                row, texts, number_name, text, options.texts, options.labels, right
            )
        # Where all lists mark the first of their options, that is no order at all.
        self.is_first_right = len(marked) >= _MIN_MARKED_ROWS and all(
            right == (0,) for right in marked
        )

    def _question(
        self,
        row: Row,
        texts: Sequence[str],
        number: str,
        text: str,
        options: tuple[str, ...],
        labels: tuple[str, ...],
        right: tuple[int, ...] | None,
    ) -> _Question:
        text = text.strip()
        if self._passage >= 0:
            text = with_passage(passage_text(row.cell(self._passage)), text)
        metadata: Mapping[str, str] = _NO_METADATA
        if self._others:
            metadata = {
                name: cell
                for name, at in self._others
                if (cell := texts[at].strip()) and (self.options or isinstance(row.cells[at], str))
            }
        if self._explanation >= 0 and (explanation := texts[self._explanation].strip()):
            metadata = {**metadata, "explanation": explanation}
        return _Question(
            row.line,
            (texts[self._id].strip() if self._id >= 0 else "") or number,
            text,
            options,
            "" if right is not None else self._answer_text(texts),
            without(texts[self._subject]).strip() if self._subject >= 0 else "",
            labels,
            right,
            type(row.cell(self.answer)) is JsonNumber,
            metadata,
            dict(zip(self.heads, row.cells, strict=False)) if self._function else _NO_METADATA,
        )

    def _answer_text(self, texts: Sequence[str]) -> str:
        """The answer, "" where there is none."""
        text = texts[self.answer].strip() if self.answer >= 0 else ""
        return "" if text == NO_ANSWER else text

    # Options in one place

    def _options_of(self, row: Row) -> OptionList | str | None:
        """The options of a row, None without any, or what stands in their place and is no list."""
        inner = as_object(row.cell(self.question))
        listed = inner.get("choices", row.cell(self.listed))
        return read_options(listed) or cell_text(listed).strip() or None

    def _find_separator(self, lists: Sequence[OptionList | str | None]) -> str:
        """What separates the options of a cell is what separates them in all."""
        unread = [each for each in lists if isinstance(each, str)]
        return find_separator(unread) if 2 * len(unread) > len(lists) else ""

    def _text_and_options(self, row: Row, options: OptionList | None) -> tuple[str, OptionList]:
        cell = row.cell(self.question)
        inner = as_object(cell)
        text = cell_text(inner.get("stem") if inner else cell).strip()
        if options is None and (split := split_question(text)):
            return split.text, split.options
        return text, options or OptionList(())

    def _list_fault(self, line: int, options: OptionList) -> Fault | None:
        column = self.name(self.listed) or "choices"  # within the question
        if len(options.texts) > len(LETTERS):
            actual, expected = f"{len(options.texts)} choices", f"at most {len(LETTERS)}"
            return Fault(self.role.name, line, column, "too-many-options", actual, expected)
        if len(set(options.labels) - {""}) < len(options.labels):
            actual = f"the labels “{', '.join(options.labels)}”"
            expected = "a label of its own for each choice"
            return Fault(self.role.name, line, column, "duplicate-option", actual, expected)
        return None

    # Options in columns

    def _fitted(self, cells: Sequence[Cell], padding: Sequence[str]) -> tuple[Cell, ...]:
        """The cells at the header's width, where that loses nothing and moves nothing.

        Empty cells at the end are a spreadsheet's padding, and a row may stop after the last
        column that is needed.
        """
        width = len(padding)
        if len(cells) > width and not any(cell_text(cell).strip() for cell in cells[width:]):
            return tuple(cells[:width])
        needed = max(self.question, self.answer, *self.options)
        if self.table.typed or needed < len(cells) < width:
            return (*cells, *padding[len(cells) :])
        return tuple(cells)

    def _expects_letters(self) -> bool:
        """Whether a letter in a later column shows a shift: not if answers are texts or numbers."""
        if not self.table.delimiter or self.layout.answer_key != "letter" or self.answer < 0:
            return False
        at = self.answer
        others = [
            row.cells
            for row in self.table.rows
            if at < len(row.cells) and row.cells[at] not in _LETTER_CELLS and row.cells[at].strip()
        ]
        return 2 * sum(map(self._names_otherwise, others)) <= len(others)

    def _names_otherwise(self, cells: Sequence[str]) -> bool:
        """Whether an answer names an option by its text or by its place."""
        answer = cells[self.answer].strip()
        texts = [cells[at].strip() for at in self.options if at < len(cells)]
        by_place = answer.isdecimal() and len(answer) < 3 and int(answer) <= len(texts)
        return by_place or answer in texts or truth_of(answer) is not None

    def _width_fault(self, row: Row) -> Fault:
        """What is wrong with a row that has more or fewer cells than the header."""
        actual = f"{len(row.cells)} cells"
        if 0 <= self.answer < len(row.cells):
            shown = quoted(cell_text(row.cells[self.answer]).strip())
            actual += f", and {shown} under {self.name(self.answer)}"
        model = "header" if self.table.head_line else "first row"
        expected = f"{len(self.heads)} cells, as in the {model}; {self._shift_cause()}"
        return Fault(self.role.name, row.line, "", "shifted-row", actual, expected)

    def _shift_fault(self, line: int, texts: Sequence[str]) -> Fault | None:
        """What is wrong if the answer's letter stands in a later column.

        That is what an unquoted comma does to a row whose last column was left out: the count of
        cells is right by accident. Nothing is put back, since it would be a guess.
        """
        answer = texts[self.answer].strip()
        if by_letter(answer, LETTERS) is not None or truth_of(answer) is not None:
            return None
        if answer_letters(answer, len(self.options)):
            return None
        later = range(self.answer + 1, len(self.heads))
        at = next((at for at in later if by_letter(texts[at], LETTERS) is not None), None)
        if at is None:
            return None
        under = self.heads[at] or "a column without a name"
        actual = f"{quoted(answer)}, but “{texts[at].strip()}” under {under}"
        expected = f"the answer under {self.name(self.answer)}; {self._shift_cause()}"
        return self._fault(line, self.answer, "shifted-row", actual, expected)

    def _shift_cause(self) -> str:
        visible = "tab" if self.table.delimiter == "\t" else self.table.delimiter
        return f"a text that contains “{visible}” needs quotes around it"

    def _fault(self, line: int, at: int, rule: str, actual: str, expected: str) -> Fault:
        return Fault(self.role.name, line, self.name(at), rule, actual, expected)


def _marked_places(answer: Cell, n_options: int) -> tuple[int, ...] | None:
    """The right options where the answer is a truth value for each of them, else None."""
    if not isinstance(answer, list) or n_options < 2:
        return None
    marks = cast(list[Any], answer)
    if len(marks) != n_options or not all(isinstance(mark, bool) for mark in marks):
        return None
    return tuple(at for at, mark in enumerate(marks) if mark)


def _no_rows_fault(table: FileTable, role: FileRole) -> Fault:
    actual, expected = "a header and nothing below it", "a question per row"
    return Fault(role.name, table.head_line, "", "no-rows", actual, expected)


def _validate(
    questions: Iterator[_Question | Fault], reader: _ChoiceReader, table: FileTable
) -> ParsedRows:
    """Samples of the good questions and the faults of the others, in the file's order."""
    read: list[_Question] = []
    unread = FaultList()
    for each in questions:
        if type(each) is Fault:
            unread.add(each)
        else:
            read.append(cast(_Question, each))
    role, layout, shuffled = reader.role, reader.layout, reader.is_first_right
    lettered = _without_letters(read)
    n_rows = len(read) + unread.total + table.unlisted.total()
    repeated = 0
    for at, question in enumerate(lettered):
        text = without_options(question.text, question.texts)
        if text is not question.text:
            lettered[at] = question._replace(text=text)
            repeated += 1
    labels = {each.answer for each in lettered if each.labels and each.answer in each.labels}
    by_label = layout.answer_key == "letter" and bool(labels)
    key = _detect_key(lettered, reader, by_label=by_label)
    function = answer_function(key.key)
    bare = [each for each in lettered if "" in each.options or not each.options]
    truths = [each for each in bare if not each.texts and truth_of(each.answer) is not None]
    reading = _Reading(
        reader,
        key.key,
        truth_options([each.answer for each in truths], [each.text for each in truths]),
        shuffled=not function and (shuffled or key.key == "apart"),
        is_plain=key.key == "letter" and not shuffled and not by_label,
        by_label=by_label,
        function=function,
    )
    unanswered = not function and bool(lettered)
    unanswered &= not any(each.answer.strip() or each.right for each in lettered)
    samples: list[Sample] = []
    faults = FaultList()
    first = _first_orders(lettered)
    rotated = 0
    del read
    lettered.reverse()
    for result in map(reading.to_sample, counted(_consumed(lettered))):
        if not isinstance(result, Sample):
            faults.add(*result)
        elif _is_rotation(result, first):
            rotated += 1
        else:
            samples.append(result)
    merged = FaultList(
        sort_by_line(unread.kept, faults.kept),
        unlisted=unread.unlisted + faults.unlisted + table.unlisted,
    )
    several = sum(fault.rule == SEVERAL_RULE for fault in merged.kept)
    several += merged.unlisted[SEVERAL_RULE]
    counts = (
        ("options-in-question", repeated),
        ("several-answers", several),
        ("options-shuffled", len(samples) if reading.shuffled else 0),
        ("rotations-left-out", rotated),
    )
    return ParsedRows(
        tuple(samples),
        merged.kept,
        n_rows,
        unanswered=unanswered,
        answer_key=key.key,
        notes=(
            *key.notes,
            *(UploadNote(rule, {"file": role.name, "n": str(n)}) for rule, n in counts if n),
        ),
        skipped=rotated,
        unlisted=merged.unlisted,
    )


def _first_orders(questions: Sequence[_Question]) -> Mapping[int, _Question]:
    """The questions that a file repeats with their options rotated, by their numbers.

    VLMEvalKit numbers the rotation by k places of question n as n + 1,000,000 k.
    """
    numbers = [_number(each.id, each.metadata) for each in questions]
    wanted = {number % _ROTATION for number in numbers if number >= _ROTATION}
    pairs = zip(numbers, questions, strict=True)
    return {number: each for number, each in pairs if number in wanted} if wanted else {}


def _number(id_: str, metadata: Mapping[str, str]) -> int:
    """The number of a question, -1 without one."""
    text = metadata.get("index", id_)
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _MAX_DIGITS else -1


def _is_rotation(sample: Sample, first: Mapping[int, _Question]) -> bool:
    """Whether a sample is one of those again, with its options in another order."""
    number = _number(sample.id.rpartition("/")[2], sample.metadata) if first else -1
    original = first.get(number % _ROTATION) if number >= _ROTATION else None
    if original is None or original.text != sample.question:
        return False
    texts = original.texts
    return any(texts[at:] + texts[:at] == sample.choices for at in range(1, len(texts)))


def _consumed(questions: list[_Question]) -> Iterator[_Question]:
    """The questions from the last one on, each let go of: a million take as much as the samples."""
    while questions:
        yield questions.pop()


def _without_letters(questions: list[_Question]) -> list[_Question]:
    """The questions without the letters that stand before their options.

    They are no part of an option where all options of a question have their own, and where nearly
    all questions of a file are so: "C. elegans" alone keeps its letter.
    """
    stripped: dict[int, _Question] = {}
    for at, question in enumerate(questions):
        options = question.options
        if options and options[0][:1] in _LETTER_STARTS:
            texts = question.texts
            rest = options[len(texts) :]
            if (plain := strip_letters(texts)) != texts and not any(rest):
                stripped[at] = question._replace(options=plain + rest)
    nearly_all = len(stripped) >= max(_MIN_LETTERED, _LETTERED_SHARE * len(questions))
    if not stripped:
        return _without_spaced_letters(questions)
    return [
        stripped.get(at) or (_without_own_letters(question) if nearly_all else question)
        for at, question in enumerate(questions)
    ]


def _without_spaced_letters(questions: list[_Question]) -> list[_Question]:
    """The questions without "A " before their options, where nearly all of them have that."""
    stripped = [strip_spaced_letters(question.options) for question in questions]
    plain = [
        question if options is question.options else question._replace(options=options)
        for question, options in zip(questions, stripped, strict=True)
    ]
    spaced = sum(one is not other for one, other in zip(plain, questions, strict=True))
    least = 1 if all(len(each.texts) >= _MANY_OPTIONS for each in questions) else _MIN_LETTERED
    nearly_all = spaced >= max(least, _LETTERED_SHARE * len(questions))
    return plain if nearly_all else questions


def _without_own_letters(question: _Question) -> _Question:
    options = enumerate(question.options[: len(LETTERS)])
    return question._replace(options=tuple(strip_letter(text, place) for place, text in options))


def _detect_key(
    questions: Sequence[_Question], reader: _ChoiceReader, *, by_label: bool
) -> DetectedAnswerKey:
    """What the answers are written as: as the layout states, or as most of them show."""
    if reader.layout.answer_key != "letter" or _are_plain_letters(questions):
        return DetectedAnswerKey(reader.layout.answer_key)
    answers = [
        RawAnswer(each.answer, texts, each.is_number)
        for each in questions
        if each.answer and each.right is None and not (by_label and each.labels)
        if (texts := each.texts)
    ]
    if not answers:
        return DetectedAnswerKey("letter")
    column = reader.name(reader.answer)
    numbered = reader.options and fold_head(column) not in LABEL_NAMES
    number = re.search(r"\d+", reader.name(reader.options[0])) if numbered else None
    start = number[0] if number else ""
    return detect_answer_key(answers, reader.role.name, column, start)


def _are_plain_letters(questions: Sequence[_Question]) -> bool:
    """Whether nearly all answers are bare letters of options and no options themselves."""
    plain = 0
    for each in questions:
        place = LETTER_PLACES.get(each.answer)
        plain += place is not None and place < len(each.options) and each.answer not in each.options
    return plain >= _PLAIN_SHARE * len(questions)


@dataclass(frozen=True, slots=True)
class _Reading:
    """What the rows of one table have in common.

    `is_plain`: bare letters name the options. `by_label`: answers repeat the labels of a list.
    """

    reader: _ChoiceReader
    key: str
    truth_names: tuple[str, str]
    shuffled: bool
    is_plain: bool
    by_label: bool
    function: AnswerFunction | None = None
    subjects: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])

    def to_sample(self, question: _Question) -> Sample | list[Fault]:
        """The question as a sample, or everything that is wrong with it."""
        if self.function:
            return self._by_function(question, self.function)
        options = question.options
        if PANDAS_EMPTY in options or question.text == PANDAS_EMPTY:
            column = self.reader.name(self.reader.question)
            if PANDAS_EMPTY in options:
                column = self.reader.option_name(question, options.index(PANDAS_EMPTY))
            return [pandas_empty_fault(self.reader.role.name, question.line, column)]
        if self.is_plain and question.text and question.right is None:
            # As nearly all questions of a file are.
            place = LETTER_PLACES.get(question.answer)
            if place is not None and place < len(options) > 1 and "" not in options:
                return self._make_sample(question, options, place)
        texts = question.texts
        if not texts and (truth := truth_of(question.answer)) is not None:
            texts, target = self.truth_names, int(not truth)
            faults = self._text_faults(question)
        else:
            texts, target = self._read_target(question, texts)
            faults = [*self._text_faults(question), *self._option_faults(question, texts)]
            if target is None:
                faults.append(self._answer_fault(question, texts))
        if faults or target is None:
            return faults
        if self.shuffled:
            texts, target = _shuffle(question.text, texts, target)
        return self._make_sample(question, texts, target)

    def _by_function(self, question: _Question, function: AnswerFunction) -> Sample | list[Fault]:
        """The question with the option that a function of a package says is right."""
        texts = question.texts
        if faults := [*self._text_faults(question), *self._option_faults(question, texts)]:
            return faults
        target = function.find_target(
            AnswerRow(question.text, texts, question.answer, question.cells)
        )
        if isinstance(target, int):
            return self._make_sample(question, texts, target)
        expected = f"a letter from A to {LETTERS[len(texts) - 1]} from {self.key}"
        return [self._fault(question, self.key, "answer-function", target, expected)]

    def _make_sample(self, question: _Question, texts: tuple[str, ...], target: int) -> Sample:
        role = self.reader.role
        subject = question.subject or role.subject
        own = self.subjects.get(subject)
        if own is None:
            named = {"subject": subject} if role.own_subjects else subject_metadata(subject)
            own = self.subjects[subject] = {**named, "file": role.name}
        # The reader's own values come last: no column of the file may replace them.
        further = question.metadata
        metadata = {**further, **own} if further else own.copy()
        metadata["line"] = str(question.line)
        return Sample(
            f"{question.subject or role.prefix}/{question.id}",
            question.text,
            texts,
            target,
            metadata,
            refers_to_other_options(texts),
        )

    def _read_target(
        self, question: _Question, texts: tuple[str, ...]
    ) -> tuple[tuple[str, ...], int | None]:
        """The options and the place of the right one among them."""
        answer = question.answer
        if question.right is not None:
            return texts, question.right[0] if len(question.right) == 1 else None
        if self.by_label and question.labels:
            pairs = zip(question.labels, question.options, strict=False)
            labels = [label for label, text in pairs if text]
            return texts, labels.index(answer) if answer in labels else None
        if self.key == "apart":
            wrong = tuple(text for text in texts if text != answer)
            return ((answer, *wrong), 0) if answer else (texts, None)
        target = CELL_KEYS[self.key](answer, texts)
        is_wording = len(answer) > 1 and not answer.replace(".", "", 1).isdecimal()
        if target is None and self.key == "letter" and is_wording:
            target = by_text(answer, texts)
        if target is None and (truth := truth_of(answer)) is not None:
            same = [place for place, text in enumerate(texts) if truth_of(text) is truth]
            target = same[0] if len(same) == 1 and len(texts) == 2 else None
        return texts, target

    def _text_faults(self, question: _Question) -> list[Fault]:
        if question.text:
            return []
        column = self.reader.name(self.reader.question)
        return [self._fault(question, column, "empty-question", "empty", "some text")]

    def _option_faults(self, question: _Question, texts: Sequence[str]) -> list[Fault]:
        options = question.options
        empty = options.index("") if "" in options else -1
        later = next((at for at in range(empty + 1, len(options)) if options[at]), -1)
        if empty >= 0 and later >= 0:
            actual = f"empty, but {self.reader.option_name(question, later)} is filled"
            column = self.reader.option_name(question, empty)
            return [
                self._fault(question, column, "gap-in-options", actual, "no gap between options")
            ]
        if len(texts) < 2:
            actual = f"{len(texts)} option" + ("s" if not texts else "")
            column = self.reader.option_name(question, empty) if empty >= 0 else ""
            return [self._fault(question, column, "too-few-options", actual, "at least 2")]
        return []

    def _answer_fault(self, question: _Question, texts: Sequence[str]) -> Fault:
        cell, column = question.answer.strip(), self.reader.name(self.reader.answer)
        letters = "".join(LETTERS[place] for place in question.right or ())
        actual = ", ".join(letters) or "none marked"
        if question.right is None:
            actual = quoted(cell) if cell else "empty"
            letters = answer_letters(cell, len(texts)) if self.key == "letter" else ""
            if self.key in ("index0", "index1"):
                first = int(self.key == "index1")
                places = answer_places(cell, len(texts), first)
                letters = "".join(LETTERS[place] for place in places)
        if letters:
            expected = f"one letter; single-answer evaluation cannot score {', '.join(letters)}"
            return self._fault(question, column, SEVERAL_RULE, actual, expected)
        if question.right is not None:
            expected = "one option that is marked as right"
            return self._fault(question, column, NO_ANSWER_RULE, actual, expected)
        same = [letter for letter, text in zip(LETTERS, texts, strict=False) if text == cell]
        if same and (self.key == "letter" or len(same) > 1):
            actual += f" (the text of option {' and '.join(same)})"
        expected = self._expected_answer(question, texts)
        if self.key == "text" and len(same) > 1:
            expected = "the text of one option only"
        return self._fault(question, column, NO_ANSWER_RULE, actual, expected)

    def _expected_answer(self, question: _Question, texts: Sequence[str]) -> str:
        if not texts:
            return "an answer that names an option"
        if self.by_label and question.labels:
            pairs = zip(question.labels, question.options, strict=False)
            return f"one of {', '.join(label for label, text in pairs if text)}"
        if self.key == "letter":
            return f"one of {', '.join(LETTERS[: len(texts)])}"
        if self.key in ("index0", "index1"):
            first = int(self.key == "index1")
            return f"a number from {first} to {first + len(texts) - 1}"
        if self.key == "apart":
            return "the text of the right option"
        return "the text of one of the options"

    def _fault(self, row: _Question, column: str, rule: str, actual: str, expected: str) -> Fault:
        return Fault(self.reader.role.name, row.line, column, rule, actual, expected)


def _shuffle(question: str, texts: tuple[str, ...], target: int) -> tuple[tuple[str, ...], int]:
    """The options in an order that depends on the question's own texts and on nothing else."""

    def rank(place: int) -> bytes:
        text = "\0".join((_SHUFFLE_SEED, question, texts[place]))
        return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()

    order = sorted(range(len(texts)), key=rank)
    return tuple(texts[place] for place in order), order.index(target)
