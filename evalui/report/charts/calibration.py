"""Charts of what can be trusted: sureness against rightness, and how small a difference."""

from collections.abc import Sequence
from dataclasses import replace
from math import sqrt

from evalui.messages import localized
from evalui.report.axes import Axis, share_axis
from evalui.report.charts.kinds import Bar, Bars, Dash, Label, Line, Lines
from evalui.report.charts.theme import COLOURS, MIN_QUESTIONS, NEUTRAL
from evalui.report.numbers import count, fixed, format_range, format_value, percent
from evalui.scoring.bias.probabilities import Calibration, CalibrationBin
from evalui.scoring.statistics.tests import minimum_detectable_difference
from evalui.types import Interval, Language

DISAGREEMENT_RATES = (0.1, 0.2, 0.3)  # shares of questions on which two models differ
_SIZES = (20, 30, 50, 75, 100, 150, 200, 300, 500, 750, 1000, 1500, 2000, 3000, 5000, 10000)
_SIZE_TICKS = (20, 50, 100, 200, 500, 1000, 2000, 5000, 10000)
_LABELLED_SIZE = 50  # questions at which the lines are far enough apart for their names
_DASHES: Sequence[Dash] = ("solid", "dash", "dot")
_MAX_POINTS = 35  # the end of the axis of smallest differences
_ROW = 56  # pixels of a difference


def reliability(calibration: Calibration, language: Language, *, colour: str = COLOURS[0]) -> Lines:
    """How often the model is right by how sure it is, with ranges, and how many questions below.

    Bins of few questions are grey. The keys of a point are [low, high] of its bin.
    """
    known = [
        (each, each.accuracy, each.confidence)
        for each in calibration.bins
        if each.accuracy and each.confidence is not None
    ]
    bins = Line(
        x=[100 * sure for _, _, sure in known],
        y=[100 * right.value for _, right, _ in known],
        colours=[colour if right.n >= MIN_QUESTIONS else NEUTRAL for _, right, _ in known],
        dash="points",
        hover=[_bin_hover(right, sure, language) for _, right, sure in known],
        ranges=[(100 * right.low, 100 * right.high) for _, right, _ in known],
        keys=[(each.low, each.high) for each, _, _ in known],
    )
    even = Line(x=[0, 100], y=[0, 100], colours=[NEUTRAL], dash="dot", width=1)
    return Lines(
        [even, bins],
        share_axis(100, localized("reliable-sure", language)),
        share_axis(100, localized("reliable-right", language)),
        height=400,
        note=(2, 100, localized("reliable-line", language)),
        below=_counts([(each, right.n) for each, right, _ in known], language),
    )


def reliability_title(calibration: Calibration, model: str, language: Language) -> str:
    """Whether the model is surer than it is right, in one sentence."""
    if calibration.n < MIN_QUESTIONS:
        return localized("reliable-few", language, n=count(calibration.n))
    known = [(e.accuracy, e.confidence) for e in calibration.bins if e.accuracy and e.confidence]
    apart = sum(a.n * (sure - a.value) for a, sure in known) / calibration.n
    # Within two standard errors of a share, sureness and rightness agree as far as one can see.
    right = sum(a.n * a.value for a, _ in known) / calibration.n
    if abs(apart) <= 2 * sqrt(max(right * (1 - right), 0.0) / calibration.n):
        return localized("reliable-even", language, model=model)
    key = "reliable-over" if apart > 0 else "reliable-under"
    return localized(key, language, model=model, gap=fixed(100 * abs(apart), 0))


def reliability_subtitle(calibration: Calibration, mass: float | None, language: Language) -> str:
    """ECE, Brier and label mass; lower is better for the first two."""
    return localized(
        "reliable-about",
        language,
        ece=fixed(100 * calibration.ece, 1),
        brier=fixed(calibration.brier, 2),
        mass="–" if mass is None else percent(mass),
        n=count(calibration.n),
    )


def sample_size_lines(n: int, language: Language, *, omega: float | None = None) -> Lines:
    """The smallest visible difference by number of questions, if models differ on 10 to 30 %.

    `n` marks the questions of this run; `omega`, the standard deviation of the differences of a
    pair, adds the line of that pair.
    """
    sizes = sorted({*_SIZES, max(2, n)})
    lines = [
        _size_line(sizes, sqrt(share), f"{percent(share)} %", dash, language)
        for share, dash in zip(DISAGREEMENT_RATES, _DASHES, strict=True)
    ]
    if omega:
        own = _size_line(sizes, omega, "", "solid", language)
        lines.append(replace(own, colours=COLOURS[:1]))
    questions, points = (localized(f"needed-{key}", language) for key in ("axis", "points"))
    labels, heights = [count(tick) for tick in _SIZE_TICKS], range(0, _MAX_POINTS + 1, 5)
    return Lines(
        lines,
        Axis(sizes[0], sizes[-1], _SIZE_TICKS, labels, questions, logarithmic=True),
        Axis(0, _MAX_POINTS, heights, [*map(str, heights)], points),
        height=320,
        marked=n,
    )


# ---------------------------------------------------------------- parts


def _bin_hover(right: Interval, sure: float, language: Language) -> str:
    fields = {"value": format_value(right), "span": format_range(right), "n": count(right.n)}
    return localized("reliable-told", language, sure=percent(sure), **fields)


def _counts(sizes: Sequence[tuple[CalibrationBin, int]], language: Language) -> Bars:
    name = localized("reliable-counts", language)
    bars = [
        Bar(50 * (each.low + each.high), n, Label(plain=count(n)), f"{count(n)} {name}")
        for each, n in sizes
    ]
    most = max((n for _, n in sizes), default=1)
    return Bars(bars, Axis(0, 1.35 * most, (), ()), width=8, opacity=0.6)


def _size_line(
    sizes: Sequence[int], spread: float, name: str, dash: Dash, language: Language
) -> Line:
    smallest = [100 * minimum_detectable_difference(spread, size) for size in sizes]
    return Line(
        x=sizes,
        y=smallest,
        colours=[NEUTRAL],
        dash=dash,
        labels=[name if size == _LABELLED_SIZE else "" for size in sizes],
        hover=[
            localized("needed-told", language, n=count(size), least=fixed(value, 1))
            for size, value in zip(sizes, smallest, strict=True)
        ],
    )
