"""Judges that decide by rule: they compare answers with the reference, without a language model.

A judge depends on its prompt alone: it finds the texts by the tags around them, whatever the
rubric, and writes its verdict in the form that is requested after the last of them. It measures
how many of the reference's words an answer has, and how few others.
"""

import random
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from evalui.replies import HAN, contains_han

Preference = Literal["a", "b", "tie", "neither"]

TIE_MARGIN = 0.1  # answers whose agreement differs by less are equally good
CLEAR_MARGIN = 0.5  # and by this much, one is much better
MIN_AGREEMENT = 0.35  # below this neither answer is any good
CLOSE_MARGIN = 0.3  # a comparison that a biased judge may decide by position
BIASED_SHARE = 0.6  # of the close comparisons
MIN_RECALL = 0.8  # the share of the reference's words that a correct answer has


@dataclass(frozen=True, slots=True)
class JudgePrompt:
    """A parsed judge's prompt: the references, the turns of each answer, the instructions."""

    question: str
    references: tuple[str, ...]
    answers: tuple[tuple[str, ...], ...]
    instructions: str


# Which of two answers a judge prefers, or None if it cannot decide.
PreferenceRule = Callable[[JudgePrompt, int], Preference | None]


def parse_judge_prompt(prompt: str) -> JudgePrompt | None:
    """The parsed prompt; None if it has no answers to judge."""
    matches = list(_TAGGED_TEXT.finditer(prompt))
    answers: dict[str, list[str]] = {}
    texts: dict[str, list[str]] = {"question": [], "reference": []}
    # A conversation that is shown whole repeats its questions, each between the same tags.
    for match in {match["tag"]: match for match in matches}.values():
        kind = answers if match["name"].startswith("answer") else texts
        kind.setdefault(match["name"], []).append(match["text"])
    if not answers:
        return None
    return JudgePrompt(
        question="\n".join(texts["question"]),
        references=tuple(texts["reference"]),
        answers=tuple(tuple(map(str.strip, answers[name])) for name in sorted(answers)),
        instructions=prompt[matches[-1].end() :],
    )


def by_reference(shown: JudgePrompt, seed: int) -> Preference | None:
    """The answer that agrees more with the reference; None without a reference."""
    del seed
    if not shown.references:
        return None
    first, second = _agreements(shown)
    if max(first, second) < MIN_AGREEMENT:
        return "neither"
    if abs(first - second) < TIE_MARGIN:
        return "tie"
    return "a" if first > second else "b"


def by_reference_or_first(shown: JudgePrompt, seed: int) -> Preference | None:
    """As `by_reference`, but the first answer in a seeded share of the close comparisons.

    The random numbers depend on the question and the answers but not on their order: shown the
    other way round, the same pair goes to the other answer.
    """
    preferred = by_reference(shown, seed)
    if preferred is None:
        return None
    first, second = _agreements(shown)
    rng = random.Random(repr((seed, shown.question, sorted(map(_join_turns, shown.answers)))))
    if abs(first - second) < CLOSE_MARGIN and rng.random() < BIASED_SHARE:
        return "a"
    return preferred


def by_length(shown: JudgePrompt, seed: int) -> Preference | None:
    """The longer answer; of two of the same length the one that agrees more."""
    first, second = (len(_join_turns(turns)) for turns in shown.answers)
    if first == second:
        return by_reference(shown, seed)
    return "a" if first > second else "b"


def write_verdict(prefers: PreferenceRule, shown: JudgePrompt, seed: int) -> str:
    """The verdict in the language and the form that the prompt requests."""
    language = "zh" if contains_han(shown.instructions) else "en"
    if len(shown.answers) == 1:
        label = _rating(prefers, shown)
    else:
        label = _verdict_label(prefers(shown, seed), shown)
    if not label:
        return UNDECIDED[language]
    if label.startswith("{"):
        return label.replace("{reason}", _REASON[language])
    return f"{_REASON[language]}\n{label}"


def reference_agreement(answer: str, references: Sequence[str]) -> float:
    """How well the answer agrees with the closest reference, 0 to 1.

    The mean of recall (the share of the reference's words that the answer has) and F1. So a right
    answer among many other words has a half at least, and one without them more.
    """
    return max(_agreement(_words(answer), _words(reference)) for reference in references)


def _rating(prefers: PreferenceRule, shown: JudgePrompt) -> str:
    """A rating of 1 to 10 (of each criterion, where there are some), or correct and incorrect; ""
    without a reference.

    The judge that prefers length adds 2 to the rating of an answer longer than its references.
    """
    if not shown.references:
        return ""
    (compared,) = _with_references(shown)
    if _CORRECTNESS.search(shown.instructions):
        right = all(_is_correct(text, references) for text, references in compared)
        return "[[correct]]" if right else "[[incorrect]]"
    (agreement,) = _agreements(shown)
    rating = 1 + round(9 * agreement)
    longest = sum(max(map(len, references)) for _, references in compared)
    if prefers is by_length and sum(len(text) for text, _ in compared) > longest:
        rating = min(10, rating + 2)
    criteria = _CRITERION.findall(shown.instructions)
    return "\n".join(f"{name}: [[{rating}]]" for name in criteria) or f"[[{rating}]]"


def _agreements(shown: JudgePrompt) -> list[float]:
    """How well each answer agrees with the references: the mean over its turns."""
    from statistics import fmean  # it loads fractions and decimals: not for all importers

    return [
        fmean(reference_agreement(text, references) for text, references in compared)
        for compared in _with_references(shown)
    ]


