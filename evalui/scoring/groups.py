"""The figures of groups of subjects or datasets, from those of their members.

With weights w_i of the members that have a figure (1 or the user's for a macro mean, the number of
questions n_i for a micro mean) and c_i = w_i / sum(w), the value is sum(c_i x_i). Its interval
recovers the variance of each member from both ends of the member's own 95 % interval (l_i, u_i),
which is clustered as the member's figure is:

    low  = value - sqrt(sum(c_i^2 (x_i - l_i)^2))
    high = value + sqrt(sum(c_i^2 (u_i - x_i)^2))

Zou, Huang and Zhang, "A note on confidence interval estimation for a linear function of binomial
proportions" (Computational Statistics & Data Analysis 53, 2009). The members are taken as they are,
not as a sample of subjects. A count of a group is the sum of its members' counts.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evalui.scoring.answer_summary import AnswerSummary
from evalui.scoring.cell_summary import Summary
from evalui.scoring.cell_trials import CellTrials
from evalui.scoring.metrics import Answers, Figure, Metric, compute_figures, known_metrics
from evalui.scoring.metrics import metrics_of_texts as text_metrics
from evalui.scoring.trial_columns import columns_of
from evalui.types import CellResult, DeclaredGroup, Interval, is_unfinished


@dataclass(frozen=True, slots=True)
class MemberFigures:
    """The figures of one member by name; those without an interval rest on `n` questions."""

    figures: Mapping[str, Figure]
    n: int


@dataclass(frozen=True, slots=True)
class GroupFigure:
    """One metric of a group: what the `n` questions of its members come to.

    `missing` are the members that have no value of it; it rests on the others.
    """

    metric: Metric
    figure: Interval | float | int
    n: int
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class GroupSummary:
    """The figures of one group of one model in one mode.

    `dataset` is "" for a group of datasets. `missing` are the members without any figure: they are
    none of the dataset, or nothing of them was answered. `signatures` are those of the cells.
    """

    group: DeclaredGroup
    dataset: str
    model: str
    label: str
    answers: Answers
    missing: tuple[str, ...]
    figures: Mapping[str, GroupFigure]
    signatures: tuple[str, ...]


def group_summaries(
    groups: Sequence[DeclaredGroup],
    results: Sequence[CellResult],
    summaries: Sequence[Summary | AnswerSummary],
) -> tuple[GroupSummary, ...]:
    """Every group of every model and mode that is no longer at work, group by group.

    `summaries` are the figures of the cells; verdicts of judges have no groups.
    """
    if not groups:
        return ()
    parts = _SubjectParts(groups)
    made: list[GroupSummary] = []
    for group in groups:
        if group.of == "datasets":
            made += _over_datasets(group, summaries)
            continue
        for result in results:
            if result.cell.gives != "verdicts" and not is_unfinished(result):
                made += _over_subjects(group, result, parts)
    return tuple(made)


def combine(
    group: DeclaredGroup, members: Mapping[str, MemberFigures], answers: Answers
) -> dict[str, GroupFigure]:
    """Every metric that a member has a value of, by name; `members` are those with figures."""
    names = dict.fromkeys(name for own in members.values() for name in own.figures)
    if answers == "texts":
        metrics = text_metrics(names)
    else:
        metrics = [one for one in known_metrics().values() if one.answers == answers]
    figures: dict[str, GroupFigure] = {}
    for metric in metrics:
        values = {
            name: (figure, members[name].n)
            for name in group.members
            if name in members and (figure := members[name].figures.get(metric.name)) is not None
        }
        if values:
            figures[metric.name] = _combined(group, metric, values)
    return figures


def _combined(
    group: DeclaredGroup, metric: Metric, values: Mapping[str, tuple[Interval | float | int, int]]
) -> GroupFigure:
    missing = tuple(name for name in group.members if name not in values)
    sizes = [_questions(figure, n) for figure, n in values.values()]
    n = sum(sizes)
    if metric.unit == "count":
        return GroupFigure(metric, sum(_value(figure) for figure, _ in values.values()), n, missing)
    if group.mean == "micro":
        weights = [float(size) for size in sizes]
    else:
        weights = [group.weights.get(name, 1.0) for name in values]
    parts = [weight / sum(weights) for weight in weights]
    figures = [figure for figure, _ in values.values()]
    value = math.fsum(c * _value(figure) for c, figure in zip(parts, figures, strict=True))
    ranges = [figure for figure in figures if isinstance(figure, Interval)]
    if len(ranges) < len(figures):
        return GroupFigure(metric, value, n, missing)
    below = math.hypot(*(c * (x.value - x.low) for c, x in zip(parts, ranges, strict=True)))
    above = math.hypot(*(c * (x.high - x.value) for c, x in zip(parts, ranges, strict=True)))
    return GroupFigure(metric, Interval(value, value - below, value + above, n), n, missing)


def _value(figure: Interval | float | int) -> float | int:
    return figure.value if isinstance(figure, Interval) else figure


def _questions(figure: Interval | float | int, n: int) -> int:
    return figure.n if isinstance(figure, Interval) else n


# ---------------------------------------------------------------- members


class _SubjectParts:
    """The figures of each subject of a cell that is in any group, worked out once."""

    def __init__(self, groups: Sequence[DeclaredGroup]) -> None:
        self._wanted = {
            name for group in groups if group.of == "subjects" for name in group.members
        }
        self._known: dict[int, Mapping[str, MemberFigures]] = {}

    def of(self, result: CellResult) -> Mapping[str, MemberFigures]:
        """By subject; none of those without an answer."""
        if id(result) not in self._known:
            self._known[id(result)] = dict(self._figures(result))
        return self._known[id(result)]

    def _figures(self, result: CellResult) -> Iterator[tuple[str, MemberFigures]]:
        columns = columns_of(result.trials)
        answers = _answers(result)
        place_of: dict[str, int] = {}
        places = np.array(
            [
                place_of.setdefault(sample.subject if sample else "", len(place_of))
                for sample in map(result.samples.get, columns.ids)
            ],
            dtype=np.intp,
        )[columns.sample]
        for subject, place in place_of.items():
            rows = np.flatnonzero(places == place)
            if subject not in self._wanted or not rows.size:
                continue
            part = CellTrials.of(result, columns.take(rows))
            figures = compute_figures(part, result.cell.pattern, answers=answers)
            chosen = answers == "choices"
            n = part.circular.n_origin if chosen else len(part.compared.question_ids)
            yield subject, MemberFigures(figures, n)


def _over_subjects(
    group: DeclaredGroup, result: CellResult, parts: _SubjectParts
) -> Iterator[GroupSummary]:
    cell = result.cell
    subjects = {sample.subject for sample in result.samples.values()}
    if not result.trials or not group.counts_in(cell.dataset, subjects):
        return
    members = {name: own for name, own in parts.of(result).items() if name in group.members}
    yield _summary(group, cell.dataset, (cell.model, cell.label), members, [cell.signature], result)


def _over_datasets(
    group: DeclaredGroup, summaries: Sequence[Summary | AnswerSummary]
) -> Iterator[GroupSummary]:
    cells: dict[tuple[str, str], list[Summary | AnswerSummary]] = {}
    for summary in summaries:
        if summary.cell.dataset in group.members:
            cells.setdefault((summary.cell.model, summary.cell.label), []).append(summary)
    for place, own in cells.items():
        answered = [one for one in own if one.n]
        if any(map(is_unfinished, own)) or not answered:
            continue
        members = {
            one.cell.dataset: MemberFigures(
                one.figures, one.compared if isinstance(one, AnswerSummary) else one.n
            )
            for one in answered
        }
        signatures = [one.cell.signature for one in answered]
        yield _summary(group, "", place, members, signatures, answered[0])


def _summary(
    group: DeclaredGroup,
    dataset: str,
    place: tuple[str, str],
    members: Mapping[str, MemberFigures],
    signatures: Sequence[str],
    of: CellResult | Summary | AnswerSummary,
) -> GroupSummary:
    answers = _answers(of)
    return GroupSummary(
        group,
        dataset,
        *place,
        answers,
        tuple(name for name in group.members if name not in members),
        combine(group, members, answers),
        tuple(dict.fromkeys(signatures)),
    )


def _answers(of: CellResult | Summary | AnswerSummary) -> Answers:
    return "choices" if of.cell.gives == "choices" else "texts"
