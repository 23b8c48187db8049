"""A whole table of a document as Gradio's Dataframe, which sorts, searches and copies it."""

import re
from typing import Any

import gradio as gr

from evalui.report.blocks import (
    NONE,
    BarCell,
    ModelCell,
    PictureCell,
    PlotCell,
    StateCell,
    Table,
    TableCell,
    TextCell,
    ValueCell,
)
from evalui.report.html import Html
from evalui.report.render.tables import render_cell
from evalui.ui.components.templates import fill

_NUMBER = re.compile(r"[+−-]?\d[\d,]*(\.\d+)?")
_TAG = re.compile(r"<[^>]*>")
_FEW_COLUMNS = 5
_SHORT, _LONG = 8, 48  # characters between which a column is as wide as its longest text
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
        column_widths=_widths(heads, shown),
        show_search="search",
        pinned_columns=1,
        max_height=_HEIGHT,
        elem_classes=["data-table", *right],
        **settings,
    )


def _widths(heads: list[str], shown: list[list[Html]]) -> list[str | int] | None:
    """A share of the width for each of a few columns, by their longest texts, which wrap on a
    phone; None of many, which scroll.
    """
    if len(heads) > _FEW_COLUMNS:
        return None
    longest = [
        max(len(head), *(len(_TAG.sub("", row[place])) for row in shown))
        for place, head in enumerate(heads)
    ]
    weights = [min(max(length, _SHORT), _LONG) for length in longest]
    return [f"{100 * weight / sum(weights):.1f}%" for weight in weights]


def plain_value(cell: TableCell) -> str | float | None:
    """The value by which a cell is sorted: a number where it has one, None where it has nothing."""
    match cell:
        case BarCell():
            return cell.share
        case ValueCell():
            text = cell.value
        case TextCell() | PlotCell() | PictureCell():
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
