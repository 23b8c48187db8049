"""The tables that a report leads with, as sheets for people: its words, and numbers as numbers."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from evalui.messages import Messages, messages
from evalui.report.blocks import (
    NONE,
    Block,
    Card,
    Heading,
    ModelCell,
    Table,
    TableCell,
    ValueCell,
)
from evalui.report.render.text import cell_text, column_head
from evalui.types import Language

_NUMBER = re.compile(r"[+−-]?(\d{1,3}(,\d{3})+|\d*)(\.\d+)?")
_FORBIDDEN = re.compile(r"[\[\]:*?/\\]|[^\x20-\ud7ff\ue000-\ufffd]")  # in the name of a sheet
_NAME_LENGTH = 31


@dataclass(frozen=True, slots=True)
class ShownNumber:
    """A number of a table, and the format in which Excel shows it as the table does."""

    value: float
    format: str


SheetCell = str | ShownNumber  # "" is empty


@dataclass(frozen=True, slots=True)
class LeadSheet:
    """A table under its heads; `notes` say what it is about and how to read it, below its rows."""

    name: str
    heads: Sequence[str]
    rows: Sequence[Sequence[SheetCell]]
    notes: Sequence[str]


def lead_sheets(
    blocks: Iterable[Block], language: Language, others: Collection[str] = ()
) -> Iterator[LeadSheet]:
    """Each lead table whose rows are models: one for each dataset, or for each judge.

    `others` are the names of the sheets beside them.
    """
    t = messages(language)
    leads = [*_leads(blocks)]
    names = _sheet_names([card.title for _, card, _ in leads], t("report.sheet"), others)
    for name, (heading, card, table) in zip(names, leads, strict=True):
        columns = [each for place in range(len(table.columns)) for each in _spread(table, place, t)]
        heads, cells = [head for head, _ in columns], [own for _, own in columns]
        notes = [text for text in (heading, card.title, card.caption, card.aside) if text]
        yield LeadSheet(name, heads, [*zip(*cells, strict=True)], notes)


def _leads(blocks: Iterable[Block]) -> Iterator[tuple[str, Card, Table]]:
    """The tables with their cards, and the heading above them, "" where that is of the report."""
    heading = ""
    for block in blocks:
        match block:
            case Heading():
                heading = block.text if block.level > 1 else ""
            case Card() | Table():
                card = block if isinstance(block, Card) else Card((block,))
                for table in card.blocks:
                    if isinstance(table, Table) and table.lead and _names_models(table):
                        yield heading, card, table
            case _:
                pass


def _names_models(table: Table) -> bool:
    return any(isinstance(cell, ModelCell) for row in table.rows for cell in row)


def _sheet_names(titles: Sequence[str], word: str, others: Collection[str]) -> Sequence[str]:
    """The titles of several tables, if Excel takes them all as names; else `word`, numbered."""
    names = [_FORBIDDEN.sub(" ", title).strip(" '") for title in titles]
    distinct = {name.lower() for name in names}  # as Excel compares them
    fit = len(distinct) == len(names) and all(0 < len(name) <= _NAME_LENGTH for name in names)
    # A long table goes on in sheets that are numbered, as "trials-2".
    numbered = {re.sub(r"-\d+$", "", name) for name in distinct}
    if len(names) > 1 and fit and (distinct | numbered).isdisjoint({"history", *others}):
        return names
    return [word, *(f"{word} {place}" for place in range(2, len(names) + 1))][: len(names)]


# ---------------------------------------------------------------- cells


def _spread(table: Table, place: int, t: Messages) -> list[tuple[str, list[SheetCell]]]:
    """A column of a table as those of a sheet: figures, and beside them their ranges.

    Marks on an axis repeat the figures of other columns.
    """
    column, cells = table.columns[place], [row[place] for row in table.rows]
    if column.axis is not None:
        return []
    units = {cell.unit for cell in cells if isinstance(cell, ValueCell)}
    (unit,) = units if len(units) == 1 else ("",)  # else each cell has its own
    head = column_head(column)
    spread = [(f"{head}, {unit}" if unit else head, [_shown(cell, unit) for cell in cells])]
    beside: list[SheetCell] = [_beside(cell) for cell in cells]
    return [*spread, (f"{head}, {t('report.range')}", beside)] if any(beside) else spread


def _shown(cell: TableCell, unit: str) -> SheetCell:
    if isinstance(cell, ValueCell):
        return _number(cell.value, "" if unit else cell.unit) or f"{cell.value} {cell.unit}".strip()
    text = cell_text(cell)
    if text == NONE:
        return ""
    return (_number(text, "") if isinstance(cell, str) else None) or text  # no name is a number


def _beside(cell: TableCell) -> str:
    return " · ".join(filter(None, (cell.range, cell.below))) if isinstance(cell, ValueCell) else ""


def _number(text: str, unit: str) -> ShownNumber | None:
    """The number that a text is, with as many decimals as it has; None if it is none."""
    if not _NUMBER.fullmatch(text) or not any(map(str.isdigit, text)):
        return None
    whole, _, decimals = text.partition(".")
    form = "#,##0" if "," in whole else "0"
    form += f".{'0' * len(decimals)}" if decimals else ""
    form += f'" {unit}"' if unit else ""
    if text.startswith("+"):
        form = f"+{form};-{form};{form}"
    return ShownNumber(float(text.replace(",", "").replace("−", "-")), form)
