"""Tables in Markdown, as GitHub has them: a line of names, one of dashes, one for each row."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from evalui.datasets.containers.heads import cut_table
from evalui.datasets.containers.pictures import picture_fault
from evalui.datasets.encoding import decode
from evalui.datasets.model import DatasetFormat, FaultList, FileTable, Row, Tables
from evalui_quizzes.quiz import recognised

_DASHES = re.compile(r" {0,3}\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*")
_MAX_DASHES = 20_000  # characters of the line below the names
_HEADING = re.compile(r" {0,3}#{1,6}\s+(.*?)\s*#*\s*")
_FENCE = re.compile(r" {0,3}(?:```|~~~)")
_CELL = re.compile(r"((?:\\.|[^|\\])*)(?:\||$)", re.DOTALL)
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_PICTURE = re.compile(r"!\[[^\]]*\]\([^)]*\)|<img\s", re.IGNORECASE)


def is_markdown_table(text: str) -> bool:
    """Whether there is a line of dashes under a line with as many cells."""
    return next(_tables(text), None) is not None


def read(data: bytes, name: str) -> Tables:
    """Every table of a text; those without a heading of their own are numbered."""
    located = list(_tables(decode(data, name).text))
    tables: list[FileTable] = []
    for number, (heading, rows) in enumerate(located, start=1):
        title = heading or f"table {number}"
        if title in (table.title for table in tables):
            title = f"{title} {number}"
        tables.append(_to_table(rows, name, title if len(located) > 1 else ""))
    titles = tuple(table.title for table in tables) if len(tables) > 1 else ()
    return Tables(tuple(tables), (), titles)


def _to_table(rows: Sequence[Row], file: str, title: str) -> FileTable:
    # The names are above the dashes, whatever they are.
    table = cut_table(rows, file, rows[0].line, title)
    padding = ("",) * len(table.heads)
    kept: list[Row] = []
    faults = FaultList()
    for row in table.rows:
        if any(map(_PICTURE.search, row.cells)):
            faults.add(picture_fault(file, row.line, ""))
        else:
            # Cells are added and left out as a page shows them.
            kept.append(Row(row.line, (*row.cells, *padding)[: len(padding)]))
    return replace(table, rows=kept, faults=faults.kept, unlisted=faults.unlisted)


def _tables(text: str) -> Iterator[tuple[str, list[Row]]]:
    """The rows of each table, and the last heading above it."""
    lines = text.removeprefix("\ufeff").split("\n")
    heading, fenced, at = "", False, 0
    while at + 1 < len(lines):
        line = lines[at]
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and (named := _HEADING.fullmatch(line)):
            heading = named[1]
        elif not fenced and 0 < line.count("|") < _MAX_DASHES and _is_dashes(lines[at + 1]):
            names = _cells(line)
            if len(names) == len(_cells(lines[at + 1])):
                end = at + 2
                while end < len(lines) and lines[end].strip() and "|" in lines[end]:
                    end += 1
                places = (at, *range(at + 2, end))
                yield heading, [Row(place + 1, _cells(lines[place])) for place in places]
                heading, at = "", end
                continue
        at += 1


def _is_dashes(line: str) -> bool:
    return len(line) <= _MAX_DASHES and bool(_DASHES.fullmatch(line))


def _cells(line: str) -> tuple[str, ...]:
    inside = line.strip().removeprefix("|")
    if inside.endswith("|") and not inside.endswith("\\|"):
        inside = inside[:-1]
    cells = [match[1] for match in _CELL.finditer(inside)]
    if inside and cells and len(cells) > 1 and not cells[-1] and not inside.endswith("|"):
        cells.pop()  # the empty match at the end
    return tuple(_BREAK.sub("\n", cell.strip().replace("\\|", "|")) for cell in cells)


FORMAT = DatasetFormat((".md", ".markdown"), recognised(is_markdown_table), read)
