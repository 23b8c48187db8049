"""Tidy frames: one row is one thing, one column one property, shares in per cent.

The same frame serves the screen and the files; its names are technical and stable.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

import pandas as pd

from evalui.report.analyses.overview.summary import Summary
from evalui.report.analyses.statistics.pairs import comparisons
from evalui.report.export.bias_json import JsonObject, bias_object, pair_object
from evalui.report.export.json import metric_range, metric_value
from evalui.scoring.choice.permutations import variant_label
from evalui.scoring.metrics import Figure, Metric, metrics_in
from evalui.scoring.position_bias.counts import PositionTable
from evalui.types import LETTERS, Cell, CellResult, Interval, Sample, Trial

_NESTED = ("consistency", "prior", "calibration")  # None where there is nothing to tell
_PREFIXED = ("content", "position", "calibration")  # whose own names are told by this one only
TableRow = dict[str, Any]  # a row of a frame: numbers and texts by column


def tables(summaries: Sequence[Summary], results: Sequence[CellResult]) -> dict[str, pd.DataFrame]:
    """Every table of a run by name, in the order of a reader's interest."""
    return {
        "overview": overview(summaries),
        "readings": readings(summaries),
        "groups": groups(summaries),
        "positions": positions(summaries),
        "confusion": confusion(summaries),
        "bias": bias(summaries),
        "pairs": pairs(summaries),
        "trials": trials(results),
    }


def overview(summaries: Sequence[Summary]) -> pd.DataFrame:
    """A row per cell: the main figures with their ranges, then OpenCompass's by their names."""
    return frame(_overview_row(summary) for summary in summaries)


def readings(summaries: Sequence[Summary]) -> pd.DataFrame:
    """A row per cell and rule of reading, on the order as written."""
    return frame(
        cell_columns(summary.cell)
        | {"reading": name}
        | interval_columns("accuracy", found.accuracy)
        | interval_columns("unreadable", found.unreadable)
        | {"tied": found.tied, "signature": summary.cell.signature}
        for summary in summaries
        for name, found in summary.readings.items()
    )


def groups(summaries: Sequence[Summary]) -> pd.DataFrame:
    """A row per subject; for categories and all one by question (micro), one by subject (macro)."""
    return frame(
        cell_columns(summary.cell)
        | {"kind": group.kind, "group": group.name, "group_zh": group.name_zh, "n": group.n}
        | {"subjects": len(group.subjects), "mean": mean}
        | dict(values)
        # The range is that of all questions together, so it belongs to no macro mean.
        | (_bounds("acc_origin", group.accuracy) if mean != "macro" else {})
        | {"signature": summary.cell.signature}
        for summary in summaries
        for group in summary.groups
        for mean, values in (
            [("", group.micro)]
            if group.kind == "subject"
            else [("micro", group.micro), ("macro", group.macro)]
        )
    )


def positions(summaries: Sequence[Summary]) -> pd.DataFrame:
    """A row per slot: how often the answer is found there, and how often the slot is picked."""
    return frame(
        cell_columns(summary.cell)
        | {"options": table.n_options, "questions": table.n_questions, "slot": LETTERS[slot]}
        | interval_columns("recall", table.recalls[slot])
        | interval_columns("share_of_picks", table.shares[slot])
        | {"picks": table.slot_counts[slot], "chance": 100 * table.chance, "rstd": table.rstd}
        | {"signature": summary.cell.signature}
        for summary in summaries
        for table in summary.positions
        for slot in range(table.n_options)
    )


def confusion(summaries: Sequence[Summary]) -> pd.DataFrame:
    """A row per square of the heat map: right answer's slot, picked slot, number of trials."""
    return frame(
        cell_columns(summary.cell)
        | {"options": table.n_options, "gold": LETTERS[gold], "picked": picked, "trials": number}
        | {"signature": summary.cell.signature}
        for summary in summaries
        for table in summary.positions
        for gold in range(table.n_options)
        for picked, number in _picked(table, gold)
    )


def bias(summaries: Sequence[Summary]) -> pd.DataFrame:
    """A row per cell and number of options: unevenness, tests, agreement, priors, calibration."""
    return frame(
        cell_columns(summary.cell) | flatten(found) | {"signature": summary.cell.signature}
        for summary in summaries
        for found in _strata(summary)
    )


def pairs(summaries: Sequence[Summary]) -> pd.DataFrame:
    """A row per pair of cells of one dataset and mode, tested question by question."""
    return frame(
        {"dataset": found.dataset, "mode": found.label, "measure": found.measure}
        | {name: value for name, value in pair.items() if name not in ("range", "mcnemar")}
        | {"points_low": pair["range"][0], "points_high": pair["range"][1]}
        | ({f"mcnemar_{name}": value for name, value in table.items()} if table else {})
        | {"signature": made.first.signature, "signature_second": made.second.signature}
        for found in comparisons(summaries)
        for made, pair in zip(found.pairs, map(pair_object, found.pairs), strict=True)
        for table in [cast(JsonObject | None, pair["mcnemar"])]
    )


