"""What the Evaluate form would do, worked out."""

from dataclasses import dataclass

from evalui.datasets.base import LoadResult
from evalui.runs.cells import CellPlan
from evalui.runs.contest import CollectedAnswers
from evalui.runs.estimate import Estimate
from evalui.runs.spec import RunSpec


@dataclass(frozen=True, slots=True)
class PlannedRun:
    """A draft worked out: its specification, its data by source, its cells, and its cost."""

    spec: RunSpec
    loaded: dict[str, LoadResult]
    plans: tuple[CellPlan, ...]
    cost: Estimate
    collected: tuple[CollectedAnswers, ...] = ()
