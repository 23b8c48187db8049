"""The verdicts of an arena by question and pair, the filters over them, and one duel in full."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalui.app.open_run_view import OpenRunView
from evalui.messages import Messages
from evalui.report.html import Child, Html, div, el, join, span
from evalui.report.icons import model_name
from evalui.scoring.arena.categories import capabilities
from evalui.scoring.arena.figures import PEOPLE, Arena
from evalui.scoring.arena.verdicts import PANEL_NAME
from evalui.types import Duel, Message, Outcome, Sample, Verdict
from evalui.ui.components.form import Form, field_value, parse_whole_number
from evalui.ui.components.format import short_id, source
from evalui.ui.components.widgets import card, copy_button, definitions, note, status

OUTCOMES = ("left", "right", "tie", "neither", "changed", "unreadable", "unreferenced", "injected")
_SIDES: Mapping[Outcome, str] = {"a": "left", "b": "right", "tie": "tie", "neither": "neither"}
_MIRRORED: Mapping[Outcome, str] = {"a": "right", "b": "left", "tie": "tie", "neither": "neither"}
_MAX_SEARCH_LENGTH = 200  # characters


@dataclass(frozen=True, slots=True)
class JudgedPair:
    """Two models' answers to one question: `left` comes before `right` in the run.

    `sides` says for each verdict who won, whatever the order they were shown in: "left", "right",
    "tie", "neither", or None where it cannot be read or was not judged.
    """

    sample_id: str
    left: str
    right: str
    verdicts: tuple[Verdict, ...]
    sides: tuple[str | None, ...]

    @property
    def key(self) -> str:
        """What identifies it among the pairs of the arena."""
        return f"{self.sample_id}|{self.left}|{self.right}"

    @property
    def changed(self) -> bool:
        """Whether the verdicts that can be read contradict each other."""
        return len({side for side in self.sides if side}) > 1

    @property
    def injected(self) -> bool:
        """Whether one of the answers contains a prompt injection against the judge."""
        return any(verdict.injected for verdict in self.verdicts)

    @property
    def unreferenced(self) -> bool:
        """Whether one of the showings was not judged for lack of a reference."""
        return any(verdict.unreferenced for verdict in self.verdicts)

    @property
    def unreadable(self) -> bool:
        """Whether one of the judgements cannot be read."""
        return any(one.outcome is None and not one.unreferenced for one in self.verdicts)

    def has_outcome(self, outcome: str) -> bool:
        """Whether a filter of that name lets it pass."""
        states = {
            "changed": self.changed,
            "injected": self.injected,
            "unreadable": self.unreadable,
            "unreferenced": self.unreferenced,
        }
        if outcome in states:
            return states[outcome]
        return {side for side in self.sides if side} == {outcome}


@dataclass(frozen=True, slots=True)
class DuelFilters:
    """What the list shows: "" filters nothing; `pair` is "left|right", `page` counts from 0."""

    pair: str = ""
    outcome: str = ""
    capability: str = ""
    find: str = ""
    page: int = 0


def judged_pairs_of(arena: Arena) -> tuple[JudgedPair, ...]:
    """All judged pairs, questions in the order of the file, pairs in the order of the run."""
    order = {one.name: place for place, one in enumerate(arena.contestants)}
    gathered: dict[Duel, list[tuple[Verdict, str | None]]] = {}
    for verdict in arena.verdicts:
        duel = verdict.duel
        turned = order.get(duel.model_a, 0) > order.get(duel.model_b, 0)
        ordered = Duel(duel.sample_id, duel.model_b, duel.model_a) if turned else duel
        names = _MIRRORED if turned else _SIDES
        side = names[verdict.outcome] if verdict.outcome else None
        gathered.setdefault(ordered, []).append((verdict, side))
    questions = {sample_id: place for place, sample_id in enumerate(arena.samples)}
    last = len(questions)
    return tuple(
        JudgedPair(duel.sample_id, duel.model_a, duel.model_b, *_columns(verdicts))
        for duel, verdicts in sorted(
            gathered.items(), key=lambda item: questions.get(item[0].sample_id, last)
        )
    )


def read_duel_filters(form: Form) -> DuelFilters:
    """The filters of a form or an address; what cannot be understood filters nothing."""
    outcome, page = field_value(form, "duel_outcome"), field_value(form, "page")
    return DuelFilters(
        pair=field_value(form, "duel_pair"),
        outcome=outcome if outcome in OUTCOMES else "",
        capability=field_value(form, "duel_capability"),
        find=field_value(form, "find").strip()[:_MAX_SEARCH_LENGTH],
        page=parse_whole_number(page) or 0,
    )


def filtered(arena: Arena, pairs: Sequence[JudgedPair], filters: DuelFilters) -> list[JudgedPair]:
    """The judged pairs that every filter lets pass."""
    holds = _texts_containing(arena, filters.find.casefold())
    return [
        meeting
        for meeting in pairs
        if (not filters.pair or filters.pair == f"{meeting.left}|{meeting.right}")
        and (not filters.outcome or meeting.has_outcome(filters.outcome))
        and (
            not filters.capability
            or filters.capability in capabilities_of(arena, meeting.sample_id)
        )
        and (not filters.find or _search_keys(meeting) & holds)
    ]


def capabilities_of(arena: Arena, sample_id: str) -> tuple[str, ...]:
    """The capabilities that a question needs."""
    sample = arena.samples.get(sample_id)
    return capabilities(sample.metadata.get("capability", "")) if sample else ()


def model_pairs(pairs: Sequence[JudgedPair]) -> list[tuple[str, str]]:
    """The pairs that met, in the order of the run."""
    return list(dict.fromkeys((meeting.left, meeting.right) for meeting in pairs))


def all_capabilities(arena: Arena) -> list[str]:
    """The capabilities of all questions, in the order of the file."""
    return list(
        dict.fromkeys(name for key in arena.samples for name in capabilities_of(arena, key))
    )


def _columns(
    verdicts: Sequence[tuple[Verdict, str | None]],
) -> tuple[tuple[Verdict, ...], tuple[str | None, ...]]:
    return tuple(verdict for verdict, _ in verdicts), tuple(side for _, side in verdicts)


def _texts_containing(arena: Arena, text: str) -> frozenset[tuple[str, str]]:
    """Which questions ("", id) and answers (model, id) hold the text; none for no text."""
    if not text:
        return frozenset()
    questions = {
        ("", key)
        for key, sample in arena.samples.items()
        if text in key.casefold() or text in sample.question.casefold()
    }
    answered = {
        (contestant.name, key)
        for contestant in arena.contestants
        for key, turns in contestant.answers.items()
        if any(text in turn.casefold() for turn in turns)
    }
    return frozenset(questions | answered)


def _search_keys(meeting: JudgedPair) -> set[tuple[str, str]]:
    return {(name, meeting.sample_id) for name in ("", meeting.left, meeting.right)}


def duel_card(view: OpenRunView, meeting: JudgedPair, address: str) -> Html:
    """The card of one duel; a question that is gone leaves its verdicts."""
    t, arena = view.t, view.arena
    sample = arena.samples.get(meeting.sample_id)
    people = arena.by == PEOPLE
    where = source(t, sample, sample.metadata.get("capability", "")) if sample else ""
    heading = el("h2", t("arena.duel.title", id=short_id(meeting.sample_id)))
    return card(
        div(heading, span(where, cls="meta"), copy_button(t, address, cls="link"), cls="card-h"),
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


def outcome_status(t: Messages, verdict: Verdict) -> Html:
    """Who won, as a state with its word."""
    duel = verdict.duel
    if verdict.unreferenced:
        return status("na", t("arena.duel.unreferenced"))
    if verdict.outcome is None:
        return status(
            "na", t(f"arena.duel.{'no_majority' if verdict.rater == PANEL_NAME else 'not_read'}")
        )
    if verdict.outcome == "tie":
        return span(t("arena.duel.both_good"), cls="st")
    if verdict.outcome == "neither":
        return span(t("arena.duel.both_bad"), cls="st")
    winner = duel.model_a if verdict.outcome == "a" else duel.model_b
    key = "wins_much" if verdict.strength == 3 else "wins"
    return span(t(f"arena.duel.{key}", model=winner), cls="st")


def _question(t: Messages, sample: Sample) -> Html:
    guidance = sample.metadata.get("guidance", "")
    return join(
        el(
            "details",
            el("summary", t("arena.duel.history")),
            *_turns(t, sample.history),
            cls="gap-s",
        )
        if sample.history
        else None,
        el("p", sample.question, cls="question"),
        *_references(t, sample),
        _quote_block(t("arena.duel.guidance"), guidance) if guidance else None,
    )


def _turns(t: Messages, history: tuple[Message, ...]) -> list[Html]:
    return [_quote_block(t(f"role.{turn.role}"), turn.content) for turn in history]


def _references(t: Messages, sample: Sample) -> list[Html]:
    several = len(sample.references) > 1
    return [
        _quote_block(
            t("arena.duel.references", n=place) if several else t("arena.duel.reference"), text
        )
        for place, text in enumerate(sample.references, start=1)
    ]


def _quote_block(title: str, text: str) -> Html:
    return div(el("h3", title, cls="lab"), div(text, cls="quoted"), cls="gap-s")


def _answer(view: OpenRunView, sample: Sample | None, name: str, sample_id: str) -> Html:
    t = view.t
    turns = next(
        (one.answers.get(sample_id, ()) for one in view.arena.contestants if one.name == name), ()
    )
    if not turns:
        body: list[Child] = [el("p", t("arena.duel.no_answer"), cls="meta")]
    else:
        follow_ups = sample.follow_ups if sample else ()
        body = [_turn(t, follow_ups, place, text) for place, text in enumerate(turns)]
    context = view.context
    named = model_name(name, context.place(name), name in context.baselines)
    return div(el("h3", named), *body, cls="variant")


def _turn(t: Messages, follow_ups: tuple[str, ...], place: int, text: str) -> Html:
    """One answer, below the question it follows if that is not the first."""
    follow_up = follow_ups[place - 1] if 0 < place <= len(follow_ups) else ""
    written = (
        div(text, cls="quoted")
        if text.strip()
        else el("p", t("arena.duel.empty_answer"), cls="meta")
    )
    return div(
        _quote_block(t("arena.duel.turn", n=place + 1), follow_up) if follow_up else None, written
    )


def _verdict(view: OpenRunView, verdict: Verdict, *, people: bool) -> Html:
    t = view.t
    first = verdict.duel.model_a
    title = (
        t("arena.duel.vote", by=verdict.rater, model=first)
        if people
        else t("arena.duel.order", model=first)
    )
    rule = div(t("arena.duel.rule"), " ", span(verdict.rule, cls="mono"), cls="meta gap-s")
    return div(
        div(el("b", title), outcome_status(t, verdict), cls="two"),
        div(status("warn", t("arena.duel.speaks")), cls="gap-s") if verdict.injected else None,
        _words(t, verdict),
        div(t("arena.duel.retried"), cls="meta gap-s") if verdict.retried else None,
        _members(view, verdict) if verdict.rater == PANEL_NAME else None,
        rule if verdict.rule else None,
        cls="variant",
    )


def _words(t: Messages, verdict: Verdict) -> Html | None:
    """What the judge wrote, or how probable it found each outcome."""
    if not verdict.probabilities:
        return el("pre", verdict.reply, cls="gap-s") if verdict.reply.strip() else None
    duel = verdict.duel
    names = (
        t("arena.duel.wins", model=duel.model_a),
        t("arena.duel.wins", model=duel.model_b),
        t("arena.duel.both_good"),
        t("arena.duel.both_bad"),
    )
    shares = (f"{100 * share:.0f} %" for share in verdict.probabilities)
    return definitions(zip(names, shares, strict=True))


def _members(view: OpenRunView, verdict: Verdict) -> Html:
    """The verdict of each judge of a panel on the same presentation."""
    t, panel = view.t, view.arena
    return definitions(
        (one.by, outcome_status(t, member))
        for one in view.report.arenas
        if one.by in panel.judges and one.dataset == panel.dataset
        for member in one.verdicts
        if member.duel == verdict.duel
    )


def _summary(t: Messages, meeting: JudgedPair, *, people: bool) -> Html | None:
    voters = "_people" if people else ""
    if meeting.changed:
        return note("warn", t(f"arena.duel.sway{voters}"))
    return note("ok", t(f"arena.duel.same{voters}")) if None not in meeting.sides else None
