"""A run as pandas DataFrames, each with declared columns: names, dtypes, meanings.

Trials and questions are read from the cells of a run; everything else from its figures as
`report.json` has them, so that a frame and that file never differ in a digit. Shares are in per
cent. A missing value is NaN, `pandas.NA` or NaT, by the dtype of its column.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evalui.errors import SpecError
from evalui.modes import usual_mode
from evalui.report.export.choice_names import ALL_METRICS, COUNTS
from evalui.report.export.encoder import JsonObject
from evalui.report.export.open_names import RELIABILITY
from evalui.report.export.trial_cells import ExportColumn, same_for_all
from evalui.report.export.trial_tables import KINDS, ON_REQUEST, REPLY, TRIAL, every_trial
from evalui.scoring.arena.verdicts import PANEL_NAME
from evalui.scoring.choice.circular import MOVABLE
from evalui.scoring.metrics import known_metrics
from evalui.scoring.trial_columns import columns_of
from evalui.types import LETTERS, CellResult, Sample

Dtype = Literal["str", "category", "float64", "Int64", "boolean", "object", "datetime64[ms, UTC]"]
Row = JsonObject
Figures = Mapping[str, Any]  # report.json

# ---------------------------------------------------------------- declared columns


@dataclass(frozen=True, slots=True)
class FrameColumn:
    """One column of a frame: the dtype of its values, and what they mean."""

    dtype: Dtype
    meaning: str


_TRIAL_MEANINGS: Mapping[str, str] = {
    "dataset": "name of the dataset",
    "model": "name of the model",
    "mode": "mode, with what tells it from others of that mode",
    "id": "id of the question",
    "subject": "its subject",
    "language": "its language, of written answers",
    "capability": "its capability, of written answers",
    "file": "the file it stands in",
    "line": "its line in that file",
    "order": "order of the options: the k-th letter is the slot that shows option k of the file",
    "question": "the question",
    "options": "the options as they were shown, a line each",
    "references": "the reference texts, an empty line between them",
    "answer": "the right letter, as shown",
    "choice": "the chosen letter, as shown; missing if unreadable or tied",
    "correct": "whether it is the right one; missing without a choice",
    "credit": "1 right, 0 wrong or unreadable, 1/t for t tied options",
    "tied": "whether several options tie at the top",
    "rule": "the rule that read the answer",
    "reply": "what the model wrote",
    "label_mass": "probability of all labels together, 0 to 1",
    "truncated": "whether the prompt was cut to fit the model",
    "merged_seams": "options whose first token also holds the end of the prompt",
    "repeat": "which reply to the question, from 1; missing where each was asked once",
    "fixed_order": "why another order changes the question: naming, duplicates; else empty",
    "signature": "how the figures of the cell are made",
}
_TEXTS = frozenset({"id", "line", "question", "options", "references", "reply"})  # few repeat
_DTYPES: Mapping[type, Dtype] = {bool: "boolean", float: "float64", int: "Int64"}


def _trial_column(name: str) -> FrameColumn:
    plain: Dtype = "str" if name in _TEXTS else "category"
    dtype = _DTYPES.get(KINDS.get(name, str), plain)
    return FrameColumn(dtype, _TRIAL_MEANINGS[name])


# The fixed columns of both kinds of trials in the order of their meanings; those of readings,
# probabilities and text figures depend on the run and stand behind them, see `trial_frame`.
TRIAL_COLUMNS: Mapping[str, FrameColumn] = {
    name: _trial_column(name)
    for name in _TRIAL_MEANINGS
    if name in {*TRIAL, *REPLY, *ON_REQUEST, "signature"}
}
QUESTION_COLUMNS: Mapping[str, FrameColumn] = {
    **{name: TRIAL_COLUMNS[name] for name in ("dataset", "id", "subject")},
    "category": FrameColumn("category", "the category of its subject"),
    **{name: TRIAL_COLUMNS[name] for name in ("language", "capability", "file", "line")},
    "question": TRIAL_COLUMNS["question"],
    "options": FrameColumn("object", "the options in the order of the file, a tuple"),
    "answer": FrameColumn("category", "the letter of the right option in that order"),
    "references": FrameColumn("object", "the reference texts, a tuple"),
    "fixed_order": TRIAL_COLUMNS["fixed_order"],
}

_DATASET = FrameColumn("category", "name of the dataset")
_MODEL = FrameColumn("category", "name of the model")
_MODE = FrameColumn("category", "mode, with what tells it from others of that mode")
_JUDGE = FrameColumn("category", "who judged; empty where nobody did")
_SIGNATURE = FrameColumn("category", "how the figures are made")
_LOW = FrameColumn("float64", "lower end of its 95 % interval")
_HIGH = FrameColumn("float64", "upper end of its 95 % interval")

CELL_COLUMNS: Mapping[str, FrameColumn] = {
    "dataset": _DATASET,
    "model": FrameColumn("category", "name of the model, or of the judge"),
    "mode": _MODE,
    "orders": FrameColumn(
        "category", "orders of the options: origin, circular, all_possible; of a judge its own"
    ),
    "state": FrameColumn("category", "waiting, running, done, failed, cancelled, impossible"),
    "error": FrameColumn("str", "why it failed or cannot run, else empty"),
    "signature": _SIGNATURE,
}
METRIC_COLUMNS: Mapping[str, FrameColumn] = {
    "dataset": _DATASET,
    "group": FrameColumn("category", "subject or group of subjects; empty for the whole dataset"),
    "model": FrameColumn("category", "name of the model; of a judge's own figures, of the judge"),
    "mode": _MODE,
    "settings": _SIGNATURE,
    "metric": FrameColumn("category", "public name of the metric, as in docs/metrics.md"),
    "value": FrameColumn("float64", "its value in its unit"),
    "low": _LOW,
    "high": _HIGH,
    "n": FrameColumn(
        "Int64",
        "questions it rests on, or verdicts of a judge's own figures; missing where report.json "
        "does not state it",
    ),
    "unit": FrameColumn("category", "percent, probability, count, characters or number"),
    "direction": FrameColumn("category", "which values are better: higher, lower or none"),
    "kind": FrameColumn(
        "category",
        "what the group is: empty, subject, category, hard or all; subjects or datasets of "
        "`summary_groups`",
    ),
    "mean": FrameColumn("category", "micro weighs questions, macro subjects; empty where equal"),
    "judge": _JUDGE,
    "missing": FrameColumn(
        "category", "members of a summary group without the metric, after commas; else empty"
    ),
}
PAIR_COLUMNS: Mapping[str, FrameColumn] = {
    "dataset": _DATASET,
    "mode": _MODE,
    "measure": FrameColumn("category", "accuracy, robust, mean_over_orders or a text metric"),
    "first": FrameColumn("category", "the model with the higher mean; of text metrics either"),
    "second": FrameColumn("category", "the other model"),
    "n": FrameColumn("Int64", "questions both answered"),
    "points": FrameColumn("float64", "mean of the first minus that of the second, in points"),
    "points_low": _LOW,
    "points_high": _HIGH,
    "se": FrameColumn("float64", "standard error of the difference, in points"),
    "p": FrameColumn("float64", "p of the paired t test"),
    "p_holm": FrameColumn("float64", "p after Holm's correction for the pairs of a dataset"),
    "apart": FrameColumn("boolean", "whether the difference is significant"),
    "finding": FrameColumn("category", "apart, steady, level, same, guessing or few"),
    "detectable": FrameColumn("float64", "difference found with 80 % power, in points"),
    "mcnemar_first_only": FrameColumn("Int64", "questions only the first has right"),
    "mcnemar_second_only": FrameColumn("Int64", "questions only the second has right"),
    "mcnemar_exact_p": FrameColumn("float64", "p of McNemar's exact test"),
    "mcnemar_mid_p": FrameColumn("float64", "mid-p of the same"),
}
POSITION_COLUMNS: Mapping[str, FrameColumn] = {
    "dataset": _DATASET,
    "model": _MODEL,
    "mode": _MODE,
    "options": FrameColumn("Int64", "number of options; questions with others are never pooled"),
    "slot": FrameColumn("category", "the position, by its letter"),
    "questions": FrameColumn("Int64", "questions shown in every order"),
    "picks": FrameColumn("Int64", "trials in which the position was chosen"),
    "share_of_picks": FrameColumn("float64", "the same as a share of the readable trials"),
    "share_of_picks_low": _LOW,
    "share_of_picks_high": _HIGH,
    "recall": FrameColumn("float64", "share of right answers that are chosen when they stand here"),
    "recall_low": _LOW,
    "recall_high": _HIGH,
    "chance": FrameColumn("float64", "share of picks and recall of a blind guess"),
    "rstd": FrameColumn("float64", "standard deviation of the recalls, in points"),
    "rstd_floor95": FrameColumn("float64", "what 95 % of models without a bias stay below"),
    "permutation_p": FrameColumn("float64", "p of the permutation test of rstd"),
    "light": FrameColumn("category", "verdict on the bias, see docs/metrics-bias.md"),
    "signature": _SIGNATURE,
}
STANDING_COLUMNS: Mapping[str, FrameColumn] = {
    "dataset": _DATASET,
    "judge": FrameColumn("category", "who judged: a model, panel or people"),
    "place": FrameColumn("Int64", "place in the table, from 1"),
    "model": _MODEL,
    "n": FrameColumn("Int64", "battles"),
    "win": FrameColumn("Int64", "battles won"),
    "tie": FrameColumn("Int64", "battles without a winner"),
    "lose": FrameColumn("Int64", "battles lost"),
    "score": FrameColumn("Int64", "OpenCompass's score"),
    "win_rate": FrameColumn("float64", "wins and half of the ties"),
    "elo": FrameColumn("float64", "median ELO over seeded orders of the battles, start 1000"),
    "elo_low": _LOW,
    "elo_high": _HIGH,
    "opencompass_elo_mean": FrameColumn(
        "float64", "OpenCompass's elo_score [Mean]; missing of many battles, people, open runs"
    ),
    "opencompass_elo_std": FrameColumn(
        "float64", "its [Std]: noise of the random orders, no error of sampling"
    ),
    "bradley_terry": FrameColumn("float64", "Bradley-Terry rating on the scale of ELO"),
    "bradley_terry_low": _LOW,
    "bradley_terry_high": _HIGH,
    "style_controlled": FrameColumn("float64", "the same with length and style held equal"),
    "style_controlled_low": _LOW,
    "style_controlled_high": _HIGH,
    "rank_low": FrameColumn("Int64", "best rank of its 95 % interval"),
    "rank_high": FrameColumn("Int64", "worst rank of it"),
    "with_leader": FrameColumn("boolean", "whether it does not differ from the leader"),
    "signature": _SIGNATURE,
}
_BATTLE_COLUMNS: Mapping[str, FrameColumn] = {
    "dataset": _DATASET,
    "question": FrameColumn("str", "id of the question"),
    "model_a": FrameColumn("category", "whose answer was shown first"),
    "model_b": FrameColumn("category", "whose answer was shown second"),
    "winner": FrameColumn("category", "model_a, model_b, tie or neither; missing if unreadable"),
}
VERDICT_COLUMNS: Mapping[str, FrameColumn] = {
    **_BATTLE_COLUMNS,
    "judge": FrameColumn("category", "the judge"),
    "rule": FrameColumn("category", "the rule that read the verdict"),
    "strength": FrameColumn("Int64", "3 for much better, where the form has it"),
    "reply": FrameColumn("str", "what the judge wrote"),
    "injected": FrameColumn("boolean", "whether an answer spoke to the judge"),
    "retried": FrameColumn("boolean", "whether the judge was prompted twice"),
    "probabilities": FrameColumn("object", "a dict from winner to probability, where there is one"),
    "signature": _SIGNATURE,
}
VOTE_COLUMNS: Mapping[str, FrameColumn] = {
    **_BATTLE_COLUMNS,
    "by": FrameColumn("category", "who voted"),
    "comment": FrameColumn("str", "what they wrote"),
    "created": FrameColumn("datetime64[ms, UTC]", "when"),
    "seconds": FrameColumn("float64", "how long the pair was looked at, in seconds"),
    "assigned": FrameColumn("boolean", "whether the pair was assigned to this person"),
    "adjudicated": FrameColumn("category", "the winner that was decided on for the pair"),
}
RUN_COLUMNS: Mapping[str, FrameColumn] = {
    "id": FrameColumn("str", "id of the run, which `open` takes"),
    "name": FrameColumn("str", "its name"),
    "state": FrameColumn("category", "queued, running, done, failed or cancelled"),
    "done": FrameColumn("Int64", "trials that are done"),
    "total": FrameColumn("Int64", "trials planned"),
    "created": FrameColumn("datetime64[ms, UTC]", "when it was queued"),
    "owner": FrameColumn("category", "whose it is"),
}

# ---------------------------------------------------------------- frames


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
    rows = chain(
        (row for cell in figures["cells"] for row in choice_metrics(cell)),
        (row for cell in figures["answers"] for row in answer_metrics(cell)),
        (row for arena in figures["arenas"] for row in _arena_metrics(arena)),
        (row for group in figures.get("summary_groups", ()) for row in _summary_metrics(group)),
    )
    return frame(rows, METRIC_COLUMNS)


def pair_frame(figures: Figures) -> pd.DataFrame:
    """A row per pair of models of a dataset and measure, tested question by question."""
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
    return frame((*choices, *texts), PAIR_COLUMNS)


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


def opencompass_elo_columns(elo: Mapping[str, float] | None) -> Row:
    """The columns of OpenCompass's mean and spread of medians, both missing if `elo` is None."""
    return {f"opencompass_elo_{name}": elo and elo[name] for name in ("mean", "std")}


