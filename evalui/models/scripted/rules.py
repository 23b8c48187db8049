"""The rules scripted models answer by: what each likes, and how it says so."""

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from evalui.models.scripted.judges import Preferring, by_length, by_reference, by_reference_or_first
from evalui.models.scripted.shown_questions import Others
from evalui.types import LETTERS, Ability, Sample

LETTERS_ONLY: frozenset[Ability] = frozenset({"next_token", "generate"})
ALL: frozenset[Ability] = frozenset({"next_token", "loglik", "generate"})
WORDS_ONLY: frozenset[Ability] = frozenset({"generate"})


@dataclass(frozen=True, slots=True)
class Asked:
    """A question as the model saw it: which option stands in which slot, and the whole prompt.

    `slots` is empty where the options are not shown.
    """

    sample: Sample
    slots: tuple[int, ...]
    prompt: str


@dataclass(frozen=True, slots=True)
class Open:
    """An open question as the model saw it: which turn of which sample, and the whole prompt.

    `others` are reference answers to other questions, in the order of the file.
    """

    sample: Sample
    turn: int
    prompt: str
    others: Others


# How much a rule likes each option of a question, by option and not by slot, in logits.
Liking = Callable[[Asked, int], list[float]]
# What a rule writes when it would answer with this slot.
Wording = Callable[[Asked, int], str]
# What a rule writes when nothing is to be chosen: the question and the seed.
Telling = Callable[[Open, int], str]


@dataclass(frozen=True, slots=True)
class Rule:
    """How a scripted model answers. `mass` is the probability it gives to all labels together.

    `prefers` makes it a judge: it compares the answers of others and gives none itself.
    """

    liking: Liking
    wording: Wording
    telling: Telling
    abilities: frozenset[Ability] = ALL
    mass: float = 0.98
    prefers: Preferring | None = None


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
        2.0 * (content == asked.sample.target) + _appeal(seed, asked.sample.id, content)
        for content in _contents(asked)
    ]


@lru_cache(maxsize=1024)  # a question is asked in many orders, one after another
def _appeal(seed: int, sample: str, content: int) -> float:
    return _draw(seed, sample, content).gauss(0.0, 1.0)


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
    return _in_language(asked.sample, _REFUSAL)


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


def _sentence(asked: Asked, slot: int) -> str:
    """The letter in the middle of many words."""
    said = ("Let me think about it. The answer is {0}.", "这道题我想了一下。答案是{0}。")
    return _in_language(asked.sample, said).format(LETTERS[slot])


def _tells(asked: Open, seed: int) -> str:
    """The reference: that of the turn in a conversation that has one for each."""
    del seed
    references = asked.sample.references
    if not references:
        return _in_language(asked.sample, _UNKNOWN)
    return references[asked.turn] if len(references) > asked.turn else references[0]


def _half_tells(asked: Open, seed: int) -> str:
    """The reference for about two thirds of the questions, else that of another question."""
    return _tells_or_errs(asked, seed, _draw(seed, asked.sample.id, asked.turn))


def _tells_wavering(asked: Open, seed: int) -> str:
    """As `_half_tells`, and anew with every prompt."""
    return _tells_or_errs(asked, seed, _draw(seed, asked.prompt))


def _tells_or_errs(asked: Open, seed: int, dice: random.Random) -> str:
    if dice.random() < 2 / 3:
        return _tells(asked, seed)
    return dice.choice(asked.others) if asked.others else _in_language(asked.sample, _UNKNOWN)


def _tells_at_length(asked: Open, seed: int) -> str:
    """The reference behind a list of phrases that say nothing."""
    return _in_language(asked.sample, _PADDED).format(_tells(asked, seed))


def _declines(asked: Open, seed: int) -> str:
    del seed
    return _in_language(asked.sample, _REFUSAL)


def _tells_letter(asked: Open, seed: int) -> str:
    del asked, seed
    return LETTERS[0]


def _tells_ill_formed(asked: Open, seed: int) -> str:
    """As `_tells_wavering`, in one of many forms; the last few hold no answer."""
    text = _tells_wavering(asked, seed)
    forms = (
        f"**{text}**",
        f"> {text}\n\n---",
        f"<think>It could be something else.</think>{text}",
        f"<think>It could be {text}, but then",
        "\n",
        "",
    )
    return _draw(seed, asked.prompt, "form").choice(forms)


def _in_language(sample: Sample, said: Sequence[str]) -> str:
    """The second text for a Chinese question, else the first."""
    return said[bool(re.search(r"[\u4e00-\u9fff]", sample.question))]


def _judging(prefers: Preferring) -> Rule:
    return Rule(_first_slot, _letter, _tells_letter, WORDS_ONLY, prefers=prefers)


_REFUSAL = ("I am sorry, but I cannot answer this question.", "抱歉，我无法回答这个问题。")
_UNKNOWN = ("I know no reference answer to this question.", "我没有这道题的参考答案。")
_PADDED = (
    "That is a very good question. Let us look at it from several sides:\n\n"
    "- **What is asked.** It deserves a careful reading.\n"
    "- **What is known.** Many people have thought about it.\n"
    "- **What follows.** {0}\n\n"
    "I hope this helps. Feel free to ask for more details at any time.",
    "这是一个很好的问题，我们从几个方面来看：\n\n"
    "- **问题本身**：值得认真读一遍。\n"
    "- **已知情况**：许多人都思考过它。\n"
    "- **结论**：{0}\n\n"
    "希望对你有帮助，如需更多细节，欢迎随时提问。",
)

RULES: Mapping[str, Rule] = {
    "perfect": Rule(_knows, _letter, _tells),
    "always-A": Rule(_first_slot, _letter, _tells_letter, LETTERS_ONLY),
    "position-biased": Rule(_leans_to_the_first, _letter, _half_tells),
    "noisy": Rule(_wavers, _letter, _tells_wavering),
    "verbose": Rule(_half_knows, _sentence, _tells_at_length),
    "refusing": Rule(_wavers, _refusal, _declines, LETTERS_ONLY, mass=0.02),
    "malformed": Rule(_wavers, _ill_formed, _tells_ill_formed, LETTERS_ONLY, mass=0.3),
    "reference-judge": _judging(by_reference),
    "first-biased-judge": _judging(by_reference_or_first),
    "length-biased-judge": _judging(by_length),
}
# Judges that cannot compare without a reference; to rate one answer, each of them needs one.
REFERENCED = frozenset({"reference-judge", "first-biased-judge"})
