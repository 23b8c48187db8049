"""A whole table of a document as Gradio's Dataframe, which sorts, searches and copies it."""

import re
from typing import Any

import gradio as gr

from evalui.report.blocks import (
    NONE,
    BarCell,
    ModelCell,
    PlotCell,
    StateCell,
    Table,
    TableCell,
    TextCell,
    ValueCell,
)
from evalui.report.render.tables import render_cell
from evalui.ui.components.templates import fill

_NUMBER = re.compile(r"[+−-]?\d[\d,]*(\.\d+)?")
_HEIGHT = 560  # pixels, of some twelve rows


def data_table(table: Table, label: str, **settings: Any) -> gr.Dataframe:
    """The table with its first column in place while the others scroll.

    Each cell has a plain value, by which columns are sorted, searched and copied, and the markup
    that is shown, in which whatever is foreign is escaped: links, ranges and icons stay.
    """
    values = [[plain_value(cell) for cell in row] for row in table.rows]
    shown = [[fill("cell.html", content=render_cell(cell)) for cell in row] for row in table.rows]
    heads = [" · ".join(filter(None, (each.group, each.head))) for each in table.columns]
    aligned = ["text-align:right" if each.right else "" for each in table.columns]
    right = [f"right-{place}" for place, each in enumerate(table.columns, start=1) if each.right]
    return gr.Dataframe(
        {
            "headers": heads,
            "data": values,
            "metadata": {"display_value": shown, "styling": [aligned for _ in table.rows]},
        },
        label=label,
        show_label=False,
        datatype="html",
        interactive=False,
        wrap=True,
        buttons=["copy", "fullscreen"],
        show_search="search",
        pinned_columns=1,
        max_height=_HEIGHT,
        elem_classes=["data-table", *right],
        **settings,
    )


def plain_value(cell: TableCell) -> str | float | None:
    """The value by which a cell is sorted: a number where it has one, None where it has nothing."""
    match cell:
        case BarCell():
            return cell.share
        case ValueCell():
            text = cell.value
        case TextCell() | PlotCell():
            text = cell.text
        case ModelCell():
            text = cell.name
        case StateCell():
            text = cell.word
        case str():
            text = cell
    if text in ("", NONE):
        return None
    return float(text.replace(",", "").replace("−", "-")) if _NUMBER.fullmatch(text) else str(text)
