"""The frame around a page of questions: how many there are, which are shown, earlier and later."""

from collections.abc import Sequence

from evalui.messages import Messages
from evalui.ui.components.html import Html, div, el, span
from evalui.ui.components.widgets import button


def question_list(
    t: Messages,
    items: Sequence[Html],
    range_label: str,
    *,
    total: int,
    end: int,
    page: int,
    opened: str,
) -> tuple[Html | None, ...]:
    """The parts above the legend; `end` is the number of the last question shown."""
    more = end < total
    return (
        div(
            el("h2", t.count("samples.count", total)),
            span(range_label, cls="meta"),
            cls="card-h pad",
        ),
        el("input", type="hidden", name="page", value=page),
        el("input", type="hidden", name="sample", value=opened),
        el("ul", *items, cls="list") if items else el("p", t("samples.nothing"), cls="dim pad"),
        div(
            button(t("samples.earlier"), "page", data_page=page - 1) if page else None,
            button(t("samples.later"), "page", data_page=page + 1) if more else None,
            cls="links pad",
        )
        if page or more
        else None,
    )
