"""What can be said of open questions before any model has seen them."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from evalui.datasets.health import LengthStatistics
from evalui.datasets.questions.open import language_of
from evalui.types import Language, Sample


@dataclass(frozen=True, slots=True)
class OpenHealth:
    """Figures of a dataset of open questions.

    `capabilities` counts the questions by capability, "" for none. `duplicates` has the ids of
    questions with the same text and the same history. Lengths are in characters;
    `reference_length` is None without a reference. `conversations` counts the questions with
    earlier or further turns; a system message is no turn. `with_guidance` counts those that tell
    a judge what to look at.
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
        question_length=_length_statistics(sample.question for sample in samples),
        reference_length=_length_statistics(references) if references else None,
        conversations=sum(map(_is_conversation, samples)),
        with_guidance=sum(bool(sample.metadata.get("guidance")) for sample in samples),
    )


def _sample_language(sample: Sample) -> Language:
    named = sample.metadata.get("language")
    return named if named == "zh" or named == "en" else language_of(sample.question)


def _duplicate_questions(samples: Sequence[Sample]) -> tuple[tuple[str, ...], ...]:
    ids: defaultdict[object, list[str]] = defaultdict(list)
    for sample in samples:
        text = " ".join(sample.question.split())
        ids[text, sample.history, sample.follow_ups].append(sample.id)
    return tuple(tuple(group) for group in ids.values() if len(group) > 1)


def _is_conversation(sample: Sample) -> bool:
    return bool(sample.follow_ups) or any(turn.role != "system" for turn in sample.history)


def _length_statistics(texts: Iterable[str]) -> LengthStatistics:
    from statistics import median  # it loads fractions and decimals: not for all importers

    lengths = [len(text) for text in texts]
    if not lengths:
        return LengthStatistics(0, 0.0, 0)
    return LengthStatistics(min(lengths), float(median(lengths)), max(lengths))
