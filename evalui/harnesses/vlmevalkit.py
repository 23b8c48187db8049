"""VLMEvalKit: `MODEL_DATASET.xlsx`, or .tsv or .json, questions with a column of replies.

A circular set has each question in several rotations, the k-th under its index + 1,000,000 k.
`MODEL_DATASET_JUDGE_result.xlsx` beside has the mark of each question, of all its rotations
together, and `MODEL_DATASET_acc.csv` the printed figures. Pictures are in none of them, but in
the file of the questions, `DATASET.tsv`.
"""

import csv
import io
import math
import re
import zipfile
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

from evalui.benchmarks.index import is_name
from evalui.datasets.containers.pictures import is_picture_column
from evalui.datasets.containers.sheets import as_damage
from evalui.datasets.files import ARCHIVE_ERRORS
from evalui.datasets.model import as_list, as_object, cell_text
from evalui.datasets.open_samples import with_passage
from evalui.datasets.sandbox import confined, load
from evalui.errors import DataError
from evalui.harnesses.base import HARNESSES, FlawedAnswer, LoggedAnswer, LogPart
from evalui.harnesses.files import head_of, json_file
from evalui.harnesses.options import references_of, slot_of
from evalui.pictures import without
from evalui.types import LETTERS, Dataset, PrintedFigure, Sample

NAME = "vlmevalkit"
_KEYS = {"index", "question", "prediction"}
_SUFFIXES = (".xlsx", ".tsv", ".json")
_HEAD_BYTES = 2**14
_SHARED_TEXT = re.compile(rb"<t[^>]*>([^<]*)</t>")
_JSON_NAME = re.compile(rb'"(\w+)":')
_PLACEHOLDER = re.compile(r"[<{\[]image[ _-]?\d*[>}\]]", re.IGNORECASE)
_ROTATION = 1_000_000  # which the index of each further rotation is greater by
_MAX_DIGITS = 18  # of an index; a longer one is a name
_HIT = "hit"
_FAILED = "Failed to obtain answer via API"  # stands where there is no reply


def read_vlmevalkit(files: Sequence[Path]) -> tuple[LogPart, ...]:
    """A part for each file of replies; a link to another of the files is that file.

    Raises:
        DataError: there are marks and no replies beside them, or a file cannot be read.
    """
    known = {path.resolve(): path for path in files if _has_replies(path)}
    tables = {path: read_result(path) for path in known.values()}
    owners = {path: _owner(path, tables) for path in tables}
    marked = {owner: path for path, owner in owners.items() if _HIT in tables[path].heads}
    if None in marked:
        raise DataError("log-vlmevalkit-result", file=marked[None].name)
    asked = {path.stem: path for path in files if path.suffix == ".tsv" and path not in tables}
    return tuple(
        _part(path, marked.get(path), tables, files, asked)
        for path, owner in owners.items()
        if owner is None
    )


@dataclass(frozen=True, slots=True)
class ResultTable:
    """A file of replies or marks as texts; names of columns in small letters, but for options."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @property
    def records(self) -> Iterator[Mapping[str, str]]:
        """Each row by the names of its columns."""
        return (dict(zip(self.heads, row, strict=True)) for row in self.rows)


def _read_result(path: Path) -> ResultTable:
    if path.suffix == ".json":
        objects = [as_object(each) for each in as_list(json_file(path))]
        names = list(dict.fromkeys(name for each in objects for name in each))
        rows = [tuple(_json_text(each.get(name)) for name in names) for each in objects]
    else:
        pandas: Any = import_module("pandas")
        # The containers of questions would look for pictures, of which only the names are here.
        with as_damage(path.name):
            table = (
                pandas.read_excel(path, dtype=str, na_filter=False, engine="openpyxl")
                if path.suffix == ".xlsx"
                else pandas.read_csv(path, sep="\t", dtype=str, na_filter=False)
            )
        names = [str(name) for name in table.columns]
        rows = list(table.itertuples(index=False, name=None))
    heads = tuple(name if name in LETTERS else name.lower() for name in names)
    return ResultTable(heads, tuple(rows))


read_result = confined(_read_result)


def _json_text(value: Any) -> str:
    """As the other formats have it: what is not there is no number, a list is Python's."""
    if value != value:
        return ""
    return str(as_list(value)) if isinstance(value, list) else cell_text(value)


def _has_replies(path: Path) -> bool:
    return path.suffix in _SUFFIXES and "_" in path.stem and _first_names(path) >= _KEYS


