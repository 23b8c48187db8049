"""The Results tab: one run, at its own address, in seven views."""

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

import gradio as gr

from evalui.errors import EvaluiError, UnknownRun
from evalui.messages import Messages
from evalui.report.compile import preview
from evalui.report.export.files import FORMATS
from evalui.report.html import Html, div, el, join
from evalui.runs.database.records import RunRow
from evalui.runs.database.runs import read_runs
from evalui.ui.components.form import Form, field_value
from evalui.ui.components.format import format_time
from evalui.ui.components.fragment import QUIET, SKIP, Action, html_fragment, on_action, skip_all
from evalui.ui.components.widgets import (
    blind_voting_page,
    card,
    note,
    page_head,
    status,
    table,
    titled,
)
from evalui.ui.services.run_labels import LIVE_STATES, mode_label, run_label, settings_label
from evalui.ui.services.service import AppService
from evalui.ui.tabs.results.bias import BiasView
from evalui.ui.tabs.results.calibration import render_calibration
from evalui.ui.tabs.results.health import render_health
from evalui.ui.tabs.results.overview import OverviewView
from evalui.ui.tabs.results.run_view import RunView
from evalui.ui.tabs.results.samples import SamplesView
from evalui.ui.tabs.results.statistics import StatisticsView

VIEWS = ("overview", "bias", "statistics", "calibration", "health", "samples", "report")
_CHOICES = ("bias", "statistics", "calibration", "health")  # of multiple choice only
_RECENT = 10
# A view that is opened stands in the address too: to load it again, and to keep it.
_ADDRESSED = """(run, filled) => {{
  const here = new URL(location.href);
  if (run) {{
    here.searchParams.set("sub", "{name}");
    history.replaceState(history.state, "", here);
  }}
  return [run, filled];
}}"""


class _View(Protocol):
    """One tab within the tab."""

    outputs: list[Any]

    def build(self, run_id: gr.Textbox) -> None: ...


class _Fragment:
    """A view that is rendered whole from the form and the address."""

    def __init__(
        self,
        service: AppService,
        t: Messages,
        name: str,
        render: Callable[[RunView, Form], Html],
    ) -> None:
        self.service = service
        self.t = t
        self.name = name
        self.render = render
        self.outputs: list[Any] = []

    def build(self, run_id: gr.Textbox) -> None:
        """Lay out the one pane."""
        pane = html_fragment(f"{self.name}-pane")
        self.outputs = [pane]
        on_action(pane, self.changed, inputs=[run_id], outputs=self.outputs)

    def show(self, run_id: str, form: Form) -> tuple[Html]:
        """The view of a run."""
        return (self.render(RunView(self.service, self.t, run_id), form),)

    def changed(self, run_id: str, act: Action) -> Html:
        """The view after another choice in its form."""
        return self.show(run_id, act.form)[0]


