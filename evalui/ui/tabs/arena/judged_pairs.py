"""The verdicts of an arena, gathered by question and pair, and the filters over them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalui.report.analyses.arena.figures import Arena
from evalui.scoring.arena.categories import capabilities
from evalui.types import Duel, Outcome, Verdict
from evalui.ui.components.form import Form, field_value, parse_whole_number
from evalui.ui.tabs.arena.arena_view import contestants

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
        """What tells it from the arena's other meetings."""
        return f"{self.sample_id}|{self.left}|{self.right}"

    @property
    def changed(self) -> bool:
        """Whether the verdicts that can be read contradict each other."""
        return len({side for side in self.sides if side}) > 1

    @property
    def injected(self) -> bool:
        """Whether one of the answers speaks to the judge."""
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
    """All meetings, questions in the order of the file, pairs in the order of the run."""
    order = {name: place for place, name in enumerate(contestants(arena))}
    gathered: dict[Duel, list[tuple[Verdict, str | None]]] = {}
    for verdict in arena.verdicts:
        duel = verdict.duel
        turned = order.get(duel.model_a, 0) > order.get(duel.model_b, 0)
        shown = Duel(duel.sample_id, duel.model_b, duel.model_a) if turned else duel
        names = _MIRRORED if turned else _SIDES
        side = names[verdict.outcome] if verdict.outcome else None
        gathered.setdefault(shown, []).append((verdict, side))
    questions = {sample_id: place for place, sample_id in enumerate(arena.samples)}
    last = len(questions)
    return tuple(
        JudgedPair(duel.sample_id, duel.model_a, duel.model_b, *_columns(found))
        for duel, found in sorted(
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
    """The meetings that every filter lets pass."""
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
    """The capabilities a question asks for."""
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
    found: Sequence[tuple[Verdict, str | None]],
) -> tuple[tuple[Verdict, ...], tuple[str | None, ...]]:
    return tuple(verdict for verdict, _ in found), tuple(side for _, side in found)


def _texts_containing(arena: Arena, text: str) -> frozenset[tuple[str, str]]:
    """Which questions ("", id) and answers (model, id) hold the text; none for no text."""
    if not text:
        return frozenset()
    asked = {
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
    return frozenset(asked | answered)


def _search_keys(meeting: JudgedPair) -> set[tuple[str, str]]:
    return {(name, meeting.sample_id) for name in ("", meeting.left, meeting.right)}
