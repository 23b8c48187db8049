"""Tables as CSV, which nothing in them makes a spreadsheet run.

Cells come from uploaded files and from models. A spreadsheet takes a text that begins with one of
a few signs for a formula, so such a text gets an apostrophe in front (OWASP, "CSV injection").
"""

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import inf
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from evalui.report.blocks import Block, Card, Table
from evalui.report.render.text import table_texts

if TYPE_CHECKING:  # an export of a page's tables needs no pandas
    import pandas as pd

    from evalui.report.frames.base import FrameParts

# The full-width signs count too: spreadsheets in Chinese and Japanese read them as the others.
_FORMULA = tuple("=+-@\t\r\n＝＋－＠")

_INFINITE = (inf, -inf)
T = TypeVar("T")


def escape_formula(text: str) -> str:
    """The text with an apostrophe in front if a spreadsheet might run it."""
    return "'" + text if text.startswith(_FORMULA) else text


def csv_parts(table: "FrameParts") -> Iterator[bytes]:
    """The table as UTF-8 CSV with a byte order mark, without which Excel garbles Chinese."""
    yield _lines([map(_csv_cell, table.columns)]).encode("utf-8-sig", errors="backslashreplace")
    for part in table.parts():
        rows = zip(*(cells(part[name], _csv_cell) for name in part), strict=True)
        yield _lines(rows).encode(errors="backslashreplace")


def shown_tables_csv(shown: Iterable[Block]) -> str:
    """The tables that blocks show, each under its title, with an empty line between them."""
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\r\n")
    for place, (name, table) in enumerate(_tables(shown)):
        if place:
            writer.writerow([])
        writer.writerow([escape_formula(name)])
        writer.writerows([*map(escape_formula, row)] for row in table_texts(table))
    return written.getvalue()


def _tables(shown: Iterable[Block], title: str = "") -> Iterator[tuple[str, Table]]:
    for block in shown:
        if isinstance(block, Card):
            yield from _tables(block.blocks, block.title)
        elif isinstance(block, Table):
            yield title, block


def cells(column: "pd.Series", write: Callable[[Any], T]) -> Sequence[T]:
    """Each cell as it is written, once for each category; what is missing as None is.

    A time is a text, in UTC.
    """
    if column.dtype == "category":
        written = [*map(write, column.cat.categories), write(None)]
        return [written[code] for code in column.cat.codes.tolist()]  # -1 is missing, and the last
    if column.dtype == np.float64:
        return [*map(write, column.tolist())]
    plain: Any = column.astype("object")
    plain = plain.where(column.notna(), None)
    values: list[Any] = plain.tolist()
    if column.dtype.kind == "M":
        values = [each and each.isoformat(timespec="milliseconds") for each in values]
    return [*map(write, values)]


def is_missing(value: Any) -> bool:
    """Whether a cell is empty: None, or a number that is not finite."""
    return value is None or value != value or value in _INFINITE  # NaN alone differs from itself


def _lines(rows: Iterable[Iterable[str]]) -> str:
    return "".join([f"{','.join(row)}\r\n" for row in rows])


_is_special = re.compile('[",\r\n]').search


def _csv_cell(value: Any) -> str:  # a cell of any type
    """The cell as the `csv` module writes it, which looks at each of its characters alone."""
    if isinstance(value, str):
        text = escape_formula(value)
    else:
        text = "" if is_missing(value) else str(value)
    return '"' + text.replace('"', '""') + '"' if _is_special(text) else text
