"""What a person sees after finishing: whose answers they preferred, and who agrees with whom."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from evalui.errors import DataError
from evalui.messages import Messages
from evalui.report.analyses.people.figures import (
    PeopleFigures,
    Votes,
    latest_votes,
    people_figures,
    voted_arenas,
)
from evalui.report.imports.battles import read_votes
from evalui.runs.database.records import CellRow, RunRow
from evalui.runs.database.runs import read_cells
from evalui.runs.database.votes import add_imported_votes, read_verdicts
from evalui.runs.spec import OPEN
from evalui.scoring.arena.agreement import cohen_kappa
from evalui.scoring.arena.battles import BattleTally, tallies
from evalui.scoring.arena.verdicts import battles_from_verdicts, panel_verdicts
from evalui.types import Verdict
from evalui.ui.components.html import Child, Html, div, el, join, span
from evalui.ui.components.widgets import page_head, table, titled
from evalui.ui.services.service import AppService
from evalui.ui.tabs.annotate.people import (
    PeopleView,
    agreement,
    disagreements,
    prediction_powered,
    standings,
    voters,
)
from evalui.ui.tabs.arena.standings import percent_of


def result_page(service: AppService, t: Messages, run: RunRow, voter: str) -> Html:
    """The whole result of a run, dataset by dataset, with the file of its votes."""
    datasets = open_datasets(service, run.id)
    several = len(datasets) > 1
    parts = [
        _dataset(service, t, run, voter, cell=cell, title=cell.cell.dataset if several else "")
        for cell in datasets
    ]
    save = el("a", t("annotate.save"), href=f"../votes/{run.id}.jsonl", cls="btn", download=True)
    below = f"{run.name} · {t('annotate.read_only', name=voter)}"
    return join(page_head(t("annotate.result"), below, _upload(t), save), *parts)


def agreement_so_far(service: AppService, t: Messages, run: RunRow, voter: str) -> str:
    """How often this person says what most of the others say, in a sentence without names."""
    by_person: dict[str, list[Verdict]] = defaultdict(list)
    for verdict in _sides_by_name(service.votes(run.id)):
        by_person[verdict.rater].append(verdict)
    mine = by_person.pop(voter, [])
    found = cohen_kappa(mine, panel_verdicts(list(by_person.values()))) if by_person else None
    if found is None:
        return t("annotate.agreement_alone")
    same = round(found.raw.value * found.n)
    return t.count("annotate.agreement_others", found.n, same=f"{same:,}")


def import_votes(service: AppService, run: RunRow, upload: str, voter: str) -> int:
    """Keep the votes of an uploaded file and return how many are new.

    Raises:
        DataError: the file is no file of votes on this run.
    """
    del voter  # votes keep the names they come with
    paths = service.uploads.paths(service.owner, upload)
    if not paths:
        raise DataError("upload-empty")
    given: dict[str, list[Verdict]] = defaultdict(list)
    for path in paths:
        for dataset, said in read_votes(path).items():
            given[dataset] += said
    return add_imported_votes(
        service.database, run.id, given, pairs=service.voting_pairs.of_run(run.id)
    )


def open_datasets(service: AppService, run_id: str) -> tuple[CellRow, ...]:
    """One cell of written answers for each dataset of a run, in order."""
    found: dict[str, CellRow] = {}
    for cell in read_cells(service.database, run_id):
        if cell.cell.mode == OPEN and cell.state != "impossible":
            found.setdefault(cell.dataset_key, cell)
    return tuple(found.values())


def _sides_by_name(votes: Votes) -> tuple[Verdict, ...]:
    """The votes with the sides of each pair as the names sort: everybody is shown them otherwise.

    Two datasets may call different questions alike, so each question is named with its own.
    """
    told = [
        replace(one, duel=replace(one.duel, sample_id=f"{dataset}\0{one.duel.sample_id}"))
        for dataset, said in votes.items()
        for one in said
    ]
    names = {name for one in told for name in (one.duel.model_a, one.duel.model_b)}
    return latest_votes(told, {name: place for place, name in enumerate(sorted(names))})


def _dataset(
    service: AppService, t: Messages, run: RunRow, voter: str, *, cell: CellRow, title: str
) -> Html:
    said = read_verdicts(service.database, run.id, cell.dataset_key)
    figures = _figures(service, t, run, cell.cell.dataset)
    names = [one.name for one in figures.judged.contestants]
    shown = PeopleView(t, names, service.baselines(), figures.judged, figures)
    return div(
        el("h2", title) if title else None,
        div(_own_standings(shown, said, voter), agreement(shown), cls="row"),
        standings(shown),
        prediction_powered(shown),
        disagreements(shown),
        voters(shown),
        cls="stack",
    )


def _figures(service: AppService, t: Messages, run: RunRow, dataset: str) -> PeopleFigures:
    """The votes on a dataset beside its judge or panel; empty ones if nobody has voted."""
    report = service.report(run.id, t.language)
    found = (one for one in report.people if one.judged.dataset == dataset)
    judged = voted_arenas(dataset, report.arenas, report.results)
    return next(found, None) or people_figures(judged[0], ())


def _own_standings(view: PeopleView, said: Sequence[Verdict], voter: str) -> Html:
    t = view.t
    mine = [verdict for verdict in said if verdict.rater == voter]
    counted = tallies(battles_from_verdicts(mine, "half"))
    heads = [t(f"annotate.{name}") for name in ("model", "wins", "good", "bad", "losses", "rate")]
    rows = [_tally(view, name, tally) for name, tally in _best_first(counted)]
    body = table(heads, rows, right=range(1, len(heads))) if rows else _no_votes(t)
    return titled(t("annotate.own"), body, aside=t.count("annotate.votes", len(mine)), cls="f15")


def _tally(view: PeopleView, name: str, tally: BattleTally) -> list[Child]:
    rate = f"{percent_of(2 * tally.win + tally.tie, 2 * tally.n)} %"
    return [view.model(name), tally.win, tally.both_good, tally.both_bad, tally.lose, el("b", rate)]


def _best_first(counted: Mapping[str, BattleTally]) -> list[tuple[str, BattleTally]]:
    return sorted(counted.items(), key=lambda item: -item[1].win_rate)


def _no_votes(t: Messages) -> Html:
    return el("p", t("annotate.no_votes"), cls="dim")


def _upload(t: Messages) -> Html:
    """A file field that the page's script sends by itself."""
    field = el("input", type="file", accept=".jsonl", tabindex=0)
    return el(
        "label",
        field,
        span(t("annotate.load"), cls="btn"),
        span("", data_status=True, cls="meta"),
        cls="drop add",
        data_sending=t("drop.sending"),
        data_lost=t("drop.lost"),
    )
