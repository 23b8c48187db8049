"""The Results tab: one run, at its own address, in four views."""

from functools import partial
from typing import Any

import gradio as gr

from evalui.errors import EvaluiError
from evalui.runs.rows import RunRow
from evalui.ui.bias import Bias
from evalui.ui.desk import Desk
from evalui.ui.draft import one
from evalui.ui.figures import moment
from evalui.ui.html import Html, div, el
from evalui.ui.matrix import mode_words
from evalui.ui.overview import Overview
from evalui.ui.pane import QUIET, SKIP, Form, pane
from evalui.ui.report import Report
from evalui.ui.samples import Samples
from evalui.ui.text import Text
from evalui.ui.view import Shown
from evalui.ui.widgets import note, page_head, status, table, titled

VIEWS = ("overview", "bias", "samples", "report")
_RECENT = 10


class Results:
    """The tab in one language; the browser keeps which run is shown."""

    def __init__(self, desk: Desk, t: Text) -> None:
        self.desk = desk
        self.t = t
        self.overview = Overview(desk, t)
        self.bias = Bias(desk, t)
        self.samples = Samples(desk, t)
        self.report = Report(desk, t)
        self.outputs: list[Any] = []

    def build(self) -> None:
        """Lay out the head and the four views, each filled when it is opened."""
        t = self.t
        run_id = gr.Textbox(visible=False)
        filled = gr.Textbox(visible=False)
        with gr.Column(elem_classes="page"):
            head = pane("results-head")
            with gr.Tabs(elem_id="sub", visible=False) as views:
                for name, view in zip(VIEWS, self._views(), strict=True):
                    with gr.Tab(t(f"tab.{name}"), id=name, elem_id=f"tab-{name}") as tab:
                        view.build(run_id)
                    tab.select(
                        partial(self.open, name),
                        [run_id, filled],
                        [filled, *view.outputs],
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
        nothing = tuple(SKIP for view in self._views() for _ in view.outputs)
        try:
            shown = Shown(self.desk, self.t, run_id) if run_id else None
        except EvaluiError as error:
            return (
                "",
                "",
                self._none(self.t.told(error.sentence)),
                gr.Tabs(visible=False),
                *nothing,
            )
        if shown is None:
            return ("", "", self._none(""), gr.Tabs(visible=False), *nothing)
        wish = one(form, "sub")
        # Written answers favour no position, so a run of them alone has no such view.
        offered = VIEWS if shown.has_choices else tuple(view for view in VIEWS if view != "bias")
        name = wish if wish in offered else VIEWS[0]
        parts: list[Any] = []
        for other, view in zip(VIEWS, self._views(), strict=True):
            filled = other == name
            parts += self._content(name, run_id, form) if filled else [SKIP] * len(view.outputs)
        views = gr.Tabs(visible=True, selected=name)
        return (run_id, f"{name}@{shown.run.revision}", self.head(shown), views, *parts)

    def open(self, name: str, run_id: str, filled: str) -> tuple[Any, ...]:
        """A view when its tab is pressed; one that was filled already keeps its filters."""
        view = self._views()[VIEWS.index(name)]
        stamp = f"{name}@{self.desk.run(run_id).revision}" if run_id else ""
        if not run_id or stamp in filled.split():
            return (SKIP, *(SKIP for _ in view.outputs))
        return (f"{filled} {stamp}", *self._content(name, run_id, {}))

    def head(self, shown: Shown) -> Html:
        """The run's name, what it was, and how it ended."""
        t, run = self.t, shown.run
        models = len({cell.cell.model for cell in shown.questioned})
        modes = dict.fromkeys(mode_words(t, cell) for cell in shown.questioned)
        judges = dict.fromkeys(c.cell.model for c in shown.cells if c not in shown.questioned)
        facts = [
            t.count("results.models", models),
            " · ".join(dict.fromkeys(cell.cell.dataset for cell in shown.cells)),
            t("list.semicolon").join(modes),
            *([t("results.judges", names=t("list.comma").join(judges))] if judges else []),
            t(f"results.{run.state}", moment=moment(t, run.finished or run.started or run.created)),
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
        return div(
            page_head(run.name, " · ".join(facts), copy, repeat),
            self._unfinished(run),
            cls="stack" if shown.has_choices else "stack no-choices",  # hides the Bias tab
        )

    def _views(self) -> tuple[Overview, Bias, Samples, Report]:
        return self.overview, self.bias, self.samples, self.report

    def _content(self, name: str, run_id: str, form: Form) -> tuple[Any, ...]:
        if name == "samples":
            return (self.samples.show(run_id, form),)
        if name == "bias":
            return self.bias.show(run_id, one(form, "bias_cell"))
        return self.overview.show(run_id) if name == "overview" else self.report.show(run_id)

    def _unfinished(self, run: RunRow) -> Html | None:
        if run.state not in ("queued", "running"):
            return (
                note("bad", self.t.told(run.error)) if run.state == "failed" and run.error else None
            )
        link = el("a", self.t("results.watch"), href=f"?run={run.id}&tab=runs")
        return note("na", self.t("results.live"), " ", link)

    def _none(self, problem: str) -> Html:
        t = self.t
        rows = [row for row in self.desk.store.runs(self.desk.owner) if row.done][:_RECENT]
        links = [
            [
                el("a", row.name, href=f"?run={row.id}&tab=results"),
                status("ok" if row.state == "done" else "na", t(f"runstate.{row.state}")),
                moment(t, row.created),
            ]
            for row in rows
        ]
        heads = [t("runs.run"), t("runs.state"), t("runs.when")]
        listed = table(heads, links) if links else el("p", t("results.nothing"), cls="dim")
        return div(
            page_head(t("results.title"), t("results.promise")),
            div(note("warn", problem), role="alert") if problem else None,
            titled(t("results.recent"), listed),
            cls="stack",
        )
