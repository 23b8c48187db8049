"""Which cell of a row the csv module finds too long: it does not say which, nor how long it is."""

import re
from collections.abc import Sequence
from typing import NamedTuple

MAX_CELL_CHARS = 131_072  # characters; the csv module's own, which is one for all threads


class LongCell(NamedTuple):
    """A cell over the limit: its place in the row, counted from 0, and its text."""

    column_index: int
    text: str


def find_long_cell(lines: Sequence[str], delimiter: str) -> LongCell | None:
    """The first cell over the limit in the row that begins with the first of the lines.

    None if that cell is quoted and its quote is never closed.
    """
    text = "".join(lines)
    cell = re.compile(rf' *(?:"((?:[^"]+|"")*+)("?)|([^{re.escape(delimiter)}\n]*+)) *')
    place, at = 0, 0
    while found := cell.match(text, place):
        quoted, closing, bare = found.groups()
        if quoted is not None and not closing:
            return None
        content = bare if quoted is None else quoted.replace('""', '"')
        if len(content) > MAX_CELL_CHARS:
            return LongCell(at, content)
        if text[found.end() : found.end() + 1] != delimiter:
            return None
        place, at = found.end() + 1, at + 1
    return None
