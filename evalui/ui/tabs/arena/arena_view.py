"""The written answers of a run on a tab: the part that is shown below the switch of parts."""

from evalui.app.open_run_view import OpenRunView, part_document
from evalui.report.html import Html, div
from evalui.report.render.page import render_blocks
from evalui.ui.components.widgets import segments


def open_overview(view: OpenRunView) -> Html:
    """The part that is shown, below the switch of parts, on a page with a title of its own."""
    blocks = render_blocks(part_document(view), suffix="-written", titled=True)
    return div(part_switch(view, "overview"), div(blocks, cls="blocks"))


def part_switch(view: OpenRunView, sub: str) -> Html | None:
    """Links to the parts of the run that can be shown; None for one alone."""
    links = view.links(sub)
    return segments(links, view.t("arena.judge")) if links else None
