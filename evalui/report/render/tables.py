"""Tables as HTML: figures with their ranges, states, bars, and marks on an axis without script.

A lead table is chart and table in one: its marks are placed in per cent, so they print and scale.
"""

from itertools import groupby

from evalui.report.blocks import ModelCell, Table, TableCell
from evalui.report.html import Html
from evalui.report.markup import fill, macro
from evalui.report.words import shorten_name


def render_table(table: Table, *, linked: bool = True) -> Html:
    """The table in a box that scrolls sideways if it must; `linked` is false where links lead
    nowhere.
    """
    columns = table.columns
    # On a narrow screen cells carry their heads; the group of the lead column goes without saying.
    main = next((column.group for column in columns if column.lead), "")
    labels = [
        " · ".join(
            shorten_name(part)
            for part in (column.group if column.group != main else "", column.head)
            if part
        )
        for column in columns
    ]
    groups = [(name, len([*same])) for name, same in groupby(columns, lambda one: one.group)]
    # A row is named by its model, else by its first cell.
    rows = [
        (row, next((at for at, cell in enumerate(row) if isinstance(cell, ModelCell)), 0))
        for row in table.rows
    ]
    return fill(
        "table.html",
        table=table,
        rows=rows,
        labels=labels,
        groups=groups if any(name for name, _ in groups) else [],
        headed=any(column.head or column.axis for column in columns),
        plotted=any(column.axis for column in columns),
        linked=linked,
    )


def render_cell(cell: TableCell, *, linked: bool = True) -> Html:
    """What stands in a cell of a column that has no axis."""
    return macro("cells.html", "content", cell, linked)
