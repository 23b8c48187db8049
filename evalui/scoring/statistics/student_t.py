"""The quantile of Student's t at 0.975; scipy.special has it, after a fifth of a second of imports.

Sources: Abramowitz and Stegun, *Handbook of Mathematical Functions* (1964): 26.7.3 and 26.7.4, the
distribution as a finite series, and 26.7.5, the expansion of its quantile about the normal one.
"""

import math
from functools import lru_cache

from evalui.proportions import NORMAL_QUANTILE

_CONFIDENCE = 0.95  # of a two-sided interval
_MAX_SERIES_DEGREES = 500  # above, the first term that the expansion lacks is below 2e-14
_X = NORMAL_QUANTILE
_EXPANSION = (
    (_X**3 + _X) / 4,
    (5 * _X**5 + 16 * _X**3 + 3 * _X) / 96,
    (3 * _X**7 + 19 * _X**5 + 17 * _X**3 - 15 * _X) / 384,
    (79 * _X**9 + 776 * _X**7 + 1482 * _X**5 - 1920 * _X**3 - 945 * _X) / 92160,
)


@lru_cache(1024)
def t_quantile(degrees: int) -> float:
    """The half-width of a 95 % interval in standard errors, of at least one degree of freedom."""
    assert degrees > 0, "no degree of freedom, no quantile"
    if degrees == 1:
        return math.tan(_CONFIDENCE * math.pi / 2)
    if degrees > _MAX_SERIES_DEGREES:
        return _X + sum(each / degrees**power for power, each in enumerate(_EXPANSION, start=1))
    # Newton's method. The share within an angle is concave, so from the normal quantile, which is
    # too small, the angles grow up to the one sought, and stop there but for rounding.
    angle, before = math.atan(_X / math.sqrt(degrees)), 0.0
    while angle > before:
        share, slope = _central_share(angle, degrees)
        before, angle = angle, angle + (_CONFIDENCE - share) / slope
    return math.sqrt(degrees) * math.tan(angle)


def _central_share(angle: float, degrees: int) -> tuple[float, float]:
    """The probability of |t| < sqrt(degrees) * tan(angle), and its derivative by the angle."""
    cosine, odd = math.cos(angle), degrees % 2
    term = total = cosine if odd else 1.0
    for power in range(2 + odd, degrees - 1, 2):
        term *= (power - 1) / power * cosine**2
        total += term
    share, slope = total * math.sin(angle), term * (degrees - 1) * cosine
    return ((angle + share) * 2 / math.pi, slope * 2 / math.pi) if odd else (share, slope)
