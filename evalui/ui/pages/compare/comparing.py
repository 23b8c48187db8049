"""Compare, what an address shows: the comparison of its cells, or why there is none."""

from collections.abc import Sequence
from dataclasses import dataclass

from evalui.app.comparisons import (
    ComparedCell,
    Incompatibility,
    comparable_runs,
    compare_cells,
    comparison_address,
    first_comparable_cells,
    read_ids,
    split_comparable,
)
from evalui.app.questions import AnsweringModel
from evalui.app.service import AppService
from evalui.errors import EvaluiError
from evalui.messages import Messages
from evalui.report.analyses.comparison import Comparison, PairComparison
from evalui.report.blocks import Link, NoteLine, Notes
from evalui.ui.components.form import Form
from evalui.ui.pages.compare.choice import ComparisonChoice, read_choice
from evalui.ui.pages.compare.query import CompareQuery, read_query
from evalui.ui.pages.compare.question import PairView
from evalui.ui.sharing.links import SharedPage


@dataclass(frozen=True, slots=True)
class Shown:
    """What an address shows.

    `able` can be compared, `refused` cannot stand beside them; `compared` is None where there are
    no two, `problem` is why nothing of an address can be shown.
    """

    query: CompareQuery
    choice: ComparisonChoice
    able: tuple[ComparedCell, ...]
    refused: tuple[Incompatibility, ...]
    compared: Comparison | None
    pair: PairComparison | None
    problem: str = ""

    def pair_view(self, service: AppService, t: Messages) -> PairView | None:
        """The pair whose questions are looked at."""
        if self.compared is None or self.pair is None:
            return None
        models = {
            each.contender.id: AnsweringModel(
                each.row, each.contender.place, each.contender.baseline
            )
            for each in self.able
        }
        return PairView(t, service, self.compared, self.pair, self.query, models)


def read_shown(service: AppService, t: Messages, form: Form) -> Shown:
    """What the parameters of an address show to the person."""
    query, offered = read_query(form), comparable_runs(service)
    cells, problem = read_ids(query.cells), ""
    if query.run and not cells and not query.runs:
        own = [offer for offer in offered if offer.run.id == query.run]
        cells = first_comparable_cells(own)
        problem = "" if own else _without_answers(service, t, query.run)
    able, refused = split_comparable(service, offered, cells)
    if cells and not able:
        cells, problem = (), t("error.compare-gone")
    choice = read_choice(offered, query, cells)
    if len(able) < 2:
        return Shown(query, choice, able, refused, None, None, problem)
    compared = compare_cells(service, able, query.measure)
    pair = compared.pair(query.pair)
    return Shown(query.of(compared, pair), choice, able, refused, compared, pair)


def shared_page(service: AppService, shown: Shown) -> SharedPage | None:
    """The page of a comparison as it is shared; None where nothing is compared."""
    if shown.compared is None:
        return None
    runs = dict.fromkeys(each.contender.run for each in shown.able)
    address = f"compare?{shown.query.address}"
    return SharedPage(
        [service.run(each) for each in runs], comparison_address(shown.compared), address, address
    )


def ways_to_statistics(
    t: Messages, able: Sequence[ComparedCell], compared: Comparison
) -> Notes | None:
    """Where each run has the ranks and errors of its own figures; None of written answers."""
    if compared.written:
        return None
    runs = {each.contender.run: each.contender.run_name for each in able}
    several = len(runs) > 1
    about, word = t("compare.statistics"), t("tab.statistics")
    return Notes(
        tuple(
            NoteLine(
                "na",
                about,
                subject=name if several else "",
                link=Link(word, f"results?run={run}&sub=statistics"),
            )
            for run, name in runs.items()
        )
    )


def _without_answers(service: AppService, t: Messages, run_id: str) -> str:
    """Why nothing of a run can be compared."""
    try:
        service.run(run_id)
    except EvaluiError:
        return t("error.compare-gone")
    return t("compare.live")
