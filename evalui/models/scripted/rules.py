"""The rules of scripted models: which option each prefers, and the text it writes."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from evalui.models.scripted.judges import (
    PreferenceRule,
    by_length,
    by_reference,
    by_reference_or_first,
)
from evalui.models.scripted.shown_questions import OtherReferences
from evalui.replies import is_chinese
from evalui.types import LETTERS, Ability, Sample

LETTERS_ONLY: frozenset[Ability] = frozenset({"next_token", "generate"})
ALL: frozenset[Ability] = frozenset({"next_token", "loglik", "generate"})
WORDS_ONLY: frozenset[Ability] = frozenset({"generate"})


@dataclass(frozen=True, slots=True)
class SeenQuestion:
    """A question as its prompt shows it: the option in each slot, and the whole prompt.

    `slots` is empty where the options are not shown.
    """

    sample: Sample
    slots: tuple[int, ...]
    prompt: str


@dataclass(frozen=True, slots=True)
class SeenOpenQuestion:
    """An open question as its prompt shows it: which turn of which sample, and the whole prompt.

    `other_references` are reference answers to other questions, in the order of the file.
    """

    sample: Sample
    turn: int
    prompt: str
    other_references: OtherReferences


# The score of each option in logits, by option and not by slot: (question, seed) -> scores.
OptionScorer = Callable[[SeenQuestion, int], list[float]]
# The text that chooses a slot: (question, slot) -> text.
ChoiceWriter = Callable[[SeenQuestion, int], str]
# The answer to an open question: (question, seed) -> text.
AnswerWriter = Callable[[SeenOpenQuestion, int], str]


@dataclass(frozen=True, slots=True)
class ScriptedRule:
    """How a scripted model answers. `mass` is the probability of all labels together.

    With a `preference_rule` it is a judge: it compares answers and gives none itself.
    """

    score_options: OptionScorer
    write_choice: ChoiceWriter
    write_answer: AnswerWriter
    abilities: frozenset[Ability] = ALL
    mass: float = 0.98
    preference_rule: PreferenceRule | None = None


def _seeded_rng(seed: int, *parts: object) -> random.Random:
    """A random number generator that depends on the seed and the parts only."""
    return random.Random("|".join(map(str, (seed, *parts))))


def _prefer_target(seen: SeenQuestion, seed: int) -> list[float]:
    """The right answer, by 20 logits."""
    del seed
    return [20.0 * (content == seen.sample.target) for content in _option_indices(seen)]


def _prefer_target_noisily(seen: SeenQuestion, seed: int) -> list[float]:
    """The right answer by 2 logits, plus noise per option: right on most questions.

    The noise stays with the option whichever slot it is shown in.
    """
    return [
        2.0 * (content == seen.sample.target) + _option_noise(seed, seen.sample.id, content)
        for content in _option_indices(seen)
    ]


@lru_cache(maxsize=1024)  # the option orders of a question follow each other
def _option_noise(seed: int, sample: str, content: int) -> float:
    return _seeded_rng(seed, sample, content).gauss(0.0, 1.0)


def _prefer_target_per_prompt(seen: SeenQuestion, seed: int) -> list[float]:
    """As `_prefer_target_noisily`, with noise per prompt: orders disagree, no slot is favoured."""
    return [
        score + _seeded_rng(seed, seen.prompt, content).gauss(0.0, 1.0)
        for content, score in enumerate(_prefer_target_noisily(seen, seed))
    ]


def _prefer_early_slots(seen: SeenQuestion, seed: int) -> list[float]:
    """As `_prefer_target_noisily`, and 2.5 logits more for the first slot, 1 for the second."""
    scores = _prefer_target_noisily(seen, seed)
    for extra, content in zip((2.5, 1.0), seen.slots, strict=False):
        scores[content] += extra
    return scores


def _prefer_first_slot(seen: SeenQuestion, seed: int) -> list[float]:
    """The option in the first slot."""
    del seed
    return [3.0 * (content == seen.slots[0]) for content in _option_indices(seen)]


def _option_indices(seen: SeenQuestion) -> range:
    return range(len(seen.sample.choices))


def _write_letter(seen: SeenQuestion, slot: int) -> str:
    del seen
    return LETTERS[slot]


def _write_refused_choice(seen: SeenQuestion, slot: int) -> str:
    del slot
    return _in_language(seen.sample, _REFUSAL)


def _write_malformed_choice(seen: SeenQuestion, slot: int) -> str:
    """The answer in one of many forms; the last few cannot be parsed."""
    letter, text = LETTERS[slot], seen.sample.choices[seen.slots[slot]]
    other = LETTERS[(slot + 1) % len(seen.slots)]
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
    return _seeded_rng(0, seen.prompt).choice(forms)


def _write_letter_in_sentence(seen: SeenQuestion, slot: int) -> str:
    """The letter in a sentence."""
    return _in_language(seen.sample, _LETTER_SENTENCE).format(LETTERS[slot])


def _write_reference(seen: SeenOpenQuestion, seed: int) -> str:
    """The reference; in a conversation with one per turn, that of the turn."""
    del seed
    references = seen.sample.references
    if not references:
        return _in_language(seen.sample, _UNKNOWN)
    return references[seen.turn] if len(references) > seen.turn else references[0]


def _write_reference_mostly(seen: SeenOpenQuestion, seed: int) -> str:
    """The reference for about two thirds of the questions, else that of another question."""
    return _reference_or_other(seen, seed, _seeded_rng(seed, seen.sample.id, seen.turn))


def _write_reference_per_prompt(seen: SeenOpenQuestion, seed: int) -> str:
    """As `_write_reference_mostly`, drawn for every prompt."""
    return _reference_or_other(seen, seed, _seeded_rng(seed, seen.prompt))


def _reference_or_other(seen: SeenOpenQuestion, seed: int, rng: random.Random) -> str:
    if rng.random() < 2 / 3:
        return _write_reference(seen, seed)
    return (
        rng.choice(seen.other_references)
        if seen.other_references
        else _in_language(seen.sample, _UNKNOWN)
    )


def _write_padded_reference(seen: SeenOpenQuestion, seed: int) -> str:
    """The reference after a list of empty phrases."""
    return _in_language(seen.sample, _PADDED).format(_write_reference(seen, seed))


def _write_refused_answer(seen: SeenOpenQuestion, seed: int) -> str:
    del seed
    return _in_language(seen.sample, _REFUSAL)


def _write_first_letter(seen: SeenOpenQuestion, seed: int) -> str:
    del seen, seed
    return LETTERS[0]


def _write_malformed_answer(seen: SeenOpenQuestion, seed: int) -> str:
    """As `_write_reference_per_prompt`, in one of many forms; the last few hold no answer."""
    text = _write_reference_per_prompt(seen, seed)
    forms = (
        f"**{text}**",
        f"> {text}\n\n---",
        f"<think>It could be something else.</think>{text}",
        f"<think>It could be {text}, but then",
        "\n",
        "",
    )
    return _seeded_rng(seed, seen.prompt, "form").choice(forms)


def _in_language(sample: Sample, texts: tuple[str, str]) -> str:
    """The second text for a Chinese question, else the first."""
    return texts[is_chinese(sample.question)]


def _judge_rule(prefers: PreferenceRule) -> ScriptedRule:
    return ScriptedRule(
        _prefer_first_slot, _write_letter, _write_first_letter, WORDS_ONLY, preference_rule=prefers
    )


_LETTER_SENTENCE = (
    "Let me think about it. The answer is {0}.",
    "这道题我想了一下。答案是{0}。",
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
    "steady": ScriptedRule(_prefer_target_noisily, _write_letter, _write_padded_reference),
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
# Judges that need a reference to compare two answers; to rate one answer, every judge needs one.
RULES_NEEDING_REFERENCE = frozenset({"reference-judge", "first-biased-judge"})
