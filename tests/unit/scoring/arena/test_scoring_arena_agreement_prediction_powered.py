import random
from collections.abc import Sequence
from statistics import fmean

import pytest

from evalui.proportions import wilson_interval
from evalui.scoring.arena.agreement import (
    PredictionPoweredItem,
    PredictionPoweredRate,
    prediction_powered_win_rate,
)
from evalui.types import Interval

TRUTH = 0.55


def _items(*, informed: float, bias: float, share: float, seed: int) -> list[PredictionPoweredItem]:
    """Two pairs of each of 200 questions; people's taste, and a judge that mostly shares it.

    With the share `informed` the judge says what people say; else it likes the first with 0.5.
    With the share `bias` it then likes the first all the same.
    """
    rng = random.Random(seed)
    items: list[PredictionPoweredItem] = []
    for n in range(200):
        # Half of a pair's outcome is its question's.
        common = rng.random() < TRUTH
        for _ in range(2):
            taste = common if rng.random() < 0.5 else rng.random() < TRUTH
            judge = taste if rng.random() < informed else rng.random() < 0.5
            judge = judge or rng.random() < bias
            voted = rng.random() < share
            items.append(
                PredictionPoweredItem(str(n), float(judge), float(taste) if voted else None)
            )
    return items


def _rates(runs: int, *, informed: float, bias: float) -> list[PredictionPoweredRate]:
    found = [
        prediction_powered_win_rate(_items(informed=informed, bias=bias, share=0.3, seed=seed))
        for seed in range(runs)
    ]
    assert all(found)
    return [one for one in found if one]


def _covered(intervals: Sequence[Interval | None]) -> float:
    return fmean(one.low <= TRUTH <= one.high for one in intervals if one)


@pytest.mark.slow
def test_a_biased_judge_misses_the_truth_and_the_powered_rate_holds_it():
    rates = _rates(400, informed=0.9, bias=0.3)
    assert _covered([one.judge for one in rates]) < 0.1
    # 400 runs: 95 % with a standard error of 1.1 %.
    assert 0.91 <= _covered([one.combined for one in rates]) <= 0.985
    assert 0.91 <= _covered([one.human for one in rates]) <= 0.985
    widths = [
        fmean(part.high - part.low for part in parts if part)
        for parts in zip(*[(one.combined, one.human) for one in rates], strict=True)
    ]
    assert widths[0] < 0.9 * widths[1]


@pytest.mark.slow
def test_a_judge_that_guesses_does_no_harm():
    rates = _rates(300, informed=0.0, bias=0.0)
    assert 0.91 <= _covered([one.combined for one in rates]) <= 0.985
    assert fmean(one.lambda_weight for one in rates) < 0.1
    wider = fmean(
        (one.combined.high - one.combined.low) / (one.human.high - one.human.low)
        for one in rates
        if one.combined and one.human
    )
    assert wider == pytest.approx(1, abs=0.03)


def test_the_error_the_judge_makes_is_taken_away():
    # Each question alike: the judge gives the first 1 where people give half.
    items = [
        PredictionPoweredItem(str(n), 1.0 if n % 2 else 0.0, 0.5 if n % 2 else 0.0)
        for n in range(20)
    ]
    items += [PredictionPoweredItem(str(n), 1.0 if n % 4 else 0.0) for n in range(20, 100)]
    found = prediction_powered_win_rate(items)
    assert found is not None
    assert found.combined is not None
    shares = fmean(one.judge for one in items), fmean(one.judge for one in items[:20])
    assert found.combined.value == pytest.approx(
        0.25 + found.lambda_weight * (shares[0] - shares[1])
    )
    assert 0.3 < found.lambda_weight < 0.6
    assert found.judge.value == pytest.approx(shares[0])


def test_a_perfect_judge_is_trusted_and_gives_its_own_rate():
    items = [
        PredictionPoweredItem(str(n), float(n % 3 == 0), float(n % 3 == 0) if n < 90 else None)
        for n in range(900)
    ]
    found = prediction_powered_win_rate(items)
    assert found is not None
    assert found.combined is not None
    assert found.combined.value == pytest.approx(found.judge.value)
    assert found.human is not None
    assert found.combined.high - found.combined.low < 0.5 * (found.human.high - found.human.low)


def test_a_judge_that_says_the_opposite_has_no_weight():
    items = [
        PredictionPoweredItem(str(n), float(n % 2), float(1 - n % 2) if n < 20 else None)
        for n in range(60)
    ]
    found = prediction_powered_win_rate(items)
    assert found is not None
    assert found.lambda_weight == 0
    assert found.combined == found.human


def test_questions_and_not_pairs_are_counted():
    items = [
        PredictionPoweredItem("q", 1.0, 1.0),
        PredictionPoweredItem("q", 0.0, 1.0),
        PredictionPoweredItem("r", 1.0, None),
    ]
    found = prediction_powered_win_rate(items)
    assert found is not None
    assert found.human is not None
    assert (found.judge.n, found.human.n) == (2, 1)
    assert found.human == wilson_interval(1, 1)


def test_items_of_a_question_that_say_the_same_make_nothing_surer():
    rng = random.Random(1)
    single = [
        PredictionPoweredItem(
            str(n), float(rng.random() < 0.6), float(rng.random() < 0.5) if n % 3 else None
        )
        for n in range(60)
    ]
    once, often = prediction_powered_win_rate(single), prediction_powered_win_rate(single * 5)
    assert once is not None
    assert once.combined is not None
    assert often is not None
    assert often.combined is not None
    for first, second in ((once.judge, often.judge), (once.combined, often.combined)):
        ends = (second.value, second.low, second.high)
        assert ends == pytest.approx((first.value, first.low, first.high))


def test_without_votes_there_is_the_judge_alone_and_without_items_nothing():
    found = prediction_powered_win_rate(
        [PredictionPoweredItem("q", 1.0), PredictionPoweredItem("r", 0.0)]
    )
    assert found is not None
    assert (found.human, found.combined, found.lambda_weight) == (None, None, 0.0)
    assert prediction_powered_win_rate([]) is None
