"""Golden cases, simulated models and small tables as strata and trials."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from evalui.scoring.choice.options import variants
from evalui.scoring.choice.trial_grid import TIED, UNREADABLE, OptionCountStratum
from evalui.types import FixedOrderReason, Pattern, Reading, Trial, Variant


def case_trials(case: dict[str, Any], model: str) -> list[Trial]:
    """A golden case, ties going to the lowest slot as in the reference."""
    chances, slots = case[model]["probs"], case[model]["pred_slots"]
    trials: list[Trial] = []
    for question, gold in enumerate(case["gold_content"]):
        for column, permutation in enumerate(case["perm_slot_to_content"]):
            row = chances[question][column] if chances else []
            slot = row.index(max(row)) if chances else slots[question][column]
            trials.append(
                answered(
                    f"q{question}",
                    tuple(permutation),
                    permutation.index(gold),
                    None if slot < 0 else slot,
                    probabilities=tuple(row),
                )
            )
    return trials


def answered(
    sample_id: str,
    permutation: tuple[int, ...],
    target: int,
    choice: int | None,
    *,
    probabilities: tuple[float, ...] = (),
    fixed: FixedOrderReason = "",
) -> Trial:
    reading = Reading(choice, float(choice == target), "forced")
    return Trial(
        sample_id,
        Variant(permutation),
        target,
        "forced",
        {"forced": reading},
        probabilities=probabilities,
        mass=sum(probabilities) or None,
        fixed_reason=fixed,
    )


def stratum_of(
    choice: NDArray[np.intp],
    gold: NDArray[np.intp],
    *,
    n_options: int = 4,
    pattern: Pattern = "circular",
    probabilities: NDArray[np.float64] | None = None,
) -> OptionCountStratum:
    """Slots chosen by each question in each order, and the right options."""
    orders = np.array([order.permutation for order in variants(n_options, pattern)])
    return OptionCountStratum(
        np.array([f"q{i}" for i in range(len(gold))], dtype=np.object_),
        orders,
        choice,
        np.argsort(orders, axis=1)[:, gold].T,
        probabilities,
    )


def simulated(
    n: int,
    rng: np.random.Generator,
    *,
    n_options: int = 4,
    bias: float = 0.0,
    sharp: float = 1.0,
    noise: float = 0.7,
    pattern: Pattern = "circular",
    gold_shares: tuple[float, ...] | None = None,
) -> OptionCountStratum:
    """A model with taste for options, noise for each showing and an additive taste for slots."""
    gold = rng.choice(n_options, size=n, p=gold_shares)
    orders = np.array([order.permutation for order in variants(n_options, pattern)])
    taste = rng.normal(size=(n, n_options)) * sharp
    taste[np.arange(n), gold] += sharp
    logits = taste[:, orders] + rng.normal(size=(n, *orders.shape)) * noise
    logits += bias * np.linspace(1, -1, n_options)
    powers = np.exp(logits - logits.max(axis=2, keepdims=True))
    chances = powers / powers.sum(axis=2, keepdims=True)
    choice = chances.argmax(axis=2)
    return stratum_of(choice, gold, n_options=n_options, pattern=pattern, probabilities=chances)


def as_trials(stratum: OptionCountStratum) -> list[Trial]:
    """The trials a stratum could be made of; ties and unreadable answers too."""
    trials: list[Trial] = []
    for row, name in enumerate(stratum.ids.tolist()):
        for column, order in enumerate(stratum.orders.tolist()):
            code = int(stratum.choice[row, column])
            chances = stratum.probabilities
            target = int(stratum.target[row, column])
            reading = Reading(
                None if code < 0 else code,
                0.5 * (code == TIED) + float(code == target != UNREADABLE),
                "forced",
                tied=code == TIED,
            )
            trials.append(
                Trial(
                    name,
                    Variant(tuple(order)),
                    target,
                    "forced",
                    {"forced": reading},
                    probabilities=() if chances is None else tuple(chances[row, column].tolist()),
                )
            )
    return trials
