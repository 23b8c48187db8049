"""Ties in probability are never resolved by the order of the options (design rule 8)."""

import math
from collections.abc import Sequence

from evalui.types import Reading


def reading_of_tied_slots(slots: Sequence[int], target: int) -> Reading:
    """The reading of an answer that says several slots equally: 1/t, and no choice."""
    return Reading(None, (target in slots) / len(slots), "tie", tied=True)


def reading_of_scores(scores: tuple[float, ...], target: int, rule: str) -> Reading:
    """The reading of an argmax over `scores` that never resolves a tie by position."""
    best = max(scores)
    if math.isnan(best) or best == -math.inf:
        return Reading(None, 0.0, "no-probability")
    top = [slot for slot, score in enumerate(scores) if score == best]
    if len(top) > 1:
        return reading_of_tied_slots(top, target)
    return Reading(top[0], float(top[0] == target), rule)
