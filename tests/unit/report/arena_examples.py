"""Arenas for charts and sentences: measured ones from judged runs, and parts of them changed."""

from collections.abc import Mapping
from dataclasses import replace
from random import Random
from typing import Any

from open_examples import judge_result

from evalui.scoring.arena.figures import Arena, arena
from evalui.scoring.cautions import MIN_DRAWN
from evalui.types import Outcome

THREE = {"strong": 1150.0, "middle": 1050.0, "weak": 800.0}


def judged(strengths: Mapping[str, float] = THREE, *, n: int = 40, **made: Any) -> Arena:
    """An arena in which the stronger model wins more often, as Bradley and Terry have it."""
    luck = Random(7)

    def decide(_: int, first: str, second: str) -> Outcome:
        if luck.random() < 0.15:
            return "tie"
        odds = 10 ** ((strengths[first] - strengths[second]) / 400)
        return "a" if luck.random() < odds / (1 + odds) else "b"

    return arena(judge_result(models=tuple(strengths), n=n, decide=decide, **made))


def swept(n: int = 12) -> Arena:
    """An arena in which the stronger model wins every point: no rating is finite."""
    order = list(THREE)
    return arena(
        judge_result(
            models=tuple(order),
            n=n,
            decide=lambda _, first, second: (
                "a" if order.index(first) < order.index(second) else "b"
            ),
        )
    )


def scattered(found: Arena, capabilities: int, *, each: int = MIN_DRAWN) -> Arena:
    """The same battles over as many capabilities of `each` questions; the last has the rest."""
    samples = {
        key: replace(
            sample,
            metadata={
                **sample.metadata,
                "capability": f"c{min(number // each, capabilities - 1):03}",
            },
        )
        for number, (key, sample) in enumerate(found.samples.items())
    }
    return replace(found, samples=samples)


def leading(found: Arena, *, level: int = 1, **changes: Any) -> Arena:
    """The arena with as many models that cannot be told apart at its head, the leader included."""
    standings = tuple(
        replace(standing, with_leader=place < level)
        for place, standing in enumerate(found.standings)
    )
    return replace(found, standings=standings, **changes)
