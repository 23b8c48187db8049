"""Tables as HTML: figures with their ranges, states, bars, and marks on an axis without script.

A lead table is chart and table in one: its marks are placed in per cent, so they print and scale.
"""

from collections.abc import Sequence
from itertools import groupby

from evalui.report.blocks import (
    NONE,
    BarCell,
    Column,
    ModelCell,
    PlotCell,
    StateCell,
    Table,
    TableCell,
    TextCell,
    ValueCell,
)
from evalui.report.charts.kinds import Axis
from evalui.report.html import Child, Html, div, el, join, span
from evalui.report.icons import marker, series_number, status

_EDGE = 6.0  # per cent of an axis, nearer to whose ends a label stands inside


def render_table(table: Table, *, linked: bool = True) -> Html:
    """The table in a box that scrolls sideways if it must; `linked` is false where links lead
    nowhere.
    """
    columns = table.columns
    # On a narrow screen cells carry their heads; the group of the lead column goes without saying.
    main = next((column.group for column in columns if column.lead), "")
    labels = [
        " · ".join(filter(None, (column.group if column.group != main else "", column.head)))
        for column in columns
    ]
    body = [
        _row(columns, row, labels, linked=linked, selected=place in table.selected)
        for place, row in enumerate(table.rows)
    ]
    element = el(
        "table",
        el("colgroup", *(_width(column) for column in columns)) if table.lead else None,
        _heads(columns, linked=linked),
        el("tbody", *body),
        _axis_row(columns),
        cls="lead" if table.lead else None,
    )
    return div(element, cls="scroll", tabindex=0)


# ---------------------------------------------------------------- heads


def _width(column: Column) -> Html:
    return el("col", style=f"--wide:{column.width}" if column.width else None)


def _heads(columns: Sequence[Column], *, linked: bool) -> Html | None:
    """The heads below their groups; a table without any has no empty row of them."""
    if not any(column.head or column.axis for column in columns):
        return None
    heads = el("tr", *(_head(each, linked=linked) for each in columns))
    return el("thead", _groups(columns), heads)


def _groups(columns: Sequence[Column]) -> Html | None:
    """The row above the heads, with what neighbours share."""
    if not any(column.group for column in columns):
        return None
    runs = ((group, len([*same])) for group, same in groupby(columns, lambda one: one.group))
    return el("tr", *(el("th", group, colspan=span_) for group, span_ in runs), cls="grp")


def _head(column: Column, *, linked: bool) -> Html:
    if column.axis:
        return el("th", span(column.head, cls="hidden"), _rule_label(column), cls="hplot")
    kinds = {"r": column.right, "lead-col": column.lead, "faint": column.faint}
    shown = el("a", column.head, href=column.href) if column.href and linked else column.head
    order = column.order or None
    return el("th", shown, scope="col", aria_sort=order, cls=_classes(kinds))


def _rule_label(column: Column) -> Html:
    axis, rule = column.axis, column.rule
    assert axis is not None, "only columns with an axis have marks"
    label = _label(axis, rule[0], rule[1]) if rule else None
    return div(label, cls="plot hd")


def _axis_row(columns: Sequence[Column]) -> Html | None:
    """The ticks below the marks."""
    if not any(column.axis for column in columns):
        return None
    cells = [
        el("td", div(*_ticks(column.axis), cls="plot ax"), cls="c-pl") if column.axis else el("td")
        for column in columns
    ]
    return el("tfoot", el("tr", *cells, aria_hidden="true"))


def _ticks(axis: Axis) -> list[Html]:
    return [_label(axis, at, text) for at, text in zip(axis.ticks, axis.labels, strict=True)]


def _label(axis: Axis, value: float, text: str) -> Html:
    at = _percent(axis, value)
    side = "end" if at > 100 - _EDGE else "start" if at < _EDGE and len(text) > 2 else None
    return el("em", text, style=f"left:{at:.2f}%", cls=side)


# ---------------------------------------------------------------- cells


def _row(
    columns: Sequence[Column],
    row: Sequence[TableCell],
    labels: Sequence[str],
    *,
    linked: bool,
    selected: bool,
) -> Html:
    # A row is named by its model, else by its first cell.
    named = next((at for at, cell in enumerate(row) if isinstance(cell, ModelCell)), 0)
    cells = [
        _cell(column, cell, labels[at], names=at == named, linked=linked)
        for at, (column, cell) in enumerate(zip(columns, row, strict=True))
    ]
    return el("tr", *cells, cls="sel" if selected else None)


