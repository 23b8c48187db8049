"""Every metric of a run, one in a row, and every pair of models that is tested in one.

`run.metrics()`, `metrics.csv`, the workbook's sheet and what is exchanged with other programs.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain

from evalui.modes import usual_mode
from evalui.report.frames.arena import RELIABILITY_SHARES
from evalui.report.frames.base import HIGH, LOW, Columns, FrameColumn, Row
from evalui.report.frames.choices import (
    DATASET,
    MODE,
    MODEL,
    SIGNATURE,
    figure_columns,
    public_figure,
)
from evalui.report.frames.texts import rated_name
from evalui.scoring.answer_summary import AnswerSummary, JudgeRating
from evalui.scoring.arena.figures import Arena
from evalui.scoring.cell_summary import SubjectGroup, Summary
from evalui.scoring.choice.circular import MOVABLE
from evalui.scoring.groups import GroupSummary
from evalui.scoring.metrics import metric_named, metrics_in, metrics_of_texts
from evalui.scoring.pairs import AnswerPair, MetricPair
from evalui.types import Cell, Interval

METRICS: Columns = {
    "dataset": DATASET,
    "group": FrameColumn("category", "subject or group of subjects; empty for the whole dataset"),
    "model": FrameColumn("category", "name of the model; of a judge's own figures, of the judge"),
    "mode": MODE,
    "settings": SIGNATURE,
    "metric": FrameColumn("category", "public name of the metric, as in docs/metrics.md"),
    "value": FrameColumn("float64", "its value in its unit"),
    "low": LOW,
    "high": HIGH,
    "n": FrameColumn(
        "Int64",
        "questions it rests on, or verdicts of a judge's own figures; missing where that is not "
        "known",
    ),
    "unit": FrameColumn("category", "percent, probability, count, characters or number"),
    "direction": FrameColumn("category", "which values are better: higher, lower or none"),
    "kind": FrameColumn(
        "category",
        "what the group is: empty, subject, category, hard or all; subjects or datasets of "
        "`summary_groups`",
    ),
    "mean": FrameColumn("category", "micro weighs questions, macro subjects; empty where equal"),
    "judge": FrameColumn("category", "who judged; empty where nobody did"),
    "missing": FrameColumn(
        "category", "members of a summary group without the metric, after commas; else empty"
    ),
}
SUMMARY_GROUPS: Columns = {
    "group": FrameColumn("category", "its name in the specification"),
    "of": FrameColumn("category", "what its members are: subjects or datasets"),
    "dataset": FrameColumn("category", "name of the dataset; empty for a group of datasets"),
    "model": MODEL,
    "mode": MODE,
    "mean": FrameColumn("category", "micro weighs questions, macro members or by their weights"),
    "metric": FrameColumn("category", "public name of the metric, as in docs/metrics.md"),
    "value": FrameColumn("float64", "its value in its unit"),
    "low": LOW,
    "high": HIGH,
    "n": FrameColumn("Int64", "questions it rests on"),
    "members": FrameColumn("category", "the members, after commas"),
    "missing": FrameColumn("category", "those without the metric"),
    "signature": FrameColumn("category", "how the figures of its cells are made"),
}

# What is a figure of a cell and no metric that a mode or another package registers.
_UNITS: Mapping[str, tuple[str, str]] = {
    "replies": ("count", "none"),
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
_AS_WRITTEN = frozenset({"n", "acc_origin", "perf_origin", "chance"})
_OF_ALL = frozenset({"readable", "format_gap"})  # of all trials of all questions
_MOVED = frozenset({"robust", "order_sensitivity", "mean_over_orders", "chance_robust"})
_OPENCOMPASS = ("acc_", "perf_", "more_")  # how its names begin
_Ends = tuple[float | None, float | None]
_NO_RANGE: _Ends = (None, None)
_NOWHERE: Row = {"group": "", "kind": "", "mean": "", "judge": "", "missing": ""}


def metric_rows(
    summaries: Iterable[Summary],
    answers: Iterable[AnswerSummary] = (),
    arenas: Iterable[Arena] = (),
    groups: Iterable[GroupSummary] = (),
) -> Iterator[Row]:
    """A row per cell, group and metric that has a value, as `METRICS` declares it."""
    return _with_units(
        chain(
            (row for one in summaries for row in (*_of_choices(one), *_of_readings(one))),
            (row for one in answers for row in _of_answers(one)),
            (row for one in arenas for row in _of_arena(one)),
            _of_groups(groups),
        )
    )


def choice_metrics(summary: Summary) -> Iterator[Row]:
    """The metrics of a cell of options, then those of its groups."""
    return _with_units(_of_choices(summary))


def answer_metrics(summary: AnswerSummary) -> Iterator[Row]:
    """The metrics of a cell of written answers."""
    return _with_units(_of_answers(summary))


def metric_unit(name: str) -> tuple[str | None, str | None]:
    """Unit and direction of a metric; unknown of a plug-in's that is not installed here."""
    if metric := metric_named(name):
        return "percent" if metric.unit == "share" else metric.unit, metric.direction
    return _UNITS.get(name, (None, None))


