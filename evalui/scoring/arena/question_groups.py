"""The arena split by what its questions are about: each model's share of points per group."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from evalui.scoring.arena.battles import Battle
from evalui.scoring.arena.categories import category_of, point_share
from evalui.scoring.arena.figures import Arena
from evalui.scoring.cautions import MIN_DRAWN
from evalui.types import Interval, Sample

Grouping = Literal["capability", "language"]

MAX_GROUPS = 24  # groups that are drawn or printed: a file may name thousands of capabilities


@dataclass(frozen=True, slots=True)
class QuestionGroup:
    """One group of questions: `shares` of points by model, best models of the arena first.

    Ties count as halves; ranges are over the group's questions. `name` is the capability, or
    "zh" or "en". Models without a battle in it are left out.
    """

    name: str
    questions: int
    shares: Mapping[str, Interval]

    @property
    def too_few_questions(self) -> bool:
        """Whether the group is too small to read differences from."""
        return self.questions < MIN_DRAWN


def question_groups(arena: Arena, grouping: Grouping = "capability") -> tuple[QuestionGroup, ...]:
    """The groups in the order in which the file names them; empty groups are left out."""
    models = [standing.model for standing in arena.standings]

    def make() -> tuple[QuestionGroup, ...]:
        groups = battles_by_group(arena, grouping).items()
        return tuple(_question_group(name, fought, models) for name, fought in groups)

    return arena.remember(("groups", grouping), make)


def battles_by_group(arena: Arena, grouping: Grouping) -> Mapping[str, Sequence[Battle]]:
    """The battles by group in the order of the file; a question with two groups counts in both."""
    return arena.remember(("battles", grouping), lambda: _battles_by_group(arena, grouping))


def _battles_by_group(arena: Arena, grouping: Grouping) -> dict[str, list[Battle]]:
    battles: dict[str, list[Battle]] = {
        name: [] for sample in arena.samples.values() for name in _group_names(sample, grouping)
    }
    for battle in arena.battles if battles else ():
        sample = arena.samples.get(battle.question or "")
        for name in _group_names(sample, grouping) if sample else ():
            battles[name].append(battle)
    return {name: fought for name, fought in battles.items() if fought}


def largest_groups(sizes: Mapping[str, int]) -> tuple[str, ...]:
    """The names of the `MAX_GROUPS` largest groups, in the order they come in; `sizes` by name."""
    largest = set(sorted(sizes, key=sizes.__getitem__, reverse=True)[:MAX_GROUPS])
    return tuple(name for name in sizes if name in largest)


def _group_names(sample: Sample, grouping: Grouping) -> tuple[str, ...]:
    about = category_of(sample)
    if grouping == "capability":
        return about.capabilities
    return (about.language,) if about.language else ()


def _question_group(name: str, fought: Sequence[Battle], models: Sequence[str]) -> QuestionGroup:
    earned: dict[str, dict[str, list[float]]] = {model: {} for model in models}
    for battle in fought:
        for side in (battle, battle.mirrored):
            earned[side.model_a].setdefault(side.question or "", []).append(side.points)
    shares = {
        model: point_share(list(points.values())) for model, points in earned.items() if points
    }
    return QuestionGroup(name, len({battle.question for battle in fought}), shares)
