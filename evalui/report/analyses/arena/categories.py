"""The arena split by what its questions are about: each model's share of points per group."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from evalui.report.analyses.arena.figures import Arena
from evalui.scoring.arena.battles import Battle
from evalui.scoring.arena.categories import capabilities
from evalui.scoring.statistics.intervals import clustered_ratio, wilson
from evalui.types import Interval, Sample

Grouping = Literal["capability", "language"]

MOST = 24  # groups that are drawn or printed: a file may name thousands of capabilities
FEW = 5  # questions, below which a group's range is all there is to see


@dataclass(frozen=True, slots=True)
class Panel:
    """One group of questions: `shares` of points by model, best models of the arena first.

    Ties count as halves; ranges are over the group's questions. `name` is the capability, or
    "zh" or "en". Models without a battle in it are left out.
    """

    name: str
    questions: int
    shares: Mapping[str, Interval]

    @property
    def few(self) -> bool:
        """Whether the group is too small to read differences from."""
        return self.questions < FEW


def panels(arena: Arena, grouping: Grouping = "capability") -> tuple[Panel, ...]:
    """The groups in the order in which the file names them; empty groups are left out."""
    models = [standing.model for standing in arena.standings]
    return tuple(_panel(name, fought, models) for name, fought in grouped(arena, grouping).items())


def grouped(arena: Arena, grouping: Grouping) -> dict[str, list[Battle]]:
    """The battles by group in the order of the file; a question with two groups counts in both."""
    found: dict[str, list[Battle]] = {
        name: [] for sample in arena.samples.values() for name in _names(sample, grouping)
    }
    for battle in arena.battles:
        sample = arena.samples.get(battle.question or "")
        for name in _names(sample, grouping) if sample else ():
            found[name].append(battle)
    return {name: fought for name, fought in found.items() if fought}


def most_frequent(sizes: Mapping[str, int]) -> tuple[str, ...]:
    """The names of the `MOST` largest groups, in the order they come in; `sizes` by name."""
    largest = set(sorted(sizes, key=sizes.__getitem__, reverse=True)[:MOST])
    return tuple(name for name in sizes if name in largest)


def _names(sample: Sample, grouping: Grouping) -> tuple[str, ...]:
    if grouping == "capability":
        return capabilities(sample.metadata.get("capability", ""))
    language = sample.metadata.get("language", "")
    return (language,) if language else ()


def _panel(name: str, fought: Sequence[Battle], models: Sequence[str]) -> Panel:
    earned: dict[str, dict[str, list[float]]] = {model: {} for model in models}
    for battle in fought:
        for side in (battle, battle.mirrored):
            earned[side.model_a].setdefault(side.question or "", []).append(side.points)
    shares = {model: _share(list(points.values())) for model, points in earned.items() if points}
    return Panel(name, len({battle.question for battle in fought}), shares)


def _share(points: Sequence[Sequence[float]]) -> Interval:
    """The share of points, those of one question in a row."""
    parts = np.array([sum(row) for row in points])
    wholes = np.array([len(row) for row in points], dtype=np.float64)
    found = clustered_ratio(parts, wholes)
    # Questions that all gave the same share have no spread, which says too much.
    return found if found.low < found.high else wilson(found.value * found.n, found.n)
