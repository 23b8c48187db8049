import pytest

from evalui.report.axes import points_axis, share_axis, share_limit


@pytest.mark.parametrize(
    ("highest", "limit"), [([], 40), ([0.1], 40), ([0.4], 40), ([0.41], 60), ([0.2, 1.0], 100)]
)
def test_an_axis_of_shares_ends_at_the_next_twenty_and_holds_at_least_forty(
    highest: list[float], limit: int
):
    assert share_limit(highest) == limit


def test_the_last_tick_of_shares_has_the_unit():
    axis = share_axis(60, "how often")
    assert (axis.low, axis.high, axis.title) == (0, 60, "how often")
    assert list(axis.ticks) == [0, 20, 40, 60]
    assert list(axis.labels) == ["0", "20", "40", "60 %"]


def test_an_axis_of_differences_reaches_as_far_on_both_sides_and_names_nought():
    axis = points_axis([-41.2, 59.1])
    assert (axis.low, axis.high) == (-65, 65)
    assert list(axis.labels) == ["−60", "−40", "−20", "0", "+20", "+40", "+60"]
    assert (points_axis([]).low, points_axis([]).high) == (-10, 10)
    assert points_axis([3], lambda tick: f"{tick / 100:+.2f}").labels[0] == "−0.10"
