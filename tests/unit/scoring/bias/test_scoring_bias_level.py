import pytest

from evalui.scoring.bias import BiasLevel, bias_level


@pytest.mark.parametrize(
    ("n", "p", "furthest", "rstd", "floor95", "colour"),
    [
        (29, 0.001, 0.5, 50, 5, "few"),
        (30, 0.001, 0.5, 50, 5, "red"),
        (99, 0.05, 0.5, 50, 5, "few"),
        (100, 0.05, 0.5, 50, 5, "green"),
        (99, 0.049, 0.05, 6, 5, "amber"),
        (500, 0.049, 0.029, 50, 5, "green"),
        (500, 0.049, 0.03, 10, 5, "amber"),
        (500, 0.049, 0.03, 10.1, 5, "red"),
        (500, 0.049, 0.10, 10, 5, "amber"),
        (500, 0.049, 0.101, 10, 5, "red"),
        (500, 0.049, 0.101, None, None, "red"),
        (500, 0.049, 0.05, None, 5, "amber"),
        (500, None, 0.05, 6, 5, "na"),
        (500, 0.01, None, 6, 5, "na"),
    ],
)
def test_the_light_of_the_position_bias(
    n: int,
    p: float | None,
    furthest: float | None,
    rstd: float | None,
    floor95: float | None,
    colour: BiasLevel,
):
    assert bias_level(n=n, p=p, max_share_deviation=furthest, rstd=rstd, floor95=floor95) == colour


@pytest.mark.parametrize(
    ("mass", "n", "p", "colour"),
    [
        (0.099, 500, 0.001, "mass"),
        (0.099, 20, 0.001, "mass"),
        (0.1, 500, 0.001, "red"),
        (None, 500, 0.001, "red"),
        (0.01, 500, None, "na"),
    ],
)
def test_no_light_where_the_labels_hold_under_a_tenth_of_the_probability(
    mass: float | None, n: int, p: float | None, colour: BiasLevel
):
    assert bias_level(n=n, p=p, max_share_deviation=0.5, rstd=50, floor95=5, mass=mass) == colour
