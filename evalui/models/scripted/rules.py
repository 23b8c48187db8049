"""The rules scripted models answer by: what each likes, and how it says so."""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from evalui.models.scripted.judges import (
    PreferenceRule,
    by_length,
    by_reference,
    by_reference_or_first,
)
from evalui.models.scripted.shown_questions import OtherReferences
from evalui.text_tokenizers.han import contains_han
from evalui.types import LETTERS, Ability, Sample

LETTERS_ONLY: frozenset[Ability] = frozenset({"next_token", "generate"})
ALL: frozenset[Ability] = frozenset({"next_token", "loglik", "generate"})
WORDS_ONLY: frozenset[Ability] = frozenset({"generate"})


@dataclass(frozen=True, slots=True)
class SeenQuestion:
    """A question as the model saw it: which option stands in which slot, and the whole prompt.

    `slots` is empty where the options are not shown.
    """

    sample: Sample
    slots: tuple[int, ...]
    prompt: str


@dataclass(frozen=True, slots=True)
class SeenOpenQuestion:
    """An open question as the model saw it: which turn of which sample, and the whole prompt.

    `other_references` are reference answers to other questions, in the order of the file.
    """

    sample: Sample
    turn: int
    prompt: str
    other_references: OtherReferences


# How much a rule likes each option of a question, by option and not by slot, in logits.
OptionScorer = Callable[[SeenQuestion, int], list[float]]
# What a rule writes when it would answer with this slot.
ChoiceWriter = Callable[[SeenQuestion, int], str]
# What a rule writes when nothing is to be chosen: the question and the seed.
AnswerWriter = Callable[[SeenOpenQuestion, int], str]


@dataclass(frozen=True, slots=True)
class ScriptedRule:
    """How a scripted model answers. `mass` is the probability it gives to all labels together.

    `preference_rule` makes it a judge: it compares the answers of others and gives none itself.
    """

    score_options: OptionScorer
    write_choice: ChoiceWriter
    write_answer: AnswerWriter
    abilities: frozenset[Ability] = ALL
    mass: float = 0.98
    preference_rule: PreferenceRule | None = None


def _seeded_rng(seed: int, *about: object) -> random.Random:
    """Dice that fall the same way for the same seed and subject."""
    return random.Random("|".join(map(str, (seed, *about))))


def _prefer_target(asked: SeenQuestion, seed: int) -> list[float]:
    """The right answer, without doubt."""
    del seed
    return [20.0 * (content == asked.sample.target) for content in _option_indices(asked)]


def _prefer_target_noisily(asked: SeenQuestion, seed: int) -> list[float]:
    """The right answer by 2 logits, each option's own appeal aside: right on most questions.

    The appeal stays with the option wherever it is shown.
    """
    return [
        2.0 * (content == asked.sample.target) + _option_noise(seed, asked.sample.id, content)
        for content in _option_indices(asked)
    ]


@lru_cache(maxsize=1024)  # a question is asked in many orders, one after another
def _option_noise(seed: int, sample: str, content: int) -> float:
    return _seeded_rng(seed, sample, content).gauss(0.0, 1.0)


def _prefer_target_per_prompt(asked: SeenQuestion, seed: int) -> list[float]:
    """As `_prefer_target_noisily`, drawn for every prompt: orders disagree, no slot is favoured."""
    return [
        liking + _seeded_rng(seed, asked.prompt, content).gauss(0.0, 1.0)
        for content, liking in enumerate(_prefer_target_noisily(asked, seed))
    ]


def _prefer_early_slots(asked: SeenQuestion, seed: int) -> list[float]:
    """As `_prefer_target_noisily`, and 2.5 logits more for the first slot, 1 for the second."""
    liking = _prefer_target_noisily(asked, seed)
    for extra, content in zip((2.5, 1.0), asked.slots, strict=False):
        liking[content] += extra
    return liking


def _prefer_first_slot(asked: SeenQuestion, seed: int) -> list[float]:
    """Whatever is shown first."""
    del seed
    return [3.0 * (content == asked.slots[0]) for content in _option_indices(asked)]


def _option_indices(asked: SeenQuestion) -> range:
    return range(len(asked.sample.choices))


def _write_letter(asked: SeenQuestion, slot: int) -> str:
    del asked
    return LETTERS[slot]


def _write_refused_choice(asked: SeenQuestion, slot: int) -> str:
    del slot
    return _in_language(asked.sample, _REFUSAL)


