"""What an annotator sees after finishing: the preferred models, and who agrees with whom."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import gradio as gr
from gradio.blocks import Block as Component

from evalui.app.ballots import VoterState, own_verdicts
from evalui.app.results import run_report
from evalui.messages import Messages
from evalui.report.analyses.base import OpenContext
from evalui.report.analyses.people import contestant_markers, people_blocks
from evalui.report.blocks import Block, Card, Details, Headline, Markers, TableCell, text_table
from evalui.report.numbers import fixed
from evalui.report.render.page import render_blocks
from evalui.scoring.arena.battles import BattleTally, tallies
from evalui.scoring.arena.people import PeopleFigures, one_per_dataset
from evalui.scoring.arena.verdicts import battles_from_verdicts
from evalui.store.runs import RunRow
from evalui.types import Verdict
from evalui.ui.components.listing import markup
from evalui.ui.components.sent_file import sent_file
from evalui.ui.components.templates import fill
from evalui.ui.components.widgets import note
from evalui.ui.pages.annotate.visit import (
    Visit,
    Way,
    leads,
    page_address,
    rename_address,
    ways,
)


class ResultPart:
    """The components of the result; its blocks are drawn where `blocks` are asked for."""

    def __init__(self, t: Messages) -> None:
        self.t = t
        with gr.Row(visible=False, elem_classes="result-line") as self.row:
            self.line = markup()
            self.votes = sent_file(t, t("annotate.load"), ".jsonl")
            self.ways = markup()
        self.headline = markup(visible=False)
        self.outputs: list[Component] = [
            *(self.row, self.line, self.votes, self.ways, self.headline)
        ]

    def shown(self, visit: Visit, run: RunRow, state: VoterState) -> dict[Component, Any]:
        """The line of the run and what this person preferred."""
        t, is_whole = self.t, _is_whole(visit, state)
        may_lead = leads(visit, run)
        save = Way(t("annotate.save"), f"../votes/{run.id}.jsonl", saved=True)
        lead = Way(t("annotate.voters_title"), page_address(run, sub="voters"))
        preferred = _preference(t, _counted(_own(t, visit, run, state)))
        headline = fill("framed.html", content=render_blocks([Headline(preferred)]), role="")
        line = fill(
            "annotate/runline.html",
            t=t,
            run_name=run.name if is_whole else "",
            voter=visit.voter.shown_name,
            rename=rename_address(visit, run),
        )
        return {
            self.row: gr.update(visible=True),
            self.line: line,
            self.votes: gr.update(visible=is_whole and may_lead),
            self.ways: ways(save if is_whole else None, lead if may_lead else None),
            self.headline: gr.update(value=headline, visible=True),
        }

    def draw(self, visit: Visit, run: RunRow, state: VoterState) -> None:
        """Make the components of the blocks, where Gradio is to draw them."""
        for block in result_blocks(self.t, visit, run, state):
            _draw(block)
        if not _is_whole(visit, state) and not visit.voter.guest:
            later = note("na", self.t("annotate.others_later"))
            markup(fill("framed.html", content=later, role=""))


def result_blocks(t: Messages, visit: Visit, run: RunRow, state: VoterState) -> Iterator[Block]:
    """What stands below the headline.

    Guests see their own votes alone, and so does everybody before all have ended.
    """
    if not _is_whole(visit, state):
        own = own_verdicts(visit.service, run.id, visit.voter.name)
        if own:
            yield _tally_card(t, "", own, Markers([*_counted(own)]))
        return
    people, baselines = _people(t, visit, run), visit.service.models.baselines()
    figures_of_each = one_per_dataset(people)
    for figures in figures_of_each:
        if own := _cast_by(figures, visit.voter.name):
            dataset = figures.judged.dataset if len(figures_of_each) > 1 else ""
            yield _tally_card(t, dataset, own, contestant_markers(figures, baselines))
    yield from people_blocks(people, OpenContext(t.language, (), baselines, baselines))


def _is_whole(visit: Visit, state: VoterState) -> bool:
    return not (visit.voter.guest or state.is_open)


def _own(t: Messages, visit: Visit, run: RunRow, state: VoterState) -> Sequence[Verdict]:
    if not _is_whole(visit, state):
        return own_verdicts(visit.service, run.id, visit.voter.name)
    each = one_per_dataset(_people(t, visit, run))
    return [verdict for figures in each for verdict in _cast_by(figures, visit.voter.name)]


def _people(t: Messages, visit: Visit, run: RunRow) -> Sequence[PeopleFigures]:
    return run_report(visit.service, run.id, t.language).people


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


def _tally_card(t: Messages, dataset: str, verdicts: Sequence[Verdict], markers: Markers) -> Card:
    heads = [t(f"annotate.{name}") for name in ("model", "wins", "good", "bad", "losses", "rate")]
    rows = [
        (markers.cell(name), *_tally_cells(tally)) for name, tally in _counted(verdicts).items()
    ]
    title = " · ".join(filter(None, (t("annotate.own"), dataset)))
    return Card((text_table(heads, rows),), title, aside=t.count("annotate.votes", len(verdicts)))


def _tally_cells(tally: BattleTally) -> tuple[TableCell, ...]:
    counts = (tally.win, tally.both_good, tally.both_bad, tally.lose)
    return (*(f"{n:,}" for n in counts), f"{_win_rate(tally)} %")


def _win_rate(tally: BattleTally) -> str:
    return fixed(100 * (2 * tally.win + tally.tie) / (2 * tally.n), 0)


def _draw(block: Block) -> None:
    if not isinstance(block, Details):
        markup(fill("framed.html", content=render_blocks([block]), role=""))
        return
    with gr.Accordion(f"{block.name} · {block.finding}", open=block.open, elem_classes="finding"):
        for each in block.blocks:
            _draw(each)
