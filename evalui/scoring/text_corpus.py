"""sacreBLEU's figures of a whole corpus, from counts that add up answer by answer."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from evalui.scoring.text_metrics import contains_chinese

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
