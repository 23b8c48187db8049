"""The trials of one cell, and the figures that several metrics need of them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import fmean
from typing import overload

import numpy as np
from numpy.typing import NDArray

from evalui.scoring.choice.answer_format import FormatMetrics, format_metrics
from evalui.scoring.choice.circular import (
    CircularIntervals,
    CircularMetrics,
    Outcomes,
    intervals_of_grids,
    metrics_of_grids,
    outcomes_of_grids,
)
from evalui.scoring.choice.options import count_variants
from evalui.scoring.choice.trial_grid import (
    OptionCountStratum,
    TrialGrid,
    strata_of_grids,
    trial_grids,
)
from evalui.scoring.choice.yes_no import yes_place
from evalui.scoring.repeats import Repeats, repeats_of_grids, variance_parts
from evalui.scoring.scorers import values_without_reference
from evalui.scoring.statistics.intervals import blind_accuracy, cluster_codes, mean_intervals
from evalui.scoring.texts.metrics import normalised_words
from evalui.scoring.trial_columns import NO_CHOICE, Ragged, TrialColumns, columns_of
from evalui.types import CellResult, Interval, Pattern, Sample, Trial


@dataclass(frozen=True, eq=False)
class QuestionColumns:
    """The questions of trials as columns of objects, one value per trial, in their order.

    `rows` are the samples themselves; `target` is the right option's place in the file, None of
    written answers.
    """

    rows: NDArray[np.object_]

    @cached_property
    def question(self) -> NDArray[np.object_]:
        """The text of each question."""
        return self._each(lambda sample: sample.question)

    @cached_property
    def options(self) -> NDArray[np.object_]:
        """The options of each question as the file has them, () of a written answer."""
        return self._each(lambda sample: sample.choices)

    @cached_property
    def target(self) -> NDArray[np.object_]:
        """The place of the right option in `options`; None without one."""
        return self._each(lambda one: one.target if isinstance(one.target, int) else None)

    @cached_property
    def references(self) -> NDArray[np.object_]:
        """The reference texts of each question; () of multiple choice."""
        return self._each(lambda sample: sample.references)

    @cached_property
    def subject(self) -> NDArray[np.object_]:
        """The subject of each question; "" without one."""
        return self._each(lambda sample: sample.subject)

    def metadata(self, name: str) -> NDArray[np.object_]:
        """A further field of each question; "" where it lacks it."""
        return self._each(lambda sample: sample.metadata.get(name, ""))

    def _each(self, read: Callable[[Sample], object]) -> NDArray[np.object_]:
        known: dict[int, object] = {}  # a question has a trial for each order
        values = np.empty(len(self.rows), dtype=np.object_)
        for place, sample in enumerate(self.rows):
            if id(sample) not in known:
                known[id(sample)] = read(sample)
            values[place] = known[id(sample)]
        return values


class CellTrials(Sequence[Trial]):
    """The trials of one cell, at least one, and what several metrics need of them.

    A metric of another package reads it as a plain sequence of trials, as `columns`, and the
    questions beside them as `questions`. `samples` are those of the cell by id; None where only
    the trials are known. `unfinished`: further trials will come, and what reads every text waits.
    """

    def __init__(
        self,
        trials: Sequence[Trial],
        pattern: Pattern,
        samples: Mapping[str, Sample] | None = None,
        *,
        unfinished: bool = False,
    ) -> None:
        assert trials, "no trials, no figures"
        self.trials = trials
        self.columns = columns_of(trials)
        self.pattern: Pattern = pattern
        self.samples = samples
        self.unfinished = unfinished

    @classmethod
    def of(cls, result: CellResult, trials: Sequence[Trial] | None = None) -> "CellTrials":
        """The trials of a cell, or the part of them that is given."""
        kept = result.trials if trials is None else trials
        return cls(kept, result.cell.pattern, result.samples)

    @overload
    def __getitem__(self, index: int) -> Trial: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Trial]: ...

    def __getitem__(self, index: int | slice) -> Trial | Sequence[Trial]:
        """A trial, or several."""
        return self.trials[index]

    def __len__(self) -> int:
        """The number of trials."""
        return len(self.trials)

    def __iter__(self) -> Iterator[Trial]:
        """The trials in their order."""
        return iter(self.trials)

    @cached_property
    def questions(self) -> QuestionColumns:
        """The question of each trial, beside `columns`, for metrics that need "questions"."""
        assert self.samples is not None, "a metric that reads questions declares that it needs them"
        rows = np.empty(len(self.columns.ids), dtype=np.object_)
        for place in np.flatnonzero(np.bincount(self.columns.sample)).tolist():
            rows[place] = self.samples[self.columns.ids[place]]
        return QuestionColumns(rows[self.columns.sample])

    @cached_property
    def has_subjects(self) -> bool:
        """Whether each question is known to belong to a subject."""
        return self.has_metadata("subject")

    @cached_property
    def yes_places(self) -> NDArray[np.intp] | None:
        """The place of yes in the options of each trial; None unless all ask for yes or no."""
        if self.samples is None:
            return None
        places = np.array([yes_place(each) for each in self.questions.options], dtype=np.intp)
        return None if (places < 0).any() else places

    def has_metadata(self, name: str) -> bool:
        """Whether each question is known to have a further field of this name."""
        return self.samples is not None and all(self.questions.metadata(name))

    @cached_property
    def clusters(self) -> Mapping[str, int]:
        """The clusters of the questions that share theirs, see `question_clusters`."""
        return question_clusters(self.samples or {})

    @cached_property
    def grids(self) -> tuple[TrialGrid, ...]:
        """The trials as arrays, one per number of options."""
        made = trial_grids(self.columns, self.pattern)
        codes = cluster_codes([name for grid in made for name in grid.ids.tolist()], self.clusters)
        if codes is None:
            return made
        ends = np.cumsum([grid.n for grid in made])[:-1].tolist()
        parts = zip(made, np.split(codes, ends), strict=True)
        return tuple(replace(grid, cluster=cluster) for grid, cluster in parts)

    @cached_property
    def strata(self) -> tuple[OptionCountStratum, ...]:
        """The questions of each number of options that were presented in every order."""
        return strata_of_grids(self.grids, self.columns, self.pattern)

    @cached_property
    def scores_options(self) -> bool:
        """Whether options were scored one by one, as the first trial says: none was shown."""
        return any(own.lengths[0] >= 0 for own in self.columns.scores.values())

    @cached_property
    def intervals(self) -> CircularIntervals:
        """The accuracies with their ranges."""
        return intervals_of_grids(self.grids, self.pattern)

    @cached_property
    def circular(self) -> CircularMetrics:
        """OpenCompass's figures, and the questions left out of them."""
        return metrics_of_grids(self.grids, self.pattern)

    @cached_property
    def outcomes(self) -> Outcomes:
        """The value of each question under each measure that has any."""
        return outcomes_of_grids(self.grids, self.pattern)

    @cached_property
    def format(self) -> FormatMetrics:
        """How well the answers could be read."""
        return format_metrics(self.columns, self.clusters)

    @cached_property
    def original(self) -> TrialColumns:
        """The trials in the order as written."""
        return self.columns.take(self.columns.is_origin)

    @cached_property
    def chance(self) -> float | None:
        """What a blind answer gives on the questions in the order as written.

        In one order that may be more than guessing, by a position that is right more often.
        """
        if not self.original:
            return None
        guessing = fmean((1 / self.original.n_options).tolist())
        if self.pattern != "origin" or self.scores_options:
            return guessing
        return blind_accuracy(guessing, np.bincount(self.original.target).tolist())

    @cached_property
    def chance_robust(self) -> float | None:
        """What guessing gives in every order; None where the options were scored one by one."""
        if self.pattern == "origin" or self.scores_options:
            return None
        sizes = [(int(grid.reorderable.sum()), grid.n_options) for grid in self.grids]
        n = sum(size for size, _ in sizes)
        guessed = [size * (1 / k) ** count_variants(k, self.pattern) for size, k in sizes if size]
        return sum(guessed) / n if n else None

    @cached_property
    def readable(self) -> Interval:
        """The share of the trials that could be read."""
        headline = self.columns.headlines[int(self.columns.headline[0])]
        return readable_share(self.format.readings[headline].unreadable)

    @cached_property
    def unreadable(self) -> int:
        """The number of trials without a choice and without a tie."""
        return int(self.columns.reading.unreadable.sum())

    @cached_property
    def tied(self) -> int:
        """The number of trials whose best options tie."""
        return int(self.columns.reading.tied.sum())

    @cached_property
    def compared(self) -> TrialColumns:
        """The written answers that have a reference; all that are scored where none needs one."""
        free = values_without_reference()
        scores = self.columns.scores
        scored = np.zeros(len(self.columns), dtype=np.bool_)
        for name in [name for name in scores if name not in free] or scores:
            scored |= scores[name].lengths >= 0
        return self.columns.take(scored)

    @cached_property
    def n_repeats(self) -> int:
        """How often questions were asked."""
        return self.columns.n_repeats

    @cached_property
    def repeated_choices(self) -> tuple[Repeats, ...]:
        """The chosen options of questions that have every repeat, by their number of options."""
        return repeats_of_grids(self.grids)

    @cached_property
    def repeated_orders(self) -> tuple[TrialGrid, ...]:
        """The questions asked several times in each order, by their number of options."""
        whole = (grid.subset(grid.reorderable) for grid in self.grids if self.n_repeats > 1)
        return tuple(grid for grid in whole if grid.n)

    @cached_property
    def variance_parts(self) -> tuple[float, float, float] | None:
        """The shares of the variance of `repeated_orders`; None where nothing varies."""
        rights = [grid.credit_by_repeat == 1 for grid in self.repeated_orders]
        return variance_parts(rights) if rights else None

    def repeated_scores(self, name: str) -> Repeats:
        """The scores of that name of questions that have it in every repeat, without the texts."""
        rows, values = score_values(self.columns, name)
        credit = np.full(len(self.columns), np.nan)
        credit[rows] = values
        return self._repeats(credit, np.full(len(self.columns), NO_CHOICE, dtype=np.intp))

    def repeated_texts(self, name: str = "") -> Repeats:
        """The written answers of questions that have every repeat, each beside its score of a name.

        Two answers are equal if their words are, as in exact match, in a conversation those of
        every turn. A blank reply gives no answer. Without a name no reply has a credit.
        """
        scored = self.repeated_scores(name) if name else None
        every = self._repeats(np.zeros(len(self.columns)), self._text_codes)
        if scored is None:
            return every
        having = np.isin(every.ids, scored.ids)
        return Repeats(scored.ids, every.answers[having], scored.credit)

    def _repeats(self, credit: NDArray[np.float64], answers: NDArray[np.intp]) -> Repeats:
        """The questions that have a credit, which is a number, in every repeat, by code."""
        columns = self.columns
        place = np.full((len(columns.ids), self.n_repeats), -1, dtype=np.intp)
        there = np.flatnonzero(~np.isnan(credit))
        place[columns.sample[there], columns.repeat[there]] = there
        whole = (place >= 0).all(axis=1)
        ids = np.array(columns.ids, dtype=np.object_)[whole]
        return Repeats(ids, answers[place[whole]], credit[place[whole]])

    @cached_property
    def _text_codes(self) -> NDArray[np.intp]:
        """A number for each answer, the same for equal ones; NO_CHOICE of a blank one."""
        known: dict[tuple[tuple[str, ...], ...], int] = {}
        codes: list[int] = []
        for trial in self.columns:
            words = tuple(map(normalised_words, trial.answers))
            codes.append(known.setdefault(words, len(known)) if any(words) else NO_CHOICE)
        return np.array(codes, dtype=np.intp)

    @cached_property
    def text_means(self) -> Mapping[str, Interval]:
        """The mean of each value of answers, from the same resamples where all have it.

        A question that was asked several times has its mean over the repeats.
        """
        read = _question_means if self.n_repeats > 1 else score_values
        scored = {name: read(self.columns, name) for name in self.columns.scores}
        together: dict[bytes, list[str]] = {}  # by the answers that have them: most often, all
        for name, (rows, _) in scored.items():
            if len(rows):
                together.setdefault(rows.tobytes(), []).append(name)
        means: dict[str, Interval] = {}
        for names in together.values():
            values = np.column_stack([scored[name][1] for name in names])
            rows = scored[names[0]][0]
            known = rows if self.n_repeats > 1 else self.columns.sample[rows]
            codes: list[int] = known.tolist()
            cluster = cluster_codes([self.columns.ids[code] for code in codes], self.clusters)
            means |= zip(names, mean_intervals(values, cluster=cluster), strict=True)
        return {name: means[name] for name in scored if name in means}


