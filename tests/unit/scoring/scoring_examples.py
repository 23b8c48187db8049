"""Trials written in one line, and the golden cases as trials."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from evalui.scoring.bias.counts import PositionTable, position_tables_of_grids
from evalui.scoring.choice.circular import (
    CircularIntervals,
    Outcomes,
    intervals_of_grids,
    outcomes_of_grids,
)
from evalui.scoring.choice.options import reading_of_scores
from evalui.scoring.choice.trial_grid import trial_grids
from evalui.types import LETTERS, FixedOrderReason, Pattern, Reading, Trial, Variant

GOLDEN = Path(__file__).parents[2] / "golden"


def variant_from_label(text: str) -> Variant:
    """The variant with this label, as OpenCompass writes it."""
    slots = [LETTERS.index(letter) for letter in text]
    return Variant(tuple(sorted(range(len(slots)), key=slots.__getitem__)))


def golden(name: str) -> Any:
    return json.loads((GOLDEN / name).read_text(encoding="utf-8"))


def trial(
    sample_id: str,
    label: str,
    target: int,
    *,
    choice: int | None,
    rule: str = "letter",
    fixed: FixedOrderReason = "",
) -> Trial:
    """One trial under the reading "tolerant"."""
    reading = Reading(choice, float(choice == target), rule)
    return Trial(
        sample_id,
        variant_from_label(label),
        target,
        "tolerant",
        {"tolerant": reading},
        fixed_reason=fixed,
    )


def tied(sample_id: str, label: str, target: int, *, among: Sequence[int]) -> Trial:
    """One trial in which the slots `among` tie at the top."""
    scores = tuple(float(slot in among) for slot in range(len(label)))
    reading = reading_of_scores(scores, target, "forced")
    return Trial(sample_id, variant_from_label(label), target, "forced", {"forced": reading})


def asked(sample_id: str, gold: int, choices: dict[str, int | None]) -> list[Trial]:
    """One question under several labels; `gold` is the content, the choices are slots."""
    return [
        trial(sample_id, label, variant_from_label(label).permutation.index(gold), choice=choice)
        for label, choice in choices.items()
    ]


def circular_case_trials(case: dict[str, Any]) -> list[Trial]:
    """A case of OpenCompass's evaluator; a reference that names no option is never matched."""
    keys = case["option_keys"]
    return [
        trial(
            str(qid),
            label,
            keys.index(reference) if reference in keys else -1,
            choice=keys.index(prediction) if prediction in keys else None,
        )
        for qid, label, reference, _, prediction in case["rows"]
    ]


def bias_case_trials(case: dict[str, Any], model: str) -> list[Trial]:
    """A tensor of probabilities, or of predicted slots, as trials."""
    probabilities, slots = case[model]["probs"], case[model]["pred_slots"]
    trials: list[Trial] = []
    for question, gold in enumerate(case["gold_content"]):
        for column, permutation in enumerate(case["perm_slot_to_content"]):
            target = permutation.index(gold)
            reading = (
                reading_of_scores(tuple(probabilities[question][column]), target, "forced")
                if probabilities
                else _slot_reading(slots[question][column], target)
            )
            trials.append(
                Trial(
                    f"q{question}",
                    Variant(tuple(permutation)),
                    target,
                    "forced",
                    {"forced": reading},
                )
            )
    return trials


def pattern_of(case: dict[str, Any]) -> Any:
    """The bias cases are circular but for the one with all 24 orders."""
    return "all_possible" if len(case["perm_slot_to_content"]) == 24 else "circular"


def letters(choices: Iterable[int | None]) -> str:
    """Slots as letters, "-" for none."""
    return "".join("-" if choice is None else LETTERS[choice] for choice in choices)


def _slot_reading(slot: int, target: int) -> Reading:
    return Reading(None if slot < 0 else slot, float(slot == target), "letter")


def circular_intervals(
    trials: Sequence[Trial], pattern: Pattern, *, reading: str | None = None
) -> CircularIntervals:
    return intervals_of_grids(trial_grids(trials, pattern, reading=reading), pattern)


def question_outcomes(
    trials: Sequence[Trial], pattern: Pattern, *, reading: str | None = None
) -> Outcomes:
    return outcomes_of_grids(trial_grids(trials, pattern, reading=reading), pattern)


def position_tables(trials: Sequence[Trial], pattern: Pattern) -> tuple[PositionTable, ...]:
    return position_tables_of_grids(trial_grids(trials, pattern))
