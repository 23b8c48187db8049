"""Files of published sets become rows, and rows become questions as the index declares them.

Nothing is guessed. What a row holds and what the index expects may differ: then the row is refused,
and the message says where. A row whose answer is not published (-1, or empty) has no answer.
"""

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as dataclass_field
from typing import Any, cast

from evalui.benchmarks.index import Benchmark
from evalui.benchmarks.picture_tables import (
    LETTER_COLUMNS,
    PICTURES,
    further_fields,
    option_letters,
    texts_of,
)
from evalui.benchmarks.places import DataFile
from evalui.datasets.containers.parquet import read_parquet
from evalui.datasets.encoding import decode
from evalui.datasets.model import Limits
from evalui.errors import DataError
from evalui.types import LETTERS

Row = Mapping[str, Any]
# A published set may be larger than what people may upload.
_LIMITS = Limits(bytes=2 * 2**30, unpacked=4 * 2**30, lines=2_000_000, cells=100_000_000)
_FIELD = re.compile(r"\{(?P<path>[\w@.]+)(?P<optional>\?)?(?:\|(?P<joint>[^}]*))?\}")
_BOXED = re.compile(r"\\(?:boxed|fbox)\s*(?=[{ ])")
_NOT_PUBLISHED = ("", "-1")


class UnreadableRow(ValueError):
    """A row that is not as the index expects it; the message says what it has."""


@dataclass(frozen=True, slots=True)
class ReadQuestion:
    """One question: `right` is the place of its right option, None where it is not published.

    `references` are the texts that answer an open question. `tests` run after a program that is
    written, of which `starter` is the beginning. `pictures` are numbers of a `PictureTables`,
    `metadata` the further fields that the set declares.
    """

    question: str
    subject: str = ""
    options: tuple[str, ...] = ()
    right: int | None = None
    references: tuple[str, ...] = ()
    tests: str = ""
    starter: str = ""
    pictures: tuple[int, ...] = ()
    metadata: Mapping[str, str] = dataclass_field(default_factory=dict[str, str])


def read_rows(file: DataFile, columns: Sequence[str] = ()) -> Iterator[Row]:
    """The rows of a file; `columns` name those of a table that has no head.

    Raises:
        DataError: it cannot be read, or is no table of rows.
    """
    data, suffix = file.read(), file.path.rpartition(".")[2].lower()
    if suffix == "parquet":
        table = read_parquet(io.BytesIO(data), file.path, _LIMITS)
        yield from (dict(zip(table.heads, row.cells, strict=True)) for row in table.rows)
        return
    text = decode(data, file.path).text
    if suffix in ("csv", "tsv"):
        yield from _read_table(text, file.path, "\t" if suffix == "tsv" else ",", columns)
    else:
        yield from _read_json(text, file.path)


def read_question(row: Row, benchmark: Benchmark, part: str = "") -> ReadQuestion:
    """The question of a row; `part` is the part ("config") of the set that it is in.

    Raises:
        UnreadableRow: a field is missing, or its value is none of those that it may have.
    """
    read = _read_texts(row, benchmark, part)
    if not benchmark.pictures:
        return read
    if not row[PICTURES]:
        raise UnreadableRow(f"no picture {row.get('image_path', '')}".rstrip())
    return replace(read, pictures=row[PICTURES], metadata=further_fields(row, benchmark))


def _read_texts(row: Row, benchmark: Benchmark, part: str) -> ReadQuestion:
    values = {**row, "@config": part}
    question = fill(benchmark.question, values)
    subject = _subject(values, benchmark.subject, part)
    if benchmark.kind == "text":
        return ReadQuestion(question, subject, references=_references(values, benchmark))
    if benchmark.kind == "code":
        answer, tests, starter = (
            fill(each, values) for each in (benchmark.answer, benchmark.tests, benchmark.starter)
        )
        return ReadQuestion(question, subject, references=(answer,), tests=tests, starter=starter)
    options = _options(values, benchmark)
    return ReadQuestion(question, subject, options, _right(values, benchmark, options))


def fill(template: str, values: Row) -> str:
    """The template with the fields of a row in it; a list is joined, by line unless it says how."""

    def value(match: re.Match[str]) -> str:
        if match["optional"] and not _present(values, match["path"]):
            return ""
        given = field(values, match["path"])
        if isinstance(given, list):
            joint = "\n" if match["joint"] is None else match["joint"]
            return joint.join(map(str, cast("list[Any]", given)))
        text = _text(given)
        return f"{text}\n\n" if match["optional"] and text else text

    return _FIELD.sub(value, template)


def field(values: Row, path: str) -> Any:
    """The value of a field, of which a.b is b of a; raises `UnreadableRow` if there is none."""
    value: Any = values
    for name in path.split("."):
        if not isinstance(value, Mapping) or name not in value:
            known = ", ".join(sorted(set(values) - {"@config"}))
            raise UnreadableRow(f"no {path} among {known}")
        value = cast("Mapping[str, Any]", value)[name]
    return value


