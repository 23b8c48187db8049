"""The verdicts of an arena, gathered by question and pair, and the filters over them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalui.report.analyses.arena.figures import Arena
from evalui.scoring.arena.categories import capabilities
from evalui.types import Duel, Outcome, Verdict
from evalui.ui.tabs.arena.arena_view import contestants
from evalui.ui.tabs.evaluate.run_form import Form, one, whole

OUTCOMES = ("left", "right", "tie", "neither", "changed", "unreadable", "unreferenced", "injected")
_SIDES: Mapping[Outcome, str] = {"a": "left", "b": "right", "tie": "tie", "neither": "neither"}
_TURNED: Mapping[Outcome, str] = {"a": "right", "b": "left", "tie": "tie", "neither": "neither"}
_LONGEST_FIND = 200  # characters


@dataclass(frozen=True, slots=True)
class Meeting:
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

    def came_out(self, outcome: str) -> bool:
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
class Wish:
    """What the list shows: "" filters nothing; `pair` is "left|right", `page` counts from 0."""

    pair: str = ""
    outcome: str = ""
    capability: str = ""
    find: str = ""
    page: int = 0


def meetings(arena: Arena) -> tuple[Meeting, ...]:
    """All meetings, questions in the order of the file, pairs in the order of the run."""
    order = {name: place for place, name in enumerate(contestants(arena))}
    gathered: dict[Duel, list[tuple[Verdict, str | None]]] = {}
    for verdict in arena.verdicts:
        duel = verdict.duel
        turned = order.get(duel.model_a, 0) > order.get(duel.model_b, 0)
        shown = Duel(duel.sample_id, duel.model_b, duel.model_a) if turned else duel
        names = _TURNED if turned else _SIDES
        side = names[verdict.outcome] if verdict.outcome else None
        gathered.setdefault(shown, []).append((verdict, side))
    questions = {sample_id: place for place, sample_id in enumerate(arena.samples)}
    last = len(questions)
    return tuple(
        Meeting(duel.sample_id, duel.model_a, duel.model_b, *_columns(found))
        for duel, found in sorted(
            gathered.items(), key=lambda item: questions.get(item[0].sample_id, last)
        )
    )


def read_wish(form: Form) -> Wish:
    """The filters of a form or an address; what cannot be understood filters nothing."""
    outcome, page = one(form, "duel_outcome"), one(form, "page")
    return Wish(
        pair=one(form, "duel_pair"),
        outcome=outcome if outcome in OUTCOMES else "",
        capability=one(form, "duel_capability"),
        find=one(form, "find").strip()[:_LONGEST_FIND],
        page=whole(page) or 0,
    )


def fitting(arena: Arena, found: Sequence[Meeting], wish: Wish) -> list[Meeting]:
    """The meetings that every filter lets pass."""
    holds = _holding(arena, wish.find.casefold())
    return [
        meeting
        for meeting in found
        if (not wish.pair or wish.pair == f"{meeting.left}|{meeting.right}")
        and (not wish.outcome or meeting.came_out(wish.outcome))
        and (not wish.capability or wish.capability in named(arena, meeting.sample_id))
        and (not wish.find or _told(meeting) & holds)
    ]


def named(arena: Arena, sample_id: str) -> tuple[str, ...]:
    """The capabilities a question asks for."""
    sample = arena.samples.get(sample_id)
    return capabilities(sample.metadata.get("capability", "")) if sample else ()


def pairs_of(found: Sequence[Meeting]) -> list[tuple[str, str]]:
    """The pairs that met, in the order of the run."""
    return list(dict.fromkeys((meeting.left, meeting.right) for meeting in found))


def all_capabilities(arena: Arena) -> list[str]:
    """The capabilities of all questions, in the order of the file."""
    return list(dict.fromkeys(name for key in arena.samples for name in named(arena, key)))


def _columns(
    found: Sequence[tuple[Verdict, str | None]],
) -> tuple[tuple[Verdict, ...], tuple[str | None, ...]]:
    return tuple(verdict for verdict, _ in found), tuple(side for _, side in found)


def _holding(arena: Arena, text: str) -> frozenset[tuple[str, str]]:
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


def _told(meeting: Meeting) -> set[tuple[str, str]]:
    return {(name, meeting.sample_id) for name in ("", meeting.left, meeting.right)}
