"""What the texts of written answers come to, kept so that further answers only add to it.

Lengths, references that are held word for word, and what sacreBLEU's figures of a corpus count.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from evalui.scoring.texts.metrics import contains_chinese
from evalui.types import Sample, Trial

BLEU_TOKENIZERS = ("13a", "zh")  # words, and characters where most references are Chinese


@dataclass(frozen=True, slots=True)
class Corpus:
    """sacreBLEU's corpus figures, 0..100, with the signatures of their settings."""

    bleu: float
    bleu_signature: str
    chrf: float
    chrf_signature: str


@dataclass(frozen=True, slots=True)
class CorpusCounts:
    """What sacreBLEU counts in `n` texts with references: enough for the figures of all of them.

    The first reference of `chinese` of them is Chinese. `references` are the numbers of references
    that a text has. `bleu` has the counts by tokenizer, `chrf` those of chrF; empty without texts.
    """

    n: int = 0
    chinese: int = 0
    references: frozenset[int] = frozenset()
    bleu: Mapping[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    chrf: tuple[int, ...] = ()


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


def count_corpus(
    pairs: Iterable[tuple[str, Sequence[str]]],
    before: CorpusCounts | None = None,
    tokenizers: Sequence[str] = BLEU_TOKENIZERS,
) -> CorpusCounts:
    """The counts of texts with their references, added to those of the texts `before` them.

    A text without a reference is left out, a blank one stays in. `tokenizers` must be the same for
    all texts, and hold the one that `corpus` takes.
    """
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

    before = before or CorpusCounts()
    n, chinese, references = before.n, before.chinese, set(before.references)
    metrics = [*(BLEU(tokenize=each) for each in tokenizers), CHRF()]
    sums = [*(before.bleu.get(each, ()) for each in tokenizers), before.chrf]
    for text, several in pairs:
        if not several:
            continue
        n, chinese = n + 1, chinese + contains_chinese(several[0])
        references.add(len(several))
        streams = [[each] for each in several]
        for place, metric in enumerate(metrics):
            # One text at a time: the n-grams of a whole corpus take gigabytes.
            (counts,) = metric._extract_corpus_statistics([text], streams)  # pyright: ignore[reportPrivateUsage]
            sums[place] = _added(sums[place], counts)
    _forget_texts()
    *bleu, chrf = sums
    counted = dict(zip(tokenizers, bleu, strict=True))
    return CorpusCounts(n, chinese, frozenset(references), counted, chrf)


def corpus(counts: CorpusCounts) -> Corpus | None:
    """The figures of all the texts that were counted, None without any.

    Chinese has no blanks between words: where most references are Chinese, BLEU counts
    characters (sacreBLEU's tokenizer "zh"), else words ("13a").
    """
    if not counts.n:
        return None
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.metrics.chrf import CHRF

    words, characters = BLEU_TOKENIZERS
    tokenizer = characters if 2 * counts.chinese > counts.n else words
    bleu, chrf = BLEU(tokenize=tokenizer), CHRF()
    # What the signatures read: -1 where the number of references varies.
    bleu.num_refs = chrf.num_refs = max(counts.references) if len(counts.references) == 1 else -1
    return Corpus(
        bleu._compute_score_from_stats([*counts.bleu[tokenizer]]).score,  # pyright: ignore[reportPrivateUsage]
        str(bleu.get_signature()),
        chrf._compute_score_from_stats([*counts.chrf]).score,  # pyright: ignore[reportPrivateUsage]
        str(chrf.get_signature()),
    )


def _added(sums: tuple[int, ...], counts: Sequence[int]) -> tuple[int, ...]:
    return tuple(map(sum, zip(sums, counts, strict=True))) if sums else tuple(counts)


def _forget_texts() -> None:
    """Empty sacreBLEU's caches, which would keep the last 65,536 texts as long as the process."""
    from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a
    from sacrebleu.tokenizers.tokenizer_re import TokenizerRegexp
    from sacrebleu.tokenizers.tokenizer_zh import TokenizerZh

    for tokenizer in (Tokenizer13a, TokenizerRegexp, TokenizerZh):
        tokenizer.__call__.cache_clear()


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
