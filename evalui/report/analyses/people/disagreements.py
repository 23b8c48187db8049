"""One pair of answers to one question with all that was said of it, and where opinions part."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from evalui.report.analyses.arena.figures import Arena
from evalui.scoring.arena.battles import Battle
from evalui.types import Contestant, Duel, Outcome, Verdict


@dataclass(frozen=True, slots=True)
class JudgedDuel:
    """Two answers to one question as a judge or a panel saw them.

    `duel` has its sides as the contestants stand. `original_order` is the verdict that saw model_a
    first, `swapped_order` the one that saw model_b first, None if not made. `outcome` is what
    counts, seen from `duel`: a tie where both orders count and differ, None where nothing counts.
    """

    duel: Duel
    original_order: Verdict | None
    swapped_order: Verdict | None
    outcome: Outcome | None

    @property
    def flipped(self) -> bool:
        """Whether both orders were read and say different things."""
        outcomes = [
            outcome_for(self.duel, one)
            for one in (self.original_order, self.swapped_order)
            if one and one.outcome
        ]
        return len(set(outcomes)) == 2


@dataclass(frozen=True, slots=True)
class Disagreement:
    """An item on which people and the judge, or people among themselves, say different things.

    All outcomes are seen from the sides of `duel`; `people` has those of each person.
    """

    duel: Duel
    judge: Outcome | None
    people: Mapping[str, Outcome]


def judged_duels(arena: Arena) -> tuple[JudgedDuel, ...]:
    """The items of an arena in the order in which they were first judged."""
    seats = contestant_positions(arena.contestants)
    made: dict[Duel, dict[str, Verdict]] = {}
    for verdict in arena.verdicts:
        duel = oriented(verdict.duel, seats)
        made.setdefault(duel, {})[verdict.duel.model_a] = verdict
    counted = _counted_outcomes(arena.battles, seats)
    return tuple(
        JudgedDuel(duel, orders.get(duel.model_a), orders.get(duel.model_b), counted.get(duel))
        for duel, orders in made.items()
    )


def disagreements(
    judged: Iterable[JudgedDuel], voted: Mapping[Duel, Mapping[str, Outcome]]
) -> tuple[Disagreement, ...]:
    """The items that people voted on with more than one opinion, the judge's included.

    A judge that never says "neither" is taken to have no word for it but a tie.
    """
    outcomes: dict[Duel, Outcome | None] = {item.duel: item.outcome for item in judged}
    coarse = "neither" not in outcomes.values()
    found: list[Disagreement] = []
    for duel, people in voted.items():
        judge = outcomes.get(duel)
        meant = {_neither_as_tie(each) if coarse else each for each in people.values()}
        if len(set(people.values())) > 1 or (judge and meant != {judge}):
            found.append(Disagreement(duel, judge, people))
    return tuple(found)


def contestant_positions(contestants: Sequence[Contestant]) -> Mapping[str, int]:
    """Where each contestant stands."""
    return {one.name: place for place, one in enumerate(contestants)}


def oriented(duel: Duel, positions: Mapping[str, int]) -> Duel:
    """The duel with the contestant that stands first as model_a."""
    if positions[duel.model_a] < positions[duel.model_b]:
        return duel
    return Duel(duel.sample_id, duel.model_b, duel.model_a)


def outcome_for(duel: Duel, verdict: Verdict) -> Outcome | None:
    """The outcome of a verdict as seen from the sides of `duel`."""
    if verdict.outcome is None or verdict.duel == duel:
        return verdict.outcome
    return Battle(verdict.duel.model_a, verdict.duel.model_b, verdict.outcome).mirrored.outcome


def _counted_outcomes(battles: Iterable[Battle], seats: Mapping[str, int]) -> dict[Duel, Outcome]:
    rows: dict[Duel, set[Outcome]] = {}
    for battle in battles:
        duel = oriented(Duel(battle.question or "", battle.model_a, battle.model_b), seats)
        told = battle if battle.model_a == duel.model_a else battle.mirrored
        rows.setdefault(duel, set()).add(told.outcome)
    return {
        duel: next(iter(outcomes)) if len(outcomes) == 1 else "tie"
        for duel, outcomes in rows.items()
    }


def _neither_as_tie(outcome: Outcome) -> Outcome:
    return "tie" if outcome == "neither" else outcome
