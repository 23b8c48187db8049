"""A cell by subject, and means over subjects: by category, hard ones, all."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from evalui.scoring.choice.circular import (
    CircularMetrics,
    circular_intervals,
    circular_metrics,
    group_means,
)
from evalui.scoring.choice.trial_grid import trial_grids
from evalui.scoring.statistics.intervals import share_interval
from evalui.types import Interval, Pattern, Sample, Trial

GroupKind = Literal["subject", "category", "hard", "all"]


@dataclass(frozen=True, slots=True)
class SubjectGroup:
    """The figures of one subject, or of several together.

    `micro` weighs every question the same and `macro` every subject, both in percent under
    OpenCompass's names; of one subject they are equal. `accuracy` is acc_origin over all `n`
    questions together, `gap` the share of those shown in every order that are right as written
    only, `gap_p` the p-value of Fisher's exact test that it is that of all the other questions
    (None with nothing to compare). `name_zh` is "" where no Chinese name is known.
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


def subject_groups(
    samples: Mapping[str, Sample], trials: Sequence[Trial], pattern: Pattern
) -> tuple[SubjectGroup, ...]:
    """Subjects, then categories, the hard subjects and all; nothing if there is one subject."""
    by_subject: dict[str, list[Trial]] = {}
    kinds: dict[str, Sample] = {}  # any question of a subject names its category
    for trial in trials:
        sample = samples[trial.sample_id]
        by_subject.setdefault(sample.subject, []).append(trial)
        kinds.setdefault(sample.subject, sample)
    if len(by_subject) < 2:
        return ()
    figures = {name: circular_metrics(own, pattern) for name, own in by_subject.items()}
    subjects = [
        SubjectGroup(
            kind="subject",
            name=name,
            name_zh=kinds[name].metadata.get("subject_zh", ""),
            subjects=(name,),
            n=figures[name].n_origin,
            accuracy=circular_intervals(own, "origin").origin,
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
    by_subject: Mapping[str, Sequence[Trial]],
    figures: Mapping[str, CircularMetrics],
) -> SubjectGroup:
    # Circular figures may rest on fewer questions than those of the order as written.
    written = {m: _select_metrics(figures[m], origin=True) for m in members}
    moved = {m: part for m in members if (part := _select_metrics(figures[m], origin=False))}
    means = (
        group_means(written, {m: figures[m].n_origin for m in members}, members),
        group_means(moved, {m: figures[m].n_circular for m in members}, members),
    )
    return SubjectGroup(
        kind=kind,
        name=name,
        name_zh="",
        subjects=tuple(members),
        n=means[0].n,
        accuracy=circular_intervals([t for m in members for t in by_subject[m]], "origin").origin,
        micro=dict(means[0].micro) | dict(means[1].micro),
        macro=dict(means[0].macro) | dict(means[1].macro),
    )


def _select_metrics(figures: CircularMetrics, *, origin: bool) -> dict[str, float]:
    return {
        name: value for name, value in figures.values.items() if name.endswith("_origin") == origin
    }


def _with_gap_tests(
    groups: Sequence[SubjectGroup], by_subject: Mapping[str, Sequence[Trial]], pattern: Pattern
) -> Iterator[SubjectGroup]:
    """The groups with their gaps, each tested against the questions outside of it."""
    if pattern == "origin":
        yield from groups
        return
    lost = {subject: _order_loss_counts(own, pattern) for subject, own in by_subject.items()}
    whole = _gap(lost.values())
    for group in groups:
        gap = _gap([lost[subject] for subject in group.subjects])
        yield replace(group, gap=gap, gap_p=_fisher_p_value(gap, whole) if gap and whole else None)


def _order_loss_counts(trials: Sequence[Trial], pattern: Pattern) -> tuple[int, int]:
    """How many questions are right as written but not in every order, of how many."""
    moved = [table.subset(table.reorderable).credit == 1 for table in trial_grids(trials, pattern)]
    return sum(int((right[:, 0] & ~right.all(axis=1)).sum()) for right in moved), sum(
        map(len, moved)
    )


def _gap(parts: Iterable[tuple[int, int]]) -> Interval | None:
    lost, total = (sum(column) for column in zip(*parts, strict=True))
    return share_interval(lost, total)


def _fisher_p_value(part: Interval, whole: Interval) -> float | None:
    """Fisher's exact p-value of a part against the rest; None if there is no rest."""
    if part.n == whole.n:
        return None
    from scipy.stats import fisher_exact  # pyright: ignore[reportUnknownVariableType]  # half a second, and only where there are subjects

    inside, every = round(part.value * part.n), round(whole.value * whole.n)
    outside = every - inside
    table = [[inside, part.n - inside], [outside, whole.n - part.n - outside]]
    test: Any = fisher_exact(table)  # its stubs know no fields
    return float(test.pvalue)