def question_clusters(samples: Mapping[str, Sample]) -> dict[str, int]:
    """The number of the cluster of each question that shares its own with another, by id.

    Questions of one cluster are no independent evidence: they are in that which the specification
    names (a passage, a document), or else ask the same.
    """
    members: dict[object, list[str]] = {}
    for name, sample in samples.items():
        # Of a question whose text nobody has kept, nothing is known to be the same.
        known = sample.question or sample.choices or sample.history
        key = sample.cluster or (sample.content if known else (name,))
        members.setdefault(key, []).append(name)
    shared = [names for names in members.values() if len(names) > 1]
    return {name: number for number, names in enumerate(shared) for name in names}


def by_dataset_and_mode(results: Iterable[CellResult]) -> list[list[CellResult]]:
    """The cells of one dataset and mode together, in the order of the run."""
    groups: dict[tuple[str, str], list[CellResult]] = {}
    for result in results:
        groups.setdefault((result.cell.dataset, result.cell.label), []).append(result)
    return list(groups.values())


def cell_trials(
    trials: Sequence[Trial], pattern: Pattern, samples: Mapping[str, Sample] | None = None
) -> CellTrials:
    """The trials, at least one, with what several metrics need of them; made once."""
    return trials if isinstance(trials, CellTrials) else CellTrials(trials, pattern, samples)


