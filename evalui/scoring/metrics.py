"""METRICS: every figure of a cell that the overview, the report and the exports show.

A metric is registered once, by its public name, which is the name of its column in every export.
Tables, files and docs/metrics.md take their figures from here. A metric that another package
registers appears in all of them, behind those of this module:

    METRICS.register("mean_label_mass")(
        Metric("mean_label_mass", mean_label_mass, label={"en": "Label mass", "zh": "标签概率"})
    )
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from evalui.registry import Registry
from evalui.scoring.cell_trials import CellTrials, cell_trials, scores_by_question
from evalui.scoring.choice.circular import Measure
from evalui.scoring.choice.options import NORMALISATIONS
from evalui.scoring.choice.yes_no import groups_all_right, yes_figures
from evalui.scoring.repeats import (
    PASS_AT,
    QuestionValues,
    Repeats,
    agreeing_pairs,
    all_right,
    majority_credit,
    mean_over_questions,
    pass_at,
    spread,
)
from evalui.scoring.scorers import OUR_VALUES, ScoreValue, declared_values
from evalui.scoring.statistics.intervals import mean_intervals
from evalui.scoring.statistics.tests import paired_t_test
from evalui.types import Interval, Language, Pattern, Trial

NO_DOCS: Mapping[Language, str] = MappingProxyType({})
Figure = Interval | int | float | None  # a count is kept and published as a whole number
Answers = Literal["choices", "texts"]
Unit = Literal["share", "probability", "count", "number"]
Direction = Literal["higher", "lower", "none"]
Needs = Literal[
    "",
    "orders",
    "shown options",
    "probabilities",
    "references",
    "questions",
    "subjects",
    "repeats",
    "yes or no",
]
_SPECIAL: tuple[Needs, ...] = ("repeats", "yes or no")  # without what they need, nothing is shown
# Where the metrics with a `key` stand, and in which order; all others stand in each of them.
View = Literal["report", "files", "metrics", "form"]


@dataclass(frozen=True, slots=True)
class Metric:
    """One figure of a cell, by its public `name`.

    `compute` gives it from the trials of a cell (at least one): with its range, as a number, or
    None where it rests on nothing. A "share" is in 0..1 and printed in per cent, a "probability"
    in 0..1 and printed as it is. `direction` says which values are better, `range` which are
    possible, `needs` what the trials must have, `metadata` the further fields that their questions
    must have: without them there is no figure, and the reason is told; one that needs repeats, or
    questions of yes or no, has no place in tables of others. `answers` are those it
    belongs to: chosen options or written texts. `ranged`: its value is an `Interval` wherever it
    has one. `by_question` gives what it is the mean of, by the ids of questions; it has none where
    it is no mean over questions, and is then compared by leaving groups of questions out.

    `key` is that of its labels in the catalogue of messages; a metric without one is called by its
    `label` in the language of the page, or by its name. `docs` says in a line what it is.
    """

    name: str
    compute: Callable[[CellTrials], Figure]
    unit: Unit = "share"
    direction: Direction = "higher"
    range: tuple[float, float] = (0.0, 1.0)
    needs: Needs = ""
    metadata: tuple[str, ...] = ()
    answers: Answers = "choices"
    ranged: bool = False
    key: str = ""
    label: Mapping[Language, str] = field(default_factory=dict[Language, str])
    docs: Mapping[Language, str] = field(default_factory=dict[Language, str])
    by_question: Callable[[CellTrials], QuestionValues] | None = None

    def own_label(self, language: Language) -> str:
        """Its label in a language, else in the other one, else its name."""
        return self.label.get(language) or next(iter(self.label.values()), self.name)

    def own_docs(self, language: Language) -> str:
        """The line of a metric of another package, in a language or the other; "" of ours."""
        if self.name in _BUILT_IN:
            return ""
        return self.docs.get(language) or next(iter(self.docs.values()), "")


METRICS: Registry[Metric] = Registry("metric")
# The rules that read an answer, and OpenCompass's figures of orders, see `choice.circular`.
_READINGS = (*NORMALISATIONS, "forced", "tolerant", "strict")
_OPENCOMPASS_NAME = re.compile(
    r"(acc|perf)_origin|(acc|perf|more_[1-9]\d*)_(circular|all_possible)(_movable)?"
)


def metrics_in(view: View, answers: Answers = "choices") -> list[Metric]:
    """The metrics that a view shows, in its order; those with a label of their own come last."""
    known = known_metrics()
    placed = _VIEWS[view] if answers == "choices" else _OF_TEXTS
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
    return known + [
        _score_mean(name, ScoreValue(), needs_reference=True)
        for name in dict.fromkeys(figures)
        if name not in names
    ]


def is_added(metric: Metric) -> bool:
    """Whether it stands in all open views under its own label: ours with one, and all others."""
    return bool(metric.label) or metric.name not in _BUILT_IN


def metrics_having(figures: Iterable[Mapping[str, Figure]], view: View) -> list[Metric]:
    """Those of a view's metrics of chosen options that cells with these figures may have."""
    names = {name for each in figures for name in each}
    return [one for one in metrics_in(view) if one.needs not in _SPECIAL or one.name in names]


