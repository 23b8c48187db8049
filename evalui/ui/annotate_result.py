"""What a person sees after finishing: whose answers they preferred, and who agrees with whom."""

from collections.abc import Mapping, Sequence

from evalui.errors import DataError
from evalui.report.arena import Arena, arena
from evalui.report.votes import people_figures, read_votes
from evalui.runs.rows import CellRow, RunRow
from evalui.runs.spec import OPEN
from evalui.scoring.agreement import cohen
from evalui.scoring.judging import battles, panel
from evalui.scoring.pairwise import Tally, tallies
from evalui.types import CellResult, Verdict
from evalui.ui.annotate_people import People, agreement, disagreements, powered, standings, voters
from evalui.ui.arena_standings import percent_of
from evalui.ui.desk import Desk
from evalui.ui.html import Child, Html, div, el, join, span
from evalui.ui.text import Text
from evalui.ui.widgets import page_head, table, titled


def result_page(desk: Desk, t: Text, run: RunRow, voter: str) -> Html:
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


def agreement_so_far(desk: Desk, t: Text, run: RunRow, voter: str) -> str:
    """How often this person says what most of the others say, in a sentence without names."""
    said = [vote.verdict for vote in desk.store.votes(run.id)]
    mine = [verdict for verdict in said if verdict and verdict.by == voter]
    others: dict[str, list[Verdict]] = {}
    for verdict in said:
        if verdict and verdict.by != voter:
            others.setdefault(verdict.by, []).append(verdict)
    found = cohen(mine, panel(list(others.values()))) if others else None
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
        raise DataError("The upload holds no file.", "upload-empty")
    given = [vote for path in paths for vote in read_votes(path)]
    return desk.store.add_votes(run.id, given)


def open_datasets(desk: Desk, run_id: str) -> tuple[CellRow, ...]:
    """One cell of written answers for each dataset of a run, in order."""
    found: dict[str, CellRow] = {}
    for cell in desk.store.cells(run_id):
        if cell.cell.mode == OPEN and cell.state != "impossible":
            found.setdefault(cell.dataset_key, cell)
    return tuple(found.values())


def _dataset(desk: Desk, t: Text, run: RunRow, voter: str, *, cell: CellRow, title: str) -> Html:
    said = desk.store.verdicts(run.id, cell.dataset_key)
    judged = _judged(desk, t, run, cell)
    names = [one.name for one in judged.contestants]
    shown = People(t, names, desk.baselines(), judged, people_figures(judged, said))
    return div(
        el("h2", title) if title else None,
        div(_own(shown, said, voter), agreement(shown), cls="row"),
        standings(shown),
        powered(shown),
        disagreements(shown),
        voters(shown),
        cls="stack",
    )


def _judged(desk: Desk, t: Text, run: RunRow, cell: CellRow) -> Arena:
    """The arena of the dataset's judge or panel; one without verdicts if nobody judged."""
    for found in desk.report(run.id, t.language).arenas:
        if found.dataset == cell.cell.dataset:
            return found
    result = desk.store.result(run.id, cell.id)
    contestants = desk.store.contestants(cell)
    return arena(
        CellResult(result.cell, result.samples, (), 0, contestants=contestants, orders="random")
    )


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


def _no_votes(t: Text) -> Html:
    return el("p", t("annotate.no_votes"), cls="dim")


def _upload(t: Text) -> Html:
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