# ---------------------------------------------------------------- metrics


# What stands beside the metrics of a cell of options.
_NO_METRICS = frozenset({*ALL_METRICS, *COUNTS}) - {"n"}
_AS_WRITTEN = frozenset({"n", "acc_origin", "perf_origin", "chance"})
_MOVED = frozenset({"robust", "order_sensitivity", "mean_over_orders", "chance_robust"})
_OPENCOMPASS = ("acc_", "perf_", "more_")  # how its names begin; in per cent
# Unit and direction of the figures that are no registered metrics.
_UNITS: Mapping[str, tuple[str, str]] = {
    "empty": ("count", "lower"),
    "cut": ("count", "lower"),
    "median_length": ("characters", "none"),
    "corpus_bleu": ("number", "higher"),
    "corpus_chrf": ("number", "higher"),
    "elo": ("number", "higher"),
    "opencompass_elo_mean": ("number", "higher"),
    "opencompass_elo_std": ("number", "none"),
    "bradley_terry": ("number", "higher"),
    "style_controlled": ("number", "higher"),
    "score": ("number", "higher"),
    "win_rate": ("percent", "higher"),
    "unreadable_verdicts": ("percent", "lower"),
    "changed_with_order": ("percent", "lower"),
    "first": ("percent", "none"),
    "longer": ("percent", "none"),
    "lists": ("percent", "none"),
}