def _first_names(path: Path) -> set[str]:
    """The names of columns, and what else stands in the first bytes of a file."""
    if path.suffix == ".xlsx":
        with suppress(*ARCHIVE_ERRORS), zipfile.ZipFile(path) as book:
            with book.open("xl/sharedStrings.xml") as texts:
                names = _SHARED_TEXT.findall(texts.read(_HEAD_BYTES))
            return {name.decode("utf-8", "replace") for name in names}
        return set()
    head = head_of(path, _HEAD_BYTES)
    if path.suffix == ".json":
        begins = head.lstrip()[:1] == b"["
        return {name.decode() for name in _JSON_NAME.findall(head)} if begins else set()
    line = head.partition(b"\n")[0].decode("utf-8", "replace")
    return set(next(csv.reader(io.StringIO(line), delimiter="\t"), ()))


def _owner(path: Path, tables: Mapping[Path, ResultTable]) -> Path | None:
    """The file of replies whose name and columns a file continues; None for one of its own."""
    continued = (
        other
        for other, table in tables.items()
        if path.parent == other.parent
        and path.stem.startswith(f"{other.stem}_")
        and set(tables[path].heads) > set(table.heads)
    )
    return max(continued, key=lambda other: len(other.stem), default=None)


def _part(
    path: Path,
    marked: Path | None,
    tables: Mapping[Path, ResultTable],
    files: Sequence[Path],
    asked: Mapping[str, Path],
) -> LogPart:
    """The replies of a file; `asked` are the files of questions by the names of their sets."""
    model, dataset, stated = _names(path, asked)
    questions = asked.get(dataset)
    rows = list(tables[path].records)
    circular = _is_circular(rows)
    own = [row for row in rows if not circular or row["index"] == _question_index(row)]
    has_options = any(_gold(row) is not None for row in own)
    several = len({row.get("split", "") for row in own}) > 1
    marks = _marks(tables[marked], several=several) if marked else {}
    printed = next((each for each in files if each == path.with_name(f"{path.stem}_acc.csv")), None)
    names = {name for each in marks.values() for name in each}
    whole = "" if several else "perf_circular"  # evalui has it of all questions together
    reading = whole if circular else "tolerant"
    return LogPart(
        harness=NAME,
        dataset=dataset,
        model=model,
        evidence="reply" if has_options else "written",
        files=tuple(each.name for each in (path, marked, printed, questions) if each),
        read=lambda: _answers(
            path.name,
            rows,
            marks,
            _samples(questions) if questions else {},
            circular=circular,
            has_options=has_options,
        ),
        figures=tuple(_figures(printed, own, several=several)) if printed else (),
        readings=dict.fromkeys(names, reading) if has_options else {},
        main_mark=_HIT if has_options and not circular and _HIT in names else "",
        repeats=True,
        missing=(
            *(() if questions and _has_pictures(questions) else ("pictures",)),
            *(("probabilities",) if has_options else ()),
            *(("one-order",) if has_options and not circular else ()),
            *(() if marks else ("marks",)),
            *(() if printed else ("results",)),
        ),
        named_after=None if stated else path.parent,
        pictures=(lambda: _dataset(questions).pictures) if questions else None,
    )


@lru_cache(maxsize=1)  # several models may have answered it
def _dataset(questions: Path) -> Dataset:
    """The questions in their own file; raises `DataError` if it cannot be read."""
    return load([questions]).dataset


def _samples(questions: Path) -> dict[str, Sample]:
    """The questions by their index, with the marks of their pictures."""
    return {
        sample.metadata.get("index") or sample.id.rpartition("/")[2]: sample
        for sample in _dataset(questions).samples
    }


def _has_pictures(questions: Path) -> bool:
    return any(map(is_picture_column, _first_names(questions)))


def _names(path: Path, asked: Collection[str]) -> tuple[str, str, bool]:
    """The model, the dataset, and whether that is certain: both may have "_" in their names."""
    for folder in path.absolute().parents[:2]:  # outputs/MODEL/T20261129_Gabc/MODEL_DATASET.xlsx
        if dataset := path.stem.removeprefix(f"{folder.name}_").removeprefix(path.stem):
            return folder.name, dataset, True
    cuts = [at for at, letter in enumerate(path.stem) if letter == "_"]
    known = [at for at in cuts if (name := path.stem[at + 1 :]) in asked or is_name(name)]
    at = (known or cuts)[0]
    return path.stem[:at], path.stem[at + 1 :], bool(known) or len(cuts) == 1


def _is_circular(rows: Sequence[Mapping[str, str]]) -> bool:
    """Whether an index is a rotation's of the question of another index."""
    questions = {row["index"]: row["question"] for row in rows}
    return any(
        row["index"] != (own := _question_index(row)) and questions.get(own) == row["question"]
        for row in rows
    )


