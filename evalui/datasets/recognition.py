"""Which format reads a file, and under which layout.

A file of exactly a format's shape is read by that format. Any other is read by the guess of its
columns where that is sure; where it is not, the file has one fault, which says what to confirm. So
is a file in which two columns of answers contradict each other in any row, whatever its names are.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from evalui.datasets.columns import (
    ColumnGuess,
    ColumnTable,
    answer_values,
    columns_of,
    guess_columns,
    with_columns,
)
from evalui.datasets.formats import choices, general_qa, subjective
from evalui.datasets.guessing.profile import FITTING_SHARE
from evalui.datasets.heads import MODEL_NAMES, fold_head, is_known_name, read_head
from evalui.datasets.model import (
    DATASET_FORMATS,
    DatasetFormat,
    JsonNumber,
    Layout,
    ParsedRows,
    Source,
    UploadNote,
    shorten,
)
from evalui.datasets.questions.answers import by_letter
from evalui.datasets.questions.open import OpenColumnNames
from evalui.datasets.questions.reshaping import split_passages
from evalui.datasets.tables.records import (
    COLUMN_NAMES,
    Record,
    Records,
    fold_name,
    read_records,
)
from evalui.datasets.tables.table import (
    cell_text,
    is_json_lines,
    read_header,
    read_table,
)
from evalui.types import LETTERS, Fault

_MIN_COLUMNS = 2  # of a table: a question and something beside it
_ROWS_SHOWN = 50  # rows of a table at its beginning
_MAX_ROWS = 200  # rows with those that show further short cells
_MAX_SHORT = 3  # characters of a cell that may be a letter or the number of an option
_MAX_VALUES = 40  # short cells of one column that are looked for
_PEEK_CHARS = 100_000  # characters of a text that are read to see of which format it is
_PEEK_ROWS = 60
_MAX_HEADS = 4  # names of options that a sentence has
_OPEN_FORMATS: Mapping[str, OpenColumnNames] = {
    "general_qa": general_qa.COLUMNS,
    "subjective": subjective.COLUMNS,
}
_EXPECTED = "the columns under “Columns” on the page, or `columns` of a specification"
_ANSWERS_EXPECTED = (
    "questions; replies of models belong under “Answers you already have” beside the file of their"
    " questions (`answers` of a specification)"
)


@dataclass(frozen=True, slots=True)
class Recognition:
    """What reads a file: a format, None if nothing can, and the layout under which it does.

    `guess` is what was made out of the columns called `headers`, where that was needed. `way`:
    whether they are read as that guess has it, or wait to be confirmed.
    """

    dataset_format: DatasetFormat | None
    layout: Layout
    guess: ColumnGuess | None = None
    headers: tuple[str, ...] = ()
    way: Literal["format", "guess", "unconfirmed"] = "format"
    notes: tuple[UploadNote, ...] = ()

    def named(self, file: str) -> "Recognition":
        """The same of a file of another name."""
        notes = (UploadNote(note.rule, {**note.params, "file": file}) for note in self.notes)
        return replace(self, notes=tuple(notes))


def recognise(source: Source, layout: Layout) -> Recognition:
    """What reads a file, whose kind is its own whatever kind the layout wants.

    A format that a plug-in brings is taken at its word.
    """
    natural = replace(layout, kind="")
    name = next((n for n in DATASET_FORMATS if DATASET_FORMATS[n].recognises(source, natural)), "")
    own = DATASET_FORMATS[name] if name else None
    if own is not None and name not in ("ceval", "choices", *_OPEN_FORMATS):
        return Recognition(own, layout)
    beginning = _peek(source)
    if name == "ceval" and not columns_of(layout) and _is_plain_ceval(beginning):
        return Recognition(own, layout)
    table = column_table(beginning)
    if table is None:
        return Recognition(own, layout)
    guess = guess_columns(table, natural)
    if own is not None and _keeps_format(name, table, guess, layout):
        several = not columns_of(layout) and _has_several_answers(table.headers)
        whole = column_table(source) if several else None
        if whole is None or guess_columns(whole, natural).doubt != "answers":
            return Recognition(own, layout, guess, table.headers)
    return _by_guess(source, layout, own)


def recognise_as(source: Source, layout: Layout) -> Recognition:
    """What reads a file as questions of the layout's kind, nothing if they cannot be that."""
    table, guess = _guess_from_all(source, layout)
    if table is None or guess is None or guess.place("question") < 0 or guess.doubt == "options":
        return Recognition(None, layout)
    # That texts have labels speaks against the kind, which is stated now.
    if guess.sure or guess.doubt == "labels":
        return _read_so(source, table, guess, layout)
    return _wait(table, guess, layout)