class ResultsTab:
    """The tab in one language; the browser keeps which run is shown."""

    def __init__(self, service: AppService, t: Messages) -> None:
        self.service = service
        self.t = t
        self.overview = OverviewView(service, t)
        self.bias = _Fragment(service, t, "bias", BiasView(service, t).render)
        self.statistics = StatisticsView(service, t)
        self.calibration = _Fragment(
            service,
            t,
            "calibration",
            lambda view, form: render_calibration(t, view, form, sub="calibration"),
        )
        self.health = _Fragment(service, t, "health", lambda view, _: render_health(t, view))
        self.samples = SamplesView(service, t)
        self.report = ReportView(service, t)
        self.outputs: list[Any] = []

    def build(self) -> None:
        """Lay out the head and the views, each filled when it is opened."""
        t = self.t
        run_id = gr.Textbox(visible=False)
        filled = gr.Textbox(visible=False)
        with gr.Column(elem_classes="page"):
            head = html_fragment("results-head")
            with gr.Tabs(elem_id="sub", visible=False) as views:
                for name, view in zip(VIEWS, self._views(), strict=True):
                    with gr.Tab(t(f"tab.{name}"), id=name, elem_id=f"tab-{name}") as tab:
                        view.build(run_id)
                    tab.select(
                        partial(self.open, name),
                        [run_id, filled],
                        [run_id, filled, head, views, *view.outputs],
                        js=_ADDRESSED.format(name=name),
                        **QUIET,
                    )
        self.outputs = [
            run_id,
            filled,
            head,
            views,
            *(part for view in self._views() for part in view.outputs),
        ]

    def enter(self, run_id: str, form: Form) -> tuple[Any, ...]:
        """All outputs for an address: the head, and the one view it names."""
        try:
            run_view = RunView(self.service, self.t, run_id) if run_id else None
        except EvaluiError as error:
            return self._without_run(self._none(self.t.translate(error.sentence)))
        if run_view is None:
            return self._without_run(self._none(""))
        requested = field_value(form, "sub")
        # Written answers have no positions and are not right or wrong: these views are hidden.
        offered = VIEWS if run_view.has_choices else tuple(v for v in VIEWS if v not in _CHOICES)
        name = requested if requested in offered else VIEWS[0]
        parts: list[Any] = []
        for other, view in zip(VIEWS, self._views(), strict=True):
            filled = other == name
            parts += self._content(name, run_id, form) if filled else skip_all(view.outputs)
        views = gr.Tabs(visible=True, selected=name)
        return (run_id, f"{name}@{run_view.run.revision}", self.head(run_view), views, *parts)

    def blind_voting_outputs(self) -> tuple[Any, ...]:
        """All outputs for an annotator, who votes without knowing names."""
        return self._without_run(blind_voting_page(self.t, "results"))

    def _without_run(self, head: Html) -> tuple[Any, ...]:
        return ("", "", head, gr.Tabs(visible=False), *skip_all(self.outputs[4:]))

    def open(self, name: str, run_id: str, filled: str) -> tuple[Any, ...]:
        """The page's frame and a view when its tab is pressed.

        A view that was filled already keeps its filters. If the run was deleted meanwhile, the
        page states it, in place of all views.
        """
        view = self._views()[VIEWS.index(name)]
        skipped = skip_all(view.outputs)
        try:
            stamp = f"{name}@{self.service.run(run_id).revision}" if run_id else ""
            if not run_id or stamp in filled.split():
                return (SKIP, SKIP, SKIP, SKIP, *skipped)
            parts = self._content(name, run_id, {})
        except UnknownRun as error:
            none = self._none(self.t.translate(error.sentence))
            return ("", "", none, gr.Tabs(visible=False), *skipped)
        return (SKIP, f"{filled} {stamp}", SKIP, SKIP, *parts)

    def head(self, view: RunView) -> Html:
        """The run's name, what it was, and how it ended."""
        t, run = self.t, view.run
        models = len({cell.cell.model for cell in view.answering_cells})
        modes = dict.fromkeys(mode_label(t, cell) for cell in view.answering_cells)
        facts = [
            t.count("results.models", models),
            " · ".join(dict.fromkeys(cell.cell.dataset for cell in view.cells)),
            t("list.semicolon").join(modes),
            *settings_label(t, run),
            t(
                f"results.{run.state}",
                moment=format_time(t, run.finished or run.started or run.created),
            ),
        ]
        copy = el(
            "button",
            t("results.share"),
            type="button",
            cls="btn",
            data_copy=f"../r/{run.id}",
            data_done=t("question.copied"),
        )
        repeat = el("a", t("runs.repeat"), href=f"?again={run.id}", cls="btn")
        beside = el("a", t("compare.compare"), href=f"?tab=compare&run={run.id}", cls="btn")
        return div(
            page_head(run.name, " · ".join(facts), beside, copy, repeat),
            self._unfinished(run),
            cls="stack" if view.has_choices else "stack no-choices",  # hides their tabs
        )

    def _views(self) -> tuple[_View, ...]:
        return (
            self.overview,
            self.bias,
            self.statistics,
            self.calibration,
            self.health,
            self.samples,
            self.report,
        )

    def _content(self, name: str, run_id: str, form: Form) -> tuple[Any, ...]:
        plain = {"overview": self.overview, "report": self.report}
        if name in plain:
            return plain[name].show(run_id)
        if name == "statistics":
            return self.statistics.show(run_id, form)
        if name == "samples":
            return (self.samples.show(run_id, form),)
        fragments = {"bias": self.bias, "calibration": self.calibration, "health": self.health}
        return fragments[name].show(run_id, form)

    def _unfinished(self, run: RunRow) -> Html | None:
        if run.state not in LIVE_STATES:
            return (
                note("bad", self.t.translate(run.error))
                if run.state == "failed" and run.error
                else None
            )
        t, address = self.t, f"?run={run.id}&tab="
        watch = el("a", t("results.watch"), href=f"{address}runs")
        if run.state == "queued" and not run.done:
            return note("na", t("results.queued_of"), " ", watch)
        # The script keeps the rest of the address, and with it the view that is open.
        again = el(
            "a",
            t("results.reload"),
            href=f"{address}results",
            data_param="tab",
            data_value="results",
        )
        progress = t("results.live_of", done=f"{run.done:,}", total=f"{run.total:,}")
        return note("na", progress, " ", again, " · ", watch)

    def _none(self, problem: str) -> Html:
        t = self.t
        rows = [row for row in read_runs(self.service.database, self.service.owner) if row.done][
            :_RECENT
        ]
        links = [
            [
                join(
                    el("a", row.name, href=f"?run={row.id}&tab=results"),
                    div(run_label(t, row), cls="meta"),
                ),
                status("ok" if row.state == "done" else "na", t(f"runstate.{row.state}")),
                format_time(t, row.created),
            ]
            for row in rows
        ]
        heads = [t("runs.run"), t("runs.state"), t("runs.when")]
        listed = (
            table(heads, links, cls="runs-list")
            if links
            else el("p", t("results.nothing"), cls="dim")
        )
        return div(
            page_head(t("results.title"), t("results.promise")),
            div(note("warn", problem), role="alert") if problem else None,
            titled(t("results.recent"), listed),
            cls="stack",
        )


