"""Cells as plain JSON objects under their public names."""

from typing import Any

from evalui.report.export.choice_names import (
    ALL_METRICS,
    CELL_STATE,
    CHOICE_NAMES,
    COUNTS,
    METRICS,
)
from evalui.report.export.encoder import Encoder
from evalui.report.export.metric_fields import choice_values
from evalui.report.export.open_names import OPEN_NAMES
from evalui.report.write.json import JsonObject
from evalui.scoring.cell_summary import Summary

ENCODER = Encoder({**CHOICE_NAMES, **OPEN_NAMES})


def encode(value: Any) -> Any:
    """An analysis, or several, under its public names."""
    return ENCODER.encode(value)


def metrics_object(summary: Summary) -> JsonObject:
    """All figures of a cell: OpenCompass's under its names first, then ours."""
    return _registered(summary) | ENCODER.fields(summary, METRICS)


def all_metrics_object(summary: Summary) -> JsonObject:
    """`metrics_object`, then everything known of option bias, clusters and calibration."""
    return _registered(summary) | ENCODER.fields(summary, ALL_METRICS)


def _registered(summary: Summary) -> JsonObject:
    counts = ENCODER.fields(summary, COUNTS)
    return dict(summary.metrics) | counts | choice_values(summary.figures)


def cell_object(summary: Summary) -> JsonObject:
    """A cell with everything known of it."""
    return ENCODER.fields(summary, CELL_STATE) | {"figures": all_metrics_object(summary)}
