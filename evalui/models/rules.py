"""The rules scripted models answer by: what each likes, and how it says so."""

import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from evalui.types import LETTERS, Ability, Sample

LETTERS_ONLY: frozenset[Ability] = frozenset({"next_token", "generate"})
ALL: frozenset[Ability] = frozenset({"next_token", "loglik", "generate"})


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as the model saw it: which option stands in which slot, and the whole prompt.

    `slots` is empty where the options are not shown.
    """

    sample: Sample
    slots: tuple[int, ...]
    prompt: str


# How much a rule likes each option of a question, by option and not by slot, in logits.
Liking = Callable[[Asked, int], list[float]]
# What a rule writes when it would answer with this slot.
Wording = Callable[[Asked, int], str]


@dataclass(frozen=True, slots=True)
class Rule:
    """How a scripted model answers. `mass` is the probability it gives to all labels together."""

    liking: Liking
    wording: Wording
    abilities: frozenset[Ability] = ALL
    mass: float = 0.98


def _draw(seed: int, *about: object) -> random.Random:
    """Dice that fall the same way for the same seed and subject."""
    return random.Random("|".join(map(str, (seed, *about))))


def _knows(asked: Asked, seed: int) -> list[float]:
    """The right answer, without doubt."""
    del seed
    return [20.0 * (content == asked.sample.target) for content in _contents(asked)]


def _half_knows(asked: Asked, seed: int) -> list[float]:
    """The right answer by 2 logits, each option's own appeal aside: right on most questions.

    The appeal stays with the option wherever it is shown.
    """
    return [
        2.0 * (content == asked.sample.target)
        + _draw(seed, asked.sample.id, content).gauss(0.0, 1.0)
        for content in _contents(asked)
    ]


def _wavers(asked: Asked, seed: int) -> list[float]:
    """As `_half_knows`, and anew with every prompt: orders disagree, but favour no slot."""
    return [
        liking + _draw(seed, asked.prompt, content).gauss(0.0, 1.0)
        for content, liking in enumerate(_half_knows(asked, seed))
    ]


def _leans_to_the_first(asked: Asked, seed: int) -> list[float]:
    """As `_half_knows`, and 2.5 logits more for the first slot, 1 for the second."""
    liking = _half_knows(asked, seed)
    for extra, content in zip((2.5, 1.0), asked.slots, strict=False):
        liking[content] += extra
    return liking


def _first_slot(asked: Asked, seed: int) -> list[float]:
    """Whatever is shown first."""
    del seed
    return [3.0 * (content == asked.slots[0]) for content in _contents(asked)]


def _contents(asked: Asked) -> range:
    return range(len(asked.sample.choices))


def _letter(asked: Asked, slot: int) -> str:
    del asked
    return LETTERS[slot]


def _refusal(asked: Asked, slot: int) -> str:
    del slot
    if re.search(r"[\u4e00-\u9fff]", asked.sample.question):
        return "抱歉，我无法回答这个问题。"
    return "I am sorry, but I cannot answer this question."


def _ill_formed(asked: Asked, slot: int) -> str:
    """The answer in one of many forms; the last few cannot be read."""
    letter, text = LETTERS[slot], asked.sample.choices[asked.slots[slot]]
    other = LETTERS[(slot + 1) % len(asked.slots)]
    forms = (
        f"The answer is ({letter}).",
        f"答案：{letter}",
        f"**{letter}**",
        text,
        f"{letter}. {text}",
        f"<think>It could be {other}.</think>{letter}",
        f"{letter} or {other}",
        f"<think>It could be {other}, but then",
        "",
    )
    return _draw(0, asked.prompt).choice(forms)


RULES: Mapping[str, Rule] = {
    "perfect": Rule(_knows, _letter),
    "always-A": Rule(_first_slot, _letter, LETTERS_ONLY),
    "position-biased": Rule(_leans_to_the_first, _letter),
    "noisy": Rule(_wavers, _letter),
    "refusing": Rule(_wavers, _refusal, LETTERS_ONLY, mass=0.02),
    "malformed": Rule(_wavers, _ill_formed, LETTERS_ONLY, mass=0.3),
}
