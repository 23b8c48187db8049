"""What can be measured on a dataset before any model has seen it.

A set whose right answers are mostly B, or mostly the longest option, can be passed without
knowledge; so these figures stand beside the upload.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from evalui.datasets.open_samples import language_of
from evalui.pictures import without
from evalui.proportions import wilson_interval
from evalui.types import LETTERS, Interval, Language, Sample

Key = TypeVar("Key")

_MIN_EXPECTED_COUNT = 5  # right answers expected per letter, below which chi-square is no good


@dataclass(frozen=True, slots=True)
class LengthStatistics:
    """Lengths of texts in characters; all 0 if there are none."""

    shortest: int
    median: float
    longest: int


@dataclass(frozen=True, slots=True)
class BestLetter:
    """The letter that scores best when it is always chosen, and what it scores."""

    letter: str
    share: Interval


@dataclass(frozen=True, slots=True)
class ChoiceHealth:
    """Figures of a dataset that need no model.

    `options_per_question` counts the questions by their number of options, `letter_counts` the
    right answers by letter. `letters_p` tests the letters against an even spread: chi-square within
    each number of options, summed; numbers of options with too few questions are left out, and it
    is None if none remains. `longest_option` is the score of always choosing the longest option,
    1/t where t are equally long. `chance` is the mean of 1/K. `duplicates` has the ids of questions
    with the same text and options, `refers_to_other_options` those whose options refer to other
    options and `duplicate_options` those with options of the same text.
    """

    n: int
    options_per_question: dict[int, int]
    letter_counts: tuple[int, ...]
    letters_p: float | None
    always_letter: BestLetter
    longest_option: Interval
    chance: float
    duplicates: tuple[tuple[str, ...], ...]
    refers_to_other_options: tuple[str, ...]
    duplicate_options: tuple[str, ...]
    question_length: LengthStatistics
    option_length: LengthStatistics
    subjects: dict[str, int]
    languages: dict[Language, int]


def check_choices(samples: Sequence[Sample]) -> ChoiceHealth:
    """The health of multiple-choice samples; of none, everything is 0 or empty."""
    options = Counter(len(sample.choices) for sample in samples)
    golds = Counter(_target_of(sample) for sample in samples)
    letters = tuple(golds[slot] for slot in range(max(options, default=0)))
    n = len(samples)
    best = max(range(len(letters)), key=letters.__getitem__, default=0)
    return ChoiceHealth(
        n=n,
        options_per_question=dict(sorted(options.items())),
        letter_counts=letters,
        letters_p=letter_balance_p(samples),
        always_letter=BestLetter(LETTERS[best], _share(golds[best], n)),
        longest_option=_share(sum(map(_longest_option_credit, samples)), n),
        chance=sum(1 / len(sample.choices) for sample in samples) / n if n else 0.0,
        duplicates=_duplicate_questions(samples),
        refers_to_other_options=tuple(
            sample.id for sample in samples if sample.refers_to_other_options
        ),
        duplicate_options=tuple(sample.id for sample in samples if sample.duplicate_options),
        question_length=_length_statistics(without(sample.question) for sample in samples),
        option_length=_length_statistics(choice for sample in samples for choice in sample.choices),
        subjects=_count_by(samples, lambda sample: sample.subject),
        languages=_count_by(samples, lambda sample: language_of(sample.question)),
    )


def letter_balance_p(samples: Sequence[Sample]) -> float | None:
    """How surprising the letters of the right answers are if each letter is as likely.

    The chi-square statistics of questions with equally many options are independent, so they
    may be summed, and their degrees of freedom with them.
    """
    golds: defaultdict[int, Counter[int]] = defaultdict(Counter)
    for sample in samples:
        golds[len(sample.choices)][_target_of(sample)] += 1
    statistic, freedom = 0.0, 0
    for n_options, counts in golds.items():
        expected = counts.total() / n_options
        if expected >= _MIN_EXPECTED_COUNT:
            differences = (counts[slot] - expected for slot in range(n_options))
            statistic += sum(difference**2 for difference in differences) / expected
            freedom += n_options - 1
    if not freedom:
        return None
    from scipy.special import chdtrc  # a sixth of a second, which reading a file does not need

    return float(chdtrc(freedom, statistic))


def _target_of(sample: Sample) -> int:
    assert isinstance(sample.target, int), "multiple choice has an option as its target"
    return sample.target


def _longest_option_credit(sample: Sample) -> float:
    lengths = [len(choice) for choice in sample.choices]
    longest = max(lengths)
    return (lengths[_target_of(sample)] == longest) / lengths.count(longest)


def _share(successes: float, n: int) -> Interval:
    """Wilson's interval; of no questions, everything is 0."""
    return wilson_interval(successes, n) if n else Interval(0.0, 0.0, 0.0, 0)


def _duplicate_questions(samples: Sequence[Sample]) -> tuple[tuple[str, ...], ...]:
    """The ids of samples that ask the same: text and options, after the same turns."""
    ids: defaultdict[object, list[str]] = defaultdict(list)
    for sample in samples:
        ids[sample.content].append(sample.id)
    return tuple(tuple(group) for group in ids.values() if len(group) > 1)


def _length_statistics(texts: Iterable[str]) -> LengthStatistics:
    from statistics import median  # it loads fractions and decimals: not for all importers

    lengths = [len(text) for text in texts]
    if not lengths:
        return LengthStatistics(0, 0.0, 0)
    return LengthStatistics(min(lengths), float(median(lengths)), max(lengths))


def _count_by(samples: Sequence[Sample], key: Callable[[Sample], Key]) -> dict[Key, int]:
    return dict(Counter(map(key, samples)))


@dataclass(frozen=True, slots=True)
class OpenHealth:
    """Figures of a dataset of open questions.

    `capabilities` counts the questions by capability, "" for none. `duplicates` has the ids of
    questions with the same text and the same history. Lengths are in characters;
    `reference_length` is None without a reference. `conversations` counts the questions with
    earlier or further turns; a system message is no turn. `with_guidance` counts those with
    guidance for a judge.
    """

    n: int
    without_reference: int
    languages: Mapping[Language, int]
    capabilities: Mapping[str, int]
    duplicates: tuple[tuple[str, ...], ...]
    question_length: LengthStatistics
    reference_length: LengthStatistics | None
    conversations: int
    with_guidance: int


def check_open_questions(samples: Sequence[Sample]) -> OpenHealth:
    """The health of open questions; of none, everything is 0 or empty."""
    references = [text for sample in samples for text in sample.references]
    languages: list[Language] = [_sample_language(sample) for sample in samples]
    return OpenHealth(
        n=len(samples),
        without_reference=sum(not sample.references for sample in samples),
        languages=dict(Counter(languages)),
        capabilities=dict(Counter(sample.metadata.get("capability", "") for sample in samples)),
        duplicates=_duplicate_questions(samples),
        question_length=_length_statistics(without(sample.question) for sample in samples),
        reference_length=_length_statistics(references) if references else None,
        conversations=sum(map(_is_conversation, samples)),
        with_guidance=sum(bool(sample.metadata.get("guidance")) for sample in samples),
    )


def _sample_language(sample: Sample) -> Language:
    named = sample.metadata.get("language")
    return named if named == "zh" or named == "en" else language_of(sample.question)


def _is_conversation(sample: Sample) -> bool:
    return bool(sample.follow_ups) or any(turn.role != "system" for turn in sample.history)
