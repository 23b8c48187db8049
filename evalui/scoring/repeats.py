"""Several replies to one question: is one of them right, is the majority, do they agree?

Every figure is one value for each question that has every repeat, and their mean over questions,
which are what is resampled. Options count in the order as written. The arrays are of the shape
(questions, repeats); `answers` are numbers of equal answers, negative where a reply gives none, and
`right` says which replies are right.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

from evalui.scoring.choice.trial_grid import TrialGrid
from evalui.scoring.statistics.intervals import cluster_codes, mean_intervals
from evalui.types import Interval

# The k of pass@k that have a figure of their own, as far as there are so many repeats.
PASS_AT = (2, 4, 8, 10, 16, 32, 64, 100, 128, 256)
QuestionValues = Mapping[str, float]  # by the id of the question


@dataclass(frozen=True, slots=True, eq=False)
class Repeats:
    """The replies to the questions of those `ids`, each of which has every repeat.

    `credit` is what a reply is worth under one rule, 0..1, and 1 where it is right.
    """

    ids: NDArray[np.object_]
    answers: NDArray[np.intp]
    credit: NDArray[np.float64]

    def each(self, values: Callable[["Repeats"], NDArray[np.float64]]) -> QuestionValues:
        """The value of each question; none where questions were asked once."""
        if not len(self.ids) or self.credit.shape[1] < 2:
            return {}
        return dict(zip(self.ids.tolist(), values(self).tolist(), strict=True))


def repeats_of_grids(tables: Sequence[TrialGrid]) -> tuple[Repeats, ...]:
    """The chosen options of each number of options; an unreadable reply gives no answer."""
    whole = (table.subset(table.written.sum(axis=1) == table.n_repeats) for table in tables)
    return tuple(
        Repeats(
            table.ids,
            table.written_choice.astype(np.intp),
            (table.written_credit == 1).astype(np.float64),
        )
        for table in whole
    )


def pass_at(replies: Repeats, k: int) -> NDArray[np.float64]:
    """pass@k: the chance that of k replies, drawn from those of a question, one is right.

    The unbiased estimator 1 - C(n - c, k) / C(n, k) of Chen et al. (arXiv 2107.03374), n the
    repeats, at least k, and c those that are right.
    """
    n = replies.credit.shape[1]
    chances = np.array([1 - comb(n - right, k) / comb(n, k) for right in range(n + 1)])
    return chances[(replies.credit == 1).sum(axis=1)]


def majority_credit(replies: Repeats) -> NDArray[np.float64]:
    """What the answer that most replies to a question give is worth.

    A reply without an answer has no vote; where several answers lead, it is their mean. Equal
    answers of unequal worth count with their mean, too. (Self-consistency of Wang et al., arXiv
    2203.11171.)
    """
    votes = _votes(replies.answers)
    leading = (votes == votes.max(axis=1, keepdims=True)) & (votes > 0)
    return (replies.credit * leading).sum(axis=1) / np.maximum(leading.sum(axis=1), 1)


def agreeing_pairs(replies: Repeats) -> NDArray[np.float64]:
    """The share of pairs of replies to a question that give the same answer.

    A reply without an answer agrees with none.
    """
    votes, n = _votes(replies.answers), replies.answers.shape[1]
    return np.maximum(votes - 1, 0).sum(axis=1) / (n * (n - 1))


def all_right(right: NDArray[np.bool_], k: int) -> NDArray[np.float64]:
    """pass^k: the chance that k of the replies to a question, along the last axis, are all right.

    The unbiased estimator C(c, k) / C(n, k) of Yao et al. (tau-bench, arXiv 2406.12045), c of n
    being right. Over the replies to one order it is what sampling loses, over those to several
    orders what sampling and order lose together. The other axes but the first are averaged.
    """
    n = right.shape[-1]
    chances = np.array([comb(found, k) / comb(n, k) for found in range(n + 1)])
    return chances[right.sum(axis=-1)].reshape(len(right), -1).mean(axis=1)


def variance_parts(parts: Sequence[NDArray[np.bool_]]) -> tuple[float, float, float] | None:
    """The shares of the variance of replies that lie between questions, in sampling, in order.

    Each part holds questions with equally many orders: which replies are right, of the shape
    (questions, repeats, orders), with two repeats or more. Sampling is the variance over the
    repeats of an order; of the variances over orders, and over questions, what is below is taken
    off, as in an analysis of variance of random effects; none is less than 0. None where nothing
    varies.
    """
    means: list[NDArray[np.float64]] = []
    drawn: list[float] = []
    moved: list[float] = []
    noise: list[float] = []  # of the mean of a question
    for right in parts:
        n, n_repeats, n_orders = right.shape
        by_order = right.mean(axis=1)
        sampling = float(right.var(axis=1, ddof=1).mean())
        order = 0.0
        if n_orders > 1:
            apart = float(by_order.var(axis=1, ddof=1).mean())
            order = max(0.0, apart - sampling / n_repeats)
        means.append(by_order.mean(axis=1))
        for each, value in ((drawn, sampling), (moved, order)):
            each.append(n * value)
        noise.append(n * (order + sampling / n_repeats) / n_orders)
    every = np.concatenate(means)
    n = len(every)
    spread = float(every.var(ddof=1)) if n > 1 else 0.0
    split = max(0.0, spread - sum(noise) / n), sum(drawn) / n, sum(moved) / n
    total = sum(split)
    return (split[0] / total, split[1] / total, split[2] / total) if total else None


def spread(replies: Repeats) -> NDArray[np.float64]:
    """The standard deviation of the credit of the replies to a question (n - 1 below)."""
    return replies.credit.std(axis=1, ddof=1)


def mean_over_questions(values: QuestionValues, clusters: Mapping[str, int]) -> Interval | None:
    """The mean with its range over questions, or over their `clusters`; None without any."""
    cluster = cluster_codes([*values], clusters)
    return next(iter(mean_intervals(np.array([*values.values()])[:, None], cluster=cluster)), None)


def _votes(answers: NDArray[np.intp]) -> NDArray[np.intp]:
    """How many replies to its question give the answer of each, itself included."""
    same = [(answers == column[:, None]).sum(axis=1) for column in answers.T]
    return np.where(answers >= 0, np.stack(same, axis=1), 0)