def score_values(columns: TrialColumns, name: str) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """The trials that have a score of that name, and the first number of each.

    What is no finite number is no score: a mean with it would be none.
    """
    own = columns.scores.get(name) or Ragged.absent(len(columns))
    rows = np.flatnonzero(own.present)
    values = own.values[own.starts[rows]]
    finite = np.isfinite(values)
    return rows[finite], values[finite]


def scores_by_question(trials: Sequence[Trial], name: str) -> dict[str, float]:
    """The first number of that score by id; of a question that has it twice the later counts.

    A question that was asked several times has its mean over the repeats.
    """
    columns = columns_of(trials)
    if columns.n_repeats > 1:
        questions, values = _question_means(columns, name)
        codes = questions.tolist()
    else:
        rows, values = score_values(columns, name)
        codes = columns.sample[rows].tolist()
    return {columns.ids[code]: value for code, value in zip(codes, values.tolist(), strict=True)}


def _question_means(
    columns: TrialColumns, name: str
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """The questions that have a score of that name, by code, and the mean over their trials."""
    rows, values = score_values(columns, name)
    codes = columns.sample[rows]
    counts = np.bincount(codes, minlength=len(columns.ids))
    sums = np.bincount(codes, weights=values, minlength=len(columns.ids))
    come = np.flatnonzero(counts)
    return come, sums[come] / counts[come]


def readable_share(unreadable: Interval) -> Interval:
    """The share of readable answers, from that of unreadable ones."""
    return Interval(1 - unreadable.value, 1 - unreadable.high, 1 - unreadable.low, unreadable.n)
