"""How figures are printed: as many digits as their range deserves, never more.

Shares are given in 0..1 and printed in per cent; the caller adds the unit.
"""

from datetime import datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Protocol

from evalui.scoring.metrics import Figure, Metric
from evalui.types import Interval

# Under this half-width (in points) a first decimal says something; above it is noise.
_FINE = 5.0
_PLACES = 3  # of a number that is no share
_EXACT_BELOW = 1e15  # beyond, a float has no decimals


def local_time(moment: float) -> str:
    """A time in seconds since 1970, by the clock of this machine."""
    return f"{datetime.fromtimestamp(moment).astimezone():%Y-%m-%d %H:%M}"


class ShareRange(Protocol):
    """A range of shares in 0..1, as `Interval` and a paired test have it."""

    @property
    def low(self) -> float:
        """The lower end."""
        ...

    @property
    def high(self) -> float:
        """The upper end."""
        ...


def decimal_places(interval: ShareRange) -> int:
    """One decimal if the half-width is under 5 points, else none."""
    return 1 if 50 * (interval.high - interval.low) < _FINE else 0


def format_value(interval: Interval) -> str:
    """The value in per cent without its unit: "66", "97.0"."""
    return fixed(100 * interval.value, decimal_places(interval))


def format_range(interval: Interval) -> str:
    """The range in per cent with an en dash: "60–72"."""
    places = decimal_places(interval)
    return f"{fixed(100 * interval.low, places)}–{fixed(100 * interval.high, places)}"


def format_fraction(value: float) -> str:
    """A text figure as a part of one, two decimals: the third is noise for hundreds of answers."""
    return fixed(value, 2)


def format_interval(mean: Interval) -> str:
    """The range of a text figure: "0.35–0.47"."""
    return f"{format_fraction(mean.low)}–{format_fraction(mean.high)}"


def format_figure(metric: Metric, figure: Figure) -> str:
    """A figure in the form of its unit: "66 (60–72)" of a share, "12,345" of a count, else "0.123".

    "" of a figure that rests on nothing.
    """
    if figure is None:
        return ""
    if metric.unit == "share":
        if isinstance(figure, Interval):
            return f"{format_value(figure)} ({format_range(figure)})"
        return percent(figure)
    if isinstance(figure, Interval):
        ends = f"{fixed(figure.low, _PLACES)}–{fixed(figure.high, _PLACES)}"
        return f"{fixed(figure.value, _PLACES)} ({ends})"
    return count(round(figure)) if metric.unit == "count" else fixed(figure, _PLACES)


def percent(share: float) -> str:
    """A share without a range, such as the chance level: "25", "33.3", "0.4"."""
    text = fixed(100 * share, 1)
    return text.removesuffix(".0")


def count(number: int) -> str:
    """A whole number with a comma for thousands: "12,345"."""
    return f"{number:,}"


def fixed(value: float, places: int) -> str:
    """`value` with `places` decimals, halves away from 0, and never "-0"."""
    if not abs(value) < _EXACT_BELOW:
        return f"{value:.{places}f}"
    # 100 * 0.285 is 28.499999999999996: the last digits of a float decide nothing.
    exact = Decimal(f"{value:.9f}")
    text = f"{exact.quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP):f}"
    return text.lstrip("-") if float(text) == 0 else text


def probability(value: float) -> str:
    """A probability with two decimals, or as many as tell it from 1: "0.83", "0.999"."""
    return next(
        (text for places in range(2, 9) if float(text := fixed(value, places)) < 1),
        fixed(value, 2),
    )


def signed(value: float, places: int) -> str:
    """`value` with `places` decimals and a true minus sign."""
    return fixed(value, places).replace("-", "−")


def signed_range(low: float, high: float, places: int) -> str:
    """A range whose ends may lie below 0: "−0.02 … 0.31"."""
    return f"{signed(low, places)} … {signed(high, places)}"


def signed_points(share: float, places: int) -> str:
    """A difference of shares in points with a true minus sign."""
    return signed(100 * share, places)


def points_between(difference: float, one: Interval, other: Interval, *, places: int) -> str:
    """The difference of two shares in points, as the shares themselves are printed: 62 − 46 is 16.

    With `places` decimals where it is not theirs.
    """
    if abs(one.value - other.value - difference) > 1e-9:
        return signed_points(difference, places)
    places = min(decimal_places(one), decimal_places(other))
    shown = [Decimal(fixed(100 * each.value, places)) for each in (one, other)]
    return signed(float(shown[0] - shown[1]), places)


def p_value(p: float) -> str:
    """A p-value as it stands behind "p": "= .012", "< .001"."""
    return "< .001" if p < 0.001 else "= " + f"{p:.3f}".removeprefix("0")


def p_column(p: float) -> str:
    """A p-value in a column of its own: ".012", "< .001"."""
    return p_value(p).removeprefix("= ")


def dollars(amount: float) -> str:
    """US dollars with the cents that matter: "0.004", "1.20", "35"."""
    if amount >= 10:
        return f"{amount:,.0f}"
    return f"{amount:.2f}" if amount >= 0.1 or not amount else f"{amount:.2g}"
