"""Answers of each question shuffled among its orders, many times: counts by slot of each draw."""

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evalui.scoring.choice.strata import OptionCountStratum
from evalui.scoring.choice.trial_grid import TIED

_MAX_TABULATED_ORDERS = 5  # up to 5! = 120 arrangements are worth a table
_MAX_CHUNK_ELEMENTS = 200_000  # numbers per work array, which then fit the cache


@dataclass(frozen=True, slots=True)
class SlotCounts:
    """Counts by slot of shape (draws, K): choices, right answers, and undecided trials by gold.

    `targets` counts the trials whose answer stands in the slot, without the ties.
    """

    choices: NDArray[np.int64]
    hits: NDArray[np.int64]
    targets: NDArray[np.int64]


def observed_counts(stratum: OptionCountStratum) -> SlotCounts:
    """The counts of the answers as they are: one draw."""
    return _to_slot_counts(
        stratum, _tallies(stratum, stratum.content, stratum.gold).sum(axis=0)[None]
    )


def permuted_counts(
    stratum: OptionCountStratum, n_draws: int, rng: np.random.Generator
) -> SlotCounts:
    """The counts of `n_draws` shuffles in which each question's options change places."""
    by_table = stratum.n_orders <= _MAX_TABULATED_ORDERS
    return _to_slot_counts(
        stratum, (_permute_by_table if by_table else _permute_by_sorting)(stratum, n_draws, rng)
    )


def _to_slot_counts(stratum: OptionCountStratum, tallies: NDArray[np.int64]) -> SlotCounts:
    slots, hits, ties = np.split(tallies, 3, axis=1)
    asked = np.bincount(stratum.target.ravel(), minlength=stratum.n_options)
    return SlotCounts(slots, hits, asked - ties)


def _permute_by_table(
    stratum: OptionCountStratum, n_draws: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Questions with the same options chosen and the same answer are one type.

    For each type the counts of all V! arrangements are listed once. A draw then picks an
    arrangement for every question, and only how often each was picked matters.
    """
    kinds, kind_of = np.unique(_sorted_questions(stratum), axis=0, return_inverse=True)
    arrangements = np.array(list(itertools.permutations(range(stratum.n_orders))))
    n_ways = len(arrangements)
    arranged = kinds[:, :-1][:, arrangements].reshape(-1, stratum.n_orders)
    table = _tallies(stratum, arranged, np.repeat(kinds[:, -1], n_ways)).astype(np.float64)
    # A question that gave one option throughout has one arrangement: it is no draw.
    fixed = (kinds[:, :-1] == kinds[:, :1]).all(axis=1)[kind_of]
    constant = np.bincount(kind_of[fixed] * n_ways, minlength=len(table)) @ table
    starts = (kind_of[~fixed] * n_ways).astype(np.int32)
    found = np.empty((n_draws, table.shape[1]))
    at_once = max(1, _MAX_CHUNK_ELEMENTS // max(len(starts), len(table)))
    for start in range(0, n_draws, at_once):
        rows = min(at_once, n_draws - start)
        ways = rng.integers(n_ways, size=(rows, len(starts)), dtype=np.uint8)
        picked = np.stack([np.bincount(starts + row, minlength=len(table)) for row in ways])
        found[start : start + rows] = picked @ table
    return np.rint(found + constant).astype(np.int64)


def _permute_by_sorting(
    stratum: OptionCountStratum, n_draws: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Shuffles by sorting random numbers: for more arrangements than a table could list."""
    rows = _sorted_questions(stratum)
    content, gold = rows[:, :-1], rows[:, -1]
    fixed = (content == content[:, :1]).all(axis=1)
    constant = _tallies(stratum, content[fixed], gold[fixed]).sum(axis=0)
    content, gold = content[~fixed], gold[~fixed]
    found = np.empty((n_draws, len(constant)), dtype=np.int64)
    for drawn in found:
        order = rng.random(content.shape, dtype=np.float32).argsort(axis=1)
        shuffled = np.take_along_axis(content, order, axis=1)
        drawn[:] = constant + _summed_tallies(stratum, shuffled, gold)
    return found


def _sorted_questions(stratum: OptionCountStratum) -> NDArray[np.intp]:
    """The chosen options of each question, sorted, and its answer; the rows sorted, too.

    So the same seed gives the same draws in whatever order the questions come.
    """
    rows = np.column_stack([np.sort(stratum.content, axis=1), stratum.gold])
    return rows[np.lexsort(rows.T)]


def _tallies(
    stratum: OptionCountStratum, content: NDArray[np.intp], gold: NDArray[np.intp]
) -> NDArray[np.int64]:
    """For each row of options by order: choices, hits and ties by slot; shape (rows, 3 K)."""
    slot_of, options = stratum.slot_of, range(stratum.n_options)
    places = np.arange(stratum.n_orders)
    slots = np.where(content >= 0, slot_of[places, np.maximum(content, 0)], -1)
    gold_slots = slot_of[:, gold].T
    marks = [
        *[slots == slot for slot in options],
        *[(slots == slot) & (gold_slots == slot) for slot in options],
        *[(content == TIED) & (gold_slots == slot) for slot in options],
    ]
    return np.stack([mark.sum(axis=1) for mark in marks], axis=1)


def _summed_tallies(
    stratum: OptionCountStratum, content: NDArray[np.intp], gold: NDArray[np.intp]
) -> NDArray[np.int64]:
    """The same summed over all rows."""
    slot_of, n_options = stratum.slot_of, stratum.n_options
    places = np.arange(stratum.n_orders)
    slots, gold_slots = slot_of[places, np.maximum(content, 0)], slot_of[:, gold].T
    counts = [
        slots[content >= 0],
        gold_slots[content == gold[:, None]],
        gold_slots[content == TIED],
    ]
    return np.concatenate([np.bincount(count, minlength=n_options) for count in counts])