def _cell(column: Column, cell: TableCell, label: str, *, names: bool, linked: bool) -> Html:
    kinds = {
        "r": column.right,
        "faint": column.faint,
        "c-rk": column.rank,
        "c-md": isinstance(cell, ModelCell),
        "c-pl": column.axis is not None,
        "wide": isinstance(cell, StateCell),
    }
    content = _marks(column, cell) if isinstance(cell, PlotCell) else _content(cell, linked=linked)
    if column.rank:
        content = span(content, cls="rk" if content != NONE else "rk no")
    name, scope = ("th", "row") if names else ("td", None)
    return el(name, content, scope=scope, cls=_classes(kinds), data_l=label or None)


def _content(cell: TableCell, *, linked: bool) -> Child:
    match cell:
        case str():
            return cell or NONE
        case TextCell():
            text = el("b", cell.text) if cell.strong else cell.text
            shown = el("a", text, href=cell.href) if cell.href and linked else text
            return join(shown, _below(cell.below))
        case ValueCell():
            return _value(cell)
        case ModelCell():
            name = span(marker(cell.place, baseline=cell.baseline), cell.name, cls="mk")
            return join(name, _below(cell.below, "below-mk"))
        case StateCell():
            return join(status(cell.kind, cell.word), _below(cell.below))
        case BarCell():
            width = f"width:{100 * min(max(cell.share, 0.0), 1.0):.1f}%"
            fill = el(
                "b", style=f"{width};{_colour(cell.place)}" if cell.place is not None else width
            )
            return div(div(fill, cls="bar"), span(cell.text), cls="barred")
        case PlotCell():
            return cell.text


def _value(cell: ValueCell) -> Html:
    unit = el("small", f"\u00a0{cell.unit}") if cell.unit else None
    if cell.size == "row":
        value = join(cell.value, f"\u00a0{cell.unit}" if cell.unit else "")
        figure = span(el("b", value) if cell.strong else value, cls="nw")
        ends = join(" ", span(cell.range, cls="meta nw")) if cell.range else None
        return join(figure, ends, _below(cell.below))
    kind = "big" if cell.size == "lead" else "med"
    return join(div(cell.value, unit, cls=kind), _below(cell.range), _below(cell.below))


def _below(text: str, cls: str = "") -> Html | None:
    return div(text, cls=f"meta {cls}".strip()) if text else None


# ---------------------------------------------------------------- marks on an axis


def _marks(column: Column, cell: PlotCell) -> Html:
    axis = column.axis
    assert axis is not None, "marks stand in columns with an axis"
    colour = _colour(0 if cell.baseline else cell.place, baseline=cell.baseline)
    lines = [el("i", style=f"left:{_percent(axis, tick):.2f}%") for tick in axis.ticks]
    rule = _rule(axis, column.rule[0]) if column.rule else None
    bands = [
        el("u", style=f"{_extent(axis, mark.low, mark.high)};{colour}")
        for mark in cell.marks
        if mark.low is not None and mark.high is not None
    ]
    values = [mark.value for mark in cell.marks]
    joined = (
        el("s", style=f"{_extent(axis, min(values), max(values))};{colour}")
        if len(values) > 1
        else None
    )
    # Solid marks lie above hollow ones.
    drawn = [
        span(
            marker(cell.place, baseline=cell.baseline, hollow=mark.hollow),
            style=f"left:{_percent(axis, mark.value):.2f}%",
        )
        for mark in sorted(cell.marks, key=lambda mark: not mark.hollow)
    ]
    grey = el("u", cls="grey", style=_extent(axis, *cell.grey)) if cell.grey else None
    words = span(cell.text, cls="hidden")
    return div(grey, *lines, rule, *bands, joined, *drawn, words, cls="plot")


def _rule(axis: Axis, value: float) -> Html:
    return el("i", cls="ch", style=f"left:{_percent(axis, value):.2f}%")


def _extent(axis: Axis, low: float, high: float) -> str:
    left, right = _percent(axis, low), _percent(axis, high)
    return f"left:{left:.2f}%;width:{right - left:.2f}%"


def _percent(axis: Axis, value: float) -> float:
    """Where a value stands between the ends of its axis, in per cent; beyond them at the end."""
    return 100 * min(max((value - axis.low) / (axis.high - axis.low), 0.0), 1.0)


def _colour(place: int | None, *, baseline: bool = False) -> str:
    return f"background:var(--d{series_number(place or 0, baseline=baseline)})"


def _classes(kinds: dict[str, bool]) -> str | None:
    return " ".join(name for name, holds in kinds.items() if holds) or None