def column_table(source: Source) -> ColumnTable | None:
    """The columns of a file; None if it is no table of rows.

    A text of which half the lines have other cells than its first is none.
    """
    return _to_table(source, read_rows(source))


def _to_table(source: Source, records: Records) -> ColumnTable | None:
    if not records.rows or 2 * len(records.rows) < records.n_rows:
        return None
    if len(records.names) < _MIN_COLUMNS and not _is_known_alone(records):
        return None
    chosen = _representative_rows(records)
    numbers = tuple(
        at
        for at, name in enumerate(records.names)
        if any(isinstance(row.values.get(name), JsonNumber) for row in chosen)
        and all(isinstance(row.values.get(name, None), JsonNumber | None) for row in chosen)
    )
    names = tuple(records.names.values())
    head_row = 0 if is_json_lines(source) else records.header_line
    rows = _cells(records, chosen)
    table = ColumnTable(source.name, names, rows, records.n_rows, head_row, numbers=numbers)
    if not _has_several_answers(names):
        return table
    # Any row may show that two columns of answers contradict each other.
    whole = guess_columns(replace(table, rows=_cells(records, records.rows)))
    return replace(table, answers_differ=whole.doubt == "answers")


def _cells(records: Records, rows: Sequence[Record]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(_cell_text(row.values.get(name)) for name in records.names) for row in rows)


def read_rows(source: Source) -> Records:
    """The rows of a file, one for each question, before anything is known of its columns."""
    return split_passages(read_records(source, COLUMN_NAMES))


def _is_known_alone(records: Records) -> bool:
    return any(map(is_known_name, records.names.values()))


def _has_several_answers(headers: Sequence[str]) -> bool:
    return sum(read_head(header).role == "answer" for header in headers) > 1


def _representative_rows(records: Records) -> list[Record]:
    """The first rows, and each later one that shows a short cell which none before has."""
    chosen = list(records.rows[:_ROWS_SHOWN])
    seen: dict[str, set[str]] = {name: set() for name in records.names}
    for row in chosen:
        for name, values in seen.items():
            text = row.texts.get(name, "")
            if len(text) <= _MAX_SHORT:
                values.add(text)
    watched = {name: values for name, values in seen.items() if 0 < len(values) <= _MAX_VALUES}
    for row in records.rows[_ROWS_SHOWN:]:
        if len(chosen) >= _MAX_ROWS:
            break
        news = [
            (name, text)
            for name, values in watched.items()
            if len(text := row.texts.get(name, "")) <= _MAX_SHORT and text not in values
        ]
        for name, text in news:
            watched[name].add(text)
        if news:
            chosen.append(row)
        watched = {name: values for name, values in watched.items() if len(values) <= _MAX_VALUES}
    return chosen


def _peek(source: Source) -> Source:
    """The beginning of a file."""
    if source.table is not None:
        table = replace(source.table, rows=source.table.rows[:_PEEK_ROWS], faults=())
        return replace(source, table=table, text=source.text[:_PEEK_CHARS])
    if source.records is not None:
        return replace(source, records=source.records[:_PEEK_ROWS], faults=())
    if len(source.text) <= _PEEK_CHARS:
        return source
    return replace(source, text=source.text[: source.text.rindex("\n", 0, _PEEK_CHARS) + 1])


