"""Summaries and trials as plain JSON objects, shares in per cent under stable names."""

from collections.abc import Iterable, Iterator, Mapping

from evalui.report.analyses.overview.groups import SubjectGroup
from evalui.report.analyses.overview.summary import Summary
from evalui.report.export.bias_json import (
    JsonObject,
    bias_object,
    clusters_object,
    mass_object,
    percent,
    percent_range,
)
from evalui.scoring.choice.answer_format import ReadingMetrics
from evalui.scoring.choice.permutations import variant_label
from evalui.scoring.metrics import Figure, Metric, metrics_in
from evalui.scoring.position_bias.counts import PositionTable
from evalui.types import LETTERS, Cell, CellResult, Interval, Trial

__all__ = [
    "JsonObject",
    "all_metrics_object",
    "cell_identity",
    "cell_object",
    "metrics_object",
    "percent",
    "percent_range",
    "trial_objects",
]


def metrics_object(summary: Summary) -> JsonObject:
    """All figures of a cell: OpenCompass's under its names first, then ours."""
    figures = summary.figures
    return dict(summary.metrics) | {
        "n": summary.n,
        "n_all_orders": summary.robust.n if summary.robust else 0,
        "trials": summary.done,
        "planned": summary.total,
        **metric_values(metrics_in("json"), figures),
        "ranges": metric_ranges(metrics_in("json ranges"), figures),
        "readings": {name: _reading(found) for name, found in summary.readings.items()},
        "format": _format(figures),
        "incomplete": list(summary.incomplete),
        "naming_options": list(summary.naming),
        "duplicate_options": list(summary.duplicates),
        "positions": [_positions(table) for table in summary.positions],
        "groups": [_group(group) for group in summary.groups],
    }


def metric_values(metrics: Iterable[Metric], figures: Mapping[str, Figure]) -> JsonObject:
    """The values of metrics by name; a metric that was not computed is left out."""
    return {
        one.name: metric_value(one, figures[one.name]) for one in metrics if one.name in figures
    }


def metric_ranges(metrics: Iterable[Metric], figures: Mapping[str, Figure]) -> JsonObject:
    """The ranges of the metrics that have one, by name."""
    ranges = {one.name: metric_range(one, figures.get(one.name)) for one in metrics}
    return {name: list(ends) for name, ends in ranges.items() if ends}


def metric_value(metric: Metric, figure: Figure) -> float | None:
    """A figure as the files have it: a share in per cent, everything else as it is."""
    value = figure.value if isinstance(figure, Interval) else figure
    return 100 * value if metric.unit == "share" and value is not None else value


def metric_range(metric: Metric, figure: Figure) -> tuple[float, float] | None:
    """Both ends of a figure's range in the unit of its value; None without a range."""
    if not isinstance(figure, Interval):
        return None
    scale = 100 if metric.unit == "share" else 1
    return scale * figure.low, scale * figure.high


def all_metrics_object(summary: Summary) -> JsonObject:
    """`metrics_object`, then everything known of option bias, clusters and calibration."""
    return metrics_object(summary) | {
        "clusters": clusters_object(summary.clustered) if summary.clustered else None,
        "label_mass": mass_object(mass) if (mass := summary.bias and summary.bias.mass) else None,
        "bias": [
            bias_object(found, summary.priors.get(found.n_options, ()))
            for found in (summary.bias.strata if summary.bias else ())
        ],
    }


def cell_object(summary: Summary) -> JsonObject:
    """A cell with everything known of it."""
    return cell_identity(summary.cell) | {
        "orders": summary.cell.pattern,
        "signature": summary.cell.signature,
        "state": summary.state,
        "error": summary.error,
        "figures": all_metrics_object(summary),
    }


def cell_identity(cell: Cell) -> JsonObject:
    """Which cell it is."""
    return {"dataset": cell.dataset, "model": cell.model, "mode": cell.label}


def trial_objects(result: CellResult) -> Iterator[JsonObject]:
    """The trials of a cell, one object each, in the form that `evalui score choices` reads."""
    for trial in result.trials:
        sample = result.samples[trial.sample_id]
        yield {
            **cell_identity(result.cell),
            "id": trial.sample_id,
            "subject": sample.subject,
            "question": sample.question,
            "options": list(sample.choices),
            "answer": LETTERS[sample.target] if isinstance(sample.target, int) else sample.target,
            "permutation": list(trial.variant.permutation),
            "order": variant_label(trial.variant),
            **_answer(trial),
            "headline": trial.headline,
            "readings": {
                name: {
                    "choice": None if found.choice is None else LETTERS[found.choice],
                    "credit": found.credit,
                    "rule": found.rule,
                    "tied": found.tied,
                }
                for name, found in trial.readings.items()
            },
            "truncated": trial.truncated,
            "signature": result.cell.signature,
        }


def _answer(trial: Trial) -> JsonObject:
    """What the model gave: a reply, or probabilities by slot, or a score per option."""
    if trial.scores:
        scores = {name: list(values) for name, values in trial.scores.items()}
        return {"scores": scores, "merged_seams": trial.merged_boundaries}
    if trial.mass is None:
        return {"reply": trial.reply}
    # An empty tuple stands for no probability on any label.
    shares = trial.probabilities or (0.0,) * len(trial.variant.permutation)
    return {"probabilities": list(shares), "label_mass": trial.mass, "top_token": trial.reply}


def _reading(found: ReadingMetrics) -> JsonObject:
    return {
        "accuracy": 100 * found.accuracy.value,
        "range": percent_range(found.accuracy),
        "unreadable": 100 * found.unreadable.value,
        "tied": found.tied,
        "rules": dict(found.rules),
    }


def _format(figures: Mapping[str, Figure]) -> JsonObject | None:
    found = metric_values(metrics_in("json format"), figures)
    # Within its object the gap needs no second name.
    return {name.removeprefix("format_"): value for name, value in found.items()} or None


def _positions(table: PositionTable) -> JsonObject:
    return {
        "options": table.n_options,
        "questions": table.n_questions,
        "trials": table.n_trials,
        "counts": [list(row) for row in table.counts],
        "unreadable": list(table.unreadable),
        "tied": list(table.tied),
        "recalls": [percent(recall) for recall in table.recalls],
        "recall_ranges": [percent_range(recall) for recall in table.recalls],
        "shares": [percent(share) for share in table.shares],
        "share_ranges": [percent_range(share) for share in table.shares],
        "rstd": table.rstd,
    }


def _group(group: SubjectGroup) -> JsonObject:
    means: Mapping[str, JsonObject] = (
        {"figures": dict(group.micro)}
        if group.kind == "subject"
        else {"micro": dict(group.micro), "macro": dict(group.macro)}
    )
    return {
        "kind": group.kind,
        "name": group.name,
        "name_zh": group.name_zh,
        "subjects": list(group.subjects),
        "n": group.n,
        "acc_origin_range": percent_range(group.accuracy),
        "order_sensitivity": percent(group.gap),
        "order_sensitivity_range": percent_range(group.gap),
        "order_sensitivity_p": group.gap_p,
        **means,
    }
