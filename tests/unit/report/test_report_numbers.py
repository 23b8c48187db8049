import math

import pytest

from evalui.report.numbers import (
    count,
    dollars,
    fixed,
    format_range,
    format_value,
    percent,
    points_between,
    probability,
    signed,
)
from evalui.types import Interval


def test_a_wide_range_gets_no_decimals():
    assert format_value(Interval(0.6583, 0.60, 0.72, 240)) == "66"
    assert format_range(Interval(0.6583, 0.60, 0.72, 240)) == "60–72"


def test_a_half_width_under_five_points_earns_a_decimal():
    assert format_value(Interval(0.97, 0.957, 0.979, 960)) == "97.0"
    assert format_range(Interval(0.97, 0.957, 0.979, 960)) == "95.7–97.9"


def test_a_half_width_of_exactly_five_points_earns_none():
    assert format_value(Interval(0.05, 0.0, 0.1, 400)) == "5"


@pytest.mark.parametrize(
    ("share", "printed"), [(0.25, "25"), (1 / 3, "33.3"), (0.25**4, "0.4"), (1.0, "100")]
)
def test_a_share_without_range_keeps_one_decimal_only_where_it_differs(share: float, printed: str):
    assert percent(share) == printed


@pytest.mark.parametrize(
    ("value", "printed"),
    [(0.8349, "0.83"), (0.9895, "0.99"), (0.9992, "0.999"), (0.99996, "0.99996"), (1.0, "1.00")],
)
def test_a_probability_below_one_is_never_printed_as_one(value: float, printed: str):
    assert probability(value) == printed


def test_zero_has_no_sign():
    assert fixed(-0.04, 1) == "0.0"
    assert fixed(-0.06, 1) == "-0.1"


def test_thousands_get_a_comma():
    assert count(12345) == "12,345"


def test_a_difference_has_a_true_minus_sign():
    assert (signed(-0.25, 2), signed(0.25, 1), signed(-0.001, 2)) == ("−0.25", "0.3", "0.00")


@pytest.mark.parametrize(
    ("value", "places", "printed"),
    [(6.5, 0, "7"), (7.5, 0, "8"), (-6.5, 0, "-7"), (100 * 0.285, 0, "29"), (2.675, 2, "2.68")],
)
def test_a_half_is_rounded_up_whatever_digit_stands_before_it(
    value: float, places: int, printed: str
):
    assert fixed(value, places) == printed
    assert (fixed(math.inf, places), fixed(1e22, places)[:3]) == ("inf", "100")


def test_a_difference_is_that_of_the_figures_beside_it():
    wide = Interval(0.624, 0.5, 0.72, 60), Interval(0.456, 0.34, 0.58, 60)
    assert points_between(0.168, *wide, places=1) == "16"  # 62 − 46
    fine = Interval(0.9724, 0.96, 0.98, 960), Interval(0.9516, 0.93, 0.96, 960)
    assert points_between(-0.0208, *reversed(fine), places=0) == "−2.0"  # 97.2 − 95.2
    assert points_between(0.2, *wide, places=1) == "20.0"  # of other questions than the figures


@pytest.mark.parametrize(
    ("amount", "expected"),
    [(0, "0.00"), (0.0042, "0.0042"), (0.1, "0.10"), (1.2, "1.20"), (34.56, "35"), (1234, "1,234")],
)
def test_a_price_has_the_cents_that_matter(amount: float, expected: str):
    assert dollars(amount) == expected
