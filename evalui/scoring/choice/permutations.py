"""The orders in which a question's options are shown, and their names."""

import itertools
import math
from collections.abc import Iterable, Sequence
from functools import cache

from evalui.types import LETTERS, Pattern, Variant


@cache
def variants(n_options: int, pattern: Pattern) -> tuple[Variant, ...]:
    """All orders of a pattern, the original one first.

    Their labels come in OpenCompass's order: ABCD, BCDA, CDAB, DABC for circular, and that of
    `itertools.permutations` for all_possible.
    """
    slots = range(n_options)
    if pattern == "origin":
        return (Variant(tuple(slots)),)
    if pattern == "circular":
        labels = [(*slots[shift:], *slots[:shift]) for shift in slots]
        return tuple(Variant(_inverse_permutation(label)) for label in labels)
    return tuple(Variant(_inverse_permutation(label)) for label in itertools.permutations(slots))


def count_variants(n_options: int, pattern: Pattern) -> int:
    """How many orders `variants` gives, without making them: 10 options have 3 628 800."""
    counts = {"origin": 1, "circular": n_options, "all_possible": math.factorial(n_options)}
    return counts[pattern]


def variant_label(variant: Variant) -> str:
    """The variant as OpenCompass writes it: its k-th letter is the slot that shows option k.

    "BCDA" shows option A in slot B, so the reader sees the options in the order D, A, B, C.
    """
    return "".join(LETTERS[slot] for slot in _inverse_permutation(variant.permutation))


def _inverse_permutation(permutation: Sequence[int]) -> tuple[int, ...]:
    return tuple(sorted(range(len(permutation)), key=permutation.__getitem__))


def pattern_of(orders: Iterable[Variant]) -> Pattern:
    """The pattern whose orders these are, or are among: rotations make a circular one."""
    moved = [order for order in orders if not order.is_origin]
    if not moved:
        return "origin"
    return "circular" if all(map(_is_rotation, moved)) else "all_possible"


def _is_rotation(order: Variant) -> bool:
    size = len(order.permutation)
    return len({(content - slot) % size for slot, content in enumerate(order.permutation)}) == 1
