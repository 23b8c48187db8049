"""What a person sees after finishing: whose answers they preferred, and who agrees with whom."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from evalui.errors import DataError
from evalui.messages import Messages
from evalui.report.analyses.people.figures import (
    PeopleFigures,
    Votes,
    one_each,
    people_figures,
    read_votes,
    voted_arenas,
)
from evalui.runs.database.records import CellRow, RunRow
from evalui.runs.spec import OPEN
from evalui.scoring.arena.agreement import cohen
from evalui.scoring.arena.battles import Tally, tallies
from evalui.scoring.arena.verdicts import battles, panel
from evalui.types import Verdict
from evalui.ui.components.html import Child, Html, div, el, join, span
from evalui.ui.components.widgets import page_head, table, titled
from evalui.ui.services.service import Desk
from evalui.ui.tabs.annotate.people import (
    People,
    agreement,
    disagreements,
    powered,
    standings,
    voters,
)
from evalui.ui.tabs.arena.standings import percent_of


def result_page(desk: Desk, t: Messages, run: RunRow, voter: str) -> Html:
    """The whole result of a run, dataset by dataset, with the file of its votes."""
    datasets = open_datasets(desk, run.id)
    several = len(datasets) > 1
    parts = [
        _dataset(desk, t, run, voter, cell=cell, title=cell.cell.dataset if several else "")
        for cell in datasets
    ]
    save = el("a", t("annotate.save"), href=f"../votes/{run.id}.jsonl", cls="btn", download=True)
    below = f"{run.name} · {t('annotate.read_only', name=voter)}"
    return join(page_head(t("annotate.result"), below, _upload(t), save), *parts)


def agreement_so_far(desk: Desk, t: Messages, run: RunRow, voter: str) -> str:
    """How often this person says what most of the others say, in a sentence without names."""
    by_person: dict[str, list[Verdict]] = defaultdict(list)
    for verdict in _comparable(desk.votes(run.id)):
        by_person[verdict.by].append(verdict)
    mine = by_person.pop(voter, [])
    found = cohen(mine, panel(list(by_person.values()))) if by_person else None
    if found is None:
        return t("annotate.agreement_alone")
    same = round(found.raw.value * found.n)
    return t.count("annotate.agreement_others", found.n, same=f"{same:,}")


def take_in(desk: Desk, run: RunRow, upload: str, voter: str) -> int:
    """Keep the votes of an uploaded file and return how many are new.

    Raises:
        DataError: the file is no file of votes on this run.
    """
    del voter  # votes keep the names they come with
    paths = desk.uploads.paths(desk.owner, upload)
    if not paths:
        raise DataError("upload-empty")
    given: dict[str, list[Verdict]] = defaultdict(list)
    for path in paths:
        for dataset, said in read_votes(path).items():
            given[dataset] += said
    return desk.store.add_votes(run.id, given)


def open_datasets(desk: Desk, run_id: str) -> tuple[CellRow, ...]:
    """One cell of written answers for each dataset of a run, in order."""
    found: dict[str, CellRow] = {}
    for cell in desk.store.cells(run_id):
        if cell.cell.mode == OPEN and cell.state != "impossible":
            found.setdefault(cell.dataset_key, cell)
    return tuple(found.values())


def _comparable(votes: Votes) -> tuple[Verdict, ...]:
    """The votes with the sides of each pair as the names sort: everybody is shown them otherwise.

    Two datasets may call different questions alike, so each question is named with its own.
    """
    told = [
        replace(one, duel=replace(one.duel, sample_id=f"{dataset}\0{one.duel.sample_id}"))
        for dataset, said in votes.items()
        for one in said
    ]
    names = {name for one in told for name in (one.duel.model_a, one.duel.model_b)}
    return one_each(told, {name: place for place, name in enumerate(sorted(names))})


def _dataset(
    desk: Desk, t: Messages, run: RunRow, voter: str, *, cell: CellRow, title: str
) -> Html:
    said = desk.store.verdicts(run.id, cell.dataset_key)
    figures = _figures(desk, t, run, cell.cell.dataset)
    names = [one.name for one in figures.judged.contestants]
    shown = People(t, names, desk.baselines(), figures.judged, figures)
    return div(
        el("h2", title) if title else None,
        div(_own(shown, said, voter), agreement(shown), cls="row"),
        standings(shown),
        powered(shown),
        disagreements(shown),
        voters(shown),
        cls="stack",
    )


def _figures(desk: Desk, t: Messages, run: RunRow, dataset: str) -> PeopleFigures:
    """The votes on a dataset beside its judge or panel; empty ones if nobody has voted."""
    report = desk.report(run.id, t.language)
    found = (one for one in report.people if one.judged.dataset == dataset)
    judged = voted_arenas(dataset, report.arenas, report.results)
    return next(found, None) or people_figures(judged[0], ())


def _own(shown: People, said: Sequence[Verdict], voter: str) -> Html:
    t = shown.t
    mine = [verdict for verdict in said if verdict.by == voter]
    counted = tallies(battles(mine, "half"))
    heads = [t(f"annotate.{name}") for name in ("model", "wins", "good", "bad", "losses", "rate")]
    rows = [_tally(shown, name, tally) for name, tally in _best_first(counted)]
    body = table(heads, rows, right=range(1, len(heads))) if rows else _no_votes(t)
    return titled(t("annotate.own"), body, aside=t.count("annotate.votes", len(mine)), cls="f15")


def _tally(shown: People, name: str, tally: Tally) -> list[Child]:
    rate = f"{percent_of(2 * tally.win + tally.tie, 2 * tally.n)} %"
    return [shown.model(name), tally.win, tally.both, tally.neither, tally.lose, el("b", rate)]


def _best_first(counted: Mapping[str, Tally]) -> list[tuple[str, Tally]]:
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
