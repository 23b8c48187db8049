"""Which probabilities of options count as a distribution: those that EvalScope 1.14.1 scores."""

import pytest

from evalui.scoring.choice.decisions import read_decision, sums_to_one
from evalui.types import Decision

ZEROS = (0.0,) * 254


# What its `DecisionAnswer` accepts of each.
@pytest.mark.parametrize(
    ("probabilities", "accepted"),
    [
        ((0.5, 0.5), True),
        ((0.515, 0.5), True),  # off by 0.015
        ((0.525, 0.5), False),
        ((0.4, 0.4, 0.1), False),
        ((0.33, 0.33, 0.33), True),
        ((0.16,) * 6, False),  # six of at most 0.165 each are 0.99
        ((0.12,) * 8, True),  # eight of at most 0.125 each can be 1
        ((1.0, 0.04, *ZEROS[:8]), False),  # zeros cannot have been rounded up
        ((0.97, *ZEROS[:9]), True),  # nine of at most 0.005 each are rounded to nothing
        ((0.0, *ZEROS), False),  # 255 of less than 0.005 each could be, but nothing is chosen
    ],
)
def test_a_sum_is_one_but_for_rounding(probabilities: tuple[float, ...], accepted: bool):
    assert sums_to_one(probabilities) is accepted


def test_many_options_of_no_probability_choose_none():
    read = read_decision(Decision((0.0, *ZEROS)), ["k"] * 255, 0)
    assert read.probabilities == ()
    assert read.readings["forced"].choice is None