def _with_units(rows: Iterable[Row]) -> Iterator[Row]:
    """The rows with what the metrics are; each is looked up once, a run has thousands of rows."""
    known: dict[str, Row] = {}
    for row in rows:
        name = row["metric"]
        if name not in known:
            known[name] = dict(zip(("unit", "direction"), metric_unit(name), strict=True))
        yield known[name] | row


# ---------------------------------------------------------------- multiple choice


def _of_choices(summary: Summary) -> Iterator[Row]:
    own, row = _cell_columns(summary.cell), figure_columns(metrics_in("files"), summary.figures)
    placed = metrics_in("metrics")
    repeated = {metric.name for metric in placed if metric.needs == "repeats"}
    names = (
        *summary.metrics,
        "n",
        *(metric.name for metric in placed),
        "mean_over_orders",
        *(metric.name for metric in metrics_in("form")),
    )
    values = {name: row.get(name) for name in names} | dict(summary.metrics)
    values |= {
        "n": summary.n,
        "incomplete": len(summary.incomplete),
        "naming_options": len(summary.naming),
        "duplicate_options": len(summary.duplicates),
    }
    for name, value in values.items():
        if value is not None:
            ends = (row.get(f"{name}_low"), row.get(f"{name}_high"))
            n = _questions_of(name, summary, repeated=name in repeated)
            yield own | _metric(name, value, ends, n)
    for group in summary.groups:
        yield from (own | each for each in _group_metrics(group))


def _of_readings(summary: Summary) -> Iterator[Row]:
    """The accuracy of a cell of options under each rule that read its answers."""
    own = _cell_columns(summary.cell)
    for name, reading in summary.readings.items():
        if metric_named(name):  # not those of imported trials
            right = reading.accuracy
            yield own | _metric(name, 100 * right.value, _ends(right), summary.n)


def _questions_of(name: str, summary: Summary, *, repeated: bool) -> int | None:
    """How many questions a metric rests on, where that is known."""
    if name in _AS_WRITTEN:
        return summary.n
    if name in _OF_ALL or repeated:
        # Of a cell at work, and of one that failed, some questions lack a reply.
        return summary.n if summary.done == summary.total else None
    fixed = summary.naming or summary.duplicates
    all_orders = name.startswith(_OPENCOMPASS) and (name.endswith(MOVABLE) or not fixed)
    if name in _MOVED or all_orders:
        return summary.robust.n if summary.robust else 0
    return None


def _group_metrics(group: SubjectGroup) -> Iterator[Row]:
    """The metrics of a group, of several subjects by question (micro) and by subject (macro)."""
    own = {"kind": group.kind, "group": group.name}
    means = {"micro": group.micro, "macro": group.macro}
    for mean, values in ({"": group.micro} if group.kind == "subject" else means).items():
        for name, value in values.items():
            ranged = name == "acc_origin" and mean != "macro"
            n = group.n if name in _AS_WRITTEN else None
            ends = _ends(group.accuracy if ranged else None)
            yield {**own, "mean": mean} | _metric(name, value, ends, n)
    if group.gap:
        ends = _ends(group.gap)
        yield {**own, "mean": ""} | _metric("order_sensitivity", 100 * group.gap.value, ends, None)


# ---------------------------------------------------------------- written answers


def _of_answers(summary: AnswerSummary) -> Iterator[Row]:
    own, n = _cell_columns(summary.cell), summary.compared
    counts: Mapping[str, float] = {
        "n": summary.n,
        "replies": summary.replies,
        "empty": summary.empty,
        "cut": summary.truncated,
        "median_length": summary.length,
    }
    for name, value in counts.items():
        yield own | _metric(name, value, _NO_RANGE, summary.n)
    for metric in metrics_of_texts(summary.figures):
        value, *ends = public_figure(metric, summary.figures.get(metric.name))
        if value is not None:
            yield own | _metric(metric.name, value, (ends[0], ends[1]), n)
    if corpus := summary.corpus:
        yield own | _metric("corpus_bleu", corpus.bleu, _NO_RANGE, n)
        yield own | _metric("corpus_chrf", corpus.chrf, _NO_RANGE, n)
    for rated in summary.ratings:
        yield from (own | {"judge": rated.judge} | row for row in _mark_metrics(rated))


