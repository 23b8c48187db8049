"""METRICS: every figure of a cell that the overview, the report and the exports show.

A metric is registered once, by its public name, which is the name of its column in every export.
Tables, files and docs/metrics.md take their figures from here. A metric that another package
registers appears in all of them, behind those of this module:

    METRICS.register("mean_label_mass")(
        Metric("mean_label_mass", mean_label_mass, label={"en": "Label mass", "zh": "标签概率"})
    )
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import Literal

from evalui.registry import Registry
from evalui.scoring.cell_trials import CellTrials, cell_trials
from evalui.scoring.repeats import PASS_AT, majority_accuracy, pass_at, repeat_agreement
from evalui.scoring.text_metrics import ALL_TEXT_METRICS
from evalui.types import Interval, Language, Pattern, Trial

NO_DOCS: Mapping[Language, str] = MappingProxyType({})
Figure = Interval | int | float | None  # a count is kept and published as a whole number
Answers = Literal["choices", "texts"]
Unit = Literal["share", "probability", "count", "number"]
Direction = Literal["higher", "lower", "none"]
Needs = Literal["", "orders", "shown options", "probabilities", "references", "repeats"]
# Where the metrics with a `key` stand, and in which order; all others stand in each of them.
View = Literal["report", "files", "json", "json ranges", "json format"]


@dataclass(frozen=True, slots=True)
class Metric:
    """One figure of a cell, by its public `name`.

    `compute` gives it from the trials of a cell (at least one): with its range, as a number, or
    None where it rests on nothing. A "share" is in 0..1 and printed in per cent, a "probability"
    in 0..1 and printed as it is. `direction` says which values are better, `range` which are
    possible, `needs` what the trials must have: without it there is no figure, and one that needs
    repeats has no place in tables of questions that were asked once. `answers` are those
    it belongs to: chosen options or written texts. `ranged`: its value is an `Interval` wherever it
    has one.

    `key` is that of its labels in the catalogue of messages; a metric without one is called by its
    `label` in the language of the page, or by its name. `docs` says in a line what it is.
    """

    name: str
    compute: Callable[[CellTrials], Figure]
    unit: Unit = "share"
    direction: Direction = "higher"
    range: tuple[float, float] = (0.0, 1.0)
    needs: Needs = ""
    answers: Answers = "choices"
    ranged: bool = False
    key: str = ""
    label: Mapping[Language, str] = field(default_factory=dict[Language, str])
    docs: Mapping[Language, str] = field(default_factory=dict[Language, str])

    def own_label(self, language: Language) -> str:
        """Its label in a language, else in the other one, else its name."""
        return self.label.get(language) or next(iter(self.label.values()), self.name)

    def own_docs(self, language: Language) -> str:
        """The line of a metric of another package, in a language or the other; "" of ours."""
        if self.name in _BUILT_IN:
            return ""
        return self.docs.get(language) or next(iter(self.docs.values()), "")


METRICS: Registry[Metric] = Registry("metric")


def metrics_in(view: View, answers: Answers = "choices") -> list[Metric]:
    """The metrics that a view shows, in its order; those with a label of their own come last."""
    known = _by_name()
    placed = _VIEWS[view] if answers == "choices" else ALL_TEXT_METRICS
    added = [] if view in _CLOSED_VIEWS else [name for name in known if is_added(known[name])]
    names = dict.fromkeys((*placed, *added))
    return [known[name] for name in names if known[name].answers == answers]


def metrics_of_texts(figures: Iterable[str]) -> list[Metric]:
    """The metrics of written answers in a view's order, then the scores that modes give themselves.

    `figures` are the names of what cells have; a score that no metric is registered for is its
    mean, in 0..1 as all of them.
    """
    known = metrics_in("files", "texts")
    names = {metric.name for metric in known}
    return known + [_text_metric(name) for name in dict.fromkeys(figures) if name not in names]


def is_added(metric: Metric) -> bool:
    """Whether it stands in all open views under its own label: ours with one, and all others."""
    return bool(metric.label) or metric.name not in _BUILT_IN


def metrics_having(figures: Iterable[Mapping[str, Figure]], view: View) -> list[Metric]:
    """Those of a view's metrics of chosen options that cells with these figures may have."""
    names = {name for each in figures for name in each}
    return [one for one in metrics_in(view) if one.needs != "repeats" or one.name in names]


