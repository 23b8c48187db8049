import math
from itertools import pairwise

import pytest
from scipy.special import stdtrit

from evalui.scoring.statistics.student_t import t_quantile

# Every degree up to where the expansion takes over and beyond, then up to a million and more.
DEGREES = [*range(1, 3001), *(round(10 ** (step / 40)) for step in range(139, 280))]


def test_the_quantile_is_scipys_to_twelve_digits():
    expected = [float(stdtrit(degrees, 0.975)) for degrees in DEGREES]
    assert [t_quantile(degrees) for degrees in DEGREES] == pytest.approx(expected, rel=1e-12)


def test_one_and_two_degrees_have_closed_forms():
    assert t_quantile(1) == pytest.approx(math.tan(0.95 * math.pi / 2), rel=1e-14)
    assert t_quantile(2) == pytest.approx(0.95 / math.sqrt((1 - 0.95**2) / 2), rel=1e-14)


def test_the_two_ways_meet_where_one_ends():
    around = [t_quantile(degrees) for degrees in range(490, 512)]
    steps = [one - other for one, other in pairwise(around)]
    # The quantile falls with ever smaller steps, also across the place where the way changes.
    assert steps == sorted(steps, reverse=True)
    assert all(step > 0 for step in steps)
