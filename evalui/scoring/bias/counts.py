"""Where a model puts its answers, and whether it sticks to an option or to a slot.

Questions with different numbers of options are never pooled: each number has its own table.
Ties are counted apart and take part in nothing else, because resolving them by position would
make the very bias these tables look for. An unreadable answer is a miss of its gold slot. When the
options change places, unreadable and tied trials agree with nothing, and the number of orders stays
the denominator.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from evalui.scoring.choice.trial_grid import TIED, UNREADABLE, OptionCountStratum, TrialGrid
from evalui.scoring.statistics.intervals import (
    INTERVAL_PERCENTILES,
    clustered_mean,
    clustered_ratio,
    resample_counts,
    share_over_repeats,
    sums_by_code,
)
from evalui.types import Interval

_MOST_PAIRED = 8  # orders whose pairs are all listed: 28


@dataclass(frozen=True, slots=True)
class PositionTable:
    """Gold slot against chosen slot, over all orders of the questions with `n_options` options.

    `counts[gold][chosen]` counts trials; `unreadable` and `tied` do so by gold slot. `recalls`
    are how often the right answer is chosen when it stands in a slot, `shares` how often a slot
    is chosen among all readable answers; both None where there is nothing to count. `rstd` is
    the standard deviation of the recalls in percentage points, None if one is unknown.
    """

    n_options: int
    n_questions: int
    n_trials: int
    counts: tuple[tuple[int, ...], ...]
    unreadable: tuple[int, ...]
    tied: tuple[int, ...]
    recalls: tuple[Interval | None, ...]
    shares: tuple[Interval | None, ...]
    rstd: float | None

    @property
    def chance(self) -> float:
        """The share and the recall of each slot under blind guessing."""
        return 1 / self.n_options

    @property
    def slot_counts(self) -> tuple[int, ...]:
        """How often each slot was chosen."""
        return tuple(sum(column) for column in zip(*self.counts, strict=True))

    def answers_at(self, gold: int) -> int:
        """How many answers had their right option in slot `gold`, readable or not."""
        return sum(self.counts[gold]) + self.unreadable[gold] + self.tied[gold]


@dataclass(frozen=True, slots=True)
class RecallSpread:
    """Unevenness of recalls and choices; 0 is even, None where a part is unknown.

    `rstd` is the population standard deviation of the recalls in points (Zheng et al., arXiv
    2309.03882), `rsd` the same over their mean (Reif & Schwartz, arXiv 2405.02743). `ckld` is
    sum p ln(p / q) in nats over slots, p the share in which a slot holds the answer and q that
    in which it is chosen (Choi et al., arXiv 2409.18857); `math.inf` if a slot in `never_chosen` is
    not chosen at all. `ckld_smoothed` adds half a choice to every slot and is always finite.
    `max_share_deviation` is the greatest distance of a slot's share from 1/K.
    """

    rstd: float | None
    rsd: float | None
    ckld: float | None
    ckld_smoothed: float | None
    never_chosen: tuple[int, ...]
    max_share_deviation: float | None


@dataclass(frozen=True, slots=True)
class RecallSpreadRange:
    """The 95 % ranges of `rstd` and `ckld_smoothed` over resampled questions.

    An uneven sample of an even model is uneven too, so RStd's range does not reach down to 0:
    whether there is a bias at all is for the permutation test and its noise floor to say.
    """

    rstd: tuple[float, float]
    ckld_smoothed: tuple[float, float]


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
class OrderFlip:
    """Two orders by their places in `options.variants`, and the `share` of the questions with a
    choice in both that have another option chosen in the second.
    """

    first: int
    second: int
    share: Interval | None


@dataclass(frozen=True, slots=True)
class OrderFlips:
    """How often the chosen option is another one in another order.

    `share` is the share of the pairs of orders with a choice in both, averaged over the questions
    that have such a pair. `pairs` has every pair of up to 8 orders; of more orders, those with the
    order as written. Ranges are clustered by question. None where no question has such a pair.
    """

    share: Interval | None
    pairs: tuple[OrderFlip, ...]


@dataclass(frozen=True, slots=True)
class Consistency:
    """What reordering does to the answers of the `n` questions of one stratum.

    `content` is agreement on the option, `position` on the slot, `flips` are the changes of the
    option; `chance` is the plurality that blind guessing reaches. `grid[p - 1][c - 1]` counts the
    questions whose most frequent slot came p times and whose most frequent option c times;
    `never_answered` were never answered.

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
    flips: OrderFlips


