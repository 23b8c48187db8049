"""What the columns of a table look like, and the roles that both kinds of questions have."""

from collections.abc import Iterator, Sequence
from functools import cached_property

from evalui.datasets.model import ColumnTable, Doubt, Layout, Roles, columns_of
from evalui.datasets.names import (
    INSTRUCTION_NAMES,
    PAIR_STEMS,
    Head,
    find_series,
    is_known_name,
    read_head,
)
from evalui.datasets.open_samples import are_messages
from evalui.datasets.options import OptionList, read_options
from evalui.types import DatasetKind

FITTING_SHARE = 0.9  # of a column's cells that must agree for it to be what it looks like
MIN_OPTIONS = 2
_FIRST_CELLS = 20  # cells that show whether a column has lists
_MIN_TEXT_BYTES = 24  # bytes of the mean cell of a column of texts, as opposed to names
_MIN_PASSAGE_BYTES = 150  # bytes of the mean cell of an unnamed column that may be a passage
_MIN_QUESTION_BYTES = 12  # bytes of the mean cell of an unnamed column that may be the question
_LABEL_CHARS = 24  # characters of a class of texts
_TASK_NAMES = ("task", "任务")
_INPUT_NAMES = ("input", "inputs", "输入", "context")
# What open questions have beside their roles, whatever a guess says.
_COLUMNS_OF_OPEN_QUESTIONS = ("system", "history", "messages", "turns", "evaluatingguidance")
_PASSAGE_WORDS = (
    *("passage", "the text", "the author", "the article", "paragraph", "the story", "context"),
    *("文中", "材料", "本文", "上文", "短文", "文章", "作者", "这段话", "原文"),
)


class ColumnProfile:
    """One column of a table and what its cells look like."""

    def __init__(self, table: ColumnTable, at: int) -> None:
        self.at = at
        self.header = table.headers[at]
        self.head: Head = read_head(self.header)
        self.cells = [row[at].strip() for row in table.rows]
        self.is_number = at in table.numbers

    @property
    def role(self) -> str:
        """The role that the head stands for, "" for none."""
        return self.head.role

    @property
    def rank(self) -> int:
        """How much the head is in doubt, 0 for the surest name of its role."""
        return self.head.rank

    @cached_property
    def is_unknown(self) -> bool:
        """Whether the head says nothing."""
        return not self.role and not is_known_name(self.header)

    @cached_property
    def texts(self) -> list[str]:
        """The cells that are not blank."""
        return [cell for cell in self.cells if cell]

    @cached_property
    def folded(self) -> list[str]:
        """The cells without letter case and marks at their ends."""
        return [cell.casefold().rstrip(".。") for cell in self.cells]

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
        """Whether the cells are texts rather than numbers or lists."""
        return bool(self.texts) and not self.is_structured and not all(map(is_number, self.texts))

    @cached_property
    def is_prose(self) -> bool:
        """Whether the cells are texts that a model might have to read."""
        links = sum(text.startswith(("http://", "https://", "/")) for text in self.texts)
        few = 1 < self.distinct <= len(self.texts) // 4
        long = self.is_text and self.mean_bytes >= _MIN_TEXT_BYTES
        return long and not few and 2 * links < len(self.texts)

    @cached_property
    def is_structured(self) -> bool:
        """Whether most cells are lists or objects of JSON or Python."""
        return 2 * sum(text[:1] in ("[", "{") for text in self.texts) > len(self.texts)

    @cached_property
    def is_chat(self) -> bool:
        """Whether the cells are conversations."""
        return bool(self.texts) and all(map(are_messages, self.texts))

    @cached_property
    def holds_choices(self) -> bool:
        """Whether the cells are AI2's objects of a stem and its choices."""
        return bool(self.texts) and all(
            text.startswith("{") and '"stem"' in text and '"choices"' in text for text in self.texts
        )

    @cached_property
    def lists(self) -> list[OptionList | None]:
        """The list of options in each cell; none at all if the first cells have none."""
        first = [read_options(text) for text in self.texts[:_FIRST_CELLS]]
        if 2 * sum(map(bool, first)) < len(first):
            return [None] * len(self.cells)
        return [read_options(cell) if cell else None for cell in self.cells]

    @cached_property
    def has_lists(self) -> bool:
        """Whether nearly all cells are lists of options."""
        good = sum(1 for each in self.lists if each and len(each.texts) >= MIN_OPTIONS)
        return bool(good) and good >= FITTING_SHARE * len(self.texts)


