"""Chart and table in one as a component: rows of models with their marks on one axis."""

from typing import Any

import gradio as gr

from evalui.messages import Messages
from evalui.report.blocks import Table
from evalui.report.render.tables import render_table
from evalui.ui.components.listing import markup
from evalui.ui.components.templates import fill


def lead_table(t: Messages, table: Table, **settings: Any) -> gr.HTML:
    """The table, and the button that copies the card around it as a picture (js/images.js)."""
    shown = fill("lead_table.html", table=render_table(table), word=t("app.image"))
    return markup(shown, elem_classes="ev lead-table", **settings)


def html_table(table: Table, *, is_wide: bool = False, **settings: Any) -> gr.HTML:
    """A short table that nobody has to search; a wide one keeps its first column in view."""
    classes = "ev wide-table" if is_wide else "ev"
    return markup(render_table(table), elem_classes=classes, **settings)
