"""The registered metrics of a cell under their public names: in objects, and in columns."""

from collections.abc import Iterable, Mapping
from typing import Any

from evalui.scoring.metrics import Figure, Metric, metrics_in, metrics_of_texts
from evalui.types import Interval

Figures = Mapping[str, Figure]


def choice_values(figures: Figures) -> dict[str, Any]:
    """The figures of chosen options that stand side by side in an object."""
    return _values(metrics_in("json"), figures)


def choice_ranges(figures: Figures) -> dict[str, Any]:
    """The ranges of figures of chosen options, by name: low, high."""
    return _ranges(metrics_in("json ranges"), figures)


def choice_format(figures: Figures) -> dict[str, Any] | None:
    """The figures on the form of the answers, in an object of their own; None without answers."""
    values = _values(metrics_in("json format"), figures)
    return {name.removeprefix("format_"): value for name, value in values.items()} or None


def choice_columns(figures: Figures) -> dict[str, Any]:
    """The columns of all figures of chosen options, each range as two of them."""
    return _columns(metrics_in("files"), figures)


def text_values(figures: Figures) -> dict[str, Any]:
    """The figures of written answers that have a value."""
    return _values(_known_text_metrics(figures), figures)


def text_ranges(figures: Figures) -> dict[str, Any]:
    """The ranges of the figures of written answers, by name: low, high."""
    return _ranges(_known_text_metrics(figures), figures)


def text_columns(figures: Figures) -> dict[str, Any]:
    """The columns of the figures of written answers that have a value."""
    return _columns(_known_text_metrics(figures), figures)


def public_figure(metric: Metric, figure: Figure) -> dict[str, float | None]:
    """A figure as the files have it, with the ends of its range: `value`, `low`, `high`."""
    low, high = _range(metric, figure) or (None, None)
    return {"value": _value(metric, figure), "low": low, "high": high}


def _known_text_metrics(figures: Figures) -> list[Metric]:
    known = metrics_of_texts(figures)
    return [metric for metric in known if figures.get(metric.name) is not None]


def _values(metrics: Iterable[Metric], figures: Figures) -> dict[str, Any]:
    return {one.name: _value(one, figures[one.name]) for one in metrics if one.name in figures}


def _ranges(metrics: Iterable[Metric], figures: Figures) -> dict[str, Any]:
    ranges = {one.name: _range(one, figures.get(one.name)) for one in metrics}
    return {name: list(ends) for name, ends in ranges.items() if ends}


def _columns(metrics: Iterable[Metric], figures: Figures) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for metric in metrics:
        if metric.name not in figures:
            continue
        figure = figures[metric.name]
        row[metric.name] = _value(metric, figure)
        if metric.ranged or isinstance(figure, Interval):
            low, high = _range(metric, figure) or (None, None)
            row |= {f"{metric.name}_low": low, f"{metric.name}_high": high}
    return row


def _value(metric: Metric, figure: Figure) -> float | None:
    """A figure as the files have it: a share in per cent, everything else as it is."""
    value = figure.value if isinstance(figure, Interval) else figure
    return 100 * value if metric.unit == "share" and value is not None else value


def _range(metric: Metric, figure: Figure) -> tuple[float, float] | None:
    """Both ends of a figure's range in the unit of its value; None without a range."""
    if not isinstance(figure, Interval):
        return None
    scale = 100 if metric.unit == "share" else 1
    return scale * figure.low, scale * figure.high
