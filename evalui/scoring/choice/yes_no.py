"""Questions that are answered by yes or no: which answers were yes, and which groups are all right.

An answer that is neither counts as "not yes" and as wrong.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class YesFigures:
    """What answers say of the questions whose answer is yes; each 0 where it rests on nothing.

    Li et al., *Evaluating Object Hallucination* (POPE, arXiv 2305.10355): `precision` is the share
    of the answers "yes" that are right, `recall` that of the questions whose answer is yes, `f1`
    their harmonic mean, and `rate` the share of all answers that are "yes".
    """

    precision: float
    recall: float
    f1: float
    rate: float


def yes_place(options: Sequence[str]) -> int:
    """The place of "yes" among options that are yes and no, in any case; -1 among others."""
    folded = [option.strip().casefold() for option in options]
    return folded.index("yes") if sorted(folded) == ["no", "yes"] else -1


def yes_figures(chosen: NDArray[np.bool_], right: NDArray[np.bool_]) -> YesFigures:
    """The figures of answers, at least one: where yes was `chosen`, and where it is `right`."""
    hits, n_chosen, n_right = int((chosen & right).sum()), int(chosen.sum()), int(right.sum())
    return YesFigures(
        precision=hits / n_chosen if n_chosen else 0.0,
        recall=hits / n_right if n_right else 0.0,
        f1=2 * hits / (n_chosen + n_right) if hits else 0.0,
        rate=n_chosen / len(chosen),
    )


def groups_all_right(
    groups: Sequence[Hashable], right: NDArray[np.bool_], repeat: NDArray[np.int32]
) -> NDArray[np.float64]:
    """For each group, as they first come, whether all its answers are right; shape (groups,).

    Of groups that were asked several times it is the share of the repeats.
    """
    known: dict[Hashable, int] = {}
    code = np.array([known.setdefault(group, len(known)) for group in groups], dtype=np.intp)
    n_repeats = int(repeat.max()) + 1
    wrong = np.zeros((len(known), n_repeats), dtype=np.intp)
    np.add.at(wrong, (code, repeat), ~right)
    asked = np.zeros_like(wrong)
    np.add.at(asked, (code, repeat), 1)
    return ((wrong == 0) & (asked > 0)).sum(axis=1) / (asked > 0).sum(axis=1)