def _write_malformed_choice(asked: SeenQuestion, slot: int) -> str:
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
    return _seeded_rng(0, asked.prompt).choice(forms)


def _write_letter_in_sentence(asked: SeenQuestion, slot: int) -> str:
    """The letter in the middle of many words."""
    said = ("Let me think about it. The answer is {0}.", "这道题我想了一下。答案是{0}。")
    return _in_language(asked.sample, said).format(LETTERS[slot])


def _write_reference(asked: SeenOpenQuestion, seed: int) -> str:
    """The reference: that of the turn in a conversation that has one for each."""
    del seed
    references = asked.sample.references
    if not references:
        return _in_language(asked.sample, _UNKNOWN)
    return references[asked.turn] if len(references) > asked.turn else references[0]


def _write_reference_mostly(asked: SeenOpenQuestion, seed: int) -> str:
    """The reference for about two thirds of the questions, else that of another question."""
    return _reference_or_other(asked, seed, _seeded_rng(seed, asked.sample.id, asked.turn))


def _write_reference_per_prompt(asked: SeenOpenQuestion, seed: int) -> str:
    """As `_write_reference_mostly`, and anew with every prompt."""
    return _reference_or_other(asked, seed, _seeded_rng(seed, asked.prompt))


def _reference_or_other(asked: SeenOpenQuestion, seed: int, dice: random.Random) -> str:
    if dice.random() < 2 / 3:
        return _write_reference(asked, seed)
    return (
        dice.choice(asked.other_references)
        if asked.other_references
        else _in_language(asked.sample, _UNKNOWN)
    )


def _write_padded_reference(asked: SeenOpenQuestion, seed: int) -> str:
    """The reference behind a list of phrases that say nothing."""
    return _in_language(asked.sample, _PADDED).format(_write_reference(asked, seed))


def _write_refused_answer(asked: SeenOpenQuestion, seed: int) -> str:
    del seed
    return _in_language(asked.sample, _REFUSAL)


def _write_first_letter(asked: SeenOpenQuestion, seed: int) -> str:
    del asked, seed
    return LETTERS[0]


def _write_malformed_answer(asked: SeenOpenQuestion, seed: int) -> str:
    """As `_write_reference_per_prompt`, in one of many forms; the last few hold no answer."""
    text = _write_reference_per_prompt(asked, seed)
    forms = (
        f"**{text}**",
        f"> {text}\n\n---",
        f"<think>It could be something else.</think>{text}",
        f"<think>It could be {text}, but then",
        "\n",
        "",
    )
    return _seeded_rng(seed, asked.prompt, "form").choice(forms)


def _in_language(sample: Sample, said: Sequence[str]) -> str:
    """The second text for a Chinese question, else the first."""
    return said[contains_han(sample.question)]


def _judge_rule(prefers: PreferenceRule) -> ScriptedRule:
    return ScriptedRule(
        _prefer_first_slot, _write_letter, _write_first_letter, WORDS_ONLY, preference_rule=prefers
    )


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

RULES: Mapping[str, ScriptedRule] = {
    "perfect": ScriptedRule(_prefer_target, _write_letter, _write_reference),
    "always-A": ScriptedRule(_prefer_first_slot, _write_letter, _write_first_letter, LETTERS_ONLY),
    "position-biased": ScriptedRule(_prefer_early_slots, _write_letter, _write_reference_mostly),
    "noisy": ScriptedRule(_prefer_target_per_prompt, _write_letter, _write_reference_per_prompt),
    "verbose": ScriptedRule(
        _prefer_target_noisily, _write_letter_in_sentence, _write_padded_reference
    ),
    "refusing": ScriptedRule(
        _prefer_target_per_prompt,
        _write_refused_choice,
        _write_refused_answer,
        LETTERS_ONLY,
        mass=0.02,
    ),
    "malformed": ScriptedRule(
        _prefer_target_per_prompt,
        _write_malformed_choice,
        _write_malformed_answer,
        LETTERS_ONLY,
        mass=0.3,
    ),
    "reference-judge": _judge_rule(by_reference),
    "first-biased-judge": _judge_rule(by_reference_or_first),
    "length-biased-judge": _judge_rule(by_length),
}
# Judges that cannot compare without a reference; to rate one answer, each of them needs one.
RULES_NEEDING_REFERENCE = frozenset({"reference-judge", "first-biased-judge"})