def compute_figures(
    trials: Sequence[Trial], pattern: Pattern, *, answers: Answers = "choices"
) -> dict[str, Figure]:
    """Every registered figure of a cell by name, and the scores that its mode gives itself.

    Of a cell without trials, those of chosen options that are built in are 0 (counts) or None, but
    for the ones on the form of its answers, which has none.
    """
    known = [one for one in _by_name().values() if one.answers == answers]
    if not trials:
        plain = [
            one
            for one in known
            if one.name in _VIEWS["files"] and one.name not in _FORMAT and one.needs != "repeats"
        ]
        return {one.name: 0 if one.unit == "count" else None for one in plain}
    cell = cell_trials(trials, pattern)
    own: Mapping[str, Figure] = cell.text_means if answers == "texts" else {}
    made = [one.compute(cell) if _has(one.needs, cell) else None for one in known]
    return {**own} | {
        one.name: figure
        for one, figure in zip(known, made, strict=True)
        if figure is not None or one.needs != "repeats"
    }


def _has(needs: Needs, cell: CellTrials) -> bool:
    """Whether the trials of a cell have what a metric needs; without it there is no figure."""
    match needs:
        case "orders":
            return cell.pattern != "origin"
        case "shown options":
            return not cell.scores_options
        case "probabilities":
            return bool(cell.columns.probabilities.lengths.max(initial=0) > 0)
        case "repeats":
            return cell.n_repeats > 1
        case "references":
            return bool(cell.columns.scores)
        case "":
            return True


def _by_name() -> dict[str, Metric]:
    """Every metric by the name under which it is registered, which is its public one.

    An entry point may be called otherwise than its metric: it must not replace one of ours.
    """
    return {
        name: one if one.name == name else replace(one, name=name)
        for name in METRICS
        for one in (METRICS[name],)
    }


# ---------------------------------------------------------------- the figures of chosen options


def _share(
    name: str,
    compute: Callable[[CellTrials], Figure],
    docs: str,
    *,
    key: str = "",
    direction: Direction = "higher",
    needs: Needs = "",
    ranged: bool = True,
) -> Metric:
    return Metric(
        name,
        compute,
        direction=direction,
        needs=needs,
        ranged=ranged,
        key=key,
        docs={"en": docs},
    )


def _count(
    name: str,
    compute: Callable[[CellTrials], int],
    docs: str,
    *,
    key: str = "",
    direction: Direction = "lower",
    needs: Needs = "",
) -> Metric:
    return Metric(
        name,
        compute,
        unit="count",
        direction=direction,
        range=(0.0, math.inf),
        needs=needs,
        key=key,
        docs={"en": docs},
    )


def _choice_metrics() -> Iterable[Metric]:
    yield _count(
        "n",
        lambda cell: cell.circular.n_origin,
        "questions answered in the order as written",
        key="n",
        direction="none",
    )
    yield _share(
        "acc_origin",
        lambda cell: cell.intervals.accuracy,
        "questions right in the order as written",
        key="accuracy",
    )
    yield _share(
        "robust",
        lambda cell: cell.intervals.robust,
        "questions right in every order",
        key="robust",
        needs="orders",
    )
    yield _share(
        "order_sensitivity",
        lambda cell: cell.intervals.order_sensitivity,
        "questions right as written but not in every order",
        key="sensitivity",
        direction="lower",
        needs="orders",
    )
    yield _share(
        "mean_over_orders",
        lambda cell: a.interval if (a := cell.intervals.mean_over_orders) else None,
        "mean over questions of the share of orders that are right",
        key="circular",
        needs="orders",
    )
    yield _share(
        "chance",
        lambda cell: cell.chance,
        "what guessing gives in the order as written",
        direction="none",
        ranged=False,
    )
    yield _share(
        "chance_robust",
        lambda cell: cell.chance_robust,
        "what guessing gives in every order",
        direction="none",
        needs="shown options",
        ranged=False,
    )
    yield _share(
        "readable", lambda cell: cell.readable, "trials that could be read", key="readable"
    )
    yield _count(
        "unreadable",
        lambda cell: cell.unreadable,
        "trials without a choice and without a tie",
    )
    yield _count(
        "tied",
        lambda cell: cell.tied,
        "trials whose best options tie",
        key="ties",
    )
    yield from _repeat_metrics()
    yield from _format_metrics()
    yield _count(
        "incomplete",
        lambda cell: len(cell.circular.incomplete),
        "questions that lack an order",
    )
    yield _count(
        "naming_options",
        lambda cell: len(cell.circular.naming),
        "questions whose options name other options",
        direction="none",
    )
    yield _count(
        "duplicate_options",
        lambda cell: len(cell.circular.duplicates),
        "questions with options of the same text",
        direction="none",
    )