def _question_index(row: Mapping[str, str]) -> str:
    index = row["index"]
    is_number = index.isdecimal() and len(index) <= _MAX_DIGITS
    return str(int(index) % _ROTATION) if is_number else index


def _options(row: Mapping[str, str]) -> tuple[str, ...]:
    """The texts under A, B, C, ... up to the last that there is."""
    texts = [row.get(letter, "").strip() for letter in LETTERS]
    while texts and not texts[-1]:
        texts.pop()
    return tuple(texts)


def _gold(row: Mapping[str, str]) -> int | None:
    options = _options(row)
    return slot_of(row.get("answer"), len(options)) if len(options) > 1 else None


def _marks(table: ResultTable, *, several: bool) -> dict[str, dict[str, float]]:
    """By index the mark of a question, under its split where there are several."""
    marks: dict[str, dict[str, float]] = {}
    for row in table.records:
        with suppress(ValueError):
            name = f"{_HIT},{row['split']}" if several else _HIT
            marks[row["index"]] = {name: float(row[_HIT])}
    return marks


def _figures(
    path: Path, own: Sequence[Mapping[str, str]], *, several: bool
) -> Iterator[PrintedFigure]:
    """What is printed of all questions, of each category, and of groups of categories."""
    subjects = {_subject(row) for row in own}
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as lines:
        for row in csv.DictReader(lines):
            split = row.pop("split", "")
            for column, value in row.items():
                subject = column if column in subjects else ""
                name = _HIT if subject or column == "Overall" else column
                # A damaged row has more or fewer cells than the header.
                share = _number(value)
                if share is not None:
                    yield PrintedFigure(
                        f"{name},{split}" if several else name, share, subject=subject
                    )


def _number(value: object) -> float | None:
    """A share as a cell of a table has it, None for anything else."""
    try:
        share = float(str(value))
    except ValueError:
        return None
    return share if math.isfinite(share) else None


def _subject(row: Mapping[str, str]) -> str:
    return row.get("category") or row.get("l2-category", "")


def _answers(
    file: str,
    rows: Sequence[Mapping[str, str]],
    marks: Mapping[str, Mapping[str, float]],
    samples: Mapping[str, Sample],
    *,
    circular: bool,
    has_options: bool,
) -> Iterator[LoggedAnswer | FlawedAnswer]:
    """The questions as written, then their rotations."""
    placed = [(row, _question_index(row) if circular else row["index"]) for row in rows]
    for row, id_ in sorted(placed, key=lambda each: each[0]["index"] != each[1]):
        read = _answer(row, id_, marks.get(row["index"], {}), has_options=has_options)
        if isinstance(read, FlawedAnswer):
            yield replace(read, place=f"{file}, {row['index']}")
        else:
            known = samples.get(id_)
            yield _with_pictures(read, known, circular=circular) if known else read


def _answer(
    row: Mapping[str, str], id_: str, marks: Mapping[str, float], *, has_options: bool
) -> LoggedAnswer | FlawedAnswer:
    reply, subject = row["prediction"], _subject(row)
    if _FAILED in reply:
        return FlawedAnswer(id_, "no-answer")
    question = with_passage(row.get("hint", ""), row["question"])
    if not has_options:
        references = references_of(row.get("answer", ""))
        return LoggedAnswer(
            id_, question, references=references, subject=subject, reply=reply, marks=marks
        )
    options = _options(row)
    if len(options) < 2 or not all(options):
        return FlawedAnswer(id_, "options")
    gold = _gold(row)
    if gold is None:
        return FlawedAnswer(id_, "gold")
    return LoggedAnswer(id_, question, options, gold, subject=subject, reply=reply, marks=marks)


def _with_pictures(answer: LoggedAnswer, sample: Sample, *, circular: bool) -> LoggedAnswer:
    """The answer with the texts of its question in another file, where they are the same.

    The options of a circular set stay: rotations are known by their texts.
    """
    question = sample.question if _same([sample.question], [answer.question]) else answer.question
    shows = not circular and _same(sample.choices, answer.options)
    return replace(answer, question=question, options=sample.choices if shows else answer.options)


def _same(texts: Sequence[str], others: Sequence[str]) -> bool:
    return [*map(_letters, texts)] == [*map(_letters, others)]


def _letters(text: str) -> str:
    """A text without its pictures, nor their numbers and the blanks around them."""
    return "".join(_PLACEHOLDER.sub("", without(text)).split())


HARNESSES.register(NAME)(read_vlmevalkit)
