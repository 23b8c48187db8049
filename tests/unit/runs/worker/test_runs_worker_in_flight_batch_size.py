"""How many requests a model is handed at a time, for models of several kinds."""

import math
from itertools import pairwise

import pytest

from evalui.runs.worker.in_flight import MAX_SIZE, MIN_SIZE, AdaptiveBatchSize


def portions(at_once: int, seconds: float, rounds: int = 12) -> list[int]:
    """The portions of a model that answers `at_once` requests in so many seconds."""
    portion = AdaptiveBatchSize()
    sizes: list[int] = []
    for _ in range(rounds):
        sizes.append(portion.size)
        portion.record(portion.size, math.ceil(portion.size / at_once) * seconds)
    return sizes


def speed(size: int, at_once: int) -> float:
    """The share of its best speed that a model reaches."""
    return size / (math.ceil(size / at_once) * at_once)


@pytest.mark.parametrize(
    ("at_once", "seconds", "settled"),
    [(1, 0.01, 200), (1, 5.0, MIN_SIZE), (4, 0.001, MAX_SIZE)],
    ids=["steady", "slow", "instant"],
)
def test_a_model_that_answers_one_after_the_other_is_kept_busy_for_two_seconds(
    at_once: int, seconds: float, settled: int
) -> None:
    assert portions(at_once, seconds)[-1] == pytest.approx(settled, rel=0.03)


@pytest.mark.parametrize(
    ("at_once", "seconds"), [(24, 5.0), (256, 10.0), (100, 0.5)], ids=["hosted", "batching", "fast"]
)
def test_a_model_that_answers_many_at_once_is_handed_enough_of_them(
    at_once: int, seconds: float
) -> None:
    assert speed(portions(at_once, seconds)[-1], at_once) > 0.85


def test_no_portion_is_more_than_twice_the_one_before() -> None:
    sizes = portions(256, 0.001)
    assert sizes[0] == MIN_SIZE
    assert all(after <= 2 * before for before, after in pairwise(sizes))
    assert max(sizes) == MAX_SIZE


def test_what_was_answered_already_makes_portions_larger_without_end() -> None:
    portion = AdaptiveBatchSize()
    for _ in range(20):
        portion.record_cached()
    assert portion.size == MAX_SIZE


def test_a_hard_portion_makes_the_next_one_smaller_but_not_too_small() -> None:
    portion = AdaptiveBatchSize()
    for _ in range(6):
        portion.record(portion.size, portion.size / 500)
    before = portion.size
    portion.record(before, before / 20)
    assert MIN_SIZE <= portion.size < before
