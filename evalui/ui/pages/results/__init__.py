"""The Results page: one run at its address, in the views of its figures; without one the newest."""

from collections.abc import Callable, Iterable, Mapping
from itertools import islice

import gradio as gr

from evalui.app.results import list_runs
from evalui.app.run_view import RunView, still_there
from evalui.app.service import AppService
from evalui.errors import UnknownRun
from evalui.messages import Messages
from evalui.report.html import Html
from evalui.ui.components.form import Form, field_value
from evalui.ui.components.listing import markup
from evalui.ui.components.recent_runs import recent_runs
from evalui.ui.components.templates import fill
from evalui.ui.live import follow
from evalui.ui.pages.results import (
    bias,
    calibration,
    duels,
    health,
    overview,
    report,
    samples,
    statistics,
)
from evalui.ui.run_frame import run_frame, view_name
from evalui.ui.screen import Screen

_RECENT = 10  # runs
VIEWS: Mapping[str, Callable[[Screen, RunView], None]] = {
    "overview": overview.draw,
    "bias": bias.draw,
    "statistics": statistics.draw,
    "report": report.draw,
    "calibration": calibration.draw,
    "health": health.draw,
    "samples": samples.draw,
    "duels": duels.draw,
}


def page(screen: Screen) -> None:
    """The run of the address in its view."""
    with gr.Column(elem_classes="page document results-page"):
        try:
            with still_there(screen.service, screen.value("run")):
                _draw(screen)
        except UnknownRun as error:
            problem = screen.t.translate(error.sentence)
            markup(_without_run(screen.service, screen.t, problem), elem_classes="ev")


def _draw(screen: Screen) -> None:
    if not screen.value("run"):
        markup(_without_run(screen.service, screen.t), elem_classes="ev")
        return
    view = RunView(screen.service, screen.t, screen.value("run"))
    name = view_name(view, screen.value("sub"))
    markup(run_frame(view, name), elem_classes="ev", key="frame")
    is_overview = name == "overview"
    if view.is_live and is_overview:
        with gr.Column(elem_classes="card run-in-full"):
            follow(screen, view.run)
    VIEWS[name](screen, view)
    # Gradio keeps what is drawn anew by its place among its neighbours: a list stays as it is.
    if view.is_live and not is_overview:
        follow(screen, view.run, shown=False)


def first(service: AppService, t: Messages, form: Form) -> Html:
    """What the page shows before Gradio draws it: of an ended run the whole Overview, else what
    stands above a view.
    """
    service.require("see")
    run_id = field_value(form, "run")
    if not run_id:
        return fill("results/first.html", shown=[_without_run(service, t)])
    view = RunView(service, t, run_id)
    name = view_name(view, field_value(form, "sub"))
    is_whole = name == "overview" and not view.is_live
    document: Iterable[Html] = overview.first(view, form) if is_whole else ()
    return fill("results/first.html", shown=[run_frame(view, name), *document])


def _without_run(service: AppService, t: Messages, problem: str = "") -> Html:
    """The newest runs in place of one."""
    runs = islice((run for run in list_runs(service) if run.done), _RECENT)
    listed = recent_runs(t, runs, service.owner)
    return fill("results/recent.html", t=t, problem=problem, runs=listed)
