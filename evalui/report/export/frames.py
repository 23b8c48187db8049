"""A run as pandas DataFrames, each with declared columns: names, dtypes, meanings.

They are made of its figures as `report.json` has them, so that a frame and that file never differ
in a digit. Shares are in per cent.
"""

from collections.abc import Iterator, Sequence

import pandas as pd

from evalui.modes import usual_mode
from evalui.report.export.frame_columns import (
    CELL_COLUMNS,
    METRIC_COLUMNS,
    PAIR_COLUMNS,
    POSITION_COLUMNS,
    STANDING_COLUMNS,
)
from evalui.report.export.metric_rows import (
    Figures,
    Row,
    metric_rows,
    metric_unit,
    opencompass_elo_columns,
)
from evalui.report.frames.base import frame
from evalui.scoring.arena.verdicts import PANEL_NAME
from evalui.types import LETTERS


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
