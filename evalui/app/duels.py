"""The duels of a judged run: what was said of every two answers to a question, and filters."""

from collections.abc import Mapping
from dataclasses import dataclass

from evalui.pictures import without
from evalui.scoring.arena.categories import capabilities
from evalui.scoring.arena.figures import Arena
from evalui.types import Duel, Outcome, Verdict

OUTCOMES = ("left", "right", "tie", "neither", "changed", "unreadable", "unreferenced", "injected")
_SIDES: Mapping[Outcome, str] = {"a": "left", "b": "right", "tie": "tie", "neither": "neither"}
_MIRRORED: Mapping[Outcome, str] = {"a": "right", "b": "left", "tie": "tie", "neither": "neither"}


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
class DuelFilter:
    """Which duels are listed: "" filters nothing; `pair` is "left|right"."""

    pair: str = ""
    outcome: str = ""
    capability: str = ""
    find: str = ""


def judged_pairs(arena: Arena) -> tuple[JudgedPair, ...]:
    """All judged pairs, questions in the order of the file, pairs in the order of the run."""
    return arena.remember("pairs", lambda: _judged_pairs(arena))


def filtered_pairs(arena: Arena, wanted: DuelFilter) -> list[JudgedPair]:
    """The judged pairs that every filter lets pass."""
    holds = _texts_containing(arena, wanted.find.casefold())
    return [
        meeting
        for meeting in judged_pairs(arena)
        if (not wanted.pair or wanted.pair == f"{meeting.left}|{meeting.right}")
        and (not wanted.outcome or meeting.has_outcome(wanted.outcome))
        and (
            not wanted.capability or wanted.capability in capabilities_of(arena, meeting.sample_id)
        )
        and (not wanted.find or _search_keys(meeting) & holds)
    ]


def capabilities_of(arena: Arena, sample_id: str) -> tuple[str, ...]:
    """The capabilities that a question needs."""
    sample = arena.samples.get(sample_id)
    return capabilities(sample.metadata.get("capability", "")) if sample else ()


def model_pairs(arena: Arena) -> list[tuple[str, str]]:
    """The pairs that met, in the order of the run."""
    return list(dict.fromkeys((meeting.left, meeting.right) for meeting in judged_pairs(arena)))


def all_capabilities(arena: Arena) -> list[str]:
    """The capabilities of all questions, in the order of the file."""
    return list(
        dict.fromkeys(name for key in arena.samples for name in capabilities_of(arena, key))
    )


def _judged_pairs(arena: Arena) -> tuple[JudgedPair, ...]:
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
        JudgedPair(
            duel.sample_id,
            duel.model_a,
            duel.model_b,
            tuple(verdict for verdict, _ in verdicts),
            tuple(side for _, side in verdicts),
        )
        for duel, verdicts in sorted(
            gathered.items(), key=lambda item: questions.get(item[0].sample_id, last)
        )
    )


def _texts_containing(arena: Arena, text: str) -> frozenset[tuple[str, str]]:
    """Which questions ("", id) and answers (model, id) hold the text; none for no text."""
    if not text:
        return frozenset()
    questions = {
        ("", key)
        for key, sample in arena.samples.items()
        if text in key.casefold() or text in without(sample.question).casefold()
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