def choice_metrics(cell: Row) -> Iterator[Row]:
    """The metrics of a cell of options of report.json, then those of its groups."""
    figures: Row = cell["figures"]
    ranges: Row = figures["ranges"]
    values = {name: value for name, value in figures.items() if name not in _NO_METRICS}
    if clusters := figures.get("clusters"):
        values["mean_over_orders"] = clusters["mean_over_orders"]
    form: Row = figures["format"] or {}
    for name, value in form.items():
        values["format_gap" if name == "gap" else name] = value
    for name in ("incomplete", "naming_options", "duplicate_options"):
        values[name] = len(figures[name])
    own = _cell_columns(cell)
    for name, value in values.items():
        if value is not None:
            yield own | _metric(name, value, ranges.get(name), _questions_of(name, figures))
    for group in figures["groups"]:
        for row in _group_metrics(group):
            yield own | row


def _summary_metrics(group: Row) -> Iterator[Row]:
    """The metrics of a group that the specification declares."""
    own = {name: group[name] for name in ("group", "dataset", "model", "mode", "mean")}
    own |= {"kind": group["of"], "settings": "; ".join(group["signatures"]), "judge": ""}
    for name, figure in group["figures"].items():
        ends = (figure["low"], figure["high"])
        row = _metric(name, figure["value"], ends, figure["n"])
        yield {**own, **row, "missing": ", ".join(figure["missing"])}


