"""One duel in full: both answers as the Markdown they are written in, and what was said of them.

HTML in a text is shown as the characters it consists of, and nothing is loaded from anywhere.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from evalui.app.duels import JudgedPair
from evalui.app.open_run_view import OpenRunView
from evalui.messages import Messages
from evalui.report.html import Html
from evalui.report.numbers import fixed
from evalui.scoring.arena.figures import PEOPLE
from evalui.scoring.arena.verdicts import PANEL_NAME
from evalui.types import Sample, Verdict
from evalui.ui.components.format import short_id, source
from evalui.ui.components.formulas import math_files
from evalui.ui.components.pictures import Pictures
from evalui.ui.components.templates import fill
from evalui.ui.components.texts import render_markdown


@dataclass(frozen=True, slots=True)
class _Question:
    """A question as harmless markup; `beside` are its references and what guides a judge."""

    text: Html
    history: Sequence[tuple[str, Html]]
    beside: Sequence[tuple[str, Html]]


@dataclass(frozen=True, slots=True)
class _Turn:
    """One answer, below the `question` it follows, with its `title`, if that is not the first."""

    text: Html | str
    title: str
    question: Html | str


@dataclass(frozen=True, slots=True)
class _Answer:
    """What a model wrote; `model` is its name, place and whether it is a baseline."""

    model: tuple[str, int, bool]
    turns: Sequence[_Turn]


@dataclass(frozen=True, slots=True)
class _Outcome:
    """Who won, in words; `kind` is its icon where nobody said so, else ""."""

    outcome: str
    kind: str = ""


@dataclass(frozen=True, slots=True)
class _Verdict:
    """One judgement: the judge's own `words`, or the `shares` that it gave each outcome."""

    title: str
    said: _Outcome
    words: Html | str
    shares: Sequence[tuple[str, str]]
    members: Sequence[tuple[str, _Outcome]]
    rule: str
    is_injected: bool
    is_retried: bool


def duel_in_full(view: OpenRunView, meeting: JudgedPair, address: str) -> Html:
    """One duel, whose address is copied; a question that is gone leaves its verdicts."""
    t, arena = view.t, view.arena
    sample = arena.samples.get(meeting.sample_id)
    in_order = sorted(meeting.verdicts, key=lambda one: one.duel.model_a != meeting.left)
    script, sheet = math_files()
    pictures = Pictures.of_run(t, view.service, view.run.id, meeting.sample_id)
    return fill(
        "duels/duel.html",
        t=t,
        id=short_id(meeting.sample_id),
        where=source(t, sample, sample.metadata.get("capability", "")) if sample else "",
        address=address,
        question=_question(t, sample, pictures) if sample else None,
        answers=[
            _answer(view, sample, name, meeting.sample_id, pictures)
            for name in (meeting.left, meeting.right)
        ],
        verdicts=[_verdict(view, verdict, pictures) for verdict in in_order],
        summary=_summary(t, meeting, people=arena.by == PEOPLE),
        script=script,
        sheet=sheet,
    )


def _question(t: Messages, sample: Sample, pictures: Pictures) -> _Question:
    several = len(sample.references) > 1
    beside = [
        (t("arena.duel.references", n=place) if several else t("arena.duel.reference"), text)
        for place, text in enumerate(sample.references, start=1)
    ]
    if guidance := sample.metadata.get("guidance", ""):
        beside.append((t("arena.duel.guidance"), guidance))
    return _Question(
        render_markdown(sample.question, pictures.figure),
        [
            (t(f"role.{turn.role}"), render_markdown(turn.content, pictures.figure))
            for turn in sample.history
        ],
        [(title, render_markdown(text, pictures.figure)) for title, text in beside],
    )


def _answer(
    view: OpenRunView, sample: Sample | None, name: str, sample_id: str, pictures: Pictures
) -> _Answer:
    t, context = view.t, view.context
    turns = next(
        (one.answers.get(sample_id, ()) for one in view.arena.contestants if one.name == name), ()
    )
    follow_ups = ("", *(sample.follow_ups if sample else ()))
    asked = [*follow_ups, *[""] * len(turns)]
    model = context.model(name)
    return _Answer(
        (name, model.place, model.baseline),
        [
            _Turn(
                render_markdown(text, pictures.figure) if text.strip() else "",
                t("arena.duel.turn", n=place) if question else "",
                render_markdown(question, pictures.figure) if question else "",
            )
            for place, (text, question) in enumerate(zip(turns, asked, strict=False), start=1)
        ],
    )


def _verdict(view: OpenRunView, verdict: Verdict, pictures: Pictures) -> _Verdict:
    t, first = view.t, verdict.duel.model_a
    is_panel = verdict.rater == PANEL_NAME
    has_words = not verdict.probabilities and verdict.reply.strip()
    return _Verdict(
        title=t("arena.duel.vote", by=verdict.rater, model=first)
        if view.arena.by == PEOPLE
        else t("arena.duel.order", model=first),
        said=_outcome(t, verdict),
        words=render_markdown(verdict.reply, pictures.figure) if has_words else "",
        shares=_shares(t, verdict),
        members=_members(view, verdict) if is_panel else (),
        rule=verdict.rule,
        is_injected=verdict.injected,
        is_retried=verdict.retried,
    )


def _outcome(t: Messages, verdict: Verdict) -> _Outcome:
    duel_ = verdict.duel
    if verdict.unreferenced:
        return _Outcome(t("arena.duel.unreferenced"), "na")
    if verdict.outcome is None:
        key = "no_majority" if verdict.rater == PANEL_NAME else "not_read"
        return _Outcome(t(f"arena.duel.{key}"), "na")
    if verdict.outcome == "tie":
        return _Outcome(t("arena.duel.both_good"))
    if verdict.outcome == "neither":
        return _Outcome(t("arena.duel.both_bad"))
    winner = duel_.model_a if verdict.outcome == "a" else duel_.model_b
    key = "wins_much" if verdict.strength == 3 else "wins"
    return _Outcome(t(f"arena.duel.{key}", model=winner))


def _shares(t: Messages, verdict: Verdict) -> list[tuple[str, str]]:
    """How probable the judge found each outcome, nothing where it wrote words."""
    names = (
        t("arena.duel.wins", model=verdict.duel.model_a),
        t("arena.duel.wins", model=verdict.duel.model_b),
        t("arena.duel.both_good"),
        t("arena.duel.both_bad"),
    )
    shares = [f"{fixed(100 * share, 0)} %" for share in verdict.probabilities]
    return list(zip(names, shares, strict=True)) if shares else []


def _members(view: OpenRunView, verdict: Verdict) -> list[tuple[str, _Outcome]]:
    """The verdict of each judge of a panel on the same presentation."""
    panel = view.arena
    return [
        (one.by, _outcome(view.t, member))
        for one in view.report.arenas
        if one.by in panel.judges and one.dataset == panel.dataset
        for member in one.verdicts
        if member.duel == verdict.duel
    ]


def _summary(t: Messages, meeting: JudgedPair, *, people: bool) -> tuple[str, str] | None:
    """Whether the outcome was the same in every order, as kind and sentence; None of one order."""
    if len(meeting.verdicts) < 2:
        return None
    voters = "_people" if people else ""
    if meeting.changed:
        return "warn", t(f"arena.duel.sway{voters}")
    return ("ok", t(f"arena.duel.same{voters}")) if None not in meeting.sides else None
