"""A run as pandas DataFrames, each with declared columns: names, dtypes, meanings.

Trials and questions are read from the cells of a run; everything else from its figures as
`report.json` has them, so that a frame and that file never differ in a digit. Shares are in per
cent. A missing value is NaN, `pandas.NA` or NaT, by the dtype of its column.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evalui.errors import SpecError
from evalui.modes import usual_mode
from evalui.report.export.frame_columns import (
    CELL_COLUMNS,
    METRIC_COLUMNS,
    PAIR_COLUMNS,
    POSITION_COLUMNS,
    QUESTION_COLUMNS,
    STANDING_COLUMNS,
    TRIAL_COLUMNS,
    Dtype,
    FrameColumn,
)
from evalui.report.export.metric_rows import (
    Figures,
    Row,
    metric_rows,
    metric_unit,
    opencompass_elo_columns,
)
from evalui.report.export.trial_cells import ExportColumn, same_for_all
from evalui.report.export.trial_tables import ON_REQUEST, every_trial
from evalui.scoring.arena.verdicts import PANEL_NAME
from evalui.scoring.trial_columns import columns_of
from evalui.types import LETTERS, CellResult, Sample


def frame(rows: Iterable[Row], columns: Mapping[str, FrameColumn]) -> pd.DataFrame:
    """The rows as a frame of exactly these columns; what a row lacks is missing."""
    every = list(rows)
    return pd.DataFrame(
        {
            name: _series([row.get(name) for row in every], column.dtype)
            for name, column in columns.items()
        }
    )


def trial_frame(
    results: Iterable[CellResult], columns: Sequence[str] | None = None
) -> pd.DataFrame:
    """A row per trial of options and per written answer, the cells one after the other.

    `columns` None gives all of `TRIAL_COLUMNS`, then the choice and the rule of each reading
    (`strict_choice`), the probability of each slot (`p_A`, 0 to 1) and each text metric in per
    cent. Of some columns nothing else is read: no text where no text is wanted.

    Raises:
        SpecError: there is no such column; the message lists those there are.
    """
    every = dict[str, None].fromkeys(TRIAL_COLUMNS)
    cells: list[tuple[int, Mapping[str, Sequence[ExportColumn]]]] = []
    for result in results:
        held = replace(result, trials=columns_of(result.trials))  # decoded once
        if names := every_trial([held]).kinds:
            every |= dict.fromkeys(names)
            table = every_trial([held], [*names, *ON_REQUEST] if columns is None else columns)
            chunks = list(table.chunks())
            by_name = {
                name: [chunk[place] for chunk in chunks] for place, name in enumerate(table.kinds)
            }
            cells.append((len(held.trials), by_name))
    if unknown := [name for name in columns or () if name not in every]:
        raise SpecError("no-column", name=unknown[0], known=", ".join(every))
    return pd.DataFrame(
        {
            name: _joined(
                chain.from_iterable(
                    by_name.get(name) or [same_for_all(None, n)] for n, by_name in cells
                ),
                _dtype_of_trial(name),
            )
            for name in (every if columns is None else columns)
        }
    )


def question_frame(results: Iterable[CellResult]) -> pd.DataFrame:
    """A row per question of each dataset, in the order of its file."""
    samples = {
        (result.cell.dataset, sample.id): sample
        for result in results
        for sample in result.samples.values()
    }
    rows = (_question_row(dataset, sample) for (dataset, _), sample in samples.items())
    return frame(rows, QUESTION_COLUMNS)


def cell_frame(figures: Figures) -> pd.DataFrame:
    """A row per model or judge, dataset and mode, also of those that failed or cannot run."""
    judges = (
        {**arena, "model": arena["by"], "mode": usual_mode("verdicts")}
        for arena in figures["arenas"]
        if arena["by"] != PANEL_NAME
    )
    rated = (
        {
            **rating,
            "dataset": cell["dataset"],
            "model": rating["by"],
            "mode": usual_mode("verdicts"),
        }
        for cell in figures["answers"]
        for rating in cell["figures"]["rated"]
    )
    rows = (*figures["cells"], *figures["answers"], *judges, *rated)
    return frame(rows, CELL_COLUMNS).drop_duplicates(
        ["dataset", "model", "mode"], ignore_index=True
    )


def metric_frame(figures: Figures) -> pd.DataFrame:
    """A row per cell, group and metric that has a value, as report.json has them."""
    return frame(metric_rows(figures), METRIC_COLUMNS)


def pair_frame(figures: Figures) -> pd.DataFrame:
    """A row per pair of models of a dataset and measure, tested question by question; then those
    of the metrics that the specification chooses.
    """
    choices = (
        {"dataset": compared["dataset"], "mode": compared["mode"], "measure": compared["measure"]}
        | pair_row(pair)
        for compared in figures["comparisons"]
        for pair in compared["pairs"]
    )
    texts = (
        {**pair, "measure": pair["figure"], "points": pair["difference"], "p_holm": pair["p"]}
        | {"p": None, **_ends("points", pair["range"])}
        for pair in figures["answer_pairs"]
    )
    chosen: Row = figures.get("chosen_metrics") or {"pairs": ()}
    return frame((*choices, *texts, *map(metric_pair_row, chosen["pairs"])), PAIR_COLUMNS)


def metric_pair_row(pair: Row) -> Row:
    """A pair of `chosen_metrics` in report.json as a row; shares are in points."""
    scale = 100 if metric_unit(pair["metric"])[0] == "percent" else 1
    ends = (scale * pair["low"], scale * pair["high"])
    own = {"measure": pair["metric"], "points": scale * pair["value"], "p_holm": pair["p"]}
    return {**pair, **own, **_ends("points", ends), "p": None}


def pair_row(pair: Row) -> Row:
    """A pair of `comparisons` in report.json as a row."""
    mcnemar: Row = pair["mcnemar"] or {}
    return {
        **pair,
        **_ends("points", pair["range"]),
        **{f"mcnemar_{name}": value for name, value in mcnemar.items()},
    }


def position_frame(figures: Figures) -> pd.DataFrame:
    """A row per cell, number of options and slot: what is picked there, and what is recalled."""
    return frame(
        (row for cell in figures["cells"] for row in position_rows(cell)), POSITION_COLUMNS
    )


def position_rows(cell: Row) -> Iterator[Row]:
    """The slots of a cell of report.json."""
    biases = {bias["options"]: bias for bias in cell["figures"].get("bias", ())}
    for table in cell["figures"]["positions"]:
        bias: Row = biases.get(table["options"], {})
        for slot in range(table["options"]):
            yield {
                **{name: cell[name] for name in ("dataset", "model", "mode", "signature")},
                **{name: table[name] for name in ("options", "questions", "rstd")},
                **{name: bias.get(name) for name in ("rstd_floor95", "permutation_p", "light")},
                "slot": LETTERS[slot],
                "picks": sum(row[slot] for row in table["counts"]),
                "share_of_picks": table["shares"][slot],
                **_ends("share_of_picks", table["share_ranges"][slot]),
                "recall": table["recalls"][slot],
                **_ends("recall", table["recall_ranges"][slot]),
                "chance": 100 / table["options"],
            }


def standing_frame(figures: Figures) -> pd.DataFrame:
    """A row per model of each judge, panel and the people who voted, the best first."""
    people = (each["arena"] for each in figures.get("people", ()) if each["arena"])
    by_vote = {arena["dataset"]: arena for arena in people}.values()  # beside each judge the same
    return frame(
        (
            {
                **{name: arena[name] for name in ("dataset", "signature")},
                **standing,
                "judge": arena["by"],
                "place": place,
                **_ends("elo", standing["elo_range"]),
                **_ends("rank", standing["rank_range"]),
                **opencompass_elo_columns(standing.get("opencompass_elo")),
                **_rating("bradley_terry", standing),
                **_rating("style_controlled", standing),
            }
            for arena in (*figures["arenas"], *by_vote)
            for place, standing in enumerate(arena["standings"], start=1)
        ),
        STANDING_COLUMNS,
    )


# ---------------------------------------------------------------- values


def _ends(name: str, ends: Sequence[float | None] | None) -> Row:
    low, high = ends or (None, None)
    return {f"{name}_low": low, f"{name}_high": high}


def _rating(name: str, standing: Row) -> Row:
    rating: Row = standing[name] or {"rating": None, "low": None, "high": None}
    return {name: rating["rating"], f"{name}_low": rating["low"], f"{name}_high": rating["high"]}


def _question_row(dataset: str, sample: Sample) -> Row:
    metadata = sample.metadata
    named = ("subject", "category", "language", "capability", "file", "line")
    return {
        "dataset": dataset,
        "id": sample.id,
        **{name: metadata.get(name, "") for name in named},
        "question": sample.question,
        "options": sample.choices,
        "answer": LETTERS[sample.target] if isinstance(sample.target, int) else None,
        "references": sample.references,
        "fixed_order": sample.fixed_reason,
    }


def _dtype_of_trial(name: str) -> Dtype:
    """That of a fixed column, of a reading's choice and rule, of a probability or text metric."""
    if name in TRIAL_COLUMNS:
        return TRIAL_COLUMNS[name].dtype
    return "category" if name.endswith(("_choice", "_rule")) else "float64"