def _is_plain_ceval(source: Source) -> bool:
    """Whether a file has the columns of C-Eval, and no other that might be read with them."""
    header = [fold_name(name) for name in read_header(source, COLUMN_NAMES)]
    letters = [name for name in header if len(name) == 1 and name.upper() in LETTERS]
    if not {"question", "a", "b", "answer"} <= {*header}:
        return False
    run = list(LETTERS[: len(letters)].casefold())
    others = [name for name in header if name and name not in (*letters, "id", "question")]
    if sorted(letters) != run or not {*others} <= {"answer", "explanation", "subject"}:
        return False
    place = header.index("answer")
    rows = read_table(source, COLUMN_NAMES).rows
    answers = [row.cells[place] for row in rows if len(row.cells) > place]
    lettered = sum(by_letter(answer, LETTERS) is not None for answer in answers)
    return bool(answers) and lettered >= FITTING_SHARE * len(answers)


def _keeps_format(name: str, table: ColumnTable, guess: ColumnGuess, layout: Layout) -> bool:
    """Whether a file is read by the format that recognises its header: the cells do not veto it."""
    if columns_of(layout):
        return name in ("ceval", "choices") or "question" in columns_of(layout) or not guess.sure
    heads = {fold_name(header): at for at, header in enumerate(table.headers)}
    if name == "ceval":
        return _keeps_ceval(heads, table, guess)
    if name == "choices":
        return _keeps_choices(heads, table, guess)
    return _keeps_open(_OPEN_FORMATS[name], heads, guess)


def _keeps_ceval(heads: Mapping[str, int], table: ColumnTable, guess: ColumnGuess) -> bool:
    if not {"question", "a", "b", "answer"} <= heads.keys():
        return not guess.sure
    own = {"question": heads["question"], "answer": heads["answer"]}
    if not table.cells(own["answer"]) and guess.place("answer") not in (-1, own["answer"]):
        return False
    if guess.doubt in ("answer-key", "answer-base", "answers"):
        return False
    same = all(guess.place(role) in (-1, at) for role, at in own.items())
    return not guess.sure or (same and guess.place("passage") < 0)


def _keeps_choices(heads: Mapping[str, int], table: ColumnTable, guess: ColumnGuess) -> bool:
    present = [name for name in choices.ANSWER_COLUMNS if name in heads]
    filled = [name for name in present if table.cells(heads[name])]
    if (not filled and guess.place("answer") >= 0) or guess.doubt == "answers":
        return False
    if not guess.sure:
        return True
    answer = guess.place("answer")
    passage = guess.place("passage")
    return (
        guess.kind == "multiple_choice"
        and answer in (-1, heads[filled[0]] if filled else -1)
        and (passage < 0 or fold_name(table.headers[passage]) in choices.PASSAGE_COLUMNS)
    )


def _keeps_open(names: OpenColumnNames, heads: Mapping[str, int], guess: ColumnGuess) -> bool:
    if guess.kind == "multiple_choice":
        return False
    if guess.doubt in ("labels", "options", "answers", "outputs"):
        return False
    question = next((heads[name] for name in names.question if name in heads), -1)
    reference = next((heads[name] for name in names.reference if name in heads), -1)
    return (
        guess.place("passage") < 0
        and (question < 0 or guess.place("question") in (-1, question))
        and (reference >= 0 or guess.place("answer") < 0)
    )


def _by_guess(source: Source, layout: Layout, own: DatasetFormat | None) -> Recognition:
    """The file read as its columns are guessed from all its rows, if that is sure."""
    table, guess = _guess_from_all(source, replace(layout, kind=""))
    if table is None or guess is None:
        return Recognition(own, layout, guess)
    if guess.place("question") < 0 and guess.doubt != "outputs":
        return Recognition(own, layout, guess)
    return _read_so(source, table, guess, layout) if guess.sure else _wait(table, guess, layout)


