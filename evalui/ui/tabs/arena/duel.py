"""One duel in full: the question, both answers side by side, and each verdict with its reasons."""

from collections.abc import Mapping

from evalui.messages import Messages
from evalui.report.analyses.arena.figures import PEOPLE
from evalui.scoring.arena.verdicts import PANEL_NAME
from evalui.types import Message, Sample, Verdict
from evalui.ui.components.html import Child, Html, div, el, join, span
from evalui.ui.components.widgets import card, definitions, note, status
from evalui.ui.tabs.arena.arena_view import ArenaView, copy_link
from evalui.ui.tabs.arena.judged_pairs import JudgedPair

_KEY = "arena.duel"


def duel_card(view: ArenaView, meeting: JudgedPair, address: str) -> Html:
    """The card of one duel; a question that is gone leaves its verdicts."""
    t, arena = view.t, view.arena
    sample = arena.samples.get(meeting.sample_id)
    people = arena.by == PEOPLE
    heading = el("h2", t(f"{_KEY}.title", id=short_id(meeting.sample_id)))
    return card(
        div(heading, _source(view, sample, address), cls="card-h"),
        _question(t, sample) if sample else None,
        div(
            *(
                _answer(view, sample, name, meeting.sample_id)
                for name in (meeting.left, meeting.right)
            ),
            cls="answers gap",
        ),
        div(
            *(
                _verdict(view, verdict, people=people)
                for verdict in sorted(
                    meeting.verdicts, key=lambda one: one.duel.model_a != meeting.left
                )
            ),
            cls="variants gap",
        ),
        div(_summary(t, meeting, people=people), cls="gap") if len(meeting.verdicts) > 1 else None,
        cls="detail duel",
    )


def short_id(sample_id: str) -> str:
    """An id without the name of its file."""
    return sample_id.rpartition("/")[2]


def outcome_status(t: Messages, verdict: Verdict) -> Html:
    """Who won, as a state with its word."""
    duel = verdict.duel
    if verdict.unreferenced:
        return status("na", t(f"{_KEY}.unreferenced"))
    if verdict.outcome is None:
        return status(
            "na", t(f"{_KEY}.{'no_majority' if verdict.rater == PANEL_NAME else 'not_read'}")
        )
    if verdict.outcome == "tie":
        return span(t(f"{_KEY}.both_good"), cls="st")
    if verdict.outcome == "neither":
        return span(t(f"{_KEY}.both_bad"), cls="st")
    winner = duel.model_a if verdict.outcome == "a" else duel.model_b
    key = "wins_much" if verdict.strength == 3 else "wins"
    return span(t(f"{_KEY}.{key}", model=winner), cls="st")


def _source(view: ArenaView, sample: Sample | None, address: str) -> Html:
    t = view.t
    found: Mapping[str, str] = sample.metadata if sample else {}
    file, line = found.get("file", ""), found.get("line", "")
    where = t(f"{_KEY}.line", line=line, file=file) if file and line else file
    words = " · ".join(word for word in (found.get("capability", ""), where) if word)
    return join(span(words, cls="meta"), copy_link(t, address))


def _question(t: Messages, sample: Sample) -> Html:
    guidance = sample.metadata.get("guidance", "")
    return join(
        el("details", el("summary", t(f"{_KEY}.history")), *_turns(t, sample.history), cls="gap-s")
        if sample.history
        else None,
        el("p", sample.question, cls="question"),
        *_references(t, sample),
        _quote_block(t(f"{_KEY}.guidance"), guidance) if guidance else None,
    )


def _turns(t: Messages, history: tuple[Message, ...]) -> list[Html]:
    return [_quote_block(t(f"role.{turn.role}"), turn.content) for turn in history]


def _references(t: Messages, sample: Sample) -> list[Html]:
    several = len(sample.references) > 1
    return [
        _quote_block(t(f"{_KEY}.references", n=place) if several else t(f"{_KEY}.reference"), text)
        for place, text in enumerate(sample.references, start=1)
    ]


def _quote_block(title: str, text: str) -> Html:
    return div(el("h3", title, cls="lab"), div(text, cls="said"), cls="gap-s")


def _answer(view: ArenaView, sample: Sample | None, name: str, sample_id: str) -> Html:
    t = view.t
    turns = next(
        (one.answers.get(sample_id, ()) for one in view.arena.contestants if one.name == name), ()
    )
    if not turns:
        body: list[Child] = [el("p", t(f"{_KEY}.no_answer"), cls="meta")]
    else:
        asked = sample.follow_ups if sample else ()
        body = [_turn(t, asked, place, text) for place, text in enumerate(turns)]
    return div(el("h3", view.model(name)), *body, cls="variant")


def _turn(t: Messages, asked: tuple[str, ...], place: int, text: str) -> Html:
    """One answer, below the question it follows if that is not the first."""
    follow_up = asked[place - 1] if 0 < place <= len(asked) else ""
    written = (
        div(text, cls="said") if text.strip() else el("p", t(f"{_KEY}.empty_answer"), cls="meta")
    )
    return div(
        _quote_block(t(f"{_KEY}.turn", n=place + 1), follow_up) if follow_up else None, written
    )


def _verdict(view: ArenaView, verdict: Verdict, *, people: bool) -> Html:
    t = view.t
    first = verdict.duel.model_a
    title = (
        t(f"{_KEY}.vote", by=verdict.rater, model=first)
        if people
        else t(f"{_KEY}.order", model=first)
    )
    rule = div(t(f"{_KEY}.rule"), " ", span(verdict.rule, cls="mono"), cls="meta gap-s")
    return div(
        div(el("b", title), outcome_status(t, verdict), cls="two"),
        div(status("warn", t(f"{_KEY}.speaks")), cls="gap-s") if verdict.injected else None,
        el("pre", verdict.reply, cls="gap-s") if verdict.reply.strip() else None,
        _members(view, verdict) if verdict.rater == PANEL_NAME else None,
        rule if verdict.rule else None,
        cls="variant",
    )


def _members(view: ArenaView, verdict: Verdict) -> Html:
    """What each judge of a panel said of the same showing."""
    t, panel = view.t, view.arena
    return definitions(
        (one.by, outcome_status(t, said))
        for one in view.arenas
        if one.by in panel.judges and one.dataset == panel.dataset
        for said in one.verdicts
        if said.duel == verdict.duel
    )


def _summary(t: Messages, meeting: JudgedPair, *, people: bool) -> Html | None:
    voters = "_people" if people else ""
    if meeting.changed:
        return note("warn", t(f"{_KEY}.sway{voters}"))
    return note("ok", t(f"{_KEY}.same{voters}")) if None not in meeting.sides else None