def compute_figures(
    trials: Sequence[Trial], pattern: Pattern, *, answers: Answers = "choices"
) -> dict[str, Figure]:
    """Every registered figure of a cell by name, and the scores that its mode gives itself.

    Of a cell without trials, those of chosen options that are built in are 0 (counts) or None, but
    for the ones on the form of its answers, which has none.
    """
    known = [one for one in known_metrics().values() if one.answers == answers]
    if not trials:
        plain = [
            one
            for one in known
            if one.name in _VIEWS["files"] and one.name not in _FORMAT and one.needs not in _SPECIAL
        ]
        return {one.name: 0 if one.unit == "count" else None for one in plain}
    cell = cell_trials(trials, pattern)
    own: Mapping[str, Figure] = cell.text_means if answers == "texts" else {}
    made = [one.compute(cell) if can_compute(one, cell) else None for one in known]
    return {**own} | {
        one.name: figure
        for one, figure in zip(known, made, strict=True)
        if figure is not None or one.needs not in _SPECIAL
    }


def can_compute(metric: Metric, cell: CellTrials) -> bool:
    """Whether the trials of a cell and their questions have what a metric needs."""
    return _has(metric.needs, cell) and all(map(cell.has_metadata, metric.metadata))


def question_values(metric: Metric, cell: CellTrials) -> QuestionValues | None:
    """The value of each question, of which a metric is the mean; None where it is no mean.

    There are none where the trials lack what the metric needs.
    """
    if metric.by_question is None:
        return None
    return metric.by_question(cell) if can_compute(metric, cell) else {}


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
        case "questions":
            return cell.samples is not None
        case "subjects":
            return cell.has_subjects
        case "yes or no":
            return cell.yes_places is not None
        case "":
            return True


def known_metrics() -> dict[str, Metric]:
    """Every metric by the name under which it is registered, then the values of other scorers.

    An entry point may be called otherwise than its metric: it must not replace one of ours.
    """
    known = {
        name: one if one.name == name else replace(one, name=name)
        for name in METRICS
        for one in (METRICS[name],)
    }
    for name, (value, scorer) in declared_values().items():
        for metric in _score_metrics(name, value, needs_reference=scorer.needs_reference):
            known.setdefault(metric.name, metric)
    return known


def metric_named(name: str) -> Metric | None:
    """The metric of a name that any table shows: a registered one, a reading ("strict", "un"), or a
    figure of OpenCompass ("perf_circular", "more_3_circular"). None if there is none.

    Those of readings and of OpenCompass are made when they are asked for: the views have them in
    tables of their own.
    """
    if metric := known_metrics().get(name):
        return metric
    if name in _READINGS:
        return _share(
            name,
            lambda cell: own.accuracy if (own := cell.format.readings.get(name)) else None,
            f"questions right in the order as written, read by the rule `{name}`",
        )
    if _OPENCOMPASS_NAME.fullmatch(name):
        return _share(
            name,
            lambda cell: None if (own := cell.circular.values.get(name)) is None else own / 100,
            f"`{name}` of OpenCompass",
            ranged=False,
        )
    return None


def metric_names() -> list[str]:
    """The names of all metrics; a `k` stands for each number in those of OpenCompass."""
    parts = ("circular", "all_possible")
    theirs = (f"{kind}_{part}" for part in parts for kind in ("acc", "perf", "more_k"))
    return [*known_metrics(), *_READINGS, "perf_origin", *theirs]


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
    by_question: Callable[[CellTrials], QuestionValues] | None = None,
) -> Metric:
    return Metric(
        name,
        compute,
        direction=direction,
        needs=needs,
        ranged=ranged,
        key=key,
        docs={"en": docs},
        by_question=by_question,
    )