def _guess_from_all(
    source: Source, layout: Layout
) -> tuple[ColumnTable | None, ColumnGuess | None]:
    """The columns of a file and the guess of them, in which ids are different in all its rows."""
    records = read_rows(source)
    table = _to_table(source, records)
    if table is None:
        return None, None
    guess = guess_columns(table, layout)
    place = guess.place("id")
    if place < 0 or layout.id or guess.place("row_option") >= 0:
        return table, guess
    name = list(records.names)[place]
    ids = [row.texts.get(name, "").strip() for row in records.rows]
    if len(set(ids)) == len(ids):
        return table, guess
    roles = tuple("" if role == "id" else role for role in guess.roles)
    return table, replace(guess, roles=roles)


def _wait(table: ColumnTable, guess: ColumnGuess, layout: Layout) -> Recognition:
    """The file left unread until a person has confirmed the guess."""
    read = partial(_read_unconfirmed, guess=guess, table=table)
    waiting = DatasetFormat(guess.kind or "multiple_choice", _never, read)
    return Recognition(waiting, layout, guess, table.headers, "unconfirmed")


def _read_so(source: Source, table: ColumnTable, guess: ColumnGuess, layout: Layout) -> Recognition:
    """The file read as its columns are guessed, by the format that has such columns.

    All rows together decide what the answers are written as where the layout does not.
    """
    columns = {role: name for name, role in zip(table.headers, guess.roles, strict=True) if role}
    key = "apart" if guess.answer_key == "apart" else layout.answer_key
    named = with_columns(replace(layout, answer_key=key, kind=guess.kind), columns)
    lists = "ceval" if guess.options else "choices"
    fitting = DATASET_FORMATS[lists if guess.kind == "multiple_choice" else guess.kind]
    values = {"file": source.name, "columns": describe_columns(table, guess)}
    notes = (UploadNote("columns-read", values),)
    return Recognition(fitting, named, guess, table.headers, "guess", notes)


def _never(_source: Source, _layout: Layout) -> bool:
    return False


def _read_unconfirmed(
    source: Source, _layout: Layout, *, guess: ColumnGuess, table: ColumnTable
) -> ParsedRows:
    """One fault that says what was made out, and what is to be confirmed."""
    line = read_records(source, COLUMN_NAMES).header_line
    made_out, expected = describe_columns(table, guess), _EXPECTED
    if guess.doubt == "outputs":
        expected = _ANSWERS_EXPECTED
        models = (
            f"{header} = “{', '.join(answer_values(table, at))}”"
            for at, header in enumerate(table.headers)
            if fold_head(header) in MODEL_NAMES
        )
        made_out = ", ".join(filter(None, (made_out, *models)))
    fault = Fault(source.name, line, "", f"confirm-{guess.doubt}", made_out, expected)
    return ParsedRows((), (fault,), table.n_rows)


def describe_columns(table: ColumnTable, guess: ColumnGuess) -> str:
    """Which column is what, in the words of `columns` of a specification."""
    options = guess.options
    run = f"A-{LETTERS[len(options) - 1]}" if options else ""
    named = [
        (role, guess.place(role))
        for role in ("passage", "question", "options", "row_option", "answer")
        if guess.place(role) >= 0
    ]
    parts = [f"{role} = “{shorten(table.headers[at])}”" for role, at in named]
    if options:
        heads = "”, “".join(shorten(table.headers[at]) for at in options[:_MAX_HEADS])
        more = ", …" if len(options) > _MAX_HEADS else ""
        place = len(parts) - (guess.place("answer") >= 0)
        parts.insert(place, f"{run} = “{heads}”{more}")
    if guess.answer_key != "letter":
        parts.append(f"answer_key = {guess.answer_key}")
    return ", ".join(parts)


def _cell_text(value: Any) -> str:
    """A value as a cell shows it; lists and objects as JSON."""
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False)
    return cell_text(value)
