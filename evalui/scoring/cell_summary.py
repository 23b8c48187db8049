"""One cell of a run in figures: what tables, charts, sentences and files are made from.

Nothing is computed here that belongs into `scoring`; this module asks it the right questions.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from evalui.scoring.answer_summary import AnswerSummary, summarise_answers
from evalui.scoring.arena.figures import ArenaReader, arena_of_judges
from evalui.scoring.bias import (
    CellBias,
    StratumBias,
    measure_bias,
    with_light,
)
from evalui.scoring.bias.counts import PositionTable, position_tables_of_grids
from evalui.scoring.bias.probabilities import slot_prior
from evalui.scoring.bias.significance import N_DRAWS
from evalui.scoring.cautions import HIDDEN_BELOW
from evalui.scoring.cell_trials import CellTrials, cell_trials
from evalui.scoring.choice.answer_format import (
    DecisionCounts,
    FormatMetrics,
    ReadingMetrics,
    decision_counts,
    format_metrics,
)
from evalui.scoring.choice.circular import (
    MOVABLE,
    CircularIntervals,
    CircularMetrics,
    Measure,
    Outcomes,
    accuracy_as_written,
    group_means,
    mean_over_orders,
    metrics_of_grids,
)
from evalui.scoring.choice.trial_grid import TrialGrid, first_come, joined_clusters
from evalui.scoring.metrics import Figure, compute_figures
from evalui.scoring.pairs import AnswerPair, compare_answers
from evalui.scoring.statistics.intervals import (
    ClusteredMean,
    beats_guessing,
    cluster_values,
    mean_intervals,
    n_independent,
    share_over_repeats,
)
from evalui.scoring.statistics.tests import benjamini_hochberg, fisher_p_value, welch_p_value
from evalui.types import (
    Cell,
    CellResult,
    CellState,
    Interval,
    Labels,
    Pattern,
    Sample,
    Trial,
    is_unfinished,
    signature_parts,
)

# Raised when a figure of `Summary` changes, so that what stores keep is computed anew.
FIGURES_VERSION = "7"
_WRITTEN = "perf_origin"  # the metric of the order as written alone
_LABELS: Mapping[str, Labels] = {each: each for each in get_args(Labels)}
GroupKind = Literal["subject", "category", "hard", "all"]


@dataclass(frozen=True, slots=True)
class SubjectGroup:
    """The figures of one subject, or of several together.

    `micro` weighs every question the same and `macro` every subject, both in percent under
    OpenCompass's names; of one subject they are equal. `accuracy` is acc_origin over all `n`
    questions together, `gap` the share of those shown in every order that are right as written
    only, `gap_p` the p-value of Fisher's exact test that it is that of all the other questions
    (None with nothing to compare), `robust` the share right in every order and
    `mean_over_orders` the mean credit. `name_zh` is "" where
    no Chinese name is known.
    """

    kind: GroupKind
    name: str
    name_zh: str
    subjects: tuple[str, ...]
    n: int
    accuracy: Interval | None
    micro: Mapping[str, float]
    macro: Mapping[str, float]
    gap: Interval | None = None
    gap_p: float | None = None
    robust: Interval | None = None
    mean_over_orders: Interval | None = None

    @property
    def robust_key(self) -> str:
        """The metric that is the share of questions right in every order; "" of one order.

        All permutations come after the rotations that are among them, and what rests on the
        questions that may move after what rests on all.
        """
        moved = [key for key in self.micro if key.startswith("perf_") and key != _WRITTEN]
        return moved[-1] if moved else ""

    def share(self, measure: Measure) -> Interval | None:
        """Its figure under a measure, as `Summary.share` of all questions."""
        if measure == "mean_over_orders":
            return self.mean_over_orders
        return self.robust if measure == "robust" else self.accuracy

    def macro_share(self, measure: Measure) -> float | None:
        """The same with every subject weighed the same, in per cent."""
        if measure == "accuracy":
            return self.macro.get("acc_origin")
        key = self.robust_key
        return self.macro.get(key if measure == "robust" else key.replace("perf_", "acc_", 1))


def subject_groups(
    samples: Mapping[str, Sample], trials: Sequence[Trial], pattern: Pattern
) -> tuple[SubjectGroup, ...]:
    """Subjects, then categories, the hard subjects and all; nothing if there is one subject."""
    cell = cell_trials(trials, pattern)
    come, _ = first_come(cell.columns.sample, len(cell.columns.ids))
    kinds: dict[str, Sample] = {}  # any question of a subject names its category
    for code in come.tolist():
        sample = samples[cell.columns.ids[code]]
        kinds.setdefault(sample.subject, sample)
    if len(kinds) < 2:
        return ()
    by_subject = _split_by_subject(cell.grids, samples, list(kinds))
    figures = {name: metrics_of_grids(own, pattern) for name, own in by_subject.items()}
    subjects = [
        SubjectGroup(
            kind="subject",
            name=name,
            name_zh=kinds[name].metadata.get("subject_zh", ""),
            subjects=(name,),
            n=figures[name].n_origin,
            accuracy=accuracy_as_written(own),
            micro=figures[name].values,
            macro=figures[name].values,
        )
        for name, own in by_subject.items()
    ]
    several = [
        _aggregate(kind, name, members, by_subject, figures)
        for (kind, name), members in _members(kinds).items()
    ]
    return tuple(_with_gap_tests((*subjects, *several), by_subject, pattern))


def _split_by_subject(
    tables: Sequence[TrialGrid], samples: Mapping[str, Sample], subjects: Sequence[str]
) -> dict[str, list[TrialGrid]]:
    """The questions of each subject in the grids where it has any, as they stand there.

    The rows are sorted by subject once; each subject then has a part of them, which is no copy.
    """
    code_of = {name: code for code, name in enumerate(subjects)}
    parts: dict[str, list[TrialGrid]] = {name: [] for name in subjects}
    for table in tables:
        codes = np.array([code_of[samples[name].subject] for name in table.ids.tolist()])
        together = table.subset(np.argsort(codes, kind="stable"))
        ends = np.cumsum(np.bincount(codes, minlength=len(subjects))).tolist()
        for name, start, end in zip(subjects, [0, *ends], ends, strict=False):
            if start < end:
                parts[name].append(together.subset(slice(start, end)))
    return parts


def _members(kinds: Mapping[str, Sample]) -> dict[tuple[GroupKind, str], list[str]]:
    members: dict[tuple[GroupKind, str], list[str]] = {}
    for subject, sample in kinds.items():
        if category := sample.metadata.get("category"):
            members.setdefault(("category", category), []).append(subject)
    if hard := [subject for subject, sample in kinds.items() if sample.metadata.get("hard")]:
        members["hard", "hard"] = hard
    members["all", "all"] = list(kinds)
    return members


def _aggregate(
    kind: GroupKind,
    name: str,
    members: Sequence[str],
    by_subject: Mapping[str, Sequence[TrialGrid]],
    figures: Mapping[str, CircularMetrics],
) -> SubjectGroup:
    # Circular figures may rest on fewer questions than those of the order as written.
    written = {m: _select_metrics(figures[m], origin=True) for m in members}
    moved = {m: part for m in members if (part := _select_metrics(figures[m], origin=False))}
    means = [
        group_means(written, {m: figures[m].n_origin for m in members}, members),
        group_means(moved, {m: figures[m].n_circular for m in members}, members),
    ]
    if any(figures[m].n_movable < figures[m].n_circular for m in members):
        movable = {m: _movable_metrics(figures[m]) for m in members if figures[m].n_movable}
        means.append(group_means(movable, {m: figures[m].n_movable for m in members}, members))
    together = [table for m in members for table in by_subject[m]]
    return SubjectGroup(
        kind=kind,
        name=name,
        name_zh="",
        subjects=tuple(members),
        n=means[0].n,
        accuracy=accuracy_as_written(sorted(together, key=lambda table: table.n_options)),
        micro={name: value for each in means for name, value in each.micro.items()},
        macro={name: value for each in means for name, value in each.macro.items()},
    )


def _select_metrics(figures: CircularMetrics, *, origin: bool) -> dict[str, float]:
    """The figures of the order as written, or of all orders over all questions."""
    return {
        name: value
        for name, value in figures.values.items()
        if name.endswith("_origin") == origin and not name.endswith(MOVABLE)
    }


def _movable_metrics(figures: CircularMetrics) -> dict[str, float]:
    """The figures of all orders over the questions that may move, under their own names."""
    moved = _select_metrics(figures, origin=False)
    return {
        f"{name}{MOVABLE}": figures.values.get(f"{name}{MOVABLE}", moved[name]) for name in moved
    }


def _with_gap_tests(
    groups: Sequence[SubjectGroup], by_subject: Mapping[str, Sequence[TrialGrid]], pattern: Pattern
) -> Iterator[SubjectGroup]:
    """The groups with their gaps, each tested against the questions outside of it."""
    if pattern == "origin":
        yield from groups
        return
    moved = {
        subject: [table.subset(table.reorderable) for table in own]
        for subject, own in by_subject.items()
    }
    every = [table for own in moved.values() for table in own]
    whole = share_over_repeats(_order_losses(every), joined_clusters(every))
    for group in groups:
        inside = [table for subject in group.subjects for table in moved[subject]]
        outside = [
            table for name, own in moved.items() if name not in group.subjects for table in own
        ]
        lost, cluster = _order_losses(inside), joined_clusters(inside)
        gap = share_over_repeats(lost, cluster)
        right = np.concatenate([(each.credit_by_repeat == 1).all(axis=2) for each in inside])
        yield replace(
            group,
            gap=gap,
            gap_p=_gap_p_value(gap, whole, inside, outside),
            robust=share_over_repeats(right, cluster),
            mean_over_orders=mean.interval if (mean := mean_over_orders(inside)) else None,
        )


def _order_losses(tables: Sequence[TrialGrid]) -> NDArray[np.bool_]:
    """Which questions are right as written but not in every order; (questions, repeats)."""
    right = [table.credit_by_repeat == 1 for table in tables]
    return np.concatenate([marks[:, :, 0] & ~marks.all(axis=2) for marks in right])


def _gap_p_value(
    gap: Interval | None,
    whole: Interval | None,
    inside: Sequence[TrialGrid],
    outside: Sequence[TrialGrid],
) -> float | None:
    """The p-value of a part against the rest, by question; None if there is no rest."""
    if gap is None or whole is None or gap.n == whole.n:
        return None
    if inside[0].n_repeats == 1 and inside[0].cluster is None:
        return fisher_p_value(gap, whole)
    return welch_p_value(
        *(
            cluster_values(_order_losses(each).mean(axis=1), joined_clusters(each))
            for each in (inside, outside)
        )
    )


@dataclass(frozen=True, slots=True)
class Summary:
    """The figures of one cell; what rests on no answer at all is None or empty.

    `done` of `total` planned trials are in. `n` questions were answered in the order as written:
    `accuracy` is theirs, `chance` what guessing gives on them, `readings` compares the rules on
    them. The next figures rest on the questions shown in every order: `robust` right in every
    order (guessing gives `chance_robust`), `mean_over_orders` the mean, `order_sensitivity`
    right as written but not in every order, `lost_with_order` the share of those in the questions
    right as written.

    `unreadable` and `ties` count trials in any order, `unreadable_origin` those in the order as
    written; `readable` is the share that could be read and `format` holds more of that kind.
    `metrics` are OpenCompass's figures in percent under its names, `positions` has a table per
    number of options (none if options were not shown), `groups` is empty for a single subject.
    `questions` are in the dataset; each was asked `n_repeats` times in each
    order. `figures` has every registered metric of chosen options by name. `clusters` are those of
    the questions that are no independent evidence, see `question_clusters`. `decided` says what
    decisions were given, None where options were not given as one.
    """

    cell: Cell
    state: CellState
    error: str
    questions: int
    done: int
    total: int
    n: int = 0
    accuracy: Interval | None = None
    chance: float | None = None
    readings: Mapping[str, ReadingMetrics] = field(default_factory=dict[str, ReadingMetrics])
    robust: Interval | None = None
    chance_robust: float | None = None
    order_sensitivity: Interval | None = None
    lost_with_order: float | None = None
    readable: Interval | None = None
    unreadable: int = 0
    unreadable_origin: int = 0
    ties: int = 0
    format: FormatMetrics | None = None
    metrics: Mapping[str, float] = field(default_factory=dict[str, float])
    incomplete: tuple[str, ...] = ()
    naming: tuple[str, ...] = ()
    positions: tuple[PositionTable, ...] = ()
    groups: tuple[SubjectGroup, ...] = ()
    duplicates: tuple[str, ...] = ()
    bias: CellBias | None = None
    mean_over_orders: ClusteredMean | None = None
    priors: Mapping[int, tuple[Interval, ...]] = field(
        default_factory=dict[int, tuple[Interval, ...]]
    )
    outcomes: Outcomes = field(default_factory=dict[Measure, Mapping[str, float]])
    figures: Mapping[str, Figure] = field(default_factory=dict[str, Figure])
    n_repeats: int = 1
    clusters: Mapping[str, int] = field(default_factory=dict[str, int])
    decided: DecisionCounts | None = None

    @property
    def main_bias(self) -> StratumBias | None:
        """The bias figures of the number of options that most questions have."""
        return self.bias.largest_stratum if self.bias else None

    @property
    def sampled(self) -> bool:
        """Whether replies were drawn: a model that is asked again may say otherwise."""
        temperatures = signature_parts(self.cell.signature).get("temp", "0").split("+")
        return self.n_repeats > 1 or set(temperatures) != {"0"}

    def share(self, measure: Measure) -> Interval | None:
        """The figure by which models are ranked under a measure."""
        if measure == "mean_over_orders":
            return self.mean_over_orders.interval if self.mean_over_orders else None
        return self.robust if measure == "robust" else self.accuracy

    @property
    def n_independent(self) -> int:
        """How many of the `n` questions are evidence of their own: a cluster counts once."""
        return n_independent(self.n, self.clusters)

    @property
    def above_chance(self) -> bool:
        """Whether the accuracy as written is known to be better than guessing."""
        accuracy, chance = self.accuracy, self.chance
        return accuracy is not None and chance is not None and beats_guessing(accuracy, chance)

    def bias_of(self, n_options: int) -> StratumBias | None:
        """The bias figures of the questions with so many options."""
        strata = self.bias.strata if self.bias else ()
        return next((stratum for stratum in strata if stratum.n_options == n_options), None)


def summarise(result: CellResult, *, with_bias: bool = True) -> Summary:
    """All figures of one cell, from the trials that are in; `bias` and `priors` if `with_bias`.

    Permutation tests and bootstraps (a second for 13 000 questions in four orders) wait until the
    cell is no longer at work: before, every answer would have them done again.
    """
    trials, pattern = result.trials, result.cell.pattern
    summary = _without_figures(result)
    if not trials:
        return replace(summary, figures=compute_figures((), pattern))
    made = CellTrials.of(result)
    intervals, metrics = made.intervals, made.circular
    unfinished, original = is_unfinished(result), made.original
    draws = 0 if unfinished else N_DRAWS
    # Where the options were scored one by one, none was shown and no position was chosen.
    has_bias = with_bias and not made.scores_options
    labels = labels_of(result.cell)
    biased = measure_bias(made, pattern, draws=draws, labels=labels) if has_bias else None
    return replace(
        summary,
        clusters=made.clusters,
        figures=compute_figures(made, pattern),
        n_repeats=made.n_repeats,
        decided=decision_counts(made) if is_decided(result.cell) else None,
        n=metrics.n_origin,
        accuracy=intervals.accuracy,
        chance=made.chance,
        readings=format_metrics(original, made.clusters).readings if original else {},
        robust=intervals.robust,
        chance_robust=made.chance_robust,
        order_sensitivity=intervals.order_sensitivity,
        lost_with_order=_lost(intervals),
        readable=made.readable,
        unreadable=made.unreadable,
        unreadable_origin=int(original.reading.unreadable.sum()),
        ties=made.tied,
        format=made.format,
        metrics=metrics.values,
        incomplete=metrics.incomplete,
        naming=metrics.naming,
        positions=_positions(made, biased),
        groups=subject_groups(result.samples, made, pattern),
        duplicates=metrics.duplicates,
        bias=biased,
        mean_over_orders=intervals.mean_over_orders,
        priors={} if unfinished or not with_bias or pattern == "origin" else _priors(made),
        outcomes=made.outcomes,
    )


def is_decided(cell: Cell) -> bool:
    """Whether the options of a cell were given as a decision."""
    return signature_parts(cell.signature).get("spell") == "decision"


def labels_of(cell: Cell) -> Labels:
    """The keys under which a cell was given its options, as its signature states them."""
    stated = signature_parts(cell.signature).get("labels", "").strip('"')  # JSON
    return _LABELS.get(stated, "")


def adjust_lights(summaries: Sequence[Summary]) -> tuple[Summary, ...]:
    """The same with the position lights of all models of a dataset and mode tested together.

    By Benjamini-Hochberg over the permutation tests of at least 30 questions; a light of fewer is
    none.
    """
    families: dict[tuple[str, str], list[tuple[int, int, float]]] = {}
    for place, summary in enumerate(summaries):
        for at, bias in enumerate(summary.bias.strata if summary.bias else ()):
            if bias.tests.permutation and bias.n >= HIDDEN_BELOW:
                family = families.setdefault((summary.cell.dataset, summary.cell.label), [])
                family.append((place, at, bias.tests.permutation.p))
    lit = [list(summary.bias.strata) if summary.bias else [] for summary in summaries]
    for family in families.values():
        adjusted = benjamini_hochberg([p for *_, p in family])
        for (place, at, _), p in zip(family, adjusted, strict=True):
            lit[place][at] = with_light(lit[place][at], p)
    return tuple(
        replace(summary, bias=replace(summary.bias, strata=tuple(strata)))
        if summary.bias
        else summary
        for summary, strata in zip(summaries, lit, strict=True)
    )


def pair_summary(result: CellResult) -> Summary:
    """No more of a summary than pairs need: all its figures would take seconds."""
    summary = _without_figures(result)
    if not result.trials:
        return replace(summary, outcomes={"accuracy": {}})
    made = CellTrials.of(result)
    return replace(
        summary,
        clusters=made.clusters,
        accuracy=made.intervals.accuracy,
        robust=made.intervals.robust,
        mean_over_orders=made.intervals.mean_over_orders,
        chance=made.chance,
        outcomes=made.outcomes,
        n_repeats=made.n_repeats,
    )


def _without_figures(result: CellResult) -> Summary:
    return Summary(
        cell=result.cell,
        state=result.state,
        error=result.error,
        questions=len(result.samples),
        done=len(result.trials),
        total=result.total,
    )


def _positions(made: CellTrials, biased: CellBias | None) -> tuple[PositionTable, ...]:
    if biased:
        return tuple(stratum.position for stratum in biased.strata)
    return () if made.scores_options else position_tables_of_grids(made.grids)


def _priors(cell: CellTrials) -> dict[int, tuple[Interval, ...]]:
    """PriDe's prior with the range of its mean over questions, where there are probabilities."""
    return {
        stratum.n_options: tuple(
            mean_intervals(_by_question(stratum.probabilities), cluster=stratum.cluster)
        )
        for stratum in cell.strata
        if stratum.probabilities is not None
    }


def _by_question(chances: NDArray[np.float64]) -> NDArray[np.float64]:
    """The prior that each question alone would give, shape (n, K); their mean is that of all."""
    # With the questions as a further axis between orders and slots, the mean is over one of one.
    return slot_prior(chances.transpose(1, 0, 2)[None])


def _lost(intervals: CircularIntervals) -> float | None:
    if intervals.order_sensitivity is None or intervals.robust is None:
        return None
    right = (
        intervals.order_sensitivity.value + intervals.robust.value
    )  # who is right in every order is so as written
    return intervals.order_sensitivity.value / right if right else None


@dataclass(frozen=True, slots=True)
class SummarySource:
    """Where the figures of a cell of choices or of written answers, of judges, and of every pair of
    the answers to one dataset in one figure come from.

    They are computed here; others may know what is kept.
    """

    choices: Callable[[CellResult], Summary] = summarise
    answers: Callable[[CellResult], AnswerSummary] = summarise_answers
    arenas: ArenaReader = arena_of_judges
    pairs: Callable[[Sequence[CellResult], str], tuple[AnswerPair, ...]] = compare_answers
