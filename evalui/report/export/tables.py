"""Tidy frames of cells and trials: one row is one thing, one column one property.

The same frame serves the screen and the files; its names are technical and stable, its shares are
in per cent.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from typing import cast

import pandas as pd

from evalui.report.analyses.open_answers.figures import ANSWERS, rating_cells
from evalui.report.analyses.statistics import comparisons
from evalui.report.export.choice_names import (
    CELL,
    CELL_STATE,
    COUNTS,
    MCNEMAR,
    OPTIONS,
    ORDER,
    PAIR,
    SIGNATURE,
    TrialOfCell,
    metadata,
    public_biases,
    trials_of,
)
from evalui.report.export.encoder import (
    Fields,
    JsonObject,
    Property,
    Reader,
    bounds,
    interval,
    length,
    letter,
    percent,
    pick,
    same,
    within,
)
from evalui.report.export.json import ENCODER
from evalui.report.export.metric_fields import choice_columns
from evalui.report.export.open_names import MARKS
from evalui.scoring.cell_summary import SubjectGroup, Summary
from evalui.scoring.position_bias.counts import PositionTable
from evalui.types import LETTERS, CellResult

_NESTED = ("consistency", "prior", "calibration")  # None where there are no such figures
_PREFIXED = ("content", "position", "calibration")  # whose own names say too little
SEPARATOR = "\n\n"  # between the turns of one answer, and between references
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
_TRIAL = ENCODER.reader(
    {
        **_CELL,
        "id": "trial.sample_id",
        "subject": "sample.subject",
        "file": metadata("file"),
        "line": metadata("line"),
        "order": ORDER,
        "question": "sample.question",
        "options": OPTIONS,
        "answer": letter("trial.target"),
        "choice": letter("trial.choice"),
        "correct": "trial.correct",
        "credit": "trial.reading.credit",
        "tied": "trial.reading.tied",
        "rule": "trial.reading.rule",
        "reply": "trial.reply",
        "label_mass": "trial.mass",
        "truncated": "trial.truncated",
        "merged_seams": "trial.merged_boundaries",
    }
)

_RATING = ENCODER.reader(
    {
        "dataset": "cell.dataset",
        "judge": "cell.model",
        "model": "rated_model",
        "id": "trial.sample_id",
        "question": "sample.question",
        **MARKS,
        "rule": "trial.reading.rule",
        "reply": "trial.reply",
        **SIGNATURE,
    }
)
_REPLY = ENCODER.reader(
    {
        **within("cell", CELL),
        **within("sample", same("id", "subject")),
        **{name: metadata(name) for name in ("language", "capability", "file", "line")},
        "question": Property("sample", lambda of: SEPARATOR.join((of.question, *of.follow_ups))),
        "references": Property("sample.references", SEPARATOR.join),
        "reply": Property("trial", lambda of: SEPARATOR.join(of.turns) or of.reply),
        "rule": "trial.reading.rule",
    }
)


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
    return frame(
        ENCODER.fields(summary, _OVERVIEW)
        | choice_columns(summary.figures)
        # The accuracy as written stands in front, with its range.
        | {name: value for name, value in summary.metrics.items() if name != "acc_origin"}
        | {"error": summary.error, "signature": summary.cell.signature}
        for summary in summaries
    )


def readings(summaries: Sequence[Summary]) -> pd.DataFrame:
    """A row per cell and rule of reading, on the order as written."""
    return _by_cell(
        summaries,
        lambda summary: (
            {"reading": name} | ENCODER.fields(reading, _READING)
            for name, reading in summary.readings.items()
        ),
    )


def groups(summaries: Sequence[Summary]) -> pd.DataFrame:
    """A row per subject; for categories and all one by question (micro), one by subject (macro)."""
    return _by_cell(
        summaries, lambda summary: (row for group in summary.groups for row in _group_rows(group))
    )


def positions(summaries: Sequence[Summary]) -> pd.DataFrame:
    """A row per slot: the recall of its right answers, and how often it is picked."""
    return _by_cell(
        summaries,
        lambda summary: (row for table in summary.positions for row in _slot_rows(table)),
    )


def confusion(summaries: Sequence[Summary]) -> pd.DataFrame:
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


def bias(summaries: Sequence[Summary]) -> pd.DataFrame:
    """A row per cell and number of options: unevenness, tests, agreement, priors, calibration."""
    return _by_cell(
        summaries,
        lambda summary: (_flatten(ENCODER.encode(each)) for each in public_biases(summary)),
    )


def pairs(summaries: Sequence[Summary]) -> pd.DataFrame:
    """A row per pair of cells of one dataset and mode, tested question by question."""
    return frame(
        {"dataset": compared.dataset, "mode": compared.label, "measure": compared.measure}
        | ENCODER.fields(pair, _PAIR)
        for compared in comparisons(summaries)
        for pair in compared.pairs
    )


def trials(results: Sequence[CellResult]) -> pd.DataFrame:
    """A row per trial with its question, what was shown, and what was read under each rule."""
    return frame(_trial_row(of) for result in results for of in trials_of(result))


def ratings(results: Sequence[CellResult]) -> pd.DataFrame:
    """A row per answer that a judge rated alone, the mark on the judge's own scale."""
    return frame(_RATING(of) for result in rating_cells(results) for of in trials_of(result))


def replies(results: Sequence[CellResult]) -> pd.DataFrame:
    """A row per written answer with its question, its references and its text figures."""
    return frame(
        _REPLY(of)
        | {name: 100 * values[0] for name, values in of.trial.scores.items()}
        | {"truncated": of.trial.truncated, "signature": of.cell.signature}
        for result in results
        if result.cell.mode == ANSWERS
        for of in trials_of(result)
    )


def frame(rows: Iterable[TableRow]) -> pd.DataFrame:
    """The rows as a table, `error` and `signature` last."""
    # Columns may differ from row to row.
    made = pd.DataFrame(list(rows))
    last = [column for column in ("error", "signature") if column in made]
    return made[[column for column in made if column not in last] + last]


def _by_cell(
    summaries: Sequence[Summary], rows: Callable[[Summary], Iterable[TableRow]]
) -> pd.DataFrame:
    """The rows of each cell between the names of the cell and its signature."""
    return frame(
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


def _trial_row(of: TrialOfCell) -> TableRow:
    """One trial as a flat row; letters are slots as shown to the model."""
    row = _TRIAL(of)
    for name, reading in of.trial.readings.items():
        row |= _reading_columns(name)(reading)
    shares = zip(LETTERS, of.trial.probabilities, strict=False)
    row |= {f"p_{slot}": share for slot, share in shares}
    return row | {"signature": of.cell.signature}


@cache
def _reading_columns(name: str) -> Reader:
    return ENCODER.reader({f"{name}_choice": letter("choice"), f"{name}_rule": "rule"})