def _joined(parts: Iterable[ExportColumn], dtype: Dtype) -> pd.Series:
    """The parts of a column below each other; each distinct value is converted once."""
    if dtype == "category":
        return _category(parts)
    converted = [_values(part, dtype) for part in parts]
    if dtype in ("str", "object"):
        return _series(np.concatenate(converted) if converted else [], dtype)
    return pd.concat(
        [_series(part, dtype) for part in converted] or [_series([], dtype)], ignore_index=True
    )


def _values(part: ExportColumn, dtype: Dtype) -> NDArray[Any]:
    kind = np.float64 if dtype == "float64" else np.object_
    values = np.empty(len(part.values), dtype=kind)
    values[:] = part.values
    return values if part.codes is None else values[part.codes]


def _category(parts: Iterable[ExportColumn]) -> pd.Series:
    known: dict[Any, int] = {}
    codes = [np.zeros(0, dtype=np.int32)]
    for part in parts:
        places = np.array(
            [-1 if each is None else known.setdefault(each, len(known)) for each in part.values],
            dtype=np.int32,
        )
        codes.append(places if part.codes is None else places[part.codes])
    categories = pd.Index(list(known), dtype="str")
    return pd.Series(pd.Categorical.from_codes(np.concatenate(codes), categories))


def _series(values: Any, dtype: Dtype) -> pd.Series:
    """The values, of which any may be None, as a column."""
    if dtype == "category":
        return _category([ExportColumn(values)])
    if dtype == "datetime64[ms, UTC]":
        return pd.Series(pd.to_datetime(pd.Series(values, dtype="str"), utc=True)).astype(dtype)
    return pd.Series(values, dtype=dtype)