def _outcome(measure: Measure) -> Callable[[CellTrials], QuestionValues]:
    return lambda cell: cell.outcomes.get(measure, {})


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
        by_question=_outcome("accuracy"),
    )
    yield _share(
        "robust",
        lambda cell: cell.intervals.robust,
        "questions right in every order",
        key="robust",
        needs="orders",
        by_question=_outcome("robust"),
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
        by_question=_outcome("mean_over_orders"),
    )
    yield _share(
        "chance",
        lambda cell: cell.chance,
        "what guessing gives as written; in one order, the most frequent position if more",
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
    yield from _yes_no_metrics()
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


def _yes_no_metrics() -> Iterable[Metric]:
    docs = {
        "precision": "share of the answers “yes” that are right (POPE)",
        "recall": "share of the questions to be answered by yes that were",
        "f1": "harmonic mean of `yes_precision` and `yes_recall`",
        "rate": "share of the answers that are “yes”",
    }
    for part, said in docs.items():
        yield _share(
            f"yes_{part}",
            partial(_yes_figure, part=part),
            said,
            key=f"yes_{part}",
            direction="none" if part == "rate" else "higher",
            needs="yes or no",
            ranged=False,
        )
    groups = {
        "figure_accuracy": (
            ("set_id", "figure_id"),
            "figures on which every question is right (HallusionBench's fAcc)",
        ),
        "question_accuracy": (
            ("set_id", "question_id"),
            "questions that are right on every figure (HallusionBench's qAcc)",
        ),
        "picture_accuracy": (
            ("picture_group",),
            "pictures on which every question is right (MME's accuracy+)",
        ),
    }
    for name, (fields, said) in groups.items():
        share = partial(_all_right_in_group, fields=fields)
        yield replace(_share(name, share, said, key=name, needs="yes or no"), metadata=fields)


def _yes_figure(cell: CellTrials, *, part: str) -> float | None:
    assert cell.yes_places is not None, "it needs questions of yes or no"
    columns, written = cell.columns, cell.columns.is_origin
    if not written.any():
        return None
    yes = cell.yes_places[written]
    figures = yes_figures(columns.reading.choice[written] == yes, columns.target[written] == yes)
    return getattr(figures, part)


def _all_right_in_group(cell: CellTrials, *, fields: tuple[str, ...]) -> Interval | None:
    """Over the groups of questions that share these fields, within a subject."""
    columns, written = cell.columns, cell.columns.is_origin
    if not written.any():
        return None
    names = (cell.questions.subject, *map(cell.questions.metadata, fields))
    groups = list(zip(*(each[written].tolist() for each in names), strict=True))
    right = columns.reading.credit[written] == 1
    shares = groups_all_right(groups, right, columns.repeat[written])
    return next(iter(mean_intervals(shares[:, None])))


def _repeat_metrics() -> Iterable[Metric]:
    yield _of_repeats(
        "majority",
        partial(_choice_values, value=majority_credit),
        "questions whose most frequent answer over all repeats is right",
        key="majority",
    )
    for k in PASS_AT:
        yield _of_repeats(
            f"pass_at_{k}",
            partial(_choice_values, value=partial(pass_at, k=k), least=k),
            f"chance that one of {k} replies to a question is right",
            key=f"pass_at_{k}",
        )
    yield _of_repeats(
        "repeat_agreement",
        partial(_choice_values, value=agreeing_pairs),
        "pairs of replies to a question that choose the same option",
        key="repeat_agreement",
        direction="none",
    )
    yield _of_repeats(
        "same_order",
        _same_order,
        "questions right in as many replies to one order as there are orders, or repeats if fewer",
        key="same_order",
    )
    yield Metric(
        "order_loss",
        _order_loss,
        direction="lower",
        range=(-1.0, 1.0),
        needs="repeats",
        ranged=True,
        key="order_loss",
        docs={"en": "`same_order` less the questions right in one reply to each of as many orders"},
    )
    for place, part in enumerate(("questions", "sampling", "order")):
        yield _share(
            f"variance_{part}",
            partial(_variance_part, place=place),
            f"share of the variance of replies that lies in {part}",
            key=f"variance_{part}",
            direction="none",
            needs="repeats",
            ranged=False,
        )


def _same_order(cell: CellTrials) -> QuestionValues:
    """Over the repeats of an order, of every order."""
    return _all_right(cell, axes=(0, 2, 1))


def _all_right(cell: CellTrials, *, axes: tuple[int, int, int]) -> QuestionValues:
    values: dict[str, float] = {}
    for grid in cell.repeated_orders:
        k = grid.n_repeats if grid.n_orders == 1 else min(grid.n_repeats, grid.n_orders)
        right = (grid.credit_by_repeat == 1).transpose(axes)
        values |= zip(grid.ids.tolist(), all_right(right, k).tolist(), strict=True)
    return values


def _order_loss(cell: CellTrials) -> Figure:
    if cell.pattern == "origin":
        return None
    moved = _all_right(cell, axes=(0, 1, 2))
    found = paired_t_test(_same_order(cell), moved, cell.clusters)
    if found is None:
        return None
    return Interval(found.difference, max(-1.0, found.low), min(1.0, found.high), found.n)


def _variance_part(cell: CellTrials, *, place: int) -> Figure:
    return cell.variance_parts and cell.variance_parts[place]


def _of_repeats(
    name: str,
    by_question: Callable[[CellTrials], QuestionValues],
    docs: str,
    *,
    key: str = "",
    direction: Direction = "higher",
    answers: Answers = "choices",
) -> Metric:
    """The mean over questions of what the replies to each come to."""
    return Metric(
        name,
        lambda cell: mean_over_questions(by_question(cell), cell.clusters),
        direction=direction,
        needs="repeats",
        answers=answers,
        ranged=True,
        key=key,
        docs={"en": docs},
        by_question=by_question,
    )


def _choice_values(
    cell: CellTrials, *, value: Callable[[Repeats], NDArray[np.float64]], least: int = 2
) -> QuestionValues:
    if cell.n_repeats < least:
        return {}
    parts = (replies.each(value) for replies in cell.repeated_choices)
    return {name: number for part in parts for name, number in part.items()}


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


def _text_metrics() -> Iterable[Metric]:
    for name, value in OUR_VALUES.items():
        yield _score_mean(name, value, needs_reference=True)
    yield _of_repeats(
        "answer_agreement",
        partial(_text_values, value=agreeing_pairs),
        "pairs of replies to a question that are the same normalised words",
        direction="none",
        answers="texts",
    )
    for name, value in OUR_VALUES.items():
        yield from _scores_of_repeats(name, value)


def _score_metrics(name: str, value: ScoreValue, *, needs_reference: bool) -> Iterable[Metric]:
    """All that is made of a value that a scorer gives each answer."""
    yield _score_mean(name, value, needs_reference=needs_reference)
    yield from _scores_of_repeats(name, value)


def _score_mean(name: str, value: ScoreValue, *, needs_reference: bool) -> Metric:
    """The mean of a value over answers."""
    return Metric(
        name,
        lambda cell: cell.text_means.get(name),
        direction=value.direction,
        needs="references" if needs_reference else "",
        answers="texts",
        ranged=True,
        label=value.label,
        docs=value.docs,
        by_question=lambda cell: scores_by_question(cell.columns, name),
    )


def _scores_of_repeats(name: str, value: ScoreValue) -> Iterable[Metric]:
    """What a value of several replies to each question comes to.

    Only a value that says right or wrong has a pass@k and a majority: a threshold on any other
    would be invented.
    """
    if not value.right_or_wrong:
        yield replace(
            _of_repeats(
                f"{name}_spread",
                partial(_score_values, name=name, value=spread),
                f"mean over questions of the standard deviation of `{name}` over repeats",
                direction="none",
                answers="texts",
            ),
            range=(0.0, round(math.sqrt(0.5), 4)),  # of two repeats, one 0 and one 1
        )
        return
    yield _of_repeats(
        f"{name}_majority",
        partial(_text_values, name=name, value=majority_credit),
        f"mean of `{name}` of the most frequent answer to each question",
        direction=value.direction,
        answers="texts",
    )
    for k in PASS_AT:
        yield _of_repeats(
            f"{name}_pass_at_{k}",
            partial(_score_values, name=name, value=partial(pass_at, k=k), least=k),
            f"chance that `{name}` is 1 for one of {k} replies to a question",
            direction=value.direction,
            answers="texts",
        )


def _score_values(
    cell: CellTrials,
    *,
    name: str,
    value: Callable[[Repeats], NDArray[np.float64]],
    least: int = 2,
) -> QuestionValues:
    return cell.repeated_scores(name).each(value) if cell.n_repeats >= least else {}


def _text_values(
    cell: CellTrials, *, value: Callable[[Repeats], NDArray[np.float64]], name: str = ""
) -> QuestionValues:
    """What needs every text of a cell, which is not read again with each answer that comes."""
    return {} if cell.unfinished else cell.repeated_texts(name).each(value)


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
_OF_TEXTS = tuple(name for name, one in _BUILT_IN.items() if one.answers == "texts")
_OF_REPEATS = tuple(
    name for name, one in _BUILT_IN.items() if one.needs == "repeats" and one.answers == "choices"
)
_OF_YES_NO = tuple(name for name, one in _BUILT_IN.items() if one.needs == "yes or no")
_VIEWS: Mapping[View, tuple[str, ...]] = {
    "report": (
        *("n", "acc_origin", *_OF_YES_NO, *_OF_REPEATS),
        *("robust", "order_sensitivity", "readable"),
    ),
    "files": tuple(name for name, one in _BUILT_IN.items() if one.answers == "choices"),
    "metrics": (
        "robust",
        "order_sensitivity",
        "chance",
        "chance_robust",
        "readable",
        "unreadable",
        "tied",
        *_OF_YES_NO,
        *_OF_REPEATS,
    ),
    "form": _FORMAT,
}
# Figures of one kind have no place for others.
_CLOSED_VIEWS: frozenset[View] = frozenset({"form"})
