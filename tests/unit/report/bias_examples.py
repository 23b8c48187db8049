"""Cells of a few hundred questions whose bias is known, because it was put in."""

from collections.abc import Callable
from dataclasses import replace
from itertools import starmap
from typing import Any

from evalui.scoring.choice.circular import variants
from evalui.scoring.choice.decisions import option_keys, read_decision
from evalui.types import Cell, CellResult, Decision, Labels, Pattern, Reading, Sample, Trial

# What a model picks of a question in an order: the slot of the right answer is given.
Pick = Callable[[int, int, int], int | None]


def cell_result(
    pick: Pick,
    *,
    n: int = 120,
    options: int = 4,
    model: str = "m",
    mode: str = "generation",
    pattern: Pattern = "circular",
    signature: str = "",
    subjects: int = 1,
    state: str = "done",
) -> CellResult:
    """`pick(question, order, target)` is the slot chosen, None if the reply is unreadable."""
    signature = signature or f"d@1|mode:{mode}|prompt:p|rule:tolerant|n:{n}|model:{model}"
    cell = Cell("d", model, mode, mode, pattern, signature)
    samples = {
        f"q{i}": Sample(
            f"q{i}",
            f"question {i}",
            tuple("uvwxyz"[:options]),
            i % options,
            {"subject": f"s{i % subjects}", "category": ("stem", "other")[i % subjects % 2]},
        )
        for i in range(n)
    }
    trials: list[Trial] = []
    for number, sample in enumerate(samples.values()):
        for place, order in enumerate(variants(options, pattern)):
            assert isinstance(sample.target, int)
            target = order.permutation.index(sample.target)
            slot = pick(number, place, target)
            credit = float(slot == target)
            reading = Reading(slot, credit, "strict" if slot is not None else "refusal")
            trials.append(
                Trial(sample.id, order, target, "tolerant", {"tolerant": reading}, reply="A")
            )
    return CellResult(cell, samples, tuple(trials), len(trials), state)  # pyright: ignore[reportArgumentType]


def often_first(result: CellResult) -> CellResult:
    """The same with those questions alone that make A right on 7 in 10."""
    kept = {
        name: one
        for at, (name, one) in enumerate(result.samples.items())
        if at % 4 == 0 or at < len(result.samples) / 7
    }
    trials = tuple(trial for trial in result.trials if trial.sample_id in kept)
    return replace(result, samples=kept, trials=trials, total=len(trials))


def right(question: int, order: int, target: int) -> int:
    """Always right."""
    del question, order
    return target


def fond(question: int, order: int, target: int) -> int:
    """A on every second question, else right."""
    del order
    return 0 if question % 2 else target


def halting(share: int) -> Pick:
    """Right but for one question in `share`, where it always takes the next option."""
    return lambda question, _, target: (target + (question % share == 0)) % 4


def with_probabilities(result: CellResult, *, sure: float = 0.7) -> CellResult:
    """The same with `sure` on the chosen slot and the rest shared by the others."""

    def given(trial: Trial) -> Trial:
        size = len(trial.variant.permutation)
        shares = [(1 - sure) / (size - 1)] * size
        shares[trial.choice or 0] = sure
        return replace(trial, probabilities=tuple(shares), mass=0.95)

    return replace(result, trials=tuple(map(given, result.trials)))


# What a server decides of a question in an order: the slot of the right answer is given.
Decide = Callable[[int, int, int], Decision]


def decided(decide: Decide, *, model: str = "m", labels: Labels = "", **changed: Any) -> CellResult:
    """A cell of decisions, graded as a run grades them; `changed` is what `cell_result` takes."""
    signature = f"d@1|mode:multiple_choice|spell:decision|labels:{labels}|model:{model}"
    result = cell_result(right, model=model, mode="multiple_choice", signature=signature, **changed)
    place = {name: at for at, name in enumerate(result.samples)}
    n_orders = result.total // len(place)

    def graded(at: int, trial: Trial) -> Trial:
        sample = result.samples[trial.sample_id]
        texts = [sample.choices[option] for option in trial.variant.permutation]
        keys = option_keys(labels, sample.id, trial.variant, texts)
        made = decide(place[trial.sample_id], at % n_orders, trial.target)
        read = read_decision(made, keys, trial.target)
        return replace(
            trial,
            headline="forced",
            readings=read.readings,
            probabilities=read.probabilities,
            mass=read.mass,
            reply=read.reply,
        )

    return replace(result, trials=tuple(starmap(graded, enumerate(result.trials))))


def as_sure(sure: float, slot: int, *, options: int = 4) -> Decision:
    """A decision for one slot, `sure` of it, the rest shared by the others."""
    shares = [(1 - sure) / (options - 1)] * options
    shares[slot] = sure
    return Decision(tuple(shares), slot)


def calibrated(question: int, order: int, target: int) -> Decision:
    """Right as often as it is sure: of ten questions in a row the first has 50 %, the last 95 %."""
    del order
    sure = 0.5 + 0.05 * (question % 10)
    is_right = (question // 10 * 0.6180339887) % 1 < sure
    return as_sure(sure, target if is_right else (target + 1) % 4)