def _with_references(shown: JudgePrompt) -> list[list[tuple[str, Sequence[str]]]]:
    """For each answer, every text with the references that it is compared with.

    In a conversation with a reference for each turn these are the turns; else the whole answer
    may agree with any reference.
    """
    references = shown.references
    return [
        [(turn, [reference]) for turn, reference in zip(turns, references, strict=True)]
        if len(turns) == len(references)
        else [(_join_turns(turns), references)]
        for turns in shown.answers
    ]


def _join_turns(turns: Sequence[str]) -> str:
    return "\n".join(turns).strip()


def _is_correct(answer: str, references: Sequence[str]) -> bool:
    words = _words(answer)
    return any(_recall(words, _words(reference)) >= MIN_RECALL for reference in references)


def _verdict_label(preferred: Preference | None, shown: JudgePrompt) -> str:
    """The preference in the first of the known forms that the prompt names; "" if there is none."""
    if preferred is None:
        return ""
    for markers, form in _FORMS.items():
        if all(marker in shown.instructions for marker in markers):
            return form.get(_with_strength(preferred, shown)) or form[preferred]
    return ""


def _with_strength(preferred: Preference, shown: JudgePrompt) -> str:
    """The preference, doubled ("aa") for an answer that agrees much more."""
    if preferred in ("tie", "neither") or not shown.references:
        return preferred
    first, second = _agreements(shown)
    return preferred * 2 if abs(first - second) >= CLEAR_MARGIN else preferred


def _words(text: str) -> Counter[str]:
    """Words, and for Chinese the characters and all pairs of neighbours."""
    words = Counter(_WORD.findall(text.casefold()))
    for run in _HAN_RUN.findall(text):
        words.update(run)
        words.update(run[place : place + 2] for place in range(len(run) - 1))
    return words


def _agreement(ours: Counter[str], theirs: Counter[str]) -> float:
    both = ours.total() + theirs.total()
    f1 = 2 * (ours & theirs).total() / both if both else 0.0
    return (_recall(ours, theirs) + f1) / 2


def _recall(ours: Counter[str], theirs: Counter[str]) -> float:
    return (ours & theirs).total() / theirs.total() if theirs else 0.0


_TAG = (
    r"(?P<name>history|question|reference|guidance|answer(?:_(?:[ab]|one|two))?)(?:_\d+)?"
    r"_[0-9a-f]{16}"
)
_CORRECTNESS = re.compile(r"\[\[correct\]\]|\[\[x\]\][^\n]*incorrect")
_CRITERION = re.compile(r"^- ([^:\n]+): ", re.MULTILINE)
_TAGGED_TEXT = re.compile(rf"<(?P<tag>{_TAG})>\n(?P<text>.*?)\n</(?P=tag)>", re.DOTALL)
_HAN_RUN = re.compile(f"[{HAN}]+")
_WORD = re.compile(rf"[^\W_{HAN}]+")
_REASON = {
    "en": "Decided by rule, without a language model.",
    "zh": "按规则评判，不使用语言模型。",
}
# The reply of a scripted judge that cannot decide. Stored runs have these sentences.
UNDECIDED = {
    "en": "This rule needs a reference answer and a form it knows; it cannot decide here.",
    "zh": "本规则需要参考答案和已知的作答格式，这里无法评判。",
}


def _winners(a: str, b: str, tie: str, neither: str) -> Mapping[str, str]:
    """Each preference as the value of a JSON object's `winner`."""
    named = {"a": a, "b": b, "tie": tie, "neither": neither}
    return {
        preference: f'{{"reason": "{{reason}}", "winner": "{winner}"}}'
        for preference, winner in named.items()
    }


# What a prompt that requests a form has in it, and each preference in that form. The first of which
# all is there counts: a five-step prompt may mention [[A]] as well.
_FORMS: Mapping[tuple[str, ...], Mapping[str, str]] = {
    ("[[A>>B]]",): {
        "aa": "My final verdict is: [[A>>B]]",
        "a": "My final verdict is: [[A>B]]",
        "tie": "My final verdict is: [[A=B]]",
        "neither": "My final verdict is: [[A=B]]",
        "b": "My final verdict is: [[B>A]]",
        "bb": "My final verdict is: [[B>>A]]",
    },
    ("[[A]]",): {"a": "[[A]]", "b": "[[B]]", "tie": "[[C]]", "neither": "[[C]]"},
    ('"winner"', "Answer 1, Answer 2"): _winners("Answer 1", "Answer 2", "both good", "both bad"),
    ('"winner"', "回答1、回答2"): _winners("回答1", "回答2", "都好", "都不好"),
    ('"winner"',): _winners("A", "B", "tie", "neither"),
    ("Answer 1 much better",): {
        "aa": "[[Answer 1 much better]]",
        "a": "[[Answer 1 better]]",
        "tie": "[[both good]]",
        "neither": "[[both bad]]",
        "b": "[[Answer 2 better]]",
        "bb": "[[Answer 2 much better]]",
    },
    ("回答1明显更好",): {
        "aa": "[[回答1明显更好]]",
        "a": "[[回答1更好]]",
        "tie": "[[都好]]",
        "neither": "[[都不好]]",
        "b": "[[回答2更好]]",
        "bb": "[[回答2明显更好]]",
    },
    ("[[x]]", "both bad"): {
        "a": "[[Answer 1]]",
        "b": "[[Answer 2]]",
        "tie": "[[both good]]",
        "neither": "[[both bad]]",
    },
    ("[[x]]", "都不好"): {
        "a": "[[回答1]]",
        "b": "[[回答2]]",
        "tie": "[[都好]]",
        "neither": "[[都不好]]",
    },
    ("选择：",): {"a": "选择：A", "b": "选择：B", "tie": "选择：C", "neither": "选择：D"},
    ("Choice: ",): {"a": "Choice: A", "b": "Choice: B", "tie": "Choice: C", "neither": "Choice: D"},
}
