"""Which column is what: the roles that a user may name, and a guess from the cells and the heads.

The content decides and the heads help. A guess that is sure is read; of any other the first rows
are shown with it, and nothing is read until a person has confirmed it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby
from typing import Literal

from evalui.datasets.base import Layout, shorten
from evalui.datasets.heads import (
    CORRECT_NAMES,
    INSTRUCTION_NAMES,
    LABEL_NAMES,
    PAIR_STEMS,
    Head,
    HeadSeries,
    find_series,
    is_known_name,
    read_head,
)
from evalui.datasets.questions.answers import (
    AnswerFit,
    RawAnswer,
    fit_answers,
    target_of,
    truth_of,
)
from evalui.datasets.questions.open import are_messages
from evalui.datasets.questions.option_lists import (
    OptionList,
    find_separator,
    read_options,
    split_cell,
    split_question,
    strip_letters,
)
from evalui.datasets.questions.reshaping import is_mark, is_true_mark
from evalui.types import LETTERS, DatasetKind

__all__ = [
    "COLUMN_ROLES",
    "ColumnGuess",
    "ColumnTable",
    "answer_values",
    "columns_of",
    "guess_answer_key",
    "guess_columns",
    "is_known_name",
    "with_columns",
]

# What a column may be; the letters are the options in order, `options` is a list of them and
# `row_option` the one option of a row where each option has a row.
COLUMN_ROLES = (
    "question",
    "passage",
    *LETTERS,
    "options",
    "row_option",
    "answer",
    "explanation",
    "subject",
    "id",
    "capability",
)

_FIELDS: Mapping[str, str] = {
    "question": "question",
    "passage": "passage",
    "options": "option_list",
    "row_option": "row_option",
    "answer": "answer",
    "explanation": "explanation",
    "subject": "subject",
    "id": "id",
    "capability": "capability",
}
# Why a guess is not sure; "" where it is. Each has a sentence, `fault.confirm-<doubt>`.
Doubt = Literal[
    "", "columns", "question", "options", "answer", "answer-key", "answer-base", "labels", "passage"
]
FITTING_SHARE = 0.9  # of a column's cells that must agree for it to be what it looks like
_MIN_OPTIONS = 2
_MIN_TEXT_BYTES = 24  # bytes of the mean cell of a column of texts, as opposed to names
_MIN_PASSAGE_BYTES = 150  # bytes of the mean cell of an unnamed column that may be a passage
_MIN_QUESTION_BYTES = 12
_MAX_GROUP_ROWS = 50
_LETTER_SET = frozenset(LETTERS)
_MARK_NAMES = frozenset(
    ("iscorrect", "correct", "isright", "right", "isanswer", "是否正确", "正确", "是否答案")
)
_JUDGE_NAMES = frozenset(("capability", "evaluatingguidance", "referenceanswer", "turns"))
_PASSAGE_WORDS = (
    *("passage", "the text", "the author", "the article", "paragraph", "the story", "context"),
    *("文中", "材料", "本文", "上文", "短文", "文章", "作者", "这段话", "原文"),
)


@dataclass(frozen=True, slots=True)
class ColumnTable:
    """The columns of a file as it writes them, and the texts of its first rows by column.

    Further rows are among them if they show a short cell that none before has, so that the table
    has each letter and number of a column of answers. Lists and objects are texts of JSON;
    `numbers` are the places of the columns that JSON writes as numbers.
    """

    file: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    n_rows: int
    numbers: tuple[int, ...] = ()

    def cells(self, column: int) -> tuple[str, ...]:
        """What stands in a column of the rows, without blank cells."""
        return tuple(text for row in self.rows if (text := row[column].strip()))


@dataclass(frozen=True, slots=True)
class ColumnGuess:
    """A role for each column, "" for none, and what the right answer is written as.

    `sure`: the file can be read so without help; else `doubt` says what is to be confirmed. `kind`
    is "" where no question can be made out. `unused` are the columns of texts without a role.
    """

    roles: tuple[str, ...]
    answer_key: str = "letter"
    kind: DatasetKind | Literal[""] = ""
    sure: bool = False
    doubt: Doubt = ""
    unused: tuple[str, ...] = ()

    def place(self, role: str) -> int:
        """The column that has a role, -1 for none."""
        return self.roles.index(role) if role in self.roles else -1

    @property
    def options(self) -> tuple[int, ...]:
        """The columns of one option each, in order."""
        return tuple(self.roles.index(letter) for letter in LETTERS if letter in self.roles)


def with_columns(layout: Layout, columns: Mapping[str, str]) -> Layout:
    """The layout that reads the named columns: role -> header. Options count in order of letters.

    Raises:
        KeyError: a role is none of `COLUMN_ROLES`.
    """
    options = tuple(columns[letter] for letter in LETTERS if letter in columns)
    named = {_FIELDS[role]: name for role, name in columns.items() if role not in _LETTER_SET}
    return replace(layout, options=options, **named)


def columns_of(layout: Layout) -> dict[str, str]:
    """The inverse: the header of each role that the layout names."""
    options = dict(zip(LETTERS, layout.options, strict=False))
    others = {role: str(getattr(layout, field)) for role, field in _FIELDS.items()}
    return {role: name for role, name in (options | others).items() if name}


def answer_values(table: ColumnTable, column: int, *, limit: int = 6) -> tuple[str, ...]:
    """The different values of a column in the first rows, in order, cut short."""
    return tuple(shorten(text, 20) for text in sorted(set(table.cells(column))))[:limit]


def guess_columns(table: ColumnTable, layout: Layout | None = None) -> ColumnGuess:
    """Which column is probably what, of which kind the questions are, and whether that is sure.

    What a `layout` names is taken as it is: columns, the kind and the answer key.
    """
    guessing = _Guessing(table, layout or Layout())
    guess = None
    if guessing.layout.kind in ("", "multiple_choice"):
        guess = guessing.guess_choice()
    if guess is None:
        guess = guessing.guess_open()
    return guess


def guess_answer_key(table: ColumnTable, roles: Sequence[str]) -> str:
    """What the right answer is written as in the rows, a name in `ANSWER_KEYS`."""
    columns = {
        role: table.headers[at] for at, role in enumerate(roles) if role and role != "subject"
    }
    if "answer" not in columns:
        return "letter"
    layout = with_columns(Layout(kind="multiple_choice"), columns)
    return guess_columns(table, layout).answer_key


class _Column:
    """One column of a table and what its cells look like."""

    def __init__(self, table: ColumnTable, at: int) -> None:
        self.at = at
        self.header = table.headers[at]
        self.head: Head = read_head(self.header)
        self.cells = [row[at].strip() for row in table.rows]
        self.is_number = at in table.numbers

    @cached_property
    def texts(self) -> list[str]:
        """The cells that are not blank."""
        return [cell for cell in self.cells if cell]

    @property
    def filled(self) -> float:
        """The share of the cells that are not blank."""
        return len(self.texts) / len(self.cells) if self.cells else 0.0

    @cached_property
    def mean_bytes(self) -> float:
        """The mean length of the texts; a Chinese character says as much as three letters."""
        if not self.texts:
            return 0.0
        return sum(len(text.encode("utf-8", "replace")) for text in self.texts) / len(self.texts)

    @cached_property
    def distinct(self) -> int:
        """How many different texts there are."""
        return len(set(self.texts))

    @cached_property
    def is_text(self) -> bool:
        """Whether the cells are words rather than numbers, lists or single letters."""
        texts = self.texts
        return bool(texts) and not self.is_structured and not all(map(_is_number, texts))

    @cached_property
    def is_prose(self) -> bool:
        """Whether the cells are texts that a model might have to read."""
        links = sum(text.startswith(("http://", "https://", "/")) for text in self.texts)
        few = self.distinct <= max(1, len(self.texts) // 4)
        return (
            self.is_text
            and self.mean_bytes >= _MIN_TEXT_BYTES
            and not few
            and 2 * links < len(self.texts)
        )

    @cached_property
    def is_structured(self) -> bool:
        """Whether most cells are lists or objects of JSON or Python."""
        return 2 * sum(text[:1] in ("[", "{") for text in self.texts) > len(self.texts)

    @cached_property
    def is_chat(self) -> bool:
        """Whether the cells are conversations."""
        return bool(self.texts) and all(map(are_messages, self.texts))

    @cached_property
    def lists(self) -> list[OptionList | None]:
        """The list of options in each cell."""
        return [read_options(cell) if cell else None for cell in self.cells]

    @property
    def has_lists(self) -> bool:
        """Whether nearly all cells are lists of options."""
        good = sum(1 for each in self.lists if each and len(each.texts) >= _MIN_OPTIONS)
        return bool(good) and good >= FITTING_SHARE * len(self.texts)


@dataclass(frozen=True)
class _OptionSource:
    """Where the options of each row may stand: columns, a list, or the question itself.

    `by_head`: the heads say so too. `wrong_only`: the right option stands in a column of its own,
    `correct`. `marked`: the lists mark the right options. `start` is the first letter or number of
    the heads.
    """

    texts: Sequence[tuple[str, ...]]
    columns: tuple[int, ...] = ()
    listed: int = -1
    question: int = -1
    correct: int = -1
    by_head: bool = True
    marked: bool = False
    start: str = ""
    doubt: Doubt = ""

    @property
    def places(self) -> frozenset[int]:
        """The columns that the options take."""
        return frozenset((*self.columns, self.listed)) - {-1}


@dataclass(frozen=True)
class _AnswerColumn:
    """A column of answers, and how well they name the options."""

    column: _Column
    fit: AnswerFit
    doubt: Doubt = ""


class _Guessing:
    """One guess: the columns of a table, and what a layout has stated of them."""

    def __init__(self, table: ColumnTable, layout: Layout) -> None:
        self.table = table
        self.layout = layout
        self.columns = [_Column(table, at) for at in range(len(table.headers))]
        by_header = {header: at for at, header in reversed([*enumerate(table.headers)])}
        folded = {header.strip().casefold(): at for header, at in by_header.items()}
        self.fixed = {
            role: folded[name.strip().casefold()]
            for role, name in columns_of(layout).items()
            if name.strip().casefold() in folded
        }
        self.series = find_series(table.headers)

    # The kind with options.

    def guess_choice(self) -> ColumnGuess | None:
        """The guess of multiple choice; None where nothing looks like options."""
        if rows := self._guess_option_rows():
            return rows
        unfit: _OptionSource | None = None
        for source in self._option_sources():
            answer = self._find_answer(source)
            if answer and answer.fit.share >= FITTING_SHARE:
                return self._to_choice(source, answer)
            if source.marked or (source.correct >= 0):
                return self._to_choice(source, None)
            if unfit is None and source.by_head:
                unfit = source
        if truth := self._guess_truth():
            return truth
        if unfit:
            return self._to_choice(unfit, self._find_answer(unfit))
        if self.layout.kind == "multiple_choice":
            return self._without_options()
        return None

    def _option_sources(self) -> Iterator[_OptionSource]:
        """The places where options may stand, the likeliest first."""
        letters = [self.fixed[letter] for letter in LETTERS if letter in self.fixed]
        if letters:
            yield self._apart_or_columns(letters)
            return
        if "options" in self.fixed:
            yield self._list_source(self.columns[self.fixed["options"]], by_head=True)
            return
        yield from self._wrong_and_right()
        named = [each for each in self.series if each.names_options]
        for series in sorted(named, key=lambda each: (-bool(not each.stem), -len(each.columns))):
            columns = self._option_columns(series)
            if len(columns) >= _MIN_OPTIONS:
                yield self._column_source(columns, by_head=True, start=series.start)
        yield from self._lists()
        yield from self._inline()
        yield from self._unnamed_columns()

    def _apart_or_columns(self, columns: Sequence[int]) -> _OptionSource:
        source = self._column_source(columns, by_head=True, start="a")
        if self.layout.answer_key == "apart":
            return replace(source, correct=self.fixed.get("answer", -1))
        return source

    def _column_source(
        self, columns: Sequence[int], *, by_head: bool, start: str = "", doubt: Doubt = ""
    ) -> _OptionSource:
        cells = zip(*(self.columns[at].cells for at in columns), strict=True)
        texts = [strip_letters(tuple(filter(None, row))) for row in cells]
        return _OptionSource(texts, tuple(columns), by_head=by_head, start=start, doubt=doubt)

    def _list_source(self, column: _Column, *, by_head: bool, doubt: Doubt = "") -> _OptionSource:
        lists = column.lists
        if not column.has_lists and (separator := find_separator(column.texts)):
            lists = [split_cell(cell, separator) if cell else None for cell in column.cells]
            doubt = doubt or ("options" if separator in (",", "，", "/") else "")
        texts = [tuple(filter(None, each.texts)) if each else () for each in lists]
        rights = [each.right for each in lists if each]
        marked = bool(rights) and all(right is not None for right in rights)
        if marked and any(right is not None and len(right) != 1 for right in rights):
            doubt = doubt or "answer"
        if not any(texts):
            doubt = "options"
        return _OptionSource(texts, listed=column.at, by_head=by_head, marked=marked, doubt=doubt)

    def _option_columns(self, series: HeadSeries) -> list[int]:
        """The columns of a series of options: those up to the last that has anything."""
        columns = [at for at in series.columns if at not in self.fixed.values()]
        while columns and not self.columns[columns[-1]].texts:
            columns.pop()
        return columns

    def _wrong_and_right(self) -> Iterator[_OptionSource]:
        """Columns, or a list, of wrong options beside a column of the right one."""
        correct = self._correct_column()
        if correct is None:
            return
        sources = [
            self._column_source(self._option_columns(series), by_head=True)
            for series in self.series
            if series.names_distractors
        ]
        sources += [
            self._list_source(column, by_head=True)
            for column in self.columns
            if column.head.role == "distractor" and column.texts
        ]
        if not sources:
            single = [column.at for column in self.columns if _is_single_distractor(column)]
            sources += [self._column_source(single[:1], by_head=True)] if single else []
        several = any(
            column.head.name in ("correctanswers", "goodanswers") for column in self.columns
        )
        for source in sources:
            pairs = [
                (right, wrong)
                for right, wrong in zip(correct.cells, source.texts, strict=True)
                if right and wrong
            ]
            apart = sum(right not in wrong for right, wrong in pairs)
            if pairs and apart >= FITTING_SHARE * len(pairs):
                doubt = source.doubt or ("options" if several else "")
                yield replace(source, correct=correct.at, marked=False, doubt=doubt)

    def _correct_column(self) -> _Column | None:
        if "answer" in self.fixed:
            return self.columns[self.fixed["answer"]]
        named = [c for c in self.columns if c.head.name in CORRECT_NAMES and c.texts]
        return min(named, key=lambda column: column.head.rank, default=None)

    def _lists(self) -> Iterator[_OptionSource]:
        """Columns of lists: under a name for options first, then under any other."""
        free = [c for c in self.columns if c.texts and c.at not in self.fixed.values()]
        named = [column for column in free if column.head.role == "options"]
        for column in sorted(named, key=lambda column: not column.has_lists):
            yield self._list_source(column, by_head=True)
        inner = [c for c in free if c.head.role == "question" and _holds_choices(c)]
        for column in inner:
            yield self._list_source(column, by_head=True)
        for column in free:
            if column.head.role not in ("options", "question", "distractor") and column.has_lists:
                if not column.is_chat:
                    by_head = any(each and each.right is not None for each in column.lists)
                    yield self._list_source(column, by_head=by_head)

    def _inline(self) -> Iterator[_OptionSource]:
        """Options at the end of the question's own text."""
        question = self._find_question(frozenset())
        if question is None:
            return
        split = [split_question(cell) for cell in question.cells]
        if sum(map(bool, split)) >= FITTING_SHARE * max(1, len(question.texts)):
            texts = [each.options.texts if each else () for each in split]
            yield _OptionSource(texts, question=question.at)

    def _unnamed_columns(self) -> Iterator[_OptionSource]:
        """Other series, and columns beside each other behind the question; never sure."""
        question = self._find_question(frozenset())
        taken = {question.at if question else -1, *self.fixed.values()}
        for series in self.series:
            columns = self._option_columns(series)
            if not series.names_options and len(columns) >= _MIN_OPTIONS and not taken & {*columns}:
                yield self._column_source(columns, by_head=False, doubt="columns")
        start = question.at + 1 if question else 0
        run: list[int] = []
        for column in self.columns[start:]:
            named = column.head.role not in ("", "answer")
            if column.at in taken or named or not column.texts or column.is_structured:
                break
            run.append(column.at)
        for width in range(min(len(run), len(LETTERS)), _MIN_OPTIONS - 1, -1):
            yield self._column_source(run[:width], by_head=False, doubt="columns")

    def _find_answer(self, source: _OptionSource) -> _AnswerColumn | None:
        """The column whose cells name the options, by its head and by what it says."""
        if "answer" in self.fixed:
            column = self.columns[self.fixed["answer"]]
            return _AnswerColumn(column, self._fit(column, source))
        taken = source.places | {*self.fixed.values(), source.question}
        fits = [
            _AnswerColumn(column, self._fit(column, source))
            for column in self.columns
            if column.at not in taken and column.texts and _may_answer(column)
        ]
        named = [each for each in fits if each.column.head.role == "answer"]
        good = [each for each in named if each.fit.share >= FITTING_SHARE]
        if good:
            best = min(good, key=lambda each: (each.column.head.rank, -each.fit.n))
            return replace(best, doubt=self._contradiction(best, good, source))
        others = [
            each
            for each in fits
            if each.fit.share >= FITTING_SHARE
            and each.column not in [c.column for c in named]
            and (each.column.distinct > 1 or each.fit.n == 1)
        ]
        if others:
            return replace(others[-1], doubt="answer")
        return max(named, key=lambda each: (each.fit.share, -each.column.head.rank), default=None)

    def _fit(self, column: _Column, source: _OptionSource) -> AnswerFit:
        return fit_answers(
            [
                RawAnswer(cell, texts, column.is_number)
                for cell, texts in zip(column.cells, source.texts, strict=True)
                if cell and texts and cell != "-1"
            ]
        )

    def _contradiction(
        self, best: _AnswerColumn, others: Sequence[_AnswerColumn], source: _OptionSource
    ) -> Doubt:
        """Whether another column of answers names other options."""
        for other in others:
            if other is best or other.column.head.name in LABEL_NAMES - {"label", "labels"}:
                continue
            for row, texts in enumerate(source.texts):
                one, two = best.column.cells[row], other.column.cells[row]
                if one and two and texts:
                    places = {
                        target_of(one, texts, best.fit.key),
                        target_of(two, texts, other.fit.key),
                    }
                    if len(places - {None}) > 1:
                        return "answer"
        return ""

    def _to_choice(self, source: _OptionSource, answer: _AnswerColumn | None) -> ColumnGuess:
        """The guess of a file with options here and answers there."""
        roles = self._new_roles()
        for letter, at in zip(LETTERS, source.columns, strict=False):
            roles[at] = letter
        if source.listed >= 0 and not _holds_choices(self.columns[source.listed]):
            roles[source.listed] = "options"
        key, doubts = "letter", [source.doubt]
        if source.correct >= 0:
            roles[source.correct], key = "answer", "apart"
        elif answer:
            roles[answer.column.at] = "answer"
            key = answer.fit.key
            doubts += self._answer_doubts(answer, source)
        elif not source.marked:
            doubts.append("answer")
        taken = frozenset(at for at, role in enumerate(roles) if role)
        question = self._find_question(taken, inline=source.question)
        doubts.append(self._assign_texts(roles, question))
        if self.layout.answer_key != "letter":
            key = self.layout.answer_key
        return self._finish(roles, key, "multiple_choice", doubts)

    def _answer_doubts(self, answer: _AnswerColumn, source: _OptionSource) -> list[Doubt]:
        doubts: list[Doubt] = [answer.doubt]
        if answer.fit.share < FITTING_SHARE:
            doubts.append("answer")
        if self.layout.answer_key == "letter":
            numbers_are_places = answer.column.is_number and answer.fit.key.startswith("index")
            if answer.fit.rival and not numbers_are_places:
                doubts.append("answer-key")
            if answer.fit.assumed and source.start != "0":
                doubts.append("answer-base")
        return doubts

    def _guess_truth(self) -> ColumnGuess | None:
        """A file whose answers are all true or false, and that has no options."""
        named = [c for c in self.columns if c.head.role == "answer" and c.texts]
        if "answer" in self.fixed:
            named = [self.columns[self.fixed["answer"]]]
        for column in sorted(named, key=lambda column: column.head.rank):
            words = {text.casefold() for text in column.texts}
            enough = len(column.texts) > 1 or words <= {"true", "false"}
            if enough and all(truth_of(text) is not None for text in column.texts):
                roles = self._new_roles()
                roles[column.at] = "answer"
                doubt = self._assign_texts(roles, self._find_question(frozenset((column.at,))))
                if self._pair_of_texts(roles):
                    doubt = "labels"
                return self._finish(roles, "letter", "multiple_choice", [doubt])
        return None

    def _guess_option_rows(self) -> ColumnGuess | None:
        """A file with one row per option: the question is repeated, one row of it is marked."""
        if "row_option" not in self.fixed and (
            self.fixed.keys() & {*LETTERS, "options"} or len(self.table.rows) < _MIN_OPTIONS
        ):
            return None
        marks = [
            column
            for column in self.columns
            if (column.head.name in _MARK_NAMES or column.head.role == "answer")
            and column.filled == 1
            and all(map(is_mark, column.texts))
        ]
        for key in self.columns:
            if key.filled < 1 or key.head.role not in ("id", "question"):
                continue
            for mark in marks:
                if mark is not key and self._is_one_right_per_group(key, mark):
                    return self._to_option_rows(key, mark)
        return None

    def _is_one_right_per_group(self, key: _Column, mark: _Column) -> bool:
        rows = zip(key.cells[:_MAX_GROUP_ROWS], mark.cells[:_MAX_GROUP_ROWS], strict=True)
        groups = [
            [is_true_mark(cell) for _, cell in group]
            for _, group in groupby(rows, lambda row: row[0])
        ]
        if len(self.table.rows) >= _MAX_GROUP_ROWS:
            groups = groups[:-1]  # cut where the table ends
        good = sum(len(group) >= _MIN_OPTIONS and sum(group) == 1 for group in groups)
        return bool(groups) and good >= FITTING_SHARE * len(groups)

    def _to_option_rows(self, key: _Column, mark: _Column) -> ColumnGuess | None:
        roles = self._new_roles()
        roles[mark.at] = "answer"
        if key.head.role == "id":
            roles[key.at] = "id"
        question = key if key.head.role == "question" else self._find_question(frozenset((key.at,)))
        repeated = question is not None and question.distinct < len(question.texts)
        free = [
            column
            for column in self.columns
            if not roles[column.at]
            and column is not question
            and column.texts
            and column.head.role in ("", "options", "answer", "passage")
            and not all(map(is_mark, column.texts))
        ]
        named = [column for column in free if column.head.role in ("options", "answer")]
        texts = [c for c in named or free if len(set(c.texts[:_MAX_GROUP_ROWS])) > 1]
        texts = [c for c in texts if c.mean_bytes > 1] or texts
        if question is None or not repeated or not texts:
            return None
        option = self.columns[self.fixed["row_option"]] if "row_option" in self.fixed else texts[0]
        roles[option.at] = "row_option"
        doubts: list[Doubt] = ["" if len(texts) == 1 or option.head.role else "columns"]
        doubts.append(self._assign_texts(roles, question))
        return self._finish(roles, "letter", "multiple_choice", doubts)

    def _without_options(self) -> ColumnGuess:
        """The guess where options were wanted and are not there."""
        roles = self._new_roles()
        named = [c for c in self.columns if c.head.role == "answer" and c.texts]
        if named and "answer" not in roles:
            roles[min(named, key=lambda column: column.head.rank).at] = "answer"
        taken = frozenset(at for at, role in enumerate(roles) if role)
        doubt = self._assign_texts(roles, self._find_question(taken))
        return self._finish(roles, self.layout.answer_key, "multiple_choice", [doubt, "options"])

    # The kinds without options.

    def guess_open(self) -> ColumnGuess:
        """The guess of open questions."""
        roles = self._new_roles()
        answer = self._find_reference()
        if answer:
            roles[answer.at] = "answer"
        taken = frozenset(at for at, role in enumerate(roles) if role)
        chats = [c for c in self.columns if c.at not in taken and c.is_chat]
        question = self._find_question(taken)
        if "question" not in self.fixed and chats and not _has_role(question, "question"):
            question = chats[0]
        doubts: list[Doubt] = []
        if question is None and not any(c.head.name == "turns" for c in self.columns):
            return ColumnGuess(tuple(roles), kind="", doubt="columns")
        judged = any(column.head.name in _JUDGE_NAMES for column in self.columns)
        kind = self.layout.kind or ("subjective" if judged else "general_qa")
        doubts.append(self._assign_texts(roles, question))
        if "answer" not in self.fixed:
            if self._looks_like_labels(answer, roles):
                doubts.append("labels")
            if answer is None:
                doubts.append(self._propose_reference(roles))
        return self._finish(roles, "letter", kind, doubts)

    def _find_reference(self) -> _Column | None:
        if "answer" in self.fixed:
            return self.columns[self.fixed["answer"]]
        named = [
            column
            for column in self.columns
            if column.head.role == "answer" and column.texts and not column.is_chat
        ]
        return min(named, key=lambda column: column.head.rank, default=None)

    def _propose_reference(self, roles: list[str]) -> Doubt:
        """A further column of texts may be that of the references, which heads do not say."""
        free = [
            c
            for c in self.columns
            if not roles[c.at]
            and not c.head.role
            and c.is_text
            and c.filled == 1
            and not is_known_name(c.header)
        ]
        texts = [c for c in free if c.is_prose or len(self.columns) == 2]
        if not texts:
            return ""
        roles[texts[0].at] = "answer"
        return "columns"

    def _looks_like_labels(self, answer: _Column | None, roles: Sequence[str]) -> bool:
        """Whether the answer is a class of the text, which nobody could know without a list."""
        if answer is None:
            return False
        if answer.head.name in LABEL_NAMES:
            return True
        small = all(_is_number(text) and len(text) <= 2 for text in answer.texts)
        few = len(answer.texts) >= 4 and answer.distinct <= max(2, len(answer.texts) // 5)
        return self._pair_of_texts(roles) and (small or few)

    def _pair_of_texts(self, roles: Sequence[str]) -> bool:
        """Whether two texts are judged together: sentence1 and sentence2, premise and hypothesis."""
        names = {column.head.name for column in self.columns if column.texts}
        if {"premise", "hypothesis"} <= names:
            return True
        return any(
            each.stem in PAIR_STEMS
            and len(each.columns) == 2
            and all(self.columns[at].is_text for at in each.columns)
            for each in self.series
        )

    # What both have.

    def _new_roles(self) -> list[str]:
        roles = [""] * len(self.columns)
        for role, at in self.fixed.items():
            roles[at] = role
        return roles

    def _find_question(self, taken: frozenset[int], *, inline: int = -1) -> _Column | None:
        """The column of questions: by its head, else the one with the longest different texts."""
        if "question" in self.fixed:
            return self.columns[self.fixed["question"]]
        if inline >= 0:
            return self.columns[inline]
        taken = taken | {*self.fixed.values()}
        free = [c for c in self.columns if c.at not in taken and c.texts]
        named = [
            c
            for c in free
            if c.head.role == "question" and (not c.is_structured or _holds_choices(c) or c.is_chat)
        ]
        series = {at for each in self.series if each.names_options for at in each.columns}
        if named:
            full = [c for c in named if 2 * c.filled >= 1] or named
            return min(full, key=lambda column: column.head.rank)
        free = [c for c in free if c.at not in series and c.is_text and not c.is_structured]
        passages = [c for c in free if c.head.role == "passage"]
        unnamed = [c for c in free if not c.head.role and 2 * c.distinct > len(c.texts)]
        unnamed = [c for c in unnamed if not is_known_name(c.header)]
        candidates = passages or unnamed
        return max(candidates, key=lambda column: column.mean_bytes, default=None)

    def _assign_texts(self, roles: list[str], question: _Column | None) -> Doubt:
        """Give the question, what is read with it and what describes it their roles."""
        if question is None:
            return "question"
        roles[question.at] = "question"
        doubt: Doubt = "" if self._is_sure_question(question) else "question"
        if "passage" not in self.fixed:
            passage = self._find_passage(roles, question)
            if passage:
                roles[passage.at] = "passage"
                if not _has_passage_head(passage, question):
                    doubt = doubt or "passage"
                if question.mean_bytes < _MIN_QUESTION_BYTES and not _has_han(question):
                    doubt = doubt or "question"
        self._assign(roles, "explanation", [c for c in self._free(roles, "explanation") if c.texts])
        subjects = [
            c
            for c in self._free(roles, "subject")
            if c.filled >= FITTING_SHARE and (c.distinct <= len(c.texts) // 2 or len(c.texts) < 4)
        ]
        self._assign(roles, "subject", subjects)
        ids = [c for c in self._free(roles, "id") if c.filled == 1 and c.distinct == len(c.texts)]
        self._assign(roles, "id", ids)
        self._assign(roles, "capability", [c for c in self._free(roles, "capability") if c.texts])
        return doubt

    def _is_sure_question(self, question: _Column) -> bool:
        if "question" in self.fixed or question.head.role == "question" or question.is_chat:
            return True
        return False

    def _find_passage(self, roles: Sequence[str], question: _Column) -> _Column | None:
        """What the question is about: a column of that name, or long texts that it speaks of."""
        free = [c for c in self.columns if not roles[c.at] and c.texts]
        if question.head.name in INSTRUCTION_NAMES:
            inputs = [c for c in free if c.head.name in ("input", "inputs", "输入", "context")]
            if inputs:
                return inputs[0]
        named = [
            c
            for c in free
            if c.head.role == "passage" and (c.is_text or c.is_structured) and not c.is_number
        ]
        if named:
            return max(named, key=lambda column: column.mean_bytes)
        speaks = sum(
            any(word in cell.casefold() for word in _PASSAGE_WORDS) for cell in question.texts
        )
        for column in free:
            if column.head.role or is_known_name(column.header) or not column.is_text:
                continue
            long = column.mean_bytes >= max(_MIN_PASSAGE_BYTES, question.mean_bytes)
            repeated = column.distinct < len(column.texts)
            if long and (repeated or 3 * speaks >= len(question.texts)):
                return column
        return None

    def _free(self, roles: Sequence[str], role: str) -> list[_Column]:
        if role in self.fixed:
            return []
        return [c for c in self.columns if not roles[c.at] and c.head.role == role]

    def _assign(self, roles: list[str], role: str, columns: Iterable[_Column]) -> None:
        best = min(columns, key=lambda column: column.head.rank, default=None)
        if best is not None and role not in roles:
            roles[best.at] = role

    def _finish(
        self, roles: Sequence[str], key: str, kind: DatasetKind, doubts: Iterable[Doubt]
    ) -> ColumnGuess:
        doubt = next((each for each in doubts if each), "")
        if not self.table.rows:
            doubt = "columns"
        unused = tuple(c.header for c in self._unused(roles))
        return ColumnGuess(tuple(roles), key, kind, not doubt, doubt, unused)

    def _unused(self, roles: Sequence[str]) -> Iterator[_Column]:
        """The columns of texts without a role; not what the question or the options repeat."""
        read = [self.columns[at] for at, role in enumerate(roles) if role]
        for column in self.columns:
            if roles[column.at] or not column.is_prose or not column.header.strip():
                continue
            inside = sum(
                any(text in other.cells[row] for other in read)
                for row, text in enumerate(column.cells)
                if text
            )
            if inside < FITTING_SHARE * len(column.texts):
                yield column


def _may_answer(column: _Column) -> bool:
    """Whether a column is not certainly something else than answers."""
    return column.head.role in ("", "answer") and not column.is_chat


def _is_single_distractor(column: _Column) -> bool:
    return any(
        each.names_distractors for each in find_series((f"{column.header}1", f"{column.header}2"))
    )


def _holds_choices(column: _Column) -> bool:
    """Whether the cells are AI2's objects of a stem and its choices."""
    return bool(column.texts) and all(
        text.startswith("{") and '"stem"' in text and '"choices"' in text for text in column.texts
    )


def _has_role(column: _Column | None, role: str) -> bool:
    return column is not None and column.head.role == role


def _has_passage_head(passage: _Column, question: _Column) -> bool:
    return passage.head.role == "passage" or question.head.name in INSTRUCTION_NAMES


def _has_han(column: _Column) -> bool:
    return any(len(text.encode("utf-8", "replace")) > len(text) for text in column.texts[:5])


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).removeprefix("-").isdigit()
