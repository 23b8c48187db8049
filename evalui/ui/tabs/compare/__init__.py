"""The Compare tab: models of one or several runs on the same questions, paired.

Its whole state is an address: the cells, the measure, the pair, and the question that is open.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from evalui.app.comparisons import (
    ComparableRun,
    ComparedCell,
    Incompatibility,
    comparable_runs,
    compare_cells,
    compare_ids,
    comparison_address,
    comparison_facts,
    first_comparable_cells,
    notes_on,
    read_ids,
    share_comparison,
    signatures_of,
    split_comparable,
)
from evalui.app.questions import AnsweringModel
from evalui.app.service import AppService
from evalui.app.sharing import withdraw
from evalui.errors import EvaluiError
from evalui.messages import Messages
from evalui.report.analyses.comparison.blocks import comparison_blocks
from evalui.report.analyses.comparison.figures import Comparison, Contender
from evalui.report.analyses.comparison.findings import measure_words
from evalui.report.html import Html, div, el, span
from evalui.report.render.page import render_blocks
from evalui.ui.components.form import PANEL, Form, field_value, field_values
from evalui.ui.components.fragment import Action
from evalui.ui.components.widgets import alert, note, page_head, select
from evalui.ui.sharing.links import (
    SHARE,
    SharedPage,
    chosen_days,
    share_button,
    share_panel,
)
from evalui.ui.tabs.compare.query import CompareQuery, read_query
from evalui.ui.tabs.compare.question import PairView, contender_name
from evalui.ui.tabs.compare.questions import question_list_card
from evalui.ui.tabs.compare.selection import chooser, no_runs_page


@dataclass(frozen=True, slots=True)
class _Choice:
    """What can be compared, what is ticked in the list of runs, and what is looked for there."""

    offered: Sequence[ComparableRun]
    ticked: Sequence[int]
    find: str
    open: bool


class CompareTab:
    """The tab in one language."""

    def __init__(self, service: AppService, t: Messages) -> None:
        self.service = service
        self.t = t

    def render(self, form: Form) -> Html:
        """The comparison of an address, or what can be chosen."""
        query, offered = read_query(form), comparable_runs(self.service)
        ids, problem = read_ids(query.cells), ""
        if not ids and query.run:
            ids, problem = self._cells_of_run(offered, query.run)
        able, refused = split_comparable(self.service, offered, ids)
        if ids and not able:
            ids, problem = (), self.t("error.compare-gone")
        ticked = read_ids(",".join(field_values(form, "ticked"))) if "ticked" in form else ids
        choice = _Choice(offered, ticked, field_value(form, "find_run"), "ticked" in form)
        if len(able) < 2:
            return self._choice_page(query, choice, problem, refused)
        return self._comparison_page(query, able, refused, choice, form)

    def act(self, action: Action) -> Html:
        """The page after a tick, a search in the list of runs, or another measure or pair."""
        if action.do in ("share", "withdraw"):
            query = read_query(action.form)
            ids = (
                read_ids(query.cells)
                or self._cells_of_run(comparable_runs(self.service), query.run)[0]
            )
            if action.do == "withdraw":
                shown = compare_ids(self.service, ids, query.measure).comparison
                withdraw(self.service, action.value("link"), comparison_address(shown))
            else:
                days = chosen_days(action.form)
                share_comparison(self.service, ids, query.measure, days, query.pair)
            return self.render(action.form)
        form = dict(action.form)
        if action.value("name") not in ("ticked", "find_run"):
            form = {name: value for name, value in form.items() if name not in ("page", "q")}
            form.pop("ticked", None)
        return self.render(form)

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
            return (), self.t("error.compare-gone")
        return (), self.t("compare.live")

    def _comparison_page(
        self,
        query: CompareQuery,
        able: tuple[ComparedCell, ...],
        refused: Sequence[Incompatibility],
        choice: _Choice,
        form: Form,
    ) -> Html:
        t, compared = self.t, compare_cells(self.service, able, query.measure)
        pair = compared.pair(query.pair)
        query = query.of(compared, pair)
        page = self._shared_page(query, able, compared)
        blocks = comparison_blocks(
            t,
            compared,
            pair,
            notes=notes_on(t, able, refused),
            address=lambda each: f"?{query.with_pair(each.key).address}",
        )
        others = el(
            "details",
            el("summary", el("b", t("compare.choose_others")), span(cls="finding")),
            div(self._chooser(choice), cls="in"),
            id="choose",
            open=choice.open,
        )
        return div(
            self._run_line(able, compared, page),
            share_panel(self.service, t, form, page),
            render_blocks(blocks),
            question_list_card(
                PairView(t, self.service.database, compared, pair, query, _models(able))
            )
            if pair
            else None,
            el("section", others, cls="disc"),
            render_blocks([signatures_of(able)]),
            cls="compare",
            data_address=query.address + (f"&{PANEL}={SHARE}" if field_value(form, PANEL) else ""),
        )

    def _run_line(
        self, able: Sequence[ComparedCell], compared: Comparison, page: SharedPage
    ) -> Html:
        """What is compared by which measure, and the way to share it."""
        t, first = self.t, able[0].row
        runs = {each.contender.run: each.contender.run_name for each in able}
        words = {
            name: measure_words(t, f"compare.measure_of.{name}", name) for name in compared.measures
        }
        chosen = select("measure", words, compared.measure, aria_label=t("compare.measure"))
        share = share_button(self.service, t, page, cls="btn pri")
        several = len(runs) > 1
        return div(
            el("b", first.cell.dataset),
            span(comparison_facts(t, able, compared), cls="meta"),
            None if several else _run_link(able[0].contender),
            span(*(_contender(each.contender, several) for each in able), cls="compare-who"),
            div(div(chosen, cls="field") if len(words) > 1 else None, share, cls="acts"),
            cls="runline",
        )

    def _shared_page(
        self, query: CompareQuery, able: Sequence[ComparedCell], compared: Comparison
    ) -> SharedPage:
        runs = dict.fromkeys(each.contender.run for each in able)
        rows, address = [self.service.run(each) for each in runs], f"?{query.address}"
        return SharedPage(rows, comparison_address(compared), address, copied=address)

    def _choice_page(
        self,
        query: CompareQuery,
        choice: _Choice,
        problem: str,
        refused: Sequence[Incompatibility],
    ) -> Html:
        """The page without a comparison: what to choose from, or what to do first."""
        t = self.t
        return div(
            page_head(t("compare.title"), t("compare.promise")),
            alert("warn", problem),
            *(note("warn", text) for text in notes_on(t, (), refused)),
            self._chooser(choice) if choice.offered else no_runs_page(t),
            cls="stack",
            data_address=query.address,
        )

    def _chooser(self, choice: _Choice) -> Html:
        known = {cell.id for offer in choice.offered for cell in offer.cells}
        return chooser(
            self.t,
            choice.offered,
            [id_ for id_ in choice.ticked if id_ in known],
            baselines=self.service.baselines(),
            find=choice.find,
        )


def _models(able: Sequence[ComparedCell]) -> dict[str, AnsweringModel]:
    return {
        each.contender.id: AnsweringModel(each.row, each.contender.place, each.contender.baseline)
        for each in able
    }


def _contender(contender: Contender, several: bool) -> Html:
    """A model, of several runs with its own, which tells two cells of one model apart."""
    link = _run_link(contender) if several and contender.run_name not in contender.name else None
    return span(contender_name(contender), link)


def _run_link(contender: Contender) -> Html:
    return el("a", contender.run_name, href=f"?run={contender.run}&tab=results", cls="meta")
