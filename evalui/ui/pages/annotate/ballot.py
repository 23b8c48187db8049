"""The ballot: two answers without names, side by side, and the buttons and keys to vote with.

The pair after it is in the markup already, unseen: a vote shows it at once, and the server's
answer, which says the same, puts a further one behind it. No name of a model is in this markup: who
stands where is in the store.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, get_args

import gradio as gr

from evalui.app import ballots
from evalui.app.ballots import VoterState
from evalui.app.service import AppService
from evalui.errors import EvaluiError
from evalui.messages import Messages
from evalui.pictures import Mark
from evalui.report.html import Html
from evalui.store.voting.ballots import Ballot
from evalui.store.voting.votes import MAX_COMMENT, VoteChoice, VoteInput, VotingProgress
from evalui.types import Outcome, Sample
from evalui.ui.components.action import Action
from evalui.ui.components.form import ClientStateError
from evalui.ui.components.format import duration
from evalui.ui.components.formulas import math_files
from evalui.ui.components.pictures import Pictures
from evalui.ui.components.templates import fill
from evalui.ui.components.texts import render_markdown
from evalui.ui.pages.annotate.visit import Visit

CHOICES: Mapping[str, Outcome] = {"1": "a", "2": "b", "3": "tie", "4": "neither"}  # by their keys
_MAX_VOTE_S = 3600.0  # a longer time means that the page was left open
_KNOWN: Mapping[str, VoteChoice] = {
    name: name for part in get_args(VoteChoice) for name in get_args(part)
}
_SCRIPT = "evalui.formulas(element, watch); evalui.ballot(element, trigger, watch, 'act')"


def show_ballot(visit: Visit, state: VoterState) -> None:
    """Make the component that changes itself with each vote.

    Its event has what to `do`, of a vote the `choice`, the token of its `pair`, that of the `next`
    one, which is shown already, the `comment` and the seconds `spent`. The value that answers it
    states its `sequence`: until then, and for 200 ms after a pair is shown, no other press is sent.
    """
    screen = visit.screen
    ballot = gr.HTML(
        _ballot(visit, state), js_on_load=_SCRIPT, apply_default_css=False, elem_classes="ev"
    )
    outputs = [ballot, screen.place]
    screen.on_act(ballot, partial(_done, visit), None, outputs, trigger_mode="multiple")


def pair_alone(visit: Visit, shown: Ballot) -> Html:
    """A pair without buttons."""
    script, sheet = math_files()
    return fill(
        "annotate/pair.html", t=visit.t, shown=_shown(visit, shown), script=script, sheet=sheet
    )


def _done(visit: Visit, service: AppService, action: Action) -> tuple[Any, Any]:
    """Do what was pressed; the ballot after it, or the page where there is no other one."""
    assert visit.run, "there is something to vote on"
    run_id, voter, screen = visit.run.id, visit.voter, visit.screen
    preferred, problem = action.value("next"), ""
    try:
        match action.do:
            case "finish":
                ballots.finish_voting(service, run_id, voter)
            case "undo":
                preferred = ballots.undo_vote(service, run_id, voter)
            case _:
                ballots.cast_vote(service, run_id, _vote(action), voter)
    except EvaluiError as error:
        preferred, problem = action.value("pair"), visit.t.translate(error.sentence)
    state = ballots.voter_state(service, run_id, voter, preferred)
    same: Any = gr.skip()  # pyright: ignore[reportUnknownVariableType] # of Gradio
    if state.progress.finished or not state.progress.pairs:
        return same, screen.address()
    return _ballot(visit, state, action, problem), same


def _vote(action: Action) -> VoteInput:
    choice, comment = _KNOWN.get(action.value("choice")), action.value("comment")
    if choice is None or len(comment) > MAX_COMMENT:
        raise ClientStateError  # our own page sends known votes
    return VoteInput(action.value("pair"), choice, comment, _seconds(action.value("spent")))


def _seconds(text: str) -> float | None:
    """What the browser measured, None if it did not."""
    try:
        seconds = float(text)
    except ValueError:
        return None
    return seconds if 0 <= seconds <= _MAX_VOTE_S else None


def _ballot(
    visit: Visit, state: VoterState, answered: Action | None = None, problem: str = ""
) -> Html:
    """The first pair with its buttons, and unseen the next; or that all pairs are done."""
    t, progress = visit.t, state.progress
    script, sheet = math_files()
    return fill(
        "annotate/ballot.html",
        t=t,
        visit=visit,
        below=t("annotate.below", place=_place(t, state)),
        far=_far(t, progress),
        problem=problem,
        comment=answered.value("comment") if answered and problem else "",
        shown=[_shown(visit, each) for each in state.ballots],
        answer=answered.value("sequence") if answered else "",
        choices=CHOICES,
        longest=MAX_COMMENT,
        last=_last_vote(t, progress),
        can_undo=progress.last is not None,
        script=script,
        sheet=sheet,
    )


def _place(t: Messages, state: VoterState) -> str:
    """Which of how many pairs it is."""
    if not state.ballots:
        return t("annotate.all_done")
    progress = state.progress
    number = f"{progress.own_votes + progress.skipped + 1:,}"
    place = t("annotate.pair", n=number, total=f"{progress.pairs:,}")
    return f"{state.ballots[0].dataset_name} · {place}"


def _far(t: Messages, progress: VotingProgress) -> Mapping[str, Any]:
    done = progress.own_votes + progress.skipped
    left = t("annotate.left", n=f"{progress.remaining:,}")
    if progress.remaining and progress.seconds:
        spent = duration(t, progress.remaining * progress.seconds)
        left = t("annotate.left_time", n=f"{progress.remaining:,}", time=spent)
    covered, pairs = f"{progress.covered:,}", f"{progress.pairs:,}"
    return {
        "done": t("annotate.done", n=f"{done:,}"),
        "left": left,
        "share": done / progress.pairs,
        "all": t.count("annotate.far_all", progress.people, covered=covered, pairs=pairs),
    }


def _last_vote(t: Messages, progress: VotingProgress) -> str:
    """That the last vote is kept, and what it was."""
    if progress.last is None:
        return t("annotate.saved_first")
    word = t(f"annotate.said_{progress.last.choice}")
    return t("annotate.saved", n=f"{progress.own_votes + progress.skipped:,}", said=word)


@dataclass(frozen=True, slots=True)
class _Turn:
    """One answer, and the further question of a conversation before it."""

    answer: Html | str
    question: Html | str


@dataclass(frozen=True, slots=True)
class _ShownPair:
    """A ballot with its texts as harmless markup."""

    key: str
    facts: str
    history: list[tuple[str, Html]]
    question: Html
    references: list[Html]
    guidance: Html | str
    left: list[_Turn]
    right: list[_Turn]


def _shown(visit: Visit, ballot: Ballot) -> _ShownPair:
    assert visit.run, "there is something to vote on"
    t, sample = visit.t, ballot.sample
    figure = Pictures.of_run(t, visit.service, visit.run.id, sample.id).figure
    language, guidance = (sample.metadata.get(name, "") for name in ("language", "guidance"))
    known = f"annotate.language_{language}"
    facts = (
        t("annotate.question"),
        sample.metadata.get("capability", ""),
        t(known) if known in t else language,
    )
    return _ShownPair(
        ballot.pair_key,
        " · ".join(fact for fact in facts if fact),
        [(turn.role, render_markdown(turn.content, figure)) for turn in sample.history],
        render_markdown(sample.question, figure),
        [render_markdown(text, figure) for text in sample.references if text.strip()],
        render_markdown(guidance, figure) if guidance.strip() else "",
        _turns(sample, ballot.left, figure),
        _turns(sample, ballot.right, figure),
    )


def _turns(
    sample: Sample, answers: Sequence[str], figure: Callable[[Mark], Html | str]
) -> list[_Turn]:
    questions = ("", *sample.follow_ups)
    return [
        _Turn(
            render_markdown(text, figure) if text.strip() else "",
            render_markdown(question, figure) if question else "",
        )
        for question, text in zip(questions, answers, strict=False)
    ]