def _questions_of(name: str, figures: Row) -> int | None:
    """How many questions a metric rests on, where the figures state it."""
    if name in _AS_WRITTEN:
        return figures["n"]
    fixed = figures["naming_options"] or figures["duplicate_options"]
    all_orders = name.startswith(_OPENCOMPASS) and (name.endswith(MOVABLE) or not fixed)
    return figures["n_all_orders"] if name in _MOVED or all_orders else None


def _group_metrics(group: Row) -> Iterator[Row]:
    """The metrics of a group, of several subjects by question (micro) and by subject (macro)."""
    own = {"kind": group["kind"], "group": group["name"]}
    for mean in ("figures", "micro", "macro"):
        ends = None if mean == "macro" else group["acc_origin_range"]
        shown = {**own, "mean": "" if mean == "figures" else mean}
        for name, value in group.get(mean, {}).items():
            n = group["n"] if name in _AS_WRITTEN else None
            yield shown | _metric(name, value, ends if name == "acc_origin" else None, n)
    if group["order_sensitivity"] is not None:
        ends = group["order_sensitivity_range"]
        yield {**own, "mean": ""} | _metric(
            "order_sensitivity", group["order_sensitivity"], ends, None
        )


def answer_metrics(cell: Row) -> Iterator[Row]:
    """The metrics of a cell of written answers of report.json."""
    figures: Row = cell["figures"]
    own, n = _cell_columns(cell), figures["compared"]
    yield own | _metric("n", figures["n"], None, figures["n"])
    for name in ("empty", "cut", "median_length"):
        yield own | _metric(name, figures[name], None, figures["n"])
    for name, value in figures["means"].items():
        if value is not None:
            yield own | _metric(name, value, figures["ranges"].get(name), n)
    for name in ("bleu", "chrf") if figures["corpus"] else ():
        yield own | _metric(f"corpus_{name}", figures["corpus"][name], None, n)
    for rated in figures["rated"]:
        yield from (own | {"judge": rated["by"]} | row for row in _rating_metrics(rated))


