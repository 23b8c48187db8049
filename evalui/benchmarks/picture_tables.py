"""The tables of VLMEvalKit, whose cells have pictures as base64, in files beside, or shared.

A cell of `image` has a picture, a list of them as Python writes it, or the `index` of the row that
has it; without one, `image_path` names files below the folder of the table. A set may have hundreds
of megabytes of pictures: they are read row by row, and wait on the disk until rows are written.
"""

import ast
import base64
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import IO, Any, cast

from evalui.benchmarks.index import Benchmark
from evalui.benchmarks.places import DataFile
from evalui.errors import DataError
from evalui.types import LETTERS

PICTURES = "@pictures"  # the field of a row that has the numbers of its pictures
LETTER_COLUMNS = "A-Z"  # the options of a set that has a column for each
_FIRST_COPY = 10**6  # the copies of a question in other orders have its index plus a multiple
_MIN_BASE64 = 65  # characters; what is shorter is an index
_ROWS_AT_ONCE = 20


class PictureTables:
    """Reads tables; their pictures wait in a `file`, by the numbers that rows have.

    `left_out` counts the rows that have no picture, or no options to choose from.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._places: list[tuple[int, int]] = []
        self.left_out = 0

    def picture(self, number: int) -> str:
        """A picture as base64."""
        begin, size = self._places[number]
        self._file.seek(begin)
        return self._file.read(size).decode()

    def read_rows(self, table: DataFile, benchmark: Benchmark) -> list[dict[str, Any]]:
        """The questions of a table, the numbers of their pictures under `PICTURES`.

        Copies of questions in other orders and rows of another `split` are passed over.

        Raises:
            DataError: it cannot be read, or is no table with an `index`.
        """
        own: dict[str, tuple[int, ...]] = {}
        rows: list[dict[str, Any]] = []
        has_letters = benchmark.kind == "choice" and benchmark.options == LETTER_COLUMNS
        for row in _read_table(table):
            index, cell = row["index"], cast("str | None", row.pop("image", None))
            if cell and len(cell) >= _MIN_BASE64:
                own[index] = tuple(map(self._keep, texts_of(cell)))
                cell = index
            if _is_passed_over(row, benchmark):
                continue
            if cell == "" or (has_letters and len(option_letters(row)) < 2):
                self.left_out += 1
            else:
                rows.append(row | {PICTURES: cell})
        for row in rows:
            shared = own.get(row[PICTURES], ())
            beside = () if shared else map(self._keep, _files_beside(table, row))
            row[PICTURES] = shared or tuple(beside)
        return _by_subject(rows, benchmark) if benchmark.subjects_by else rows

    def _keep(self, base64_text: str) -> int:
        begin = self._file.seek(0, 2)
        self._places.append((begin, self._file.write(base64_text.encode())))
        return len(self._places) - 1


def texts_of(cell: str) -> list[str]:
    """The texts of a list that Python has written, or the text of the cell."""
    if cell.startswith("[") and cell.endswith("]"):
        with suppress(ValueError, SyntaxError, MemoryError, RecursionError):  # a text in brackets
            return [str(each) for each in cast("list[Any]", ast.literal_eval(cell))]
    return [cell]


def option_letters(values: Mapping[str, Any]) -> list[str]:
    """The letters whose columns have an option."""
    return [letter for letter in LETTERS if values.get(letter) not in (None, "")]


def further_fields(values: Mapping[str, Any], benchmark: Benchmark) -> dict[str, str]:
    """The metadata that the set declares, but for what a row lacks."""
    found: dict[str, str] = {}
    for declared in benchmark.metadata:
        name, _, source = declared.partition("=")
        column, _, place = source.partition("/")
        value = str(values.get(column, ""))
        parts = value.split("_")
        if place:
            value = parts[int(place)] if int(place) < len(parts) else ""
        if value:
            found[name] = value
    return found


def _read_table(file: DataFile) -> Iterator[dict[str, Any]]:
    import pandas as pd

    with file.open() as opened:
        try:
            chunks = pd.read_csv(
                opened,
                sep="\t",
                dtype=str,
                keep_default_na=False,
                encoding="utf-8-sig",
                chunksize=_ROWS_AT_ONCE,
            )
            for chunk in chunks:
                for row in cast("list[dict[str, Any]]", chunk.to_dict("records")):
                    if "index" not in row:
                        raise DataError(
                            "benchmark-unreadable", file=file.path, reason="no column “index”"
                        )
                    yield row
        except ValueError as error:  # all of pandas' own, and text that is not UTF-8
            raise DataError("benchmark-unreadable", file=file.path, reason=str(error)) from error


def _by_subject(rows: list[dict[str, Any]], benchmark: Benchmark) -> list[dict[str, Any]]:
    """Each question of several subjects as one of each."""
    name = benchmark.subject
    return [
        row | {name: subject, "index": f"{row['index']}-{subject}"}
        for row in rows
        for subject in str(row[name]).split(benchmark.subjects_by)
    ]


def _is_passed_over(row: Mapping[str, Any], benchmark: Benchmark) -> bool:
    index = str(row["index"])
    is_copy = benchmark.circular and index.isdecimal() and int(index) >= _FIRST_COPY
    return is_copy or bool(benchmark.rows and row.get("split") != benchmark.rows)


def _files_beside(file: DataFile, row: Mapping[str, Any]) -> Iterable[str]:
    """The picture files that a row names, if they lie below the folder of its table."""
    root = file.file.parent.resolve()
    for name in texts_of(str(row.get("image_path", ""))):
        places = (root / name, *(folder / name for folder in (root / "images").glob("*/")))
        for place in places if name else ():
            try:
                path = place.resolve()
                is_there = path.is_relative_to(root) and path.is_file()
            except (OSError, ValueError):  # no name of a file
                break
            if is_there:
                yield base64.b64encode(path.read_bytes()).decode("ascii")
                break