def position_tables_of_grids(made: Sequence[TrialGrid]) -> tuple[PositionTable, ...]:
    """A table per number of options, fewest first, over the questions presented in every order.

    Questions whose options name other options, or have the same text, are left out.
    """
    tables = [grid.subset(grid.reorderable) for grid in made]
    return tuple(position_table(table) for table in tables if len(table.ids))


def position_table(grid: TrialGrid | OptionCountStratum) -> PositionTable:
    """The table of questions that all have a trial in every order."""
    slots = range(grid.n_options)
    recalls = tuple(_slot_recall(grid, slot) for slot in slots)
    values = [recall.value for recall in recalls if recall]
    return PositionTable(
        n_options=grid.n_options,
        n_questions=len(grid.ids),
        n_trials=grid.target.size,
        counts=tuple(
            tuple(_count_chosen(grid, gold, chosen) for chosen in slots) for gold in slots
        ),
        unreadable=tuple(_count_chosen(grid, gold, UNREADABLE) for gold in slots),
        tied=tuple(_count_chosen(grid, gold, TIED) for gold in slots),
        recalls=recalls,
        shares=tuple(_slot_share(grid, slot) for slot in slots),
        # Over the slots themselves, not a sample of them: n in the denominator.
        rstd=float(np.std(values) * 100) if len(values) == grid.n_options else None,
    )


def recall_spread(table: PositionTable) -> RecallSpread:
    """The figures of a table; ties take no part in it."""
    chosen = np.array(table.slot_counts, dtype=np.float64)
    gold = np.array([sum(row) for row in table.counts], dtype=np.float64) + table.unreadable
    recalls = [recall.value for recall in table.recalls if recall]
    mean = sum(recalls) / len(recalls) if recalls else 0.0
    answered, has_gold = chosen.sum() > 0, gold.sum() > 0
    return RecallSpread(
        rstd=table.rstd,
        rsd=table.rstd / 100 / mean if table.rstd is not None and mean else None,
        ckld=kl_divergence(gold, chosen) if answered else None,
        ckld_smoothed=kl_divergence(gold, chosen + 0.5) if has_gold else None,
        never_chosen=tuple(slot for slot, count in enumerate(chosen.tolist()) if not count),
        max_share_deviation=_max_share_deviation(chosen) if answered else None,
    )


def recall_spread_range(
    choice: NDArray[np.intp],
    target: NDArray[np.intp],
    n_options: int,
    cluster: NDArray[np.intp] | None = None,
    *,
    resamples: int,
    seed: int,
) -> RecallSpreadRange | None:
    """Ranges from slots of shape (questions, orders); None where a resample has no answer at all.

    Ties take no part in it, as in `recall_spread`; percentiles of the question bootstrap, or of
    that of their clusters.
    """
    slots = np.arange(n_options)
    is_target = (target[:, :, None] == slots) & (choice != TIED)[:, :, None]
    picked = choice[:, :, None] == slots
    per_question = (is_target, is_target & picked, picked)
    table = np.concatenate([part.sum(axis=1) for part in per_question], axis=1).astype(np.float64)
    if cluster is not None:
        table = sums_by_code(table, cluster)[np.unique(cluster)]
    rng = np.random.default_rng(seed)
    drawn = np.concatenate(
        [counts @ table for counts in resample_counts(len(table), resamples, rng)]
    )
    gold, hits, chosen = np.split(drawn, 3, axis=1)
    if len(table) < 2 or (gold == 0).any():
        return None
    p, q = _shares(gold), _shares(chosen + 0.5)
    rstd, ckld = 100 * (hits / gold).std(axis=1), (p * np.log(p / q)).sum(axis=1)
    return RecallSpreadRange(_percentile_interval(rstd), _percentile_interval(ckld))


def kl_divergence(gold: NDArray[np.float64], chosen: NDArray[np.float64]) -> float:
    """KL(gold || chosen) of two rows of counts, in nats; `math.inf` if a gold slot has none."""
    p, q = gold / gold.sum(), chosen / chosen.sum()
    wanted = p > 0
    if (q[wanted] == 0).any():
        return math.inf
    return float((p[wanted] * np.log(p[wanted] / q[wanted])).sum())


