"""What the Bias page shows beside the figures of one cell: all models, all subjects, one grid cell.

Rows of maps are numbers with names; which cells may be compared is decided here.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from statistics import fmean
from typing import Literal

from evalui.report.charts.theme import MIN_QUESTIONS
from evalui.report.words import group_name, names
from evalui.scoring.bias import StratumBias
from evalui.scoring.bias.counts import most_frequent
from evalui.scoring.cell_summary import GroupKind, SubjectGroup, Summary
from evalui.scoring.choice.trial_grid import strata
from evalui.scoring.statistics.tests import benjamini_hochberg
from evalui.types import Cell, CellResult, Interval, Language, Sample

_LEVEL = 0.05  # of false findings among the stars

Origin = Literal["prior", "picks"]


@dataclass(frozen=True, slots=True)
class PriorRow:
    """What one cell of a run prefers: a share per slot with its range.

    `origin` "prior" is PriDe's estimate from probabilities, "picks" the share of readable answers
    in that slot. `key` tells which cell it is.
    """

    name: str
    key: str
    origin: Origin
    shares: tuple[Interval, ...]


@dataclass(frozen=True, slots=True)
class GapRow:
    """A subject or category: the share of questions right only as written, for each column.

    `significant` says which of them differ from the rest of that model's questions after
    correction.
    """

    name: str
    key: str
    gaps: tuple[Interval | None, ...]
    significant: tuple[bool, ...]


def prior_rows(summaries: Sequence[Summary], n_options: int, language: Language) -> list[PriorRow]:
    """A row for each cell that has questions with so many options, in the order of the run.

    One whose letters hold too little probability to speak of a bias has none.

    PriDe's prior where there are probabilities, with the range of a bootstrap over questions,
    else the share of readable answers.
    """
    called = names(summaries, language)
    rows: list[PriorRow] = []
    for place, summary in enumerate(summaries):
        bias = summary.bias_of(n_options)
        if bias is None or bias.level == "mass":
            continue
        priors, picks = summary.priors.get(n_options), bias.position.shares
        shares = priors or tuple(share for share in picks if share)
        if len(shares) == n_options:
            name = " · ".join(filter(None, called[summary.cell]))
            rows.append(PriorRow(name, str(place), "prior" if priors else "picks", tuple(shares)))
    return rows


def gap_rows(
    summaries: Sequence[Summary], kind: GroupKind, language: Language
) -> tuple[list[str], list[GapRow]]:
    """The columns (cells with subjects) and rows of a gap map, the greatest mean gap first.

    `kind` "category" is for a first look, "subject" on demand. A row's key is the group's name.
    """
    shown = grouped(summaries)
    called = names(summaries, language)
    groups = {
        (group.name, place): group
        for place, summary in enumerate(shown)
        for group in summary.groups
        if group.kind == kind and group.gap
    }
    starred = _significant_cells(groups)
    rows = [
        GapRow(
            name=next(group_name(g, language) for (key, _), g in groups.items() if key == name),
            key=name,
            gaps=tuple(
                g.gap if (g := groups.get((name, at))) else None for at in range(len(shown))
            ),
            significant=tuple((name, at) in starred for at in range(len(shown))),
        )
        for name in dict.fromkeys(name for name, _ in groups)
    ]
    columns = [" · ".join(filter(None, called[summary.cell])) for summary in shown]
    return columns, sorted(rows, key=lambda row: -_mean_gap(row))


def grouped(summaries: Sequence[Summary]) -> list[Summary]:
    """The columns of a gap map: the cells with subjects that were shown in every order."""
    return [summary for summary in summaries if summary.groups and summary.order_sensitivity]


def _significant_cells(groups: Mapping[tuple[str, int], SubjectGroup]) -> set[tuple[str, int]]:
    """The cells of enough questions that are unlike the rest, corrected for all of them."""
    tested = [
        (key, group.gap_p)
        for key, group in groups.items()
        if group.gap_p is not None and group.gap and group.gap.n >= MIN_QUESTIONS
    ]
    adjusted = benjamini_hochberg([p for _, p in tested])
    return {key for (key, _), p in zip(tested, adjusted, strict=True) if p < _LEVEL}


def _mean_gap(row: GapRow) -> float:
    return fmean(gap.value for gap in row.gaps if gap)


def comparable(summaries: Sequence[Summary], cell: Cell) -> list[Summary]:
    """The cells of the same dataset and mode, if they show a preference for positions at all.

    In one order alone an uneven spread of right answers looks the same.
    """
    return [
        summary
        for summary in summaries
        if (summary.cell.dataset, summary.cell.label) == (cell.dataset, cell.label)
        and summary.cell.pattern != "origin"
    ]


def low_mass_models(summaries: Sequence[Summary], n_options: int) -> list[str]:
    """The models without a stated preference: their letters hold too little probability."""
    biases = {summary.cell.model: summary.bias_of(n_options) for summary in summaries}
    return [model for model, bias in biases.items() if bias and bias.level == "mass"]


def subjects_of(summaries: Sequence[Summary], category: str) -> frozenset[str]:
    """The subjects of a category."""
    return frozenset(
        subject
        for summary in summaries
        for group in summary.groups
        if group.kind == "category" and group.name == category
        for subject in group.subjects
    )


def wrong_picks(bias: StratumBias) -> tuple[int, ...]:
    """How often each slot was picked while the right answer stood elsewhere."""
    counts = bias.position.counts
    return tuple(
        sum(row[slot] for gold, row in enumerate(counts) if gold != slot)
        for slot in range(bias.n_options)
    )


# ---------------------------------------------------------------- content or position


@dataclass(frozen=True, slots=True)
class GridCell:
    """A cell of the grid: how often the most frequent position and option came."""

    slots: int
    options: int


def grid_places(result: CellResult, n_options: int) -> Mapping[str, GridCell]:
    """The cell of the grid of each question with so many options; of none in one order only.

    As in the grid, a question counts if it was presented in every order, and no option names
    another or has its text.
    """
    made = strata(result.trials, result.cell.pattern)
    stratum = next(one for one in made if one.n_options == n_options)
    if stratum.n_orders < 2:
        return {}
    counts: Iterator[list[int]] = (each.tolist() for each in most_frequent(stratum))
    return dict(zip(stratum.ids.tolist(), map(cache(GridCell), *counts), strict=True))


def questions_in(
    samples: Mapping[str, Sample], places: Mapping[str, GridCell], grid_cell: GridCell
) -> tuple[Sample, ...]:
    """The questions of one cell of the grid, in file order."""
    return tuple(sample for sample in samples.values() if places.get(sample.id) == grid_cell)
