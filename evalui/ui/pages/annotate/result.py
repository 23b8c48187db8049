"""What an annotator sees after finishing: the preferred models, and who agrees with whom."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import gradio as gr

from evalui.app.ballots import VoterState, import_votes, own_verdicts
from evalui.app.datasets import store_upload
from evalui.app.results import run_report
from evalui.app.service import AppService
from evalui.messages import Messages
from evalui.report.analyses.base import OpenContext
from evalui.report.analyses.people import contestant_markers, people_blocks
from evalui.report.blocks import Block, Card, Headline, Markers, TableCell, text_table
from evalui.report.numbers import fixed
from evalui.scoring.arena.battles import BattleTally, tallies
from evalui.scoring.arena.people import PeopleFigures, one_per_dataset
from evalui.scoring.arena.verdicts import battles_from_verdicts
from evalui.store.runs import RunRow
from evalui.types import Verdict
from evalui.ui.blocks import show
from evalui.ui.components.listing import markup
from evalui.ui.components.templates import fill
from evalui.ui.components.widgets import note
from evalui.ui.pages.annotate.visit import Visit, Way, ways


def show_result(visit: Visit, state: VoterState) -> None:
    """Make the components of the result.

    Guests see their own votes alone, and so does everybody before all have ended.
    """
    run, t = visit.run, visit.t
    assert run, "something was voted on"
    is_whole = not (visit.is_guest or state.is_open)
    own = _whole(visit, run) if is_whole else _own(visit, run)
    with gr.Row(elem_classes="result-line"):
        markup(fill("annotate/runline.html", t=t, visit=visit), elem_classes="ev")
        if is_whole and visit.leads:
            _show_import(visit, run)
        save = Way(t("annotate.save"), f"../votes/{run.id}.jsonl", saved=True)
        lead = Way(t("annotate.voters_title"), visit.address(sub="voters"))
        links = ways(save if is_whole else None, lead if visit.leads else None)
        markup(links, elem_classes="ev")
    show(t, own, scope="annotate")
    if state.is_open and not visit.is_guest:
        markup(note("na", t("annotate.others_later")), elem_classes="ev")


def _show_import(visit: Visit, run: RunRow) -> None:
    """Make the button that adds votes of a file."""
    t, screen = visit.t, visit.screen
    button = gr.UploadButton(t("annotate.load"), file_types=[".jsonl"], scale=0, size="md")

    def add(service: AppService, sent: str) -> str:
        file = Path(sent)
        upload = store_upload(service, [(file.name, file.read_bytes())])
        told = t.count("annotate.imported", import_votes(service, run.id, upload))
        gr.Info(told, title=t("annotate.load"))
        return screen.address()

    # A notice goes by the queue alone.
    screen.on(button.upload, add, button, screen.place, queue=True)


def _own(visit: Visit, run: RunRow) -> Iterator[Block]:
    """What somebody voted themselves."""
    own = own_verdicts(visit.service, run.id, visit.voter)
    yield Headline(_preference(visit.t, _counted(own)))
    if own:
        yield _tally_card(visit.t, "", own, Markers([*_counted(own)]))


def _whole(visit: Visit, run: RunRow) -> Iterator[Block]:
    """The same and, below it, what all have said."""
    t, service = visit.t, visit.service
    people, baselines = run_report(service, run.id, t.language).people, service.models.baselines()
    of_each = [(each, _cast_by(each, visit.voter)) for each in one_per_dataset(people)]
    every = [verdict for _, own in of_each for verdict in own]
    yield Headline(_preference(t, _counted(every)))
    for figures, own in of_each:
        if own:
            dataset = figures.judged.dataset if len(of_each) > 1 else ""
            yield _tally_card(t, dataset, own, contestant_markers(figures, baselines))
    yield from people_blocks(people, OpenContext(t.language, (), baselines, baselines))


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