def _read_table(text: str, path: str, delimiter: str, columns: Sequence[str]) -> Iterator[Row]:
    rows = csv.reader(io.StringIO(text), delimiter=delimiter)
    heads: list[str] = []
    try:
        for row in rows:
            if not heads:
                # A set that has no heads here has them on the hub, where its files are others.
                heads = list(columns) if len(row) == len(columns) else row
                if row == heads:
                    continue
            if not row:
                continue
            if len(row) != len(heads):
                raise _broken(path, rows.line_num, f"{len(row)} cells", f"{len(heads)}")
            yield dict(zip(heads, row, strict=True))
    except csv.Error as error:  # a cell of more than 128 KiB
        raise DataError("benchmark-unreadable", file=path, reason=str(error)) from error


def _read_json(text: str, path: str) -> Iterator[Row]:
    if text.lstrip().startswith("["):
        try:
            rows: Any = json.loads(text)
        except ValueError as error:
            raise DataError("benchmark-unreadable", file=path, reason=str(error)) from error
        numbered = enumerate(cast("list[Any]", rows), start=1)
    else:
        numbered = _json_lines(text, path)
    for number, row in numbered:
        if not isinstance(row, dict):
            raise _broken(path, number, type(row).__name__, "an object")
        yield cast("dict[str, Any]", row)


def _json_lines(text: str, path: str) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            try:
                yield number, json.loads(line)
            except ValueError as error:
                raise _broken(path, number, str(error), "an object on a line") from error


def _broken(path: str, line: int, actual: str, expected: str) -> DataError:
    return DataError("benchmark-row", file=path, line=line, actual=actual, expected=expected)


def _present(values: Row, path: str) -> bool:
    return values.get(path) not in (None, "")


def _text(value: Any) -> str:
    """A value as a text; what JSON calls true, tables call so, too."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Mapping | list):
        raise UnreadableRow(f"a list or object where a text belongs: {value!r:.60}")
    return "" if value is None else str(value)


def _subject(values: Row, path: str, part: str) -> str:
    if not path:
        return ""
    # Sets that are laid out by part do not name it in their rows.
    return _text(values[path]) if path in values else part


def _options(values: Row, benchmark: Benchmark) -> tuple[str, ...]:
    declared = benchmark.options
    if isinstance(declared, tuple):
        return tuple(fill(each, values) for each in declared)
    if declared == LETTER_COLUMNS:
        return tuple(str(values[letter]) for letter in option_letters(values))
    if benchmark.option_columns and declared not in values:
        return tuple(_text(field(values, name)) for name in benchmark.option_columns)
    listed = field(values, declared)
    if not isinstance(listed, list):
        raise UnreadableRow(f"{declared} is no list")
    return tuple(map(_text, cast("list[Any]", listed)))


def _right(values: Row, benchmark: Benchmark, options: Sequence[str]) -> int | None:
    """The place of the right option."""
    value, form = field(values, benchmark.answer), benchmark.answer_as
    if form == "marks":
        marks = [_text(each) for each in cast("list[Any]", value)]
        if marks.count("1") != 1 or len(marks) != len(options):
            raise UnreadableRow(f"{marks} marks no single option")
        return marks.index("1")
    text = _text(value).strip()
    if text in _NOT_PUBLISHED:
        return None
    known: Sequence[str]
    match form:
        case "letter" if benchmark.options == LETTER_COLUMNS:
            known = option_letters(values)
        case "letter":
            known = LETTERS[: len(options)]
        case "index1":
            known = [str(place + 1) for place in range(len(options))]
        case "label":
            known = [_text(each) for each in cast("list[Any]", field(values, benchmark.labels))]
        case "text":
            known = [each.strip() for each in options]
        case _:
            known = [str(place) for place in range(len(options))]
            if text not in known:
                folded = [each.lower() for each in benchmark.answer_names]
                # Headerless tables and the hub have letters and places for the same answers.
                known, text = (folded, text.lower()) if folded else (LETTERS[: len(options)], text)
    places = [place for place, each in enumerate(known) if each == text]
    if len(places) != 1:
        raise UnreadableRow(f"the answer {text!r} is none of {list(known)}")
    return places[0]


def _references(values: Row, benchmark: Benchmark) -> tuple[str, ...]:
    value = field(values, benchmark.answer)
    if benchmark.pictures:  # whose people may have answered the same
        return tuple(text.strip() for text in texts_of(str(value)) if text.strip())
    texts = [
        _text(each) for each in cast("list[Any]", value if isinstance(value, list) else [value])
    ]
    if benchmark.answer_as == "boxed":
        texts = [last_boxed(each) for each in texts]
    elif pattern := benchmark.answer_pattern:
        texts = [_first_group(pattern, each) for each in texts]
    return tuple(dict.fromkeys(text.strip() for text in texts if text.strip()))


def _first_group(pattern: str, text: str) -> str:
    match = re.search(pattern, text)
    if not match:
        raise UnreadableRow(f"no {pattern} in the answer")
    return match[1]


def last_boxed(text: str) -> str:
    """What stands in the last \\boxed{} of a solution; raises `UnreadableRow` without one."""
    marks = list(_BOXED.finditer(text))
    if not marks:
        raise UnreadableRow("no \\boxed in the solution")
    rest = text[marks[-1].end() :]
    if rest.startswith(" "):
        return rest.strip().split("$")[0].strip()
    depth = 0
    for place, char in enumerate(rest):
        depth += (char == "{") - (char == "}")
        if not depth:
            return rest[1:place]
    raise UnreadableRow("\\boxed is not closed")