def consistency(stratum: OptionCountStratum) -> Consistency | None:
    """All figures of a stratum; None with one order, where nothing can change.

    Of questions that are asked several times they are taken of each repeat, and are means over
    them; `grid` and `never_answered` count questions, by the first repeat.
    """
    if stratum.n_orders < 2:
        return None
    questions, cluster, flips = stratum.n, stratum.cluster, order_flips(stratum)
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
        flips=flips,
    )


def order_flips(stratum: OptionCountStratum) -> OrderFlips:
    """How often another order changes the chosen option.

    Two orders are compared within each repeat. What has no choice has none to change.
    """
    content = stratum.content.reshape(stratum.n, stratum.n_repeats, stratum.n_orders)
    counts = np.stack([(content == k).sum(axis=2) for k in range(stratum.n_options)], axis=2)
    chosen = counts.sum(axis=2)
    wholes = (chosen * (chosen - 1) // 2).sum(axis=1)
    alike = (counts * (counts - 1) // 2).sum(axis=(1, 2))
    n_orders = stratum.n_orders
    firsts = range(n_orders if n_orders <= _MOST_PAIRED else 1)
    pairs: list[OrderFlip] = []
    for first, second in ((i, j) for i in firsts for j in range(i + 1, n_orders)):
        one, other = content[:, :, first], content[:, :, second]
        both = (one >= 0) & (other >= 0)
        changed = ((one != other) & both).sum(axis=1)
        share = _share_of_pairs(changed, both.sum(axis=1), stratum.cluster)
        pairs.append(OrderFlip(first, second, share))
    return OrderFlips(_share_of_pairs(wholes - alike, wholes, stratum.cluster), tuple(pairs))


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


def most_frequent(stratum: OptionCountStratum) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """How often the most frequent slot and option of each question came; 0 without an answer.

    Of several repeats the first counts, as in `Consistency.grid`.
    """
    slots, options = _answer_counts(stratum.first_repeat)
    return slots.max(axis=1), options.max(axis=1)


# ---------------------------------------------------------------- by slot


def _count_chosen(grid: TrialGrid | OptionCountStratum, gold: int, chosen: int) -> int:
    return int(((grid.target == gold) & (grid.choice == chosen)).sum())


def _slot_recall(grid: TrialGrid | OptionCountStratum, slot: int) -> Interval | None:
    targets = _per_question((grid.target == slot) & (grid.choice != TIED))
    hits = _per_question((grid.target == slot) & (grid.choice == slot))
    counted = targets > 0
    if not counted.any():
        return None
    cluster = None if grid.cluster is None else grid.cluster[counted]
    return clustered_mean(hits[counted] / targets[counted], targets[counted], cluster).interval


def _slot_share(grid: TrialGrid | OptionCountStratum, slot: int) -> Interval | None:
    readable = _per_question(grid.choice >= 0)
    chosen = _per_question(grid.choice == slot)
    counted = readable > 0
    if not counted.any():
        return None
    cluster = None if grid.cluster is None else grid.cluster[counted]
    return clustered_ratio(chosen[counted].astype(float), readable[counted].astype(float), cluster)


def _per_question(marks: NDArray[np.bool_]) -> NDArray[np.int_]:
    return marks.sum(axis=1)


def _percentile_interval(values: NDArray[np.float64]) -> tuple[float, float]:
    low, high = np.percentile(values, INTERVAL_PERCENTILES)
    return float(low), float(high)


def _shares(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    return counts / counts.sum(axis=1, keepdims=True)


def _max_share_deviation(chosen: NDArray[np.float64]) -> float:
    return float(np.abs(chosen / chosen.sum() - 1 / len(chosen)).max())


# ---------------------------------------------------------------- over the orders


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


def _share_of_pairs(
    parts: NDArray[np.int_], wholes: NDArray[np.int_], cluster: NDArray[np.intp] | None
) -> Interval | None:
    known = np.flatnonzero(wholes)
    if not len(known):
        return None
    shares, rows = parts[known] / wholes[known], wholes[known]
    if cluster is not None:
        return clustered_mean(shares, rows, cluster[known]).interval
    order = np.lexsort((rows, shares))  # so that the order of the questions is nothing
    return clustered_mean(shares[order], rows[order]).interval


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
