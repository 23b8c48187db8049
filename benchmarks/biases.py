"""Every figure of option bias with its tests, beside the same formulas written out plainly."""

import random
import sys
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from benchmarks.contest import Compared, Contest, Session, alone, meet
from benchmarks.peer import started
from benchmarks.rows import Goal, Row
from evalui.scoring.bias import CellBias, measure_bias
from evalui.scoring.choice.circular import variants
from evalui.scoring.trial_columns import columns_of
from evalui.types import Reading, Trial, Variant

GROUP = "bias"
_FULL = 13_000
_CLOSE = 1e-6


def rows(session: Session) -> Iterator[Row]:
    """Four orders of each question, 999 shuffles. Ours has more figures, and ranges for them."""
    rng = random.Random(0)
    orders = variants(4, "circular")
    made = [[_trial(rng, number, order) for order in orders] for number in range(_FULL)]
    work = {
        "orders": [order.permutation for order in orders],
        "gold": [number % 4 for number in range(_FULL)],
        "chances": [[trial.probabilities for trial in four] for four in made],
    }
    with started("plain_bias", Path(sys.executable), work) as peer:
        for size in session.scaled(_FULL):
            trials = columns_of([trial for four in made[:size] for trial in four])
            contest = Contest(
                group=GROUP,
                work="bias figures and tests",
                count=size,
                unit="questions x4",
                job=str(size),
                ours=partial(measure_bias, trials, "circular", draws=999),
                compare=_compared,
                goal=Goal("ratio", 1) if size == _FULL else None,
            )
            yield meet(contest, peer, session)
    trials = columns_of([trial for four in made for trial in four])
    yield alone(
        GROUP,
        "bias figures without tests",
        _FULL,
        "questions x4",
        partial(measure_bias, trials, "circular", draws=0),
        session,
    )


def _trial(rng: random.Random, number: int, order: Variant) -> Trial:
    """A model that leans to the first slot and often knows the answer."""
    target = order.permutation.index(number % 4)
    weights = [rng.random() + (slot == 0) * 0.15 + (slot == target) * 0.6 for slot in range(4)]
    chances = tuple(weight / sum(weights) for weight in weights)
    choice = max(range(4), key=lambda slot: chances[slot])
    reading = Reading(choice, float(choice == target), "forced")
    return Trial(
        f"q/{number}", order, target, "forced", {"forced": reading}, probabilities=chances, mass=1.0
    )


def _compared(theirs: Mapping[str, float], ours: CellBias) -> Compared:
    (found,) = ours.strata
    assert found.consistency, "four orders were asked"
    assert found.prior, "there are probabilities"
    assert found.tests.permutation, "999 draws were asked for"
    assert found.tests.cochran_q, "every answer stood in every slot"
    same = {
        "rstd": found.spread.rstd,
        "ckld": found.spread.ckld,
        "content": found.consistency.content.pairs,
        "position": found.consistency.position.pairs,
        "averaged": found.prior.averaged_accuracy.value,
        "debiased": found.prior.debiased_accuracy.value,
        "prior_a": found.prior.prior[0],
        "q": found.tests.cochran_q.statistic,
        "ece": found.calibration.ece.value if found.calibration else None,
        "brier": found.calibration.brier.value if found.calibration else None,
    }
    apart = max(abs(theirs[name] - (value or 0.0)) for name, value in same.items())
    p = abs(theirs["p"] - found.tests.permutation.p)
    return Compared(
        f"{len(same)} figures, max difference {apart:.0e}; p of 999 shuffles {p:.3f} apart",
        equal=apart <= _CLOSE and p < 0.05,
    )
