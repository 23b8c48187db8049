"""Results, Report: the run as files to keep, and on demand what report.html shows."""

from collections.abc import Mapping, Sequence

import gradio as gr

from evalui.app.results import export_sizes
from evalui.app.run_view import RunView
from evalui.app.service import AppService
from evalui.report.blocks import Details
from evalui.report.compile import blocks
from evalui.report.html import Html
from evalui.report.write.formats import ON_PAGE, is_installed
from evalui.ui.blocks import show
from evalui.ui.components.fold import fold
from evalui.ui.components.format import size
from evalui.ui.components.listing import markup
from evalui.ui.components.templates import fill
from evalui.ui.screen import Screen

FIRST = ("html", "xlsx")  # what most people open
OTHERS = tuple(each for each in ON_PAGE if each not in FIRST)


def draw(screen: Screen, view: RunView) -> None:
    """A plain link to each file, which works at the first click; below it the report."""
    t, is_open = view.t, bool(screen.value("preview"))
    if view.is_live:
        markup(fill("results/unfinished.html", t=t), elem_classes="ev")
    with gr.Column(elem_classes="card"):
        markup(fill("results/files_head.html", t=t), elem_classes="ev")
        _files(screen, view, FIRST)
    with gr.Column(elem_classes="folds"):
        finding = t("report.others_finding")
        with fold(Details("other-files", t("report.others"), finding, ()), "other-files"):
            _files(screen, view, OTHERS)
    if is_open:
        show(t, blocks(view.report, view.language), scope="preview", titled=True)


def _files(screen: Screen, view: RunView, extensions: Sequence[str]) -> None:
    """A line per format; about how large each file is takes longer, and comes after the page."""
    is_open = bool(screen.value("preview"))

    def lines(sizes: Mapping[str, int]) -> Html:
        return fill(
            "results/files.html",
            t=view.t,
            address=f"../export/{view.run.id}.",
            extensions=extensions,
            missing=[each for each in extensions if not is_installed(each)],
            sizes={each: size(sizes[each]) for each in extensions if each in sizes},
            first=FIRST[0],
            preview=view.address("report", **({} if is_open else {"preview": "1"})),
            is_open=is_open,
        )

    def weigh(service: AppService) -> Html:
        return lines(export_sizes(service, view.run.id, view.language))

    listed = gr.HTML(
        lines({}), js_on_load="trigger('submit')", apply_default_css=False, elem_classes="ev"
    )
    screen.on(listed.submit, weigh, None, listed)
