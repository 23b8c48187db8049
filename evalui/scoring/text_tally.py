"""What the texts of written answers come to, kept so that further answers only add to it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from statistics import median

from evalui.scoring.text_corpus import BLEU_TOKENIZERS, CorpusCounts, count_corpus
from evalui.scoring.text_metrics import contains_chinese
from evalui.types import Sample, Trial


@dataclass(frozen=True, slots=True)
class TextTally:
    """The texts of `n` answers in counts.

    `lengths` counts the answers by their characters (all turns together), `compared_lengths` the
    texts that have a reference, `reference_lengths` the median characters of the references of
    each (turn by turn where each turn has its own). `held` of `referenced` answers hold a
    reference in each turn, without case and blanks. `corpus` counts what sacreBLEU compares.
    """

    n: int = 0
    lengths: Mapping[int, int] = field(default_factory=dict[int, int])
    compared_lengths: Mapping[int, int] = field(default_factory=dict[int, int])
    reference_lengths: Mapping[float, int] = field(default_factory=dict[float, int])
    referenced: int = 0
    held: int = 0
    corpus: CorpusCounts = field(default_factory=CorpusCounts)


def tally_texts(
    trials: Iterable[Trial], samples: Mapping[str, Sample], before: TextTally | None = None
) -> TextTally:
    """The answers to questions of a cell, whose `samples` are all it has, beside those `before`."""
    before = before or TextTally()
    lengths, compared = Counter(before.lengths), Counter(before.compared_lengths)
    references = Counter(before.reference_lengths)
    held: Counter[bool] = Counter()

    def compared_pairs() -> Iterator[tuple[str, tuple[str, ...]]]:
        for trial in trials:
            lengths[sum(map(len, trial.answers))] += 1
            segments = [pair for pair in _segments(trial, samples) if pair[1]]
            compared.update(len(text) for text, _ in segments)
            references.update(float(median(map(len, own))) for _, own in segments)
            if (is_held := _holds_references(segments)) is not None:
                held[is_held] += 1
            yield from segments

    tokenizers = tuple(before.corpus.bleu) or _tokenizers(samples.values())
    counted = count_corpus(compared_pairs(), before.corpus, tokenizers)
    return TextTally(
        n=lengths.total(),
        lengths=lengths,
        compared_lengths=compared,
        reference_lengths=references,
        referenced=before.referenced + held.total(),
        held=before.held + held[True],
        corpus=counted,
    )


def median_of(counts: Mapping[int, int] | Mapping[float, int]) -> float:
    """The median of lengths that are counted; 0 without any."""
    return float(median(Counter(counts).elements())) if counts else 0.0


def _tokenizers(samples: Iterable[Sample]) -> tuple[str, ...]:
    """Those that some part of these questions may need, which are two for a mixed file only."""
    kinds = {contains_chinese(each) for sample in samples for each in sample.references}
    words, characters = BLEU_TOKENIZERS
    return BLEU_TOKENIZERS if len(kinds) > 1 else (characters,) if True in kinds else (words,)


def _segments(trial: Trial, samples: Mapping[str, Sample]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What is compared with which references: turn by turn where each turn has its own."""
    references = samples[trial.sample_id].references
    if len(trial.turns) != len(references) or not trial.turns:
        yield trial.reply or "", references
        return
    for turn, reference in zip(trial.turns, references, strict=True):
        yield turn, (reference,)


def _holds_references(segments: Iterable[tuple[str, tuple[str, ...]]]) -> bool | None:
    """Whether each text holds one of its references; None without a reference of any letters."""
    held: list[bool] = []
    for text, own in segments:
        wanted = [_letters(reference) for reference in own]
        if any(wanted):
            letters = _letters(text)
            held.append(any(each in letters for each in wanted))
    return all(held) if held else None


def _letters(text: str) -> str:
    return "".join(text.casefold().split())