class TableProfile:
    """The columns of a table, and what a layout states of them: `fixed` are role -> column."""

    def __init__(self, table: ColumnTable, layout: Layout) -> None:
        self.table = table
        self.layout = layout
        self.columns = [ColumnProfile(table, at) for at in range(len(table.headers))]
        self.series = find_series(table.headers)
        places = {header.strip().casefold(): at for at, header in enumerate(table.headers)}
        self.fixed = {
            role: places[name.strip().casefold()]
            for role, name in columns_of(layout).items()
            if name.strip().casefold() in places
        }

    def column(self, role: str) -> ColumnProfile | None:
        """The column that the layout names for a role."""
        return self.columns[self.fixed[role]] if role in self.fixed else None

    def new_roles(self) -> list[str]:
        """A role for each column: those that the layout names."""
        roles = [""] * len(self.columns)
        for role, at in self.fixed.items():
            roles[at] = role
        return roles

    def by_head(self, role: str) -> list[ColumnProfile]:
        """The columns with anything in them whose heads stand for a role, the surest first."""
        named = [column for column in self.columns if column.role == role and column.texts]
        return sorted(named, key=lambda column: column.rank)

    @cached_property
    def has_pair_of_texts(self) -> bool:
        """Whether two texts are judged together: sentence1 and sentence2, or a hypothesis."""
        names = {column.head.name for column in self.columns if column.texts}
        return {"premise", "hypothesis"} <= names or any(
            each.stem in PAIR_STEMS
            and len(each.columns) == 2
            and all(self.columns[at].is_text for at in each.columns)
            for each in self.series
        )

    def find_question(self, roles: Sequence[str]) -> ColumnProfile | None:
        """The column of questions: by its head, else the longest texts that differ."""
        if "question" in self.fixed:
            return self.column("question")
        free = [column for column in self.columns if column.texts and not roles[column.at]]
        named = [
            column
            for column in free
            if column.role == "question"
            and (not column.is_structured or column.holds_choices or column.is_chat)
        ]
        if named:
            full = [column for column in named if 2 * column.filled >= 1]
            texts = [column for column in full if column.is_text or column.is_structured]
            return min(texts or full or named, key=lambda column: column.rank)
        if chats := [column for column in free if column.is_chat]:
            return chats[0]
        options = {at for each in self.series if each.names_options for at in each.columns}
        texts = [column for column in free if column.is_text and column.at not in options]
        passages = [column for column in texts if column.role == "passage"]
        others = [
            column
            for column in texts
            if not column.role
            and 2 * column.distinct > len(column.texts)
            and column.mean_bytes >= _MIN_QUESTION_BYTES
        ]
        unknown = [column for column in others if column.is_unknown]
        best = passages or unknown or others
        return max(best, key=lambda column: column.mean_bytes, default=None)

    def assign_texts(self, roles: list[str], question: ColumnProfile | None) -> Doubt:
        """Give the question, what is read with it and what describes it their roles."""
        if question is None:
            return "question"
        roles[question.at] = "question"
        sure = "question" in self.fixed or question.role == "question" or question.is_chat
        doubt: Doubt = "" if sure else "question"
        if "passage" not in self.fixed:
            doubt = doubt or self._assign_passage(roles, question)
        for role in ("explanation", "subject", "id", "capability"):
            self._assign_description(roles, role)
        return doubt

    def _assign_passage(self, roles: list[str], question: ColumnProfile) -> Doubt:
        """Find what the question is about; a column of that name is sure."""
        free = [column for column in self.columns if not roles[column.at] and column.texts]
        inputs = [column for column in free if column.head.name in _INPUT_NAMES]
        if question.head.name in INSTRUCTION_NAMES and inputs:
            roles[inputs[0].at] = "passage"
            return ""
        named = [
            column
            for column in free
            if column.role == "passage" and (column.is_text or column.is_structured)
        ]
        instructions = [
            column
            for column in free
            if column.head.name in {*INSTRUCTION_NAMES, *_TASK_NAMES} and column.is_text
            # A task may also be a class of the questions.
            if column.head.name not in _TASK_NAMES or _is_sentence(column)
        ]
        if instructions:
            roles[instructions[0].at] = "passage"
            return "passage" if named else ""
        if named:
            roles[max(named, key=lambda column: column.mean_bytes).at] = "passage"
            return ""
        if subject := _text_of_short_questions(free, question):
            roles[subject.at] = "passage"
            return "question"
        if unnamed := _text_that_is_spoken_of(free, question):
            roles[unnamed.at] = "passage"
            return "passage"
        return ""

    def _assign_description(self, roles: list[str], role: str) -> None:
        if role in self.fixed:
            return
        for column in self.by_head(role):
            if roles[column.at]:
                continue
            n = len(column.texts)
            few = column.distinct <= n // 2 or n < 4
            fits = {"subject": few and column.filled >= FITTING_SHARE, "id": column.distinct == n}
            if fits.get(role, True) and (role != "id" or column.filled == 1):
                roles[column.at] = role
                return

    def to_guess(
        self, roles: Sequence[str], kind: DatasetKind, doubts: Sequence[Doubt], key: str = "letter"
    ) -> Roles:
        """The guess with these roles; the first of the doubts counts."""
        real: list[Doubt] = [doubt for doubt in doubts if doubt]
        if not self.table.rows:
            real = ["columns"]
        doubt: Doubt = real[0] if real else ""
        read_anyway = _COLUMNS_OF_OPEN_QUESTIONS if kind != "multiple_choice" else ()
        unused = tuple(
            column.header for column in self._unused(roles) if column.head.name not in read_anyway
        )
        return Roles(tuple(roles), key, kind, not doubt, unused, doubt)

    def _unused(self, roles: Sequence[str]) -> Iterator[ColumnProfile]:
        """The columns of texts without a role; not what those with one repeat."""
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


