"""What an annotator sees after finishing: the preferred models, and who agrees with whom."""

from collections.abc import Iterator, Mapping, Sequence

from evalui.app.service import AppService
from evalui.messages import Messages
from evalui.report.analyses.people.blocks import people_blocks
from evalui.report.analyses.people.figures import (
    PeopleFigures,
    one_per_dataset,
)
from evalui.report.analyses.people.standings import contestant_cells
from evalui.report.blocks import Block, Card, Headline, ModelCell, TableCell, text_table
from evalui.report.html import Html, div, el, join, span
from evalui.report.render.page import render_blocks
from evalui.runs.database.records import RunRow
from evalui.runs.database.voting import votes as stored_votes
from evalui.scoring.arena.battles import BattleTally, tallies
from evalui.scoring.arena.verdicts import battles_from_verdicts
from evalui.types import Verdict
from evalui.ui.components.widgets import note
from evalui.ui.tabs.annotate.ballot import Voter, save_link, voting_as


def own_result(
    service: AppService, t: Messages, run: RunRow, voter: Voter, team: Html | None = None
) -> Html:
    """What one person preferred, without the votes of others: guests see no more, and nobody does
    before all have ended.
    """
    cast = [
        vote.verdict
        for vote in stored_votes.read_votes(service.database, run.id)
        if vote.by == voter.name
    ]
    own = [verdict for verdict in cast if verdict]
    cells = {name: ModelCell(name, place) for place, name in enumerate(_counted(own))}
    made = [Headline(_preference(t, _counted(own)))]
    tally = [_tally_card(t, "", own, cells)] if own else []
    line = div(
        span(t("annotate.read_only"), " · ", voting_as(t, voter), cls="meta"), team, cls="runline"
    )
    later = None if voter.guest else note("na", t("annotate.others_later"))
    return join(line, render_blocks((*made, *tally)), later)


def result_page(
    service: AppService, t: Messages, run: RunRow, voter: Voter, team: Html | None
) -> Html:
    """The whole result of a run, dataset by dataset, with the file of its votes."""
    report, baselines = service.report(run.id, t.language), service.baselines()
    people = people_blocks(report.people, t.language, rule_based=baselines)
    own = _own_votes(t, report.people, voter.name, baselines)
    save = save_link(run, "jsonl", t("annotate.save"))
    line = div(
        el("b", run.name),
        span(t("annotate.read_only"), " · ", voting_as(t, voter), cls="meta"),
        span(_upload(t) if team else None, save, team, cls="acts"),
        cls="runline",
    )
    return join(line, render_blocks((*own, *people)))


def _own_votes(
    t: Messages, people: Sequence[PeopleFigures], voter: str, baselines: frozenset[str]
) -> Iterator[Block]:
    """What this person preferred, and how often on each dataset."""
    own = [(figures, _cast_by(figures, voter)) for figures in one_per_dataset(people)]
    every = [verdict for _, verdicts in own for verdict in verdicts]
    yield Headline(_preference(t, _counted(every)))
    for figures, verdicts in own:
        if verdicts:
            dataset = figures.judged.dataset if len(own) > 1 else ""
            cells = contestant_cells(figures, baselines)
            yield _tally_card(t, dataset, verdicts, cells)


def _cast_by(figures: PeopleFigures, voter: str) -> list[Verdict]:
    return [verdict for verdict in figures.cast if verdict.rater == voter]


def _counted(verdicts: Sequence[Verdict]) -> Mapping[str, BattleTally]:
    """The tally of each model, that with the highest win rate first."""
    counted = tallies(battles_from_verdicts(verdicts, "half"))
    return dict(sorted(counted.items(), key=lambda item: -item[1].win_rate))


def _preference(t: Messages, counted: Mapping[str, BattleTally]) -> str:
    if not counted:
        return t("annotate.no_votes")
    (best, tally), *others = counted.items()
    if any(other.win_rate == tally.win_rate for _, other in others):
        return t("annotate.no_preference")
    return t("annotate.preferred", model=best, rate=_win_rate(tally), n=f"{tally.n:,}")


def _tally_card(
    t: Messages, dataset: str, verdicts: Sequence[Verdict], cells: Mapping[str, ModelCell]
) -> Card:
    heads = [t(f"annotate.{name}") for name in ("model", "wins", "good", "bad", "losses", "rate")]
    rows = [(cells[name], *_tally_cells(tally)) for name, tally in _counted(verdicts).items()]
    title = " · ".join(filter(None, (t("annotate.own"), dataset)))
    return Card((text_table(heads, rows),), title, aside=t.count("annotate.votes", len(verdicts)))


def _tally_cells(tally: BattleTally) -> tuple[TableCell, ...]:
    counts = (tally.win, tally.both_good, tally.both_bad, tally.lose)
    return (*(f"{n:,}" for n in counts), f"{_win_rate(tally)} %")


def _win_rate(tally: BattleTally) -> str:
    return f"{100 * (2 * tally.win + tally.tie) / (2 * tally.n):.0f}"


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
        data_reading=t("drop.reading"),
        data_cancel=t("drop.cancel"),
        data_lost=t("drop.lost"),
    )
