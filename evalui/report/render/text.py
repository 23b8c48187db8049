"""Cells of tables as plain text, for files that know no layout."""

from collections.abc import Sequence

from evalui.report.blocks import (
    NONE,
    BarCell,
    Column,
    ModelCell,
    PictureCell,
    PlotCell,
    StateCell,
    Table,
    TableCell,
    TextCell,
    ValueCell,
)

SIGNATURE_GAP = " · "  # between the parts of a signature, as a page shows it


def cell_text(cell: TableCell) -> str:
    """What a cell says on one line: "58 % (51–64)", "Slight: picks A 28 %"."""
    match cell:
        case str():
            return cell or NONE
        case TextCell():
            return _joined(cell.text, cell.below)
        case ValueCell():
            value = f"{cell.value} {cell.unit}".strip()
            return _joined(f"{value} ({cell.range})" if cell.range else value, cell.below)
        case ModelCell():
            return _joined(cell.name, cell.below)
        case StateCell():
            return f"{cell.word}: {cell.below}" if cell.below else cell.word
        case PictureCell():
            return f"{cell.text} ({cell.words})"
        case PlotCell() | BarCell():
            return cell.text


def table_texts(table: Table) -> list[list[str]]:
    """The heads of a table and its rows; marks on an axis repeat figures of other columns."""
    kept = [place for place, column in enumerate(table.columns) if column.axis is None]
    columns = [table.columns[place] for place in kept]
    heads = [*map(column_head, columns)]
    return [heads, *([cell_text(row[place]) for place in kept] for row in table.rows)]


def column_head(column: Column) -> str:
    """The head of a column with that of its group."""
    return " · ".join(filter(None, (column.group, column.head)))


def merged_signature(signatures: Sequence[str]) -> str:
    """One signature for all, with each value of the parts that differ."""
    values: dict[str, dict[str, None]] = {}
    for signature in signatures:
        for place, part in enumerate(signature.split(SIGNATURE_GAP)):
            name, colon, value = part.partition(":") if place else ("", "", part)
            values.setdefault(name + colon, {})[value] = None
    return SIGNATURE_GAP.join(name + "+".join(each) for name, each in values.items())


def _joined(text: str, below: str) -> str:
    return f"{text} ({below})" if below else text
