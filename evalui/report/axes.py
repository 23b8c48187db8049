"""Axes of values: of the plots in tables, and of charts."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import ceil

_STEPS = (5, 10, 20, 25, 50, 100)  # points between two ticks, of which there are at most 9


@dataclass(frozen=True, slots=True)
class Axis:
    """Where an axis begins and ends, in units of the data, and its ticks with their labels."""

    low: float
    high: float
    ticks: Sequence[float]
    labels: Sequence[str]
    title: str = ""
    logarithmic: bool = False

    def percent(self, value: float) -> float:
        """Where a value stands between the ends, in per cent; beyond them at the end."""
        return 100 * min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)


def share_axis(limit: int, title: str = "") -> Axis:
    """An axis from 0 to `limit` per cent with a tick at every 20."""
    ticks = range(0, limit + 1, 20)
    return Axis(0, limit, ticks, [*map(str, ticks[:-1]), f"{limit} %"], title)


def points_axis(ends: Iterable[float], form: Callable[[int], str] = "{:+d}".format) -> Axis:
    """As far on both sides of 0, in hundredths: at least 10, and all `ends`.

    `form` writes the label of a tick.
    """
    limit = max(10, 5 * ceil((max(map(abs, ends), default=0.0) + 1) / 5))
    step = next((s for s in _STEPS if 2 * limit / s < 9), _STEPS[-1])
    ticks = range(-step * (limit // step), limit + 1, step)
    return Axis(-limit, limit, ticks, [form(t).replace("-", "−") if t else "0" for t in ticks])


def share_limit(highest: Sequence[float]) -> int:
    """The end of an axis of shares in per cent, at least 40: a short axis enlarges differences."""
    return max(40, 20 * ceil(100 * max(highest, default=0.0) / 20))
