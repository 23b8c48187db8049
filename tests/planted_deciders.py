"""A model that decides by a rule, with faults of a stated size, so that a test knows what is there.

Without a fault it is honest: of the options to which it gives 0.7, 70 % are right. Everything it
draws follows from its seed, the context and the options, in whatever order it is asked.
"""

import csv
import math
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from evalui.modes import MODES
from evalui.modes.base import ModeSettings, plan_requests
from evalui.modes.own_settings import ChoiceSettings
from evalui.scoring.choice.options import variants
from evalui.types import LETTERS, Decide, Decision, Labels, Pattern, Sample, Trial

_SPREAD = 2.0  # of the confidences: the sum of the two parameters of their beta distribution


@dataclass(frozen=True, slots=True)
class PlantedDecider:
    """Which option is right and how probable each is, of a model that is right on a stated share.

    `right` is the text of the right option by context; of another context it knows nothing. What it
    believes belongs to the options' texts, whatever order they are shown in, unless it `wavers`:
    then it draws its belief anew for every order, and is as honest in each.

    The faults: `by_place` and `by_key` are logits added to the option in a place or with a key.
    Log-probabilities are divided by the `temperature`: below 1 it says that it is surer than it is.
    `decimals` are those of the probabilities it gives, None for all. Shares of the decisions are
    refused (`refuses`), name an option without probabilities (`silent`), have probabilities that
    sum to 0.7 (`unsummed`), or name the second best option (`contrary`, of those that name one).
    """

    right: Mapping[str, str]
    accuracy: float = 0.7
    seed: int = 0
    wavers: bool = False
    by_place: Sequence[float] = ()
    by_key: Mapping[str, float] = field(default_factory=dict[str, float])
    temperature: float = 1.0
    decimals: int | None = None
    refuses: float = 0.0
    silent: float = 0.0
    unsummed: float = 0.0
    contrary: float = 0.0

    def __call__(self, context: str, question: str, options: Sequence[tuple[str, str]]) -> Decision:
        """The decision; `options` are keys and texts in the order shown."""
        del question
        drawn = self._draws("faults", context, options).random
        fault = drawn()
        if fault < self.refuses:
            return Decision(refused=True)
        chances = self._chances(context, options)
        best, second = sorted(range(len(options)), key=chances.__getitem__, reverse=True)[:2]
        choice = second if drawn() < self.contrary else best
        if fault < self.refuses + self.silent:
            return Decision(choice=choice)
        if fault < self.refuses + self.silent + self.unsummed:
            chances = [0.7 * each for each in chances]
        if self.decimals is not None:
            chances = [round(each, self.decimals) for each in chances]
        return Decision(tuple(chances), choice, confidence=chances[best])

    def _chances(self, context: str, options: Sequence[tuple[str, str]]) -> list[float]:
        belief = self._belief(context, options)
        logits = [math.log(belief[text]) / self.temperature for _, text in options]
        for place, (key, _) in enumerate(options):
            logits[place] += self.by_key.get(key, 0.0)
            logits[place] += self.by_place[place] if place < len(self.by_place) else 0.0
        weights = [math.exp(each - max(logits)) for each in logits]
        return [each / sum(weights) for each in weights]

    def _belief(self, context: str, options: Sequence[tuple[str, str]]) -> dict[str, float]:
        """An honest probability of each text: draw them, then which is right, then place that."""
        rng = self._draws("belief", context, options if self.wavers else ())
        texts = sorted(text for _, text in options)
        shares = _honest_shares(len(texts), self.accuracy, rng)
        true = rng.choices(range(len(shares)), shares)[0]
        rng.shuffle(texts)
        if (right := self.right.get(context)) is not None:
            texts.remove(right)
            texts.insert(true, right)
        return dict(zip(texts, shares, strict=True))

    def _draws(self, what: str, context: str, options: object) -> random.Random:
        return random.Random(f"{self.seed}|{what}|{context}|{options}")


def right_texts(samples: Iterable[Sample]) -> dict[str, str]:
    """What a planted decider knows: the text of the right option by the question."""
    return {
        sample.question: sample.choices[sample.target]
        for sample in samples
        if isinstance(sample.target, int)
    }


def planted_questions(n: int, *, options: int = 4) -> tuple[Sample, ...]:
    """Questions whose answers stand equally often in each place."""
    return tuple(
        Sample(
            f"lands/{number + 1}",
            f"What is the city of land {number}?",
            tuple(f"Townburg {number}{name}" for name in "pqrstuvwxyz"[:options]),
            number % options,
        )
        for number in range(n)
    )


def write_questions(samples: Sequence[Sample], path: Path) -> Path:
    """The questions as a CSV file with a column for each option."""
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["question", *LETTERS[: len(samples[0].choices)], "answer"])
        for sample in samples:
            assert isinstance(sample.target, int)
            rows.writerow([sample.question, *sample.choices, LETTERS[sample.target]])
    return path


def decided_trials(
    decider: Callable[[str, str, Sequence[tuple[str, str]]], Decision],
    samples: Iterable[Sample],
    pattern: Pattern = "circular",
    labels: Labels = "",
) -> list[Trial]:
    """What `multiple_choice` makes of its decisions, without a server between them."""
    mode = MODES["multiple_choice"]
    setting = ModeSettings({}, spellings="decision", generation=ChoiceSettings(labels=labels))
    trials: list[Trial] = []
    for sample in samples:
        for variant in variants(len(sample.choices), pattern):
            (asked,) = plan_requests(mode, sample, variant, setting)
            assert isinstance(asked, Decide)
            made = decider(asked.context, asked.question, asked.options)
            trials.append(mode.grade(sample, variant, (made,), setting))
    return trials


def _honest_shares(n: int, accuracy: float, rng: random.Random) -> list[float]:
    """Probabilities of n options, the largest first, whose largest is on average `accuracy`.

    The largest is 1/n plus a beta variate of the rest of the way to 1. What it leaves is shared
    unevenly, but no other option gets more than it has.
    """
    mean, equal = (accuracy - 1 / n) / (1 - 1 / n), 1 / (n - 1)
    top = 1 / n + (1 - 1 / n) * rng.betavariate(_SPREAD * mean, _SPREAD * (1 - mean))
    top = min(top, 1 - 1e-6)  # it rules nothing out
    weights = [1 - rng.random() for _ in range(n - 1)]
    uneven = [each / sum(weights) for each in weights]
    # By how much the most probable of them may leave the equal share.
    room = (top / (1 - top) - equal) / (max(uneven) - equal) if n > 2 else 0.0
    part = min(1.0, max(0.0, 0.99 * room))  # no two are equal
    return [top, *((1 - top) * (equal + part * (each - equal)) for each in uneven)]
