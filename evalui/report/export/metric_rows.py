"""Every metric of a run, one in a row: `run.metrics()`, `metrics.csv`, the workbook's sheet, and
what is exchanged with other programs.

The rows are read from the figures as report.json has them, so that no file differs from another
in a digit. Shares are in per cent.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from evalui.modes import usual_mode
from evalui.report.export.choice_names import ALL_METRICS, COUNTS
from evalui.report.export.open_names import RELIABILITY
from evalui.report.write.json import JsonObject
from evalui.scoring.choice.circular import MOVABLE
from evalui.scoring.metrics import metric_named

Row = JsonObject
Figures = Mapping[str, Any]  # report.json

# What stands beside the metrics of a cell of options.
_NO_METRICS = frozenset({*ALL_METRICS, *COUNTS}) - {"n"}
_AS_WRITTEN = frozenset({"n", "acc_origin", "perf_origin", "chance"})
_OF_ALL = frozenset({"readable", "format_gap"})  # of all trials of all questions
_MOVED = frozenset({"robust", "order_sensitivity", "mean_over_orders", "chance_robust"})
_OPENCOMPASS = ("acc_", "perf_", "more_")  # how its names begin
# Unit and direction of the figures that are no registered metrics.
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


def metric_rows(figures: Figures) -> Iterator[Row]:
    """A row per cell, group and metric that has a value; the keys are those of `METRIC_COLUMNS`."""
    return chain(
        (
            row
            for cell in figures["cells"]
            for row in (*choice_metrics(cell), *_reading_metrics(cell))
        ),
        (row for cell in figures["answers"] for row in answer_metrics(cell)),
        (row for arena in figures["arenas"] for row in _arena_metrics(arena)),
        (row for group in figures.get("summary_groups", ()) for row in _summary_metrics(group)),
    )


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


def _reading_metrics(cell: Row) -> Iterator[Row]:
    """The accuracy under each rule that read the answers, of a cell of options of report.json."""
    own, figures = _cell_columns(cell), cell["figures"]
    for name, reading in figures["readings"].items():
        if metric_named(name):  # not those of imported trials
            yield own | _metric(name, reading["accuracy"], reading["range"], figures["n"])


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
    if name in _OF_ALL or ((one := metric_named(name)) and one.needs == "repeats"):
        # Of a cell at work, and of one that failed, some questions lack a reply.
        return figures["n"] if figures["trials"] == figures["planned"] else None
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
    for name in ("replies", "empty", "cut", "median_length"):
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
    unit, direction = metric_unit(name)
    row = {"metric": name, "value": value, "low": low, "high": high, "n": n}
    return {**row, "unit": unit, "direction": direction}


def metric_unit(name: str) -> tuple[str | None, str | None]:
    """Unit and direction of a metric; unknown of a plug-in's that is not installed here."""
    if metric := metric_named(name):
        return "percent" if metric.unit == "share" else metric.unit, metric.direction
    return _UNITS.get(name, (None, None))


def opencompass_elo_columns(elo: Mapping[str, float] | None) -> Row:
    """The columns of OpenCompass's mean and spread of medians, both missing if `elo` is None."""
    return {f"opencompass_elo_{name}": elo and elo[name] for name in ("mean", "std")}
