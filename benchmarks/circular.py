"""The figures of CircularEval over 24 orders, beside OpenCompass's evaluator.

OpenCompass is given a dataset with the two columns it reads, as short as it can be, and once a
plain list, so that its loop is seen without the library that feeds it.
"""

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

from benchmarks.contest import Compared, Contest, Session, alone, meet
from benchmarks.peer import opened
from benchmarks.rows import Goal, Row
from evalui.scoring.choice.circular import CircularMetrics, circular_metrics, variants
from evalui.scoring.choice.options import variant_label
from evalui.scoring.trial_columns import TrialColumns, columns_of
from evalui.types import LETTERS, Reading, Trial, Variant

GROUP = "circular"
_FULL = 100_000


def rows(session: Session) -> Iterator[Row]:
    """Trials to percentages."""
    orders = variants(4, "all_possible")
    rng = random.Random(0)
    targets = [rng.randrange(4) for _ in range(_FULL)]
    picks = [_pick(rng, order, target) for target in targets for order in orders]
    work = {
        "patterns": [variant_label(order) for order in orders],
        "targets": "".join(LETTERS[target] for target in targets),
        "picks": "".join(LETTERS[pick] for pick in picks),
    }
    with opened("opencompass", session.peers, work) as peer:
        for size in session.scaled(_FULL):
            trials = trials_of(targets[:size], picks, orders)
            for form, told, goal in (
                ("dataset", "on a dataset", 50),
                ("list", "its bare loop", 3),
            ):
                contest = Contest(
                    group=GROUP,
                    work=f"circular figures x24, {told}",
                    count=size,
                    unit="questions",
                    job=f"{form} {size}",
                    ours=lambda trials=trials: circular_metrics(trials, "all_possible"),
                    compare=_compared,
                    goal=Goal("ratio", goal) if size == _FULL else None,
                )
                yield meet(contest, peer, session)
            del trials
    four = variants(4, "circular")
    for size in session.scaled(50_000):
        trials = trials_of(targets[:size], picks, four)
        yield alone(
            GROUP,
            "circular figures x4",
            len(trials),
            "trials",
            lambda trials=trials: circular_metrics(trials, "circular"),
            session,
        )


def trials_of(
    targets: Sequence[int], picks: Sequence[int], orders: Sequence[Variant]
) -> TrialColumns:
    """A trial for every question and order, in columns as the store reads them."""
    given = iter(picks)
    return columns_of(
        [
            replace(_trial(order, order.permutation.index(target), next(given)), sample_id=name)
            for name, target in ((f"q/{number}", target) for number, target in enumerate(targets))
            for order in orders
        ]
    )


@cache
def _trial(order: Variant, target: int, choice: int) -> Trial:
    """A trial by label probabilities."""
    readings = {
        name: Reading(choice, float(choice == target), rule)
        for name, rule in (("forced", "forced"), ("tolerant", "strict"), ("strict", "strict"))
    }
    weights = tuple(0.7 if slot == choice else 0.1 for slot in range(len(order.permutation)))
    return Trial("", order, target, "forced", readings, weights, mass=0.9)


def _pick(rng: random.Random, order: Variant, target: int) -> int:
    return order.permutation.index(target) if rng.random() < 0.7 else rng.randrange(4)


def _compared(theirs: dict[str, float], ours: CircularMetrics) -> Compared:
    same = theirs.keys() == ours.values.keys()
    apart = max((abs(theirs[name] - ours.values.get(name, 0.0)) for name in theirs), default=0.0)
    return Compared(
        f"{len(theirs)} figures, max difference {apart:.0e}", equal=same and apart < 1e-9
    )