def _rating_metrics(rated: Row) -> Iterator[Row]:
    """The mean mark of a judge, on its own scale, and that of each criterion."""
    name = f"{rated['scale']}_by_{rated['by']}"
    means = {name: rated, **{f"{name}_{each['criterion']}": each for each in rated["criteria"]}}
    for metric, mean in means.items():
        if mean["mean"] is not None:
            row = _metric(metric, mean["mean"], mean["range"], rated["n"])
            yield {**row, "unit": "number", "direction": "higher"}


def _arena_metrics(arena: Row) -> Iterator[Row]:
    """The ratings of each model by a judge, then how the judge behaved."""
    own = {"dataset": arena["dataset"], "mode": usual_mode("verdicts"), "judge": arena["by"]}
    own |= {"settings": arena["signature"], "group": "", "kind": "", "mean": "", "missing": ""}
    n = arena["questions"]
    for standing in arena["standings"]:
        shown = {**own, "model": standing["model"]}
        yield shown | _metric("elo", standing["elo"], standing["elo_range"], n)
        for name, value in opencompass_elo_columns(standing.get("opencompass_elo")).items():
            if value is not None:
                yield shown | _metric(name, value, None, n)
        for name in ("bradley_terry", "style_controlled"):
            if rating := standing[name]:
                yield shown | _metric(name, rating["rating"], (rating["low"], rating["high"]), n)
        for name in ("win_rate", "score"):
            yield shown | _metric(name, standing[name], None, n)
    behaved: Row = arena["reliability"]
    for name in RELIABILITY:
        if behaved[name] is not None:
            public = "unreadable_verdicts" if name == "unreadable" else name
            ends, of = behaved["ranges"].get(name), behaved["counts"].get(name)
            yield {**own, "model": arena["by"]} | _metric(public, behaved[name], ends, of)


def _cell_columns(cell: Row) -> Row:
    named = {name: cell[name] for name in ("dataset", "model", "mode")}
    return {
        **named,
        "settings": cell["signature"],
        "group": "",
        "kind": "",
        "mean": "",
        "judge": "",
        "missing": "",
    }


def _metric(name: str, value: float, ends: Sequence[float | None] | None, n: int | None) -> Row:
    low, high = ends or (None, None)
    unit, direction = _unit(name)
    row = {"metric": name, "value": value, "low": low, "high": high, "n": n}
    return {**row, "unit": unit, "direction": direction}


def _unit(name: str) -> tuple[str | None, str | None]:
    """Unit and direction of a metric; unknown of a plug-in's that is not installed here."""
    if metric := known_metrics().get(name):
        return "percent" if metric.unit == "share" else metric.unit, metric.direction
    if name.startswith(_OPENCOMPASS):
        return "percent", "higher"
    return _UNITS.get(name, (None, None))


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
