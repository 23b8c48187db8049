"""Several replies to one question: is one of them right, is the majority, do they agree?

All figures rest on the order as written and on the questions that have every repeat; each question
gives one value, and questions are what is resampled.
"""

from collections.abc import Callable, Sequence
from math import comb

import numpy as np
from numpy.typing import NDArray

from evalui.scoring.choice.trial_grid import TrialGrid
from evalui.scoring.statistics.intervals import mean_intervals
from evalui.types import Interval

# The k of pass@k that have a figure of their own, as far as there are so many repeats.
PASS_AT = (2, 4, 8, 10, 16, 32, 64, 100, 128, 256)


def pass_at(tables: Sequence[TrialGrid], k: int) -> Interval | None:
    """pass@k: the mean chance that of k replies, drawn from those of a question, one is right.

    The unbiased estimator 1 - C(n - c, k) / C(n, k) of Chen et al. (arXiv 2107.03374), n the
    repeats and c those that are right. None with fewer than k repeats.
    """
    n = max((table.n_repeats for table in tables), default=0)
    if n < k:
        return None
    chances = np.array([1 - comb(n - right, k) / comb(n, k) for right in range(n + 1)])
    return _mean(tables, lambda table: chances[(table.written_credit == 1).sum(axis=1)])


def majority_accuracy(tables: Sequence[TrialGrid]) -> Interval | None:
    """How often the option that most replies to a question choose is the right one.

    An unreadable reply has no vote; where t options lead and the right one is among them, it earns
    1/t. (Self-consistency of Wang et al., arXiv 2203.11171.)
    """
    return _mean(tables, _majority_credit)


def repeat_agreement(tables: Sequence[TrialGrid]) -> Interval | None:
    """The share of pairs of replies to a question that choose the same option.

    A reply that cannot be read agrees with none.
    """
    return _mean(tables, _agreeing_pairs)


def _majority_credit(table: TrialGrid) -> NDArray[np.float64]:
    votes = _votes(table)
    leading = (votes == votes.max(axis=1, keepdims=True)) & (votes > 0)
    won = leading[np.arange(table.n), table.target[:, 0]]
    return won / np.maximum(leading.sum(axis=1), 1)


def _agreeing_pairs(table: TrialGrid) -> NDArray[np.float64]:
    votes, n = _votes(table), table.n_repeats
    return (votes * (votes - 1)).sum(axis=1) / (n * (n - 1))


def _votes(table: TrialGrid) -> NDArray[np.intp]:
    """How many replies to each question choose each option; in the order as written, its slot."""
    chosen = table.written_choice
    return np.stack([(chosen == slot).sum(axis=1) for slot in range(table.n_options)], axis=1)


def _mean(
    tables: Sequence[TrialGrid], values: Callable[[TrialGrid], NDArray[np.float64]]
) -> Interval | None:
    whole = [table.subset(table.written.sum(axis=1) == table.n_repeats) for table in tables]
    parts = [values(table) for table in whole if table.n and table.n_repeats > 1]
    return mean_intervals(np.concatenate(parts)[:, None])[0] if parts else None
