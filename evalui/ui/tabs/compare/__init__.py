"""The Compare tab: models of one or several runs on the same questions, paired.

Its whole state is an address: the cells, the measure, the pair, and the question that is open.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import gradio as gr

from evalui.errors import EvaluiError
from evalui.messages import Messages
from evalui.report.html import Html, div, el
from evalui.report.icons import model_name
from evalui.ui.components.component_tabs import SKIP, html_fragment, on_action, skip_all
from evalui.ui.components.form import Form, field_value, field_values
from evalui.ui.components.fragment import Action
from evalui.ui.components.widgets import (
    blind_voting_page,
    card,
    field,
    note,
    page_head,
    select,
    signature_line,
)
from evalui.ui.services.service import AppService
from evalui.ui.tabs.compare.comparison import (
    Comparison,
    Incompatibility,
    compare,
    incompatible_cells,
)
from evalui.ui.tabs.compare.questions import QuestionListQuery, question_list_card, read_list_query
from evalui.ui.tabs.compare.selection import (
    ComparableRun,
    ComparableRuns,
    ComparedCell,
    chooser,
    compared_cells,
    first_comparable_cells,
    no_runs_page,
    read_ids,
)
from evalui.ui.tabs.compare.table import (
    chart,
    chart_about,
    outcome_counts_card,
    pairs_table,
    sentences,
    warnings,
)

_CLOSED = "closed"
_FILLED = "filled"
_LIST_FIELDS = ("pair", "only", "page", "question")  # what a press may change


class CompareTab:
    """The tab in one language."""

    def __init__(self, service: AppService, t: Messages) -> None:
        self.service = service
        self.t = t
        self.comparable_runs = ComparableRuns(service)
        self.inputs: list[Any] = []
        self.outputs: list[Any] = []
        # Each filter and step requests the same comparison again.
        self._compare = service.cache.memoize(self._compute)

    def build(self) -> None:
        """Lay out the choice, the sentence with its chart, and the questions."""
        run_id = gr.Textbox(visible=False)
        seen = gr.Textbox(visible=False)
        with gr.Column(elem_classes=["page", "compare"]):
            head = html_fragment("compare-head")
            with gr.Row(visible=False, equal_height=True, elem_classes="charts") as frame:
                with gr.Column(elem_classes="chart-card", scale=3, min_width=320):
                    title = html_fragment("compare-title")
                    plot = gr.Plot(show_label=False, container=False)
                    about = html_fragment("compare-about")
                with gr.Column(elem_classes="chart-card", scale=2, min_width=320):
                    beside = html_fragment("compare-parts")
            below = html_fragment("compare-below")
        self.inputs = [run_id, seen]
        self.outputs = [run_id, seen, head, frame, title, plot, about, beside, below]
        for source in (head, below):
            on_action(source, self.answer, inputs=[run_id], outputs=self.outputs)

    def enter(self, run_id: str, form: Form) -> tuple[Any, ...]:
        """All outputs for an address; another tab's leaves the page empty until it is pressed."""
        if field_value(form, "tab") != "compare":
            return (run_id, "", *self._nothing(Html("")))
        ids = read_ids(field_value(form, "cells"))
        return self._page(run_id, ids, form, replace(read_list_query(form), linked=True))

    def open(self, run_id: str, state: str) -> tuple[Any, ...]:
        """The page when its tab is pressed; what is there already stays."""
        if state in (_CLOSED, _FILLED, _stamp(self.comparable_runs.all())):
            return skip_all(self.outputs)
        return self._page(run_id, (), {}, QuestionListQuery())

    def blind_voting_outputs(self) -> tuple[Any, ...]:
        """All outputs for an annotator, who votes without knowing names."""
        return ("", _CLOSED, *self._nothing(blind_voting_page(self.t, "compare")))

    def answer(self, run_id: str, act: Action) -> tuple[Any, ...]:
        """The page after a tick, another measure or pair, a filter, a step, or a question."""
        ids = read_ids(act.value("compared"))
        if act.do == "set" and act.value("name") in ("cells", "find_run"):
            return self._updated_choice(ids, act.form)
        form: Form = act.form | {name: act.value(name) for name in _LIST_FIELDS}
        if act.do != "question":
            form["question"] = ""
        if act.do in ("set", "pair", "only"):
            form["page"] = "0"
        if act.do in ("only", "page", "question"):
            return self._question_list(run_id, ids, form)
        return self._page(run_id, ids, form, read_list_query(form))

    def _question_list(self, run_id: str, ids: Sequence[int], form: Form) -> tuple[Any, ...]:
        """The list of questions alone: nothing above it changes."""
        able, _ = self._split_comparable(self.comparable_runs.all(), ids)
        if len(able) < 2:  # deleted in another window
            return self._page(run_id, ids, form, QuestionListQuery())
        below = self._below(
            self._compare(able, field_value(form, "measure")), read_list_query(form)
        )
        return *skip_all(self.outputs[:-1]), below

    def _page(
        self, run_id: str, ids: Sequence[int], form: Form, query: QuestionListQuery
    ) -> tuple[Any, ...]:
        offered, problem = self.comparable_runs.all(), ""
        if not ids and run_id:
            ids, problem = self._cells_of_run(offered, run_id)
        able, hinders = self._split_comparable(offered, ids)
        if ids and not able:
            return self._choice(run_id, offered, (), self.t("compare.gone"))
        if len(able) < 2:
            return self._choice(run_id, offered, ids, problem, hinders)
        compared = self._compare(able, field_value(form, "measure"))
        return (run_id, _FILLED, *self._comparison_outputs(offered, ids, compared, hinders, query))

    def _split_comparable(
        self, offered: Sequence[ComparableRun], ids: Sequence[int]
    ) -> tuple[tuple[ComparedCell, ...], tuple[Incompatibility, ...]]:
        """Those of the cells that can be compared, and the others; nothing if one is unknown."""
        try:
            chosen = compared_cells(offered, ids, self.service.baselines())
        except EvaluiError:
            return (), ()
        hinders = incompatible_cells(chosen)
        left_out = [each.cell for each in hinders]
        return tuple(each for each in chosen if each not in left_out), hinders

    def _cells_of_run(
        self, offered: Sequence[ComparableRun], run_id: str
    ) -> tuple[tuple[int, ...], str]:
        """The cells of a run to begin with, or why there are none."""
        for offer in offered:
            if offer.run.id == run_id:
                return first_comparable_cells(offer), ""
        try:
            self.service.run(run_id)
        except EvaluiError:
            return (), self.t("compare.gone")
        return (), self.t("compare.live")

    def _compute(self, chosen: tuple[ComparedCell, ...], measure: str) -> Comparison:
        return compare(self.service, chosen, measure)

    def _comparison_outputs(
        self,
        offered: Sequence[ComparableRun],
        ids: Sequence[int],
        compared: Comparison,
        hinders: Sequence[Incompatibility],
        query: QuestionListQuery,
    ) -> tuple[Any, ...]:
        """The panes of a comparison."""
        t = self.t
        choice = chooser(t, offered, ids, baselines=self.service.baselines())
        head = self._head(compared, hinders, choice, ids)
        versus = compared.pair(query.pair)
        if versus is None:
            nothing = (gr.Row(visible=False), Html(""), None, Html(""), Html(""))
            return (head, *nothing, self._below(compared, query))
        return (
            head,
            gr.Row(visible=True),
            sentences(t, compared),
            chart(t, compared, self.service.baselines()),
            chart_about(t, compared),
            outcome_counts_card(t, compared, versus),
            self._below(compared, query),
        )

    def _below(self, compared: Comparison, query: QuestionListQuery) -> Html:
        """The table of pairs, and the questions on which one pair parts."""
        versus = compared.pair(query.pair)
        if versus is None:
            return card(sentences(self.t, compared))
        return div(
            pairs_table(self.t, compared),
            question_list_card(self.t, compared, versus, query),
            *(signature_line(each.row.cell.signature) for each in compared.cells),
            cls="stack",
        )

    def _head(
        self,
        compared: Comparison,
        hinders: Sequence[Incompatibility],
        choice: Html,
        ids: Sequence[int],
    ) -> Html:
        """What is compared, what stands against it, and the way to another choice."""
        t = self.t
        copy = el(
            "button",
            t("compare.copy"),
            type="button",
            cls="btn",
            data_copy=compared.address(),
            data_done=t("compare.copied"),
        )
        words = {name: t(f"compare.measure_of.{name}") for name in compared.measures}
        measure = field(t("compare.measure"), select("measure", words, compared.measure))
        hidden = ",".join(str(id_) for id_ in ids)
        return div(
            page_head(t("compare.title"), t("compare.same"), copy),
            div(
                div(*(_cell_label(each) for each in compared.cells), cls="compare-who"),
                measure if len(words) > 1 else None,
                cls="compare-bar",
            ),
            el("input", type="hidden", name="compared", value=hidden),
            *warnings(t, compared.cells, hinders),
            el("details", el("summary", t("compare.choose_others")), choice),
            cls="stack",
        )

    def _choice(
        self,
        run_id: str,
        offered: Sequence[ComparableRun],
        ids: Sequence[int],
        problem: str = "",
        hinders: Sequence[Incompatibility] = (),
    ) -> tuple[Any, ...]:
        """The page without a comparison: what to choose from, or what to do first."""
        t = self.t
        known = {cell.id for offer in offered for cell in offer.cells}
        ticked = [id_ for id_ in ids if id_ in known]
        page = div(
            page_head(t("compare.title"), t("compare.promise")),
            div(note("warn", problem), role="alert") if problem else None,
            *warnings(t, (), hinders),
            chooser(t, offered, ticked, baselines=self.service.baselines())
            if offered
            else no_runs_page(t),
            cls="stack",
        )
        return (run_id, _stamp(offered), *self._nothing(page))

    def _updated_choice(self, ids: Sequence[int], form: Form) -> tuple[Any, ...]:
        """The list of runs after a tick or a search; a comparison below it stays as it is."""
        t, offered, baselines = self.t, self.comparable_runs.all(), self.service.baselines()
        ticked = read_ids(",".join(field_values(form, "cells")))
        choice = chooser(
            t, offered, ticked, baselines=baselines, find=field_value(form, "find_run")
        )
        head = div(page_head(t("compare.title"), t("compare.promise")), choice, cls="stack")
        able, hinders = self._split_comparable(offered, ids)
        if len(able) > 1:
            head = self._head(
                self._compare(able, field_value(form, "measure")), hinders, choice, ids
            )
        return (SKIP, SKIP, head, *skip_all(self.outputs[3:]))

    def _nothing(self, head: Html) -> tuple[Any, ...]:
        empty = Html("")
        return (head, gr.Row(visible=False), empty, None, empty, empty, empty)


def _stamp(offered: Sequence[ComparableRun]) -> str:
    """What changes when there is another run to choose from."""
    return " ".join(["choice", *(offer.run.id for offer in offered)])


def _cell_label(contender: ComparedCell) -> Html:
    run = contender.run
    link = el("a", run.name, href=f"?run={run.id}&tab=results", cls="meta")
    # The run beside it distinguishes two cells of one model.
    name = model_name(contender.row.cell.model, contender.place, contender.baseline)
    return div(name, " ", link)