def flatten(nested: JsonObject) -> TableRow:
    """The nested objects of a row as columns: `prior` {"pride_after"} becomes `pride_after`."""
    row: TableRow = {}
    for name, value in nested.items():
        if isinstance(value, dict):
            inner = flatten(cast(JsonObject, value))
            row |= {f"{name}_{k}" if name in _PREFIXED else k: v for k, v in inner.items()}
        elif name not in _NESTED and not isinstance(value, list):
            row[name] = value
    return row


def _strata(summary: Summary) -> list[JsonObject]:
    strata = summary.bias.strata if summary.bias else ()
    return [bias_object(found, summary.priors.get(found.n_options, ())) for found in strata]


def trials(results: Sequence[CellResult]) -> pd.DataFrame:
    """A row per trial with its question, what was shown, and what was read under each rule."""
    return frame(
        trial_row(result.cell, result.samples[trial.sample_id], trial)
        | {"signature": result.cell.signature}
        for result in results
        for trial in result.trials
    )


def trial_row(cell: Cell, sample: Sample, trial: Trial) -> TableRow:
    """One trial as a flat row; letters are slots as shown to the model."""
    shown = [sample.choices[content] for content in trial.variant.permutation]
    row: TableRow = cell_columns(cell) | {
        "id": trial.sample_id,
        "subject": sample.subject,
        "file": sample.metadata.get("file", ""),
        "line": sample.metadata.get("line", ""),
        "order": variant_label(trial.variant),
        "question": sample.question,
        "options": "\n".join(f"{LETTERS[slot]}. {text}" for slot, text in enumerate(shown)),
        "answer": LETTERS[trial.target],
        "choice": _letter(trial.choice),
        "correct": trial.correct,
        "credit": trial.reading.credit,
        "tied": trial.reading.tied,
        "rule": trial.reading.rule,
        "reply": trial.reply,
        "label_mass": trial.mass,
        "truncated": trial.truncated,
        "merged_seams": trial.merged_boundaries,
    }
    for name, reading in trial.readings.items():
        row |= {f"{name}_choice": _letter(reading.choice), f"{name}_rule": reading.rule}
    shares = zip(LETTERS, trial.probabilities, strict=False)
    return row | {f"p_{letter}": share for letter, share in shares}


def _overview_row(summary: Summary) -> TableRow:
    named = {name: value for name, value in summary.metrics.items() if name != "acc_origin"}
    return (
        cell_columns(summary.cell)
        | {"orders": summary.cell.pattern, "state": summary.state, "questions": summary.questions}
        | {"n": summary.n, "trials": summary.done, "planned": summary.total}
        | metric_columns(metrics_in("files"), summary.figures)
        | named
        | {"error": summary.error, "signature": summary.cell.signature}
    )


def metric_columns(metrics: Iterable[Metric], figures: Mapping[str, Figure]) -> TableRow:
    """The columns of the metrics that have a figure, shares in per cent and with their ranges."""
    row: TableRow = {}
    for metric in metrics:
        if metric.name in figures:
            row |= _metric_columns(metric, figures[metric.name])
    return row


def _metric_columns(metric: Metric, figure: Figure) -> TableRow:
    if not metric.ranged and not isinstance(figure, Interval):
        return {metric.name: metric_value(metric, figure)}
    ends = metric_range(metric, figure) or (None, None)
    return {
        metric.name: metric_value(metric, figure),
        f"{metric.name}_low": ends[0],
        f"{metric.name}_high": ends[1],
    }


def _picked(table: PositionTable, gold: int) -> Iterator[tuple[str, int]]:
    yield from zip(LETTERS, table.counts[gold], strict=False)
    yield "unreadable", table.unreadable[gold]
    yield "tied", table.tied[gold]


def cell_columns(cell: Cell) -> TableRow:
    """Which cell a row is about."""
    return {"dataset": cell.dataset, "model": cell.model, "mode": cell.label}


def interval_columns(name: str, interval: Interval | None) -> TableRow:
    """A share in per cent and both ends of its range."""
    return {name: _percent(interval and interval.value)} | _bounds(name, interval)


def _bounds(name: str, interval: Interval | None) -> TableRow:
    return {
        f"{name}_low": _percent(interval and interval.low),
        f"{name}_high": _percent(interval and interval.high),
    }


def _percent(share: float | None) -> float | None:
    return None if share is None else 100 * share


def _letter(slot: int | None) -> str | None:
    return None if slot is None else LETTERS[slot]


def frame(rows: Iterable[TableRow]) -> pd.DataFrame:
    """The rows as a table, `error` and `signature` last."""
    # Columns may differ from row to row.
    made = pd.DataFrame(list(rows))
    last = [column for column in ("error", "signature") if column in made]
    return made[[column for column in made if column not in last] + last]
