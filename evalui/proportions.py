"""Wilson's interval of a proportion, at 95 %: the one that every share in the project has."""

import math

from evalui.types import Interval

_Z = 1.959963984540054  # the normal distribution's quantile of 0.975 (scipy.special.ndtri)


def wilson_interval(successes: float, n: int) -> Interval:
    """The share `successes / n` with Wilson's interval; successes may be fractional (ties).

    E. B. Wilson, "Probable inference" (1927).
    """
    assert n > 0, "a share of nothing is undefined"
    value = successes / n
    low, high = wilson_bounds(value, n)
    return Interval(value, low, high, n)


def smallest_visible_gap(n: int) -> float:
    """The difference of two shares of `n` trials each that chance alone would rarely exceed.

    For shares around one half, where it is largest, and independent trials.
    """
    return _Z * math.sqrt(0.5 / n)


def wilson_bounds(value: float, n: float) -> tuple[float, float]:
    """Both ends of the interval of a share in 0..1 of `n` trials, or of an effective number."""
    shrink = 1 + _Z**2 / n
    centre = (value + _Z**2 / (2 * n)) / shrink
    half = _Z * math.sqrt(value * (1 - value) / n + _Z**2 / (4 * n * n)) / shrink
    return max(0.0, centre - half), min(1.0, centre + half)