class ReportView:
    """The view in one language."""

    def __init__(self, service: AppService, t: Messages) -> None:
        self.service = service
        self.t = t
        self.outputs: list[Any] = []

    def build(self, run_id: gr.Textbox) -> None:
        """Lay out the links and the preview. Gradio's Markdown is sanitised."""
        del run_id
        links = html_fragment("report-pane")
        with gr.Column(elem_classes="chart-card"):
            preview = gr.Markdown(elem_id="report-preview")
        self.outputs = [links, preview]

    def show(self, run_id: str) -> tuple[Any, ...]:
        """Links and preview of a run."""
        view = RunView(self.service, self.t, run_id)
        return downloads(self.t, view.run), preview(
            self.service.report(run_id, self.t.language), self.t.language
        )


def downloads(t: Messages, run: RunRow) -> Html:
    """A plain link per format: it works without scripts, and on the first click."""
    cards = [
        card(
            el("h3", t(f"report.{extension}")),
            el("p", t(f"report.{extension}_about"), cls="dim"),
            el(
                "a",
                t("report.download", name=extension.upper()),
                href=f"../export/{run.id}.{extension}?lang={t.language}",
                cls="btn pri" if extension == "zip" else "btn",
                download=True,
            ),
        )
        for extension in FORMATS
    ]
    live = run.state in LIVE_STATES
    return div(
        note("warn", t("report.unfinished")) if live else None,
        titled(t("report.files"), div(*cards, cls="downloads"), aside=t("report.files_about")),
        el("h2", t("report.preview")),
        cls="stack",
    )
