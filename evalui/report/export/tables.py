"""Tidy tables of cells and trials: one row is one thing, one column one property.

Names are technical and stable, shares are in per cent.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import cast

import pandas as pd

from evalui.report.export.choice_names import (
    CELL,
    CELL_STATE,
    COUNTS,
    MCNEMAR,
    PAIR,
    public_biases,
)
from evalui.report.export.encoder import (
    Fields,
    bounds,
    interval,
    length,
    percent,
    pick,
    within,
)
from evalui.report.export.json import ENCODER
from evalui.report.export.metric_fields import choice_columns
from evalui.report.frames.base import FrameParts
from evalui.report.write.json import JsonObject
from evalui.scoring.bias.counts import PositionTable
from evalui.scoring.cell_summary import SubjectGroup, Summary
from evalui.scoring.comparisons import comparisons
from evalui.types import LETTERS

_NESTED = ("consistency", "prior", "calibration")  # None where there are no such figures
_PREFIXED = ("content", "position", "calibration")  # whose own names say too little
TableRow = JsonObject  # a row of a frame: numbers and texts by column

_CELL: Fields = within("cell", CELL)
_OVERVIEW: Fields = {
    **pick(CELL_STATE, "dataset", "model", "mode", "orders", "state"),
    "questions": "questions",
    **pick(COUNTS, "n", "trials", "planned"),
}
_READING: Fields = {
    **interval("accuracy", "accuracy"),
    **interval("unreadable", "unreadable"),
    "tied": "tied",
}
_GROUP: Fields = {
    "kind": "kind",
    "group": "name",
    "group_zh": "name_zh",
    "n": "n",
    "subjects": length("subjects"),
}
_PAIR: Fields = {
    **{name: source for name, source in PAIR.items() if name not in ("range", "mcnemar")},
    "points_low": percent("paired.low"),
    "points_high": percent("paired.high"),
    **{f"mcnemar_{name}": source for name, source in within("mcnemar", MCNEMAR).items()},
    "signature": "first.signature",
    "signature_second": "second.signature",
}


def tables(summaries: Sequence[Summary]) -> dict[str, FrameParts]:
    """Every table of the figures of a run by name, in the order of a reader's interest."""
    return {
        "overview": overview(summaries),
        "readings": readings(summaries),
        "groups": groups(summaries),
        "positions": positions(summaries),
        "confusion": confusion(summaries),
        "bias": bias(summaries),
        "pairs": pairs(summaries),
    }


def overview(summaries: Sequence[Summary]) -> FrameParts:
    """A row per cell: the main figures with their ranges, then OpenCompass's by their names."""
    return table_of(
        ENCODER.fields(summary, _OVERVIEW)
        | choice_columns(summary.figures)
        # The accuracy as written stands in front, with its range.
        | {name: value for name, value in summary.metrics.items() if name != "acc_origin"}
        | {"error": summary.error, "signature": summary.cell.signature}
        for summary in summaries
    )


def readings(summaries: Sequence[Summary]) -> FrameParts:
    """A row per cell and rule of reading, on the order as written."""
    return _by_cell(
        summaries,
        lambda summary: (
            {"reading": name} | ENCODER.fields(reading, _READING)
            for name, reading in summary.readings.items()
        ),
    )


def groups(summaries: Sequence[Summary]) -> FrameParts:
    """A row per subject; for categories and all one by question (micro), one by subject (macro)."""
    return _by_cell(
        summaries, lambda summary: (row for group in summary.groups for row in _group_rows(group))
    )


def positions(summaries: Sequence[Summary]) -> FrameParts:
    """A row per slot: the recall of its right answers, and how often it is picked."""
    return _by_cell(
        summaries,
        lambda summary: (row for table in summary.positions for row in _slot_rows(table)),
    )


def confusion(summaries: Sequence[Summary]) -> FrameParts:
    """A row per square of the heat map: right answer's slot, picked slot, number of trials."""
    return _by_cell(
        summaries,
        lambda summary: (
            {"options": table.n_options, "gold": LETTERS[gold], "picked": picked, "trials": number}
            for table in summary.positions
            for gold in range(table.n_options)
            for picked, number in _picked(table, gold)
        ),
    )


def bias(summaries: Sequence[Summary]) -> FrameParts:
    """A row per cell and number of options: unevenness, tests, agreement, priors, calibration."""
    return _by_cell(
        summaries,
        lambda summary: (_flatten(ENCODER.encode(each)) for each in public_biases(summary)),
    )


def pairs(summaries: Sequence[Summary]) -> FrameParts:
    """A row per pair of cells of one dataset and mode, tested question by question."""
    return table_of(
        {"dataset": compared.dataset, "mode": compared.label, "measure": compared.measure}
        | ENCODER.fields(pair, _PAIR)
        for compared in comparisons(summaries)
        for pair in compared.pairs
    )


def table_of(rows: Iterable[TableRow]) -> FrameParts:
    """The rows, whose columns may differ, as a table with `error` and `signature` last."""
    every = list(rows)
    names = dict.fromkeys(name for row in every for name in row)
    last = [name for name in ("error", "signature") if name in names]
    values = {
        name: pd.Series([row.get(name) for row in every], dtype="object")
        for name in [*(n for n in names if n not in last), *last]
    }
    return FrameParts.of(pd.DataFrame(values))


def _by_cell(
    summaries: Sequence[Summary], rows: Callable[[Summary], Iterable[TableRow]]
) -> FrameParts:
    """The rows of each cell between the names of the cell and its signature."""
    return table_of(
        ENCODER.fields(summary, _CELL) | row | {"signature": summary.cell.signature}
        for summary in summaries
        for row in rows(summary)
    )


def _group_rows(group: SubjectGroup) -> Iterator[TableRow]:
    single = group.kind == "subject"
    means = {"": group.micro} if single else {"micro": group.micro, "macro": group.macro}
    for mean, values in means.items():
        row = ENCODER.fields(group, _GROUP) | {"mean": mean} | dict(values)
        # The range is that of all questions together, so it belongs to no macro mean.
        ranged = bounds("acc_origin", "accuracy") if mean != "macro" else {}
        yield row | ENCODER.fields(group, ranged)


def _slot_rows(table: PositionTable) -> Iterator[TableRow]:
    for slot, letter_of_slot in enumerate(LETTERS[: table.n_options]):
        yield (
            {"options": table.n_options, "questions": table.n_questions, "slot": letter_of_slot}
            | ENCODER.fields(table.recalls[slot], interval("recall", ""))
            | ENCODER.fields(table.shares[slot], interval("share_of_picks", ""))
            | {"picks": table.slot_counts[slot], "chance": 100 * table.chance, "rstd": table.rstd}
        )


def _picked(table: PositionTable, gold: int) -> Iterator[tuple[str, int]]:
    yield from zip(LETTERS, table.counts[gold], strict=False)
    yield "unreadable", table.unreadable[gold]
    yield "tied", table.tied[gold]


def _flatten(nested: JsonObject) -> TableRow:
    """The nested objects of a row as columns: `prior` {"pride_after"} becomes `pride_after`."""
    row: TableRow = {}
    for name, value in nested.items():
        if isinstance(value, dict):
            inner = _flatten(cast(JsonObject, value))
            row |= {f"{name}_{k}" if name in _PREFIXED else k: v for k, v in inner.items()}
        elif name not in _NESTED and not isinstance(value, list):
            row[name] = value
    return row