def _repeat_metrics() -> Iterable[Metric]:
    yield _share(
        "majority",
        lambda cell: majority_accuracy(cell.grids),
        "questions whose most frequent answer over all repeats is right",
        key="majority",
        needs="repeats",
    )
    for k in PASS_AT:
        yield _share(
            f"pass_at_{k}",
            partial(_pass_at, k=k),
            f"chance that one of {k} replies to a question is right",
            key=f"pass_at_{k}",
            needs="repeats",
        )
    yield _share(
        "repeat_agreement",
        lambda cell: repeat_agreement(cell.grids),
        "pairs of replies to a question that choose the same option",
        key="repeat_agreement",
        direction="none",
        needs="repeats",
    )


def _pass_at(cell: CellTrials, *, k: int) -> Interval | None:
    return pass_at(cell.grids, k)


def _format_metrics() -> Iterable[Metric]:
    yield _share(
        "format_gap",
        lambda cell: cell.format.format_gap and cell.format.format_gap.value,
        "trials right when read tolerantly and not when read strictly",
        direction="lower",
        ranged=False,
    )
    yield Metric(
        "label_mass",
        lambda cell: cell.format.mass,
        unit="probability",
        needs="probabilities",
        docs={"en": "mean probability of all labels together"},
    )
    yield _count(
        "answered_by_number",
        lambda cell: cell.format.index_hits,
        "replies read by the rule `index`",
    )
    yield _count(
        "letter_and_text_conflict",
        lambda cell: cell.format.label_text_conflicts,
        "replies that name one option's letter and another's text",
    )
    yield _count(
        "merged_seams",
        lambda cell: cell.format.merged_boundaries,
        "options whose first token also holds the end of the prompt",
    )
    yield _count(
        "truncated", lambda cell: cell.format.truncated, "trials whose prompt was cut to fit"
    )
    yield _count(
        "near_ties",
        lambda cell: cell.format.near_ties,
        "trials that bfloat16 may decide otherwise",
    )


# ---------------------------------------------------------------- the figures of written answers


def _text_mean(name: str) -> Callable[[CellTrials], Figure]:
    return lambda cell: cell.text_means.get(name)


def _text_metrics() -> Iterable[Metric]:
    for name, docs in ALL_TEXT_METRICS.items():
        yield _text_metric(name, docs={"en": f"mean over answers: {docs}"})


def _text_metric(name: str, docs: Mapping[Language, str] = NO_DOCS) -> Metric:
    return Metric(
        name, _text_mean(name), needs="references", answers="texts", ranged=True, docs=docs
    )


# By name. The registry is not looked into here: that would load the metrics of other packages.
_BUILT_IN = {one.name: one for one in (*_choice_metrics(), *_text_metrics())}
for _name, _metric in _BUILT_IN.items():
    METRICS.register(_name)(_metric)

_FORMAT = (
    "format_gap",
    "label_mass",
    "answered_by_number",
    "letter_and_text_conflict",
    "merged_seams",
    "truncated",
    "near_ties",
)
_OF_REPEATS = tuple(name for name, one in _BUILT_IN.items() if one.needs == "repeats")
_VIEWS: Mapping[View, tuple[str, ...]] = {
    "report": (
        *("n", "acc_origin", *_OF_REPEATS),
        *("robust", "order_sensitivity", "readable"),
    ),
    "files": tuple(name for name, one in _BUILT_IN.items() if one.answers == "choices"),
    "json": (
        "robust",
        "order_sensitivity",
        "chance",
        "chance_robust",
        "readable",
        "unreadable",
        "tied",
        *_OF_REPEATS,
    ),
    "json ranges": (
        *("acc_origin", "robust", "mean_over_orders", "order_sensitivity", "readable"),
        *_OF_REPEATS,
    ),
    "json format": _FORMAT,
}
# An object of figures of one kind has no place for others.
_CLOSED_VIEWS: frozenset[View] = frozenset({"json format"})
