"""What acting on sure answers gains: curves, thresholds and gates, by hand and by simulation."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from strata_examples import simulated, stratum_of

from evalui.scoring.calibration import GOALS, risk_coverage
from evalui.scoring.choice.trial_grid import OptionCountStratum


def in_one_order(
    top: NDArray[np.float64], right: NDArray[np.bool_], cluster: NDArray[np.intp] | None = None
) -> OptionCountStratum:
    """Questions with two options, of which the first has the probability `top`."""
    gold = np.where(right, 0, 1).astype(np.intp)
    chances = np.stack([top, 1 - top], axis=1)[:, None]
    one = stratum_of(
        np.zeros((len(top), 1), dtype=np.intp),
        gold,
        n_options=2,
        pattern="origin",
        probabilities=chances,
    )
    return replace(one, cluster=cluster)


def test_the_curve_has_a_point_where_the_confidence_changes():
    top, right = np.array([0.9, 0.9, 0.8, 0.6]), np.array([True, False, True, True])
    found = risk_coverage(in_one_order(top, right))
    assert found
    assert found.n == 4
    assert [(each.threshold, each.coverage, each.n) for each in found.points] == [
        (0.9, 0.5, 2),
        (0.8, 0.75, 3),
        (0.6, 1.0, 4),
    ]
    assert [each.right for each in found.points] == pytest.approx([1 / 2, 2 / 3, 3 / 4])
    assert all(each.low < each.right < each.high for each in found.points)
    assert found.gates == ()


def test_a_long_curve_has_a_hundred_points_and_reaches_every_question():
    top = np.random.default_rng(0).uniform(0.5, 1, size=2000)
    found = risk_coverage(in_one_order(top, top > 0.7))
    assert found
    assert len(found.points) == 100
    assert found.points[-1].coverage == 1
    steps = np.diff([each.coverage for each in found.points])
    assert steps == pytest.approx(0.01)
    thresholds = [each.threshold for each in found.points]
    assert thresholds == sorted(thresholds, reverse=True)


def test_a_threshold_is_chosen_on_one_half_and_checked_on_the_other():
    """Sure answers are right and the others wrong: a tenth of answers may be wrong."""
    top = np.linspace(0.5, 0.999, 400)
    found = risk_coverage(in_one_order(top, top > 0.75))
    assert found
    assert [each.goal for each in found.act] == [*GOALS]
    for each, share in zip(found.act, GOALS, strict=True):
        assert (each.n_choosing, each.n_checking) == (200, 200)
        assert each.threshold == pytest.approx(1 - 0.25 / share, abs=0.01)
        assert each.coverage
        assert each.right
        assert each.coverage.value == pytest.approx(0.5 / share, abs=0.05)
        assert each.right.value == pytest.approx(share, abs=0.05)
        assert each.coverage.n == 200
        assert each.right.low < share < each.right.high


def test_the_checked_share_is_not_better_than_the_model():
    """Of sixty questions the best threshold looks good by chance; checked, it is .7 on average."""
    rng = np.random.default_rng(1)
    checked: list[float] = []
    for _ in range(300):
        found = risk_coverage(in_one_order(rng.uniform(0.5, 1, size=60), rng.random(60) < 0.7))
        assert found
        first = found.act[0]
        if first.right:
            checked.append(first.right.value)
    assert len(checked) > 30
    assert np.mean(checked) == pytest.approx(0.7, abs=0.05)


def test_a_goal_out_of_reach_has_no_threshold():
    rng = np.random.default_rng(2)
    found = risk_coverage(in_one_order(rng.uniform(0.5, 1, size=300), np.arange(300) % 2 > 0))
    assert found
    assert [(each.threshold, each.coverage, each.right) for each in found.act] == [
        (None, None, None)
    ] * 3


def test_ten_answers_are_the_fewest_that_choose_a_threshold():
    """Nine of the surest in the choosing half are right, and no other answer."""
    top = np.linspace(0.99, 0.5, 18)
    every = risk_coverage(in_one_order(top, np.ones(18, dtype=np.bool_)))
    assert every
    assert every.act[0].n_choosing == 9
    assert every.act[0].threshold is None


def test_a_cluster_is_not_split_between_the_halves():
    """Every answer to one passage is alike: a split passage would be on both sides."""
    cluster = np.repeat(np.arange(40), 5)
    top = np.repeat(np.linspace(0.5, 0.99, 40), 5)
    found = risk_coverage(in_one_order(top, top > 0.6, cluster))
    assert found
    assert all(each.n_choosing == each.n_checking == 100 for each in found.act)
    alone = risk_coverage(in_one_order(top, top > 0.6))
    assert alone
    whole, apart = found.points[-1], alone.points[-1]
    assert whole.right == apart.right
    assert whole.high - whole.low > 1.8 * (apart.high - apart.low)


def test_the_seed_decides_the_halves():
    one = simulated(200, np.random.default_rng(3), sharp=2.0)
    first = risk_coverage(one, seed=1)
    assert first == risk_coverage(one, seed=1)
    assert first != risk_coverage(one, seed=2)


# ---------------------------------------------------------------- gates


def in_two_orders(*shown: tuple[float, float]) -> OptionCountStratum:
    """Questions whose first option is right, with its probability in either order."""
    chances = np.array([[[one, 1 - one], [1 - other, other]] for one, other in shown])
    n = len(shown)
    return stratum_of(
        chances.argmax(axis=2),
        np.zeros(n, dtype=np.intp),
        n_options=2,
        probabilities=chances,
    )


def test_what_stays_of_sure_answers_when_options_swap():
    """Steady and sure; steady and less sure; another option; a tie; not acted upon; wrong."""
    found = risk_coverage(
        in_two_orders((0.9, 0.95), (0.85, 0.6), (0.9, 0.2), (0.9, 0.5), (0.7, 0.99), (0.1, 0.05))
    )
    assert found
    low, high = found.gates
    assert (low.gate, low.acted, high.gate, high.acted) == (0.8, 5, 0.9, 4)
    assert low.right
    assert low.same
    assert low.passed
    assert low.passed_right
    assert (low.right.value, low.right.n) == (4 / 5, 5)
    assert low.same.value == 3 / 5  # the first, the second and the wrong one
    assert low.passed.value == 2 / 5
    assert (low.passed_right.value, low.passed_right.n) == (1 / 2, 2)
    assert high.same
    assert high.same.value == 2 / 4


def test_a_gate_that_nobody_reaches_has_no_shares():
    found = risk_coverage(in_two_orders((0.6, 0.7)))
    assert found
    assert [(gate.acted, gate.same, gate.passed_right) for gate in found.gates] == [
        (0, None, None)
    ] * 2


def test_an_order_without_probabilities_is_no_loss_and_no_gain():
    one = in_two_orders((0.9, 0.9), (0.9, 0.9), (0.9, 0.9))
    assert one.chances is not None
    chances = one.chances.copy()
    chances[0, 1] = chances[1, 0] = np.nan
    found = risk_coverage(replace(one, chances=chances))
    assert found
    assert found.n == 2
    gate = found.gates[0]
    assert gate.same
    assert gate.passed
    # Nothing is known of the first when it is reordered.
    assert (gate.acted, gate.same.value, gate.passed.value) == (2, 1, 1)
    assert (gate.same.n, gate.passed.n) == (1, 1)
    assert gate.passed_right
    assert gate.passed_right.n == 1
    assert risk_coverage(replace(one, chances=None)) is None
    assert risk_coverage(replace(one, chances=np.full_like(chances, np.nan))) is None


def test_a_model_with_a_taste_for_places_loses_what_it_was_sure_of():
    steady, swayed = (
        risk_coverage(simulated(300, np.random.default_rng(4), sharp=3.0, noise=0.1, bias=bias))
        for bias in (0.0, 4.0)
    )
    assert steady
    assert swayed
    kept, lost = steady.gates[0].same, swayed.gates[0].same
    assert kept
    assert lost
    assert kept.low > 0.9
    assert lost.high < 0.7
