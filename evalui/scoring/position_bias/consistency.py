"""Does a model stick to an option, or to a slot, when the options change places?

Unreadable and tied trials agree with nothing, and the number of orders stays the denominator.
"""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from evalui.scoring.choice.trial_grid import OptionCountStratum
from evalui.scoring.statistics.intervals import share_over_repeats
from evalui.types import Interval


@dataclass(frozen=True, slots=True)
class OrderAgreement:
    """Agreement over the orders of a question, averaged over questions.

    `plurality` is the share of orders that give the most frequent label (PPA of Robinson et al.,
    arXiv 2210.12353, where the orders are all K!). `pairs` is the share of pairs of orders that
    give the same label, by chance 1/K; `kappa` = (pairs - 1/K) / (1 - 1/K).
    """

    plurality: float
    pairs: float
    kappa: float


@dataclass(frozen=True, slots=True)
class Consistency:
    """What reordering does to the answers of the `n` questions of one stratum.

    `content` is agreement on the option, `position` on the slot; `chance` is the plurality that
    blind guessing reaches. `grid[p - 1][c - 1]` counts the questions whose most frequent slot
    came p times and whose most frequent option c times; `never_answered` were never answered.

    `original_order`: right in the original order; `all_orders`, `any_order`: right in all orders,
    in at least one; `circular_gap`: right in the original order but not in all; `sensitivity_gap`:
    right in some but not in all. `majority_accuracy` is the accuracy of the majority over the
    orders, ties earning 1/t.
    """

    n: int
    n_orders: int
    content: OrderAgreement
    position: OrderAgreement
    chance: float
    grid: tuple[tuple[int, ...], ...]
    never_answered: int
    original_order: Interval | None
    all_orders: Interval | None
    any_order: Interval | None
    circular_gap: Interval | None
    sensitivity_gap: Interval | None
    majority_accuracy: float


def consistency(stratum: OptionCountStratum) -> Consistency | None:
    """All figures of a stratum; None with one order, where nothing can change.

    Of questions that are asked several times they are taken of each repeat, and are means over
    them; `grid` and `never_answered` count questions, by the first repeat.
    """
    if stratum.n_orders < 2:
        return None
    questions, cluster = stratum.n, stratum.cluster
    first_slots, first_options = _answer_counts(stratum.first_repeat)
    shape = questions, stratum.n_repeats
    stratum = stratum.each_repeat
    slots, options = _answer_counts(stratum)
    right = stratum.correct
    n_right = right.sum(axis=1)
    first, every, some = (
        marks.reshape(shape) for marks in (right[:, 0], n_right == stratum.n_orders, n_right > 0)
    )
    return Consistency(
        n=questions,
        n_orders=stratum.n_orders,
        content=_order_agreement(options, stratum.n_orders),
        position=_order_agreement(slots, stratum.n_orders),
        chance=plurality_by_chance(stratum.n_options, stratum.n_orders),
        grid=_plurality_grid(first_slots.max(axis=1), first_options.max(axis=1), stratum.n_orders),
        never_answered=int((first_options.sum(axis=1) == 0).sum()),
        original_order=share_over_repeats(first, cluster),
        all_orders=share_over_repeats(every, cluster),
        any_order=share_over_repeats(some, cluster),
        circular_gap=share_over_repeats(first & ~every, cluster),
        sensitivity_gap=share_over_repeats(some & ~every, cluster),
        majority_accuracy=_majority_accuracy(options, stratum.gold),
    )


@cache
def plurality_by_chance(n_options: int, n_orders: int) -> float:
    """The expected share of the most frequent of `n_options` labels in `n_orders` blind draws.

    Exact: E max = sum over m of 1 - P(max <= m). With independent Poisson counts of mean V/K,
    given that they sum to V, P(max <= m) is the K-fold convolution of the counts cut at m,
    taken at V, over the Poisson probability of V; nothing overflows.
    """
    counts = np.arange(n_orders + 1)
    one, total = (
        _poisson_pmf(counts, n_orders / n_options),
        _poisson_pmf(counts, float(n_orders))[-1],
    )
    expected = 0.0
    for most in range(n_orders):
        below = _sum_probability(one[: most + 1], n_options, n_orders) / total
        if below > 1 - 1e-13:
            break
        expected += 1 - below
    return expected / n_orders


def _poisson_pmf(counts: NDArray[np.int_], mean: float) -> NDArray[np.float64]:
    logs = [k * math.log(mean) - mean - math.lgamma(k + 1) for k in counts.tolist()]
    return np.exp(logs)


def _sum_probability(one: NDArray[np.float64], parts: int, total: int) -> float:
    """The probability that `parts` such counts sum to `total`."""
    if (len(one) - 1) * parts < total:
        return 0.0
    distribution = one
    for _ in range(parts - 1):
        distribution = np.convolve(distribution, one)[: total + 1]
    return float(distribution[total])


def most_frequent(stratum: OptionCountStratum) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """How often the most frequent slot and option of each question came; 0 without an answer.

    Of several repeats the first counts, as in `Consistency.grid`.
    """
    slots, options = _answer_counts(stratum.first_repeat)
    return slots.max(axis=1), options.max(axis=1)


def _answer_counts(stratum: OptionCountStratum) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """How often each row has each slot, and each option."""
    return (
        _label_counts(stratum.choice, stratum.n_options),
        _label_counts(stratum.content, stratum.n_options),
    )


def _label_counts(labels: NDArray[np.intp], n_labels: int) -> NDArray[np.intp]:
    """How often each question has each label; shape (n, labels)."""
    return np.stack([(labels == label).sum(axis=1) for label in range(n_labels)], axis=1)


def _order_agreement(counts: NDArray[np.intp], n_orders: int) -> OrderAgreement:
    chance = 1 / counts.shape[1]
    # Whole numbers are summed, so that the order of the questions is nothing, to the last digit.
    pairs = int((counts * (counts - 1)).sum()) / (len(counts) * n_orders * (n_orders - 1))
    return OrderAgreement(
        plurality=int(counts.max(axis=1).sum()) / (len(counts) * n_orders),
        pairs=pairs,
        kappa=(pairs - chance) / (1 - chance),
    )


def _plurality_grid(
    slots: NDArray[np.intp], options: NDArray[np.intp], n_orders: int
) -> tuple[tuple[int, ...], ...]:
    answered = slots > 0
    table = np.zeros((n_orders, n_orders), dtype=np.intp)
    np.add.at(table, (slots[answered] - 1, options[answered] - 1), 1)
    return tuple(tuple(row) for row in table.tolist())


def _majority_accuracy(options: NDArray[np.intp], gold: NDArray[np.intp]) -> float:
    top = options == options.max(axis=1, keepdims=True)
    won = top[np.arange(len(gold)), gold] & (options.sum(axis=1) > 0)
    return math.fsum((won / top.sum(axis=1)).tolist()) / len(gold)
