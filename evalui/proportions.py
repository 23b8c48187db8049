"""Wilson's interval of a proportion, at 95 %: the one that every share in the project has."""

import math

from evalui.types import Interval

# The normal distribution's quantile of 0.975 (scipy.special.ndtri).
NORMAL_QUANTILE = 1.959963984540054


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
    return NORMAL_QUANTILE * math.sqrt(0.5 / n)


def wilson_bounds(value: float, n: float) -> tuple[float, float]:
    """Both ends of the interval of a share in 0..1 of `n` trials, or of an effective number."""
    z = NORMAL_QUANTILE
    shrink = 1 + z**2 / n
    centre = (value + z**2 / (2 * n)) / shrink
    half = z * math.sqrt(value * (1 - value) / n + z**2 / (4 * n * n)) / shrink
    # The ends are met in whole: the last digits of the formula are not.
    low, high = max(0.0, centre - half), min(1.0, centre + half)
    return 0.0 if value == 0 else low, 1.0 if value == 1 else high
