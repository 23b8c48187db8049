"""What a decision says: which option, how probable each is, and by which key it was named.

A number that a server did not give is never guessed: a decision whose probabilities are missing, or
sum to something else than 1, names an option at most.
"""

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count

from evalui.scoring.choice.options import reading_of_scores
from evalui.types import LETTERS, Decision, Labels, Reading, Variant

# How far a sum may lie from 1, what each number that is rounded to two decimals may add, and what
# sums of floats may be off. These are EvalScope's (1.14.1, `api/model/decision.py`), so that the
# same answers are scored.
_SUM_TOLERANCE, HALF_STEP, _EPSILON = 0.02, 0.005, 1e-12
# Why an option could not be read, or by what it was.
REFUSED, MISSING, NO_SUM, NAMED = "refused", "no-probabilities", "no-sum", "named"
# Keys without an order: no two share a letter in the same place with their neighbours.
_CONSONANTS = "kvxwqzfhjp"
NEUTRAL_KEYS = tuple(
    f"{first}{_CONSONANTS[(at + shift) % len(_CONSONANTS)]}"
    for shift in (3, 7, 1)
    for at, first in enumerate(_CONSONANTS)
)


@dataclass(frozen=True, slots=True)
class DecisionReading:
    """A decision as parts of a trial: its readings, and its probabilities where they are ones.

    `probabilities` sum to 1, `mass` is what they summed to before; () where they are missing or are
    no distribution, and `mass` None where they are missing. `reply` is the key that was named.
    """

    readings: Mapping[str, Reading]
    probabilities: tuple[float, ...] = ()
    mass: float | None = None
    reply: str = ""


def read_decision(decision: Decision, keys: Sequence[str], target: int) -> DecisionReading:
    """What a decision says of options with these keys, of which one is right.

    "forced" is the most probable option, where several are equally so none of them; the option that
    the server named where it gave no probability. "tolerant" and "strict" are the one it named.
    """
    named = decision.choice
    by_name = (
        Reading(None, 0.0, REFUSED if decision.refused else MISSING)
        if named is None
        else Reading(named, float(named == target), NAMED)
    )
    given = decision.probabilities
    total = math.fsum(given)
    forced = reading_of_scores(given, target, "forced") if given and total > 0 else by_name
    return DecisionReading(
        readings={"forced": forced, "tolerant": by_name, "strict": by_name},
        probabilities=tuple(each / total for each in given) if sums_to_one(given) else (),
        mass=total if given else None,
        reply="" if named is None else keys[named],
    )


def sums_to_one(probabilities: Sequence[float]) -> bool:
    """Whether probabilities are those of all options: their sum is 1 but for rounding.

    More than the usual is forgiven only where numbers that sum to 1 could be rounded to these.
    """
    total, tolerance = math.fsum(probabilities), _SUM_TOLERANCE
    if all(round(each, 2) == each for each in probabilities):
        least = math.fsum(max(0.0, each - HALF_STEP) for each in probabilities)
        most = math.fsum(min(1.0, each + HALF_STEP) for each in probabilities)
        if least <= 1 + _EPSILON and most >= 1 - _EPSILON:
            tolerance = max(tolerance, len(probabilities) * HALF_STEP)
    return total > 0 and abs(total - 1) <= tolerance + _EPSILON


def are_dealt(labels: Labels) -> bool:
    """Whether an option's key is another one in each question and order."""
    return labels not in ("", "texts")


def key_places(labels: Labels, sample_id: str, variant: Variant) -> tuple[int, ...]:
    """By slot, the place of its key among the keys of the question.

    Letters in order are the slots themselves. Keys that are dealt are in an order of their own for
    each question and order of options, so that key and place vary apart.
    """
    slots = range(len(variant.permutation))
    if not are_dealt(labels):
        return tuple(slots)
    dealt = f"{sample_id}|{variant.permutation}"

    def lot(place: int) -> bytes:
        return hashlib.sha256(f"{dealt}|{place}".encode("utf-8", "surrogatepass")).digest()

    return tuple(sorted(slots, key=lot))


def option_keys(
    labels: Labels, sample_id: str, variant: Variant, texts: Sequence[str]
) -> tuple[str, ...]:
    """The key of each option, in the order shown, no two alike; `texts` are what they say."""
    if labels == "texts":
        made: list[str] = []
        for text in texts:
            numbered = (f"{text} ({number})" for number in count(1))
            free = (key for key in numbered if key not in texts and key not in made)
            made.append(next(free) if texts.count(text) > 1 else text)
        return tuple(made)
    names = names_of_keys(labels)
    return tuple(names[place] for place in key_places(labels, sample_id, variant))


def names_of_keys(labels: Labels) -> Sequence[str]:
    """The keys that have an order, in that order; of texts, which have none, letters."""
    return NEUTRAL_KEYS if labels == "neutral" else LETTERS