def _is_sentence(column: ColumnProfile) -> bool:
    long = column.mean_bytes >= _MIN_TEXT_BYTES
    return long or all(text[-1:] in ".:?!。：？！" for text in column.texts)


def is_number(text: str) -> bool:
    """Whether a cell is a number."""
    return text.replace(".", "", 1).removeprefix("-").isdigit()


def are_labels(column: ColumnProfile) -> bool:
    """Whether cells are classes of something: a few short words, or small numbers."""
    small = all(is_number(text) and len(text) <= 2 for text in column.texts)
    few = len(column.texts) >= 4 and column.distinct <= max(2, len(column.texts) // 5)
    return small or (few and max(map(len, column.texts)) <= _LABEL_CHARS)


def _text_of_short_questions(
    free: Sequence[ColumnProfile], question: ColumnProfile
) -> ColumnProfile | None:
    """The text that a question of a word is about: COPA asks "cause" or "effect" of a premise."""
    asks = any("?" in text or len(text.encode()) > len(text) for text in question.texts)
    if asks or question.mean_bytes >= _MIN_QUESTION_BYTES:
        return None
    texts = [c for c in free if c.is_text and (c.role == "question" or c.is_unknown)]
    longest = max(texts, key=lambda column: column.mean_bytes, default=None)
    return longest if longest and longest.mean_bytes > 2 * question.mean_bytes else None


def _text_that_is_spoken_of(
    free: Sequence[ColumnProfile], question: ColumnProfile
) -> ColumnProfile | None:
    """A long text without a known head that several questions share, or speak of."""
    speaks = sum(any(word in text.casefold() for word in _PASSAGE_WORDS) for text in question.texts)
    for column in free:
        long = column.mean_bytes >= max(_MIN_PASSAGE_BYTES, question.mean_bytes)
        shared = column.distinct < len(column.texts)
        wanted = shared or 3 * speaks >= len(question.texts)
        if column.is_unknown and column.is_text and long and wanted:
            return column
    return None