def _mark_metrics(rated: JudgeRating) -> Iterator[Row]:
    """The mean mark of a judge, on its own scale, and that of each criterion."""
    name = rated_name(rated)
    means = {name: rated.mean, **{f"{name}_{one}": mean for one, mean in rated.criteria.items()}}
    for metric, mean in means.items():
        if mean is not None:
            row = _metric(metric, mean.value, _ends(mean, scale=1), rated.n)
            yield {**row, "unit": "number", "direction": "higher"}


# ---------------------------------------------------------------- judges


def _of_arena(arena: Arena) -> Iterator[Row]:
    """The ratings of each model by a judge, then how the judge behaved."""
    own = {**_NOWHERE, "dataset": arena.dataset, "mode": usual_mode("verdicts")}
    own |= {"judge": arena.by, "settings": arena.signature}
    n = arena.questions
    for standing in arena.standings:
        shown = {**own, "model": standing.model}
        yield shown | _metric("elo", standing.elo, (standing.elo_low, standing.elo_high), n)
        if medians := standing.opencompass_elo:
            yield shown | _metric("opencompass_elo_mean", medians.mean, _NO_RANGE, n)
            yield shown | _metric("opencompass_elo_std", medians.std, _NO_RANGE, n)
        for name, rated in (
            ("bradley_terry", standing.rating),
            ("style_controlled", standing.styled),
        ):
            if rated:
                yield shown | _metric(name, rated.value, (rated.low, rated.high), n)
        yield shown | _metric("win_rate", 100 * standing.tally.win_rate, _NO_RANGE, n)
        yield shown | _metric("score", standing.tally.score, _NO_RANGE, n)
    for name, field in RELIABILITY_SHARES.items():
        share: Interval | None = getattr(arena.reliability, field)
        if share:
            public = "unreadable_verdicts" if name == "unreadable" else name
            row = _metric(public, 100 * share.value, _ends(share), share.n)
            yield {**own, "model": arena.by} | row


# ---------------------------------------------------------------- summary groups


def summary_groups(groups: Iterable[GroupSummary]) -> Iterator[Row]:
    """A row per group that the specification declares, model, mode and metric."""
    for group in groups:
        for name, each in group.figures.items():
            value, low, high = public_figure(each.metric, each.figure)
            yield {
                "group": group.group.name,
                "of": group.group.of,
                "dataset": group.dataset,
                "model": group.model,
                "mode": group.label,
                "mean": group.group.mean,
                "metric": name,
                "value": value,
                "low": low,
                "high": high,
                "n": each.n,
                "members": ", ".join(group.group.members),
                "missing": ", ".join(each.missing),
                "signature": "; ".join(group.signatures),
            }


def _of_groups(groups: Iterable[GroupSummary]) -> Iterator[Row]:
    """The same rows as metrics."""
    for row in summary_groups(groups):
        yield row | {"kind": row["of"], "settings": row["signature"], "judge": ""}


# ---------------------------------------------------------------- pairs


def answer_pairs(pairs: Iterable[AnswerPair]) -> Iterator[Row]:
    """A row per two models and figure of written answers, as `choices.PAIRS` declares it."""
    for pair in pairs:
        yield {
            "dataset": pair.dataset,
            **_pair(pair, scale=100),
            "signature": pair.signature,
        }


def chosen_pairs(pairs: Iterable[tuple[str, str, MetricPair]]) -> Iterator[Row]:
    """A row per pair in a metric that the specification chooses, behind dataset and mode."""
    for dataset, mode, pair in pairs:
        yield {"dataset": dataset, "mode": mode, **metric_pair(pair)}


def metric_pair(pair: MetricPair) -> Row:
    """Two models in one metric; shares are in points."""
    return _pair(pair, scale=100 if metric_unit(pair.metric)[0] == "percent" else 1)


def _pair(pair: MetricPair, *, scale: float) -> Row:
    return {
        "measure": pair.metric,
        "first": pair.first,
        "second": pair.second,
        "n": pair.n,
        "points": scale * pair.value,
        "points_low": scale * pair.low,
        "points_high": scale * pair.high,
        "p_holm": pair.p,
    }


# ---------------------------------------------------------------- parts of rows


def _cell_columns(cell: Cell) -> Row:
    return {
        **_NOWHERE,
        "dataset": cell.dataset,
        "model": cell.model,
        "mode": cell.label,
        "settings": cell.signature,
    }


def _metric(name: str, value: float, ends: _Ends, n: int | None) -> Row:
    return {"metric": name, "value": value, "low": ends[0], "high": ends[1], "n": n}


def _ends(of: Interval | None, *, scale: float = 100) -> _Ends:
    return (scale * of.low, scale * of.high) if of else _NO_RANGE
