"""The registered metrics of a cell under their public names: in objects, and in columns."""

from collections.abc import Iterable, Mapping
from typing import Any

from evalui.scoring.metrics import Figure, Metric
from evalui.types import Interval


def metric_values(metrics: Iterable[Metric], figures: Mapping[str, Figure]) -> dict[str, Any]:
    """The values of metrics by name; a metric that was not computed is left out."""
    return {one.name: _value(one, figures[one.name]) for one in metrics if one.name in figures}


def metric_ranges(metrics: Iterable[Metric], figures: Mapping[str, Figure]) -> dict[str, Any]:
    """The ranges of the metrics that have one, by name: low, high."""
    ranges = {one.name: _range(one, figures.get(one.name)) for one in metrics}
    return {name: list(ends) for name, ends in ranges.items() if ends}


def metric_columns(metrics: Iterable[Metric], figures: Mapping[str, Figure]) -> dict[str, Any]:
    """As `metric_values`, each metric that has a range with both of its ends in columns beside."""
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
