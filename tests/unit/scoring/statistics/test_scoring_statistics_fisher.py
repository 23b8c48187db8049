"""Fisher's exact test against his own example and against scipy."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import fisher_exact

from evalui.scoring.statistics.fisher import fisher_p_value


def test_the_lady_who_told_three_of_four_cups_of_tea():
    # Fisher 1935: 3 of the 4 cups named are right, of 8 cups with 4 each; p = 34/70 on both sides.
    assert fisher_p_value(3, 4, 4, 8) == pytest.approx(34 / 70, abs=1e-15)


def test_a_part_that_is_like_the_rest_has_a_p_value_of_one():
    assert fisher_p_value(5, 10, 50, 100) == 1.0


@given(
    inside=st.integers(0, 60),
    right=st.integers(0, 60),
    outside=st.integers(0, 300),
    rest=st.integers(0, 300),
)
def test_it_is_scipy_s(inside: int, right: int, outside: int, rest: int):
    part, every = inside + right, inside + outside
    found = fisher_p_value(inside, part, every, part + outside + rest)
    expected = fisher_exact([[inside, right], [outside, rest]]).pvalue
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-300)


def test_a_large_table_stays_exact():
    found = fisher_p_value(300, 2_000, 5_000, 25_000)
    assert found == pytest.approx(fisher_exact([[300, 1_700], [4_700, 18_300]]).pvalue, rel=1e-8)
