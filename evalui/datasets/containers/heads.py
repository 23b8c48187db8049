"""Where a table begins and ends: the row of its column names, and what stands above and below it.

People write a title and instructions above the names, put a name over a group of columns, and end
with a total, a signature or a note. None of that is a question, and all of it is reported.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from evalui.datasets.model import (
    FileTable,
    Row,
    UploadNote,
    first_few,
    quoted,
)
from evalui.datasets.names import is_known_name
from evalui.errors import DataError
from evalui.types import LETTERS

MAX_COLUMNS = 1000  # JSON Lines with keys of their own would fill the memory with empty cells
_MAX_ROWS_SHOWN = 5  # rows in a note
_SEARCHED_ROWS = 50  # in which the names of the columns are looked for
_MAX_NAME_CHARS = 60  # characters; what is longer is a text
_MIN_KNOWN_NAMES = 2  # in a row, for it to be that of the names
_MIN_QUESTION_CELLS = 4  # a question, two options and the text of the right one
_MIN_DATA_ROWS = 2  # rows below a head that show whether it is a row like them
_MAX_TAIL_ROWS = 20  # rows that may stand below a table
_LABEL = re.compile(r"[A-Za-zＡ-Ｚａ-ｚ]|[0-9]{1,2}|[①-⑩甲乙丙丁戊]")
_LETTER = re.compile(r"[A-Za-zＡ-Ｚ]")
_TAIL = re.compile(
    r"(?:合\s*计|总\s*计|小\s*计|总\s*分|总题[数量]|题目总数|平均分?)(?:[:：].*|\s*)"
    r"|(?:共计?|总共|以上共?)\s*[0-9一二三四五六七八九十百千]+\s*[道个条行]?\s*(?:小?题|题目|行|条|分).*"
    r"|(?:(?:出|命|审|校)题人?|制表人?|审核人?|填表人?|编制人?|负责人|编写人?|签名|签字|盖章|日期"
    r"|填表日期|制表日期|备注|注|注意|说明|来源|数据来源|资料来源)\s*[:：].*"
    r"|(?:grand\s+)?(?:total|sum|count|average|subtotal)s?(?:\s*[:=].*|\s*)"
    r"|total\s+(?:of\s+)?\d+\s+\w+.*|\d+\s+(?:questions|rows)(?:\s+in total)?"
    r"|(?:notes?|remarks?|sources?|prepared by|created by|author|signature|signed|date|checked by"
    r"|copyright|©)\s*(?:[:：]|\(c\)).*",
    re.IGNORECASE | re.DOTALL,
)


_COUNT = re.compile(r"\d+(?:\.\d+)?\s*(?:小?题|道题?|条|行|分|questions?|rows?|points?)?")
_MIN_FOR_SINGLES = 3  # cells of a usual row, for a row of one cell to be no question


class HeadRows(NamedTuple):
    """The `names` of the columns and where they stand among the rows.

    They are in the rows from `start` to the one before `end`, at which the data begin. Without
    names `start` is -1 and the names are "#1", "#2" and so on.
    """

    names: tuple[str, ...]
    start: int
    end: int


def cut_table(rows: Sequence[Row], file: str, head_row: int, title: str = "") -> FileTable:
    """The table in rows of texts of which none is blank, with notes on what is no part of it.

    `head_row` is the line of the names, 0 to look for it, -1 for none. Raises `DataError` if that
    line has no row, and for more columns than any table of questions has.
    """
    # Names of more columns than are read need not be known to be refused.
    first = [row.cells[: MAX_COLUMNS + 1] for row in rows[: max(_SEARCHED_ROWS, head_row) + 1]]
    if head_row > 0:
        at = next((at for at, row in enumerate(rows) if row.line == head_row), -1)
        if at < 0:
            raise DataError("no-head-row", file=file, row=head_row)
        head = _head_at(first, at)
    else:
        head = _without_head(first) if head_row else find_head(first)
    if len(head.names) > MAX_COLUMNS:
        check_width(max(len(row.cells) for row in rows[: head.end + 1]), file)
    end = len(rows) - _count_tail(rows[head.end :], len(head.names))
    line = rows[head.start].line if head.start >= 0 else 0
    notes: list[UploadNote] = []
    if head.start > 0:
        shown = {"file": file, "row": str(line), "text": _quote_rows(rows[: head.start])}
        notes.append(UploadNote("rows-above", shown))
    if end < len(rows):
        notes.append(UploadNote("rows-below", {"file": file, "text": _quote_rows(rows[end:])}))
    return FileTable(file, head.names, rows[head.end : end], title, line, notes=tuple(notes))


def check_width(width: int, file: str) -> None:
    """Raise `DataError` for more columns than any table of questions has."""
    if width > MAX_COLUMNS:
        raise DataError("too-many-columns", file=file, n=width, limit=MAX_COLUMNS)


def find_head(rows: Sequence[Sequence[str]]) -> HeadRows:
    """The names of the columns in the first rows of a table, none of which is blank.

    It is the first row with several known names, under rows that are titles or instructions by
    their few cells; else the first that is as wide as the rows below. A row of which a column has
    letters or numbers as in all rows below it is data, and the table has no head.
    """
    rows = rows[:_SEARCHED_ROWS]
    if not rows:
        return HeadRows((), -1, 0)
    for at, row in enumerate(rows):
        if _counts_known(row) and all(_is_title(above, row) for above in rows[:at]):
            return _head_at(rows, at)
    width = _usual_width(rows)
    at = next((at for at, row in enumerate(rows) if 2 * _filled(row) >= width), 0)
    named = any(is_known_name(cell) for cell in rows[at] if not _LABEL.fullmatch(cell.strip()))
    if not named and _is_data(rows[at], rows[at + 1 :]):
        return _without_head(rows, at)
    return _head_at(rows, at)


def _head_at(rows: Sequence[Sequence[str]], at: int) -> HeadRows:
    """The names in the row `at`, and in the one below it where names stand under groups."""
    row = rows[at]
    below = rows[at + 1] if at + 1 < len(rows) else ()
    if not _are_names_of_groups(row, below):
        return HeadRows(_trimmed(row), at, at + 1)
    width = max(len(row), len(below))
    upper, lower = _padded(row, width), _padded(below, width)
    groups: list[str] = []
    for place, name in enumerate(upper):
        continued = not name and (lower[place] or not groups)
        groups.append((groups[-1] if groups else "") if continued else name)
    counts = Counter(name for name in lower if name)
    names = (
        _joined(group, name, unique=counts[name] == 1)
        for group, name in zip(groups, lower, strict=True)
    )
    return HeadRows(_trimmed(tuple(names)), at, at + 2)


def _without_head(rows: Sequence[Sequence[str]], at: int = 0) -> HeadRows:
    """Columns that are only numbered, for data that begin in the row `at`."""
    width = max((len(_trimmed(row)) for row in rows[at:]), default=0)
    return HeadRows(tuple(f"#{place}" for place in range(1, width + 1)), -1, at)


def _count_tail(rows: Sequence[Row], width: int) -> int:
    """How many of the rows at the end are totals, signatures and notes below a table.

    Such a row begins with a word for one, and has fewer cells than rows have or only counts beside
    it. A single cell below such a row, or right above it, is one too.
    """
    filled = sorted(_filled(row.cells[:width]) for row in rows[:_SEARCHED_ROWS])
    usual = filled[len(filled) // 2] if filled else 0
    tail = 0
    for back, row in enumerate(reversed(rows[-_MAX_TAIL_ROWS:]), start=1):
        texts = [text for cell in row.cells if (text := cell.strip())]
        if (
            texts
            and _TAIL.fullmatch(texts[0])
            and (len(texts) < usual or all(map(_COUNT.fullmatch, texts[1:])))
        ):
            tail = back
        elif len(texts) > 1 or usual < _MIN_FOR_SINGLES:
            break
        elif tail == back - 1 > 0:
            tail = back
    return tail


def _counts_known(row: Sequence[str]) -> bool:
    """Whether a row has names enough to be the head; a letter alone may be an answer."""
    names = {name for cell in row if (name := cell.strip()) and len(cell) <= _MAX_NAME_CHARS}
    known = sum(1 for name in names if not _LABEL.fullmatch(name) and is_known_name(name))
    return known >= _MIN_KNOWN_NAMES or (len(names) > _MIN_KNOWN_NAMES and _letters_in_order(row))


def _letters_in_order(row: Sequence[str]) -> bool:
    """Whether a row has letters beside one another from A on, and no other one: names of options.

    In a row of data another letter names the right option.
    """
    texts = [unicodedata.normalize("NFKC", cell).strip() for cell in row]
    letters = [text for text in texts if _LETTER.fullmatch(text)]
    n = len(letters)
    if n < _MIN_KNOWN_NAMES or "".join(letters).upper() != LETTERS[:n]:
        return False
    start = texts.index(letters[0])
    return texts[start : start + n] == letters


def _is_title(above: Sequence[str], head: Sequence[str]) -> bool:
    """Whether a row above the names is a title or says how to fill the table in."""
    texts = [text for cell in above if (text := cell.strip())]
    return 2 * len(set(texts)) <= _filled(head) or len(set(texts)) == 1


def _is_data(row: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    rows = [_padded(each, len(row)) for each in below if _filled(each) > 1]
    if len(rows) < _MIN_DATA_ROWS or _filled(row) < _MIN_KNOWN_NAMES or _letters_in_order(row):
        return False
    if all(_repeats_an_option(cells) for cells in (tuple(row), *rows)):
        return True
    return any(
        all(kind(cells[place].strip()) for cells in (tuple(row), *rows))
        for place in range(len(row))
        for kind in (_is_answer_letter, _is_number)
    )


def _repeats_an_option(cells: Sequence[str]) -> bool:
    """Whether the last cell is the text of another one behind the question."""
    texts = [text for cell in cells if (text := cell.strip())]
    return len(texts) >= _MIN_QUESTION_CELLS and texts[-1] in texts[1:-1]


def _is_answer_letter(text: str) -> bool:
    return bool(_LETTER.fullmatch(text))


def _is_number(text: str) -> bool:
    return text.removeprefix("-").replace(".", "", 1).isdecimal()


def _are_names_of_groups(row: Sequence[str], below: Sequence[str]) -> bool:
    """Whether the row below has the names of columns under names of groups, and nothing else."""
    width = max(len(row), len(below))
    upper, lower = _padded(row, width), _padded(below, width)
    under: dict[int, int] = {}  # how many names each group has below it
    group = -1
    for place, name in enumerate(upper):
        group = place if name else group
        text = lower[place]
        if not text or text == name:
            continue
        starts_group = place + 1 < width and not upper[place + 1] and bool(lower[place + 1])
        if group < 0 or (name and not starts_group):
            return False
        if not (_LABEL.fullmatch(text) or is_known_name(text)):
            return False
        under[group] = under.get(group, 0) + 1
    return any(n > 1 for n in under.values())


def _joined(group: str, name: str, *, unique: bool) -> str:
    if not name or name == group:
        return group
    if unique and is_known_name(name) and not name.isdecimal():
        return name
    both = group + name
    return both if is_known_name(both) else f"{group} {name}".strip()


def _usual_width(rows: Sequence[Sequence[str]]) -> int:
    counts = Counter(_filled(row) for row in rows)
    return max(counts, key=lambda width: (counts[width], width))


def _filled(row: Sequence[str]) -> int:
    return sum(1 for cell in row if cell.strip())


def _padded(row: Sequence[str], width: int) -> tuple[str, ...]:
    return (*(cell.strip() for cell in row), *[""] * (width - len(row)))


def _trimmed(row: Sequence[str]) -> tuple[str, ...]:
    names = [cell.strip() for cell in row]
    while names and not names[-1]:
        names.pop()
    return tuple(names)


def _quote_rows(rows: Sequence[Row]) -> str:
    """The rows with their numbers, the first ones only and each on one line."""

    def quote(row: Row) -> str:
        return f"{row.line} {quoted(' '.join(filter(None, row.cells)))}"

    return first_few(rows, _MAX_ROWS_SHOWN, quote, "; ")
