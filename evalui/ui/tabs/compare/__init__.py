"""The Compare tab: models of one or several runs on the same questions, paired.

Its whole state is an address: the cells, the measure, the pair, and the question that is open.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from evalui.errors import EvaluiError, SpecError
from evalui.messages import Messages
from evalui.report.analyses.comparison.blocks import comparison_blocks
from evalui.report.analyses.comparison.figures import Comparison, Contender, compare
from evalui.report.analyses.comparison.findings import measure_words
from evalui.report.blocks import Bullets
from evalui.report.html import Html, div, el, span
from evalui.report.render.page import render_blocks
from evalui.report.render.shared import FrozenContent
from evalui.runs.kept_summaries import find_summary, read_answer_summary
from evalui.scoring.cell_summary import pair_summary
from evalui.ui.components.form import PANEL, Form, field_value, field_values
from evalui.ui.components.fragment import Action
from evalui.ui.components.widgets import alert, note, page_head, select
from evalui.ui.services.run_labels import mode_label
from evalui.ui.services.service import AppService
from evalui.ui.sharing.links import (
    SHARE,
    SharedPage,
    chosen_days,
    make_link,
    share_button,
    share_panel,
    withdraw,
)
from evalui.ui.tabs.compare.query import CompareQuery, read_query
from evalui.ui.tabs.compare.question import PairView, contender_name
from evalui.ui.tabs.compare.questions import question_list_card
from evalui.ui.tabs.compare.selection import (
    ComparableRun,
    ComparableRuns,
    ComparedCell,
    Incompatibility,
    chooser,
    compared_cells,
    first_comparable_cells,
    incompatible_cells,
    no_runs_page,
    notes_on,
    read_ids,
)
from evalui.ui.tabs.results.samples.answering import AnsweringModel


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
        self.comparable_runs = ComparableRuns(service)
        # Each filter and step requests the same comparison again.
        self._compare = service.cache.memoize(self._compute)

    def render(self, form: Form) -> Html:
        """The comparison of an address, or what can be chosen."""
        query, offered = read_query(form), self.comparable_runs.all()
        ids, problem = read_ids(query.cells), ""
        if not ids and query.run:
            ids, problem = self._cells_of_run(offered, query.run)
        able, refused = self._split_comparable(offered, ids)
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
            if action.do == "withdraw":
                address = _shared_address(self._compared(action.form)[0])
                withdraw(self.service, action.value("link"), address)
            else:
                self.share(action.form, chosen_days(action.form))
            return self.render(action.form)
        form = dict(action.form)
        if action.value("name") not in ("ticked", "find_run"):
            form = {name: value for name, value in form.items() if name not in ("page", "q")}
            form.pop("ticked", None)
        return self.render(form)

    def share(self, form: Form, days: int) -> str:
        """Freeze the comparison of an address, and return the last part of the link.

        Raises:
            AccountError: there is no such link, or no such days.
            NotAllowed: the person may not change each of its runs.
            SpecError: there is nothing to compare.
        """
        query, able = self._compared(form)
        for run_id in dict.fromkeys(each.contender.run for each in able):
            self.service.require("change", run_id)
        return make_link(
            self.service,
            title=able[0].row.cell.dataset,
            address=_shared_address(query),
            owner=self.service.run(able[0].contender.run).owner,
            days=days,
            content=lambda t: self._frozen(t, query, able),
        )

    def frozen(self, t: Messages, form: Form) -> FrozenContent:
        """What a link to the comparison of an address would show; raises as `share` does."""
        return self._frozen(t, *self._compared(form))

    def _compared(self, form: Form) -> tuple[CompareQuery, tuple[ComparedCell, ...]]:
        """What an address compares, as it is written; raises `SpecError` if that is nothing."""
        query, offered = read_query(form), self.comparable_runs.all()
        ids = read_ids(query.cells) or self._cells_of_run(offered, query.run)[0]
        able, _ = self._split_comparable(offered, ids)
        if len(able) < 2:
            raise SpecError("compare-gone")
        compared = self._compare(able, query.measure)
        return query.of(compared, compared.pair(query.pair)), able

    def _frozen(
        self, t: Messages, query: CompareQuery, able: tuple[ComparedCell, ...]
    ) -> FrozenContent:
        compared = self._compare(able, query.measure)
        pair = compared.pair(query.pair)
        blocks = comparison_blocks(t, compared, pair, notes=notes_on(t, able, ()))
        signatures = _signatures(able).texts
        return FrozenContent(_facts(t, able, compared), blocks, ("compared",), signatures)

    def _split_comparable(
        self, offered: Sequence[ComparableRun], ids: Sequence[int]
    ) -> tuple[tuple[ComparedCell, ...], tuple[Incompatibility, ...]]:
        """Those of the cells that can be compared, and the others; nothing if one is unknown."""
        try:
            chosen = compared_cells(offered, ids, self.service.baselines())
        except EvaluiError:
            return (), ()
        refused = incompatible_cells(chosen)
        left_out = [each.cell for each in refused]
        return tuple(each for each in chosen if each not in left_out), refused

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

    def _compute(self, chosen: tuple[ComparedCell, ...], measure: str) -> Comparison:
        results = [self.service.result(each.row) for each in chosen]
        if results[0].cell.gives == "answers":
            answers = [
                read_answer_summary(self.service.database, each.row.id, result)
                for each, result in zip(chosen, results, strict=True)
            ]
            return compare([each.contender for each in chosen], results, measure, answers=answers)
        # What is not kept is not all computed here: pairs need a part that takes no time.
        summaries = [
            find_summary(self.service.database, each.row.id, result) or pair_summary(result)
            for each, result in zip(chosen, results, strict=True)
        ]
        return compare([each.contender for each in chosen], results, measure, summaries)

    def _comparison_page(
        self,
        query: CompareQuery,
        able: tuple[ComparedCell, ...],
        refused: Sequence[Incompatibility],
        choice: _Choice,
        form: Form,
    ) -> Html:
        t, compared = self.t, self._compare(able, query.measure)
        pair = compared.pair(query.pair)
        query = query.of(compared, pair)
        page = self._shared_page(query, able)
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
            render_blocks([_signatures(able)]),
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
            span(_facts(t, able, compared), cls="meta"),
            None if several else _run_link(able[0].contender),
            span(*(_contender(each.contender, several) for each in able), cls="compare-who"),
            div(div(chosen, cls="field") if len(words) > 1 else None, share, cls="acts"),
            cls="runline",
        )

    def _shared_page(self, query: CompareQuery, able: Sequence[ComparedCell]) -> SharedPage:
        runs = dict.fromkeys(each.contender.run for each in able)
        rows, address = [self.service.run(each) for each in runs], f"?{query.address}"
        return SharedPage(rows, _shared_address(query), address, copied=address)

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


def _facts(t: Messages, able: Sequence[ComparedCell], compared: Comparison) -> str:
    n = f"{len(compared.samples):,}"
    return t("compare.facts", questions=n, mode=mode_label(t, able[0].row))


def _shared_address(query: CompareQuery) -> str:
    """What links to a comparison are listed under, whichever pair and question is open."""
    return f"?{replace(query, run='', pair='', only='', page=0, question='').address}"


def _contender(contender: Contender, several: bool) -> Html:
    """A model, of several runs with its own, which tells two cells of one model apart."""
    link = _run_link(contender) if several and contender.run_name not in contender.name else None
    return span(contender_name(contender), link)


def _run_link(contender: Contender) -> Html:
    return el("a", contender.run_name, href=f"?run={contender.run}&tab=results", cls="meta")


def _signatures(able: Sequence[ComparedCell]) -> Bullets:
    """How the figures of each cell were made."""
    lines = dict.fromkeys(each.row.cell.signature.replace("|", " · ") for each in able)
    return Bullets(tuple(lines), signatures=True)
