"""The 13 figures that SWIFT and EvalScope give for a written answer, and two of our own.

ROUGE and BLEU equal rouge_chinese 1.0.3 and nltk 3.10's `sentence_bleu` without smoothing to the
last digit, except that a BLEU without a match is 0 and not the smallest number a computer knows.
All are shares from 0 to 1, higher is better.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from evalui.scoring.text.exact_match import exact_match, normalised_words, token_f1
from evalui.scoring.text.words import TokenizedText, WordTokenizers, tokenize

ROUGES = ("rouge-1", "rouge-2", "rouge-l")
BLEUS = ("bleu-1", "bleu-2", "bleu-3", "bleu-4")
TEXT_METRICS = (*(f"{rouge}-{part}" for rouge in ROUGES for part in "rpf"), *BLEUS)
_EPSILON = 1e-8  # rouge_chinese adds it to the divisor of f, also where nothing is zero

Scores = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class TextMetrics:
    """The mean of each figure over `n` replies, `empty` of them blank and counted as 0."""

    means: Scores
    n: int
    empty: int


def score_text(reply: str, references: Sequence[str], splitters: WordTokenizers) -> Scores:
    """The 13 figures of a reply against its references, then exact match and token F1.

    With several references the closest one counts, see `best_scores`. Each text is cut once.
    """
    words, plain = tokenize(reply, splitters), normalised_words(reply)
    figures = best_scores(
        [score_pair(words, tokenize(reference, splitters)) for reference in references]
    )
    plain_references = [normalised_words(reference) for reference in references]
    return {
        **figures,
        "exact_match": max(exact_match(plain, each) for each in plain_references),
        "token_f1": max(token_f1(plain, each) for each in plain_references),
    }


def score_pair(reply: TokenizedText, reference: TokenizedText) -> Scores:
    """The 13 figures of a reply against one reference, in the order of `TEXT_METRICS`.

    All are 0 if either has no words.
    """
    if not (reply.rouge and reference.rouge and reply.bleu and reference.bleu):
        return dict.fromkeys(TEXT_METRICS, 0.0)
    shared = (
        _shared_ngrams(reply.rouge, reference.rouge, 1),
        _shared_ngrams(reply.rouge, reference.rouge, 2),
        (_lcs_length(reply.rouge, reference.rouge), len(reply.rouge), len(reference.rouge)),
    )
    rouge = (value for counts in shared for value in _recall_precision_f(*counts))
    bleu = _bleu(reply.bleu, reference.bleu)
    return dict(zip(TEXT_METRICS, (*rouge, *bleu), strict=True))


def best_scores(scores: Sequence[Scores]) -> Scores:
    """The 13 figures of one reply against one or more references: the closest one counts.

    For each ROUGE r, p and f are those of the reference with the highest f (the first among
    equals); each BLEU is the highest one.
    """
    assert scores, "nothing to choose from"
    figures: dict[str, float] = {}
    for rouge in ROUGES:
        top = max(found[f"{rouge}-f"] for found in scores)
        closest = next(found for found in scores if found[f"{rouge}-f"] == top)
        figures |= {name: value for name, value in closest.items() if name.startswith(rouge)}
    return figures | {bleu: max(found[bleu] for found in scores) for bleu in BLEUS}


def mean_scores(scores: Sequence[Scores], *, empty: int) -> TextMetrics:
    """The plain mean of each figure over the replies, at least one; no corpus BLEU."""
    assert scores, "no replies, no mean"
    # fsum: a plain sum is rounded otherwise from Python 3.12 on.
    means = {name: math.fsum(found[name] for found in scores) / len(scores) for name in scores[0]}
    return TextMetrics(means, len(scores), empty)


def _shared_ngrams(reply: Sequence[str], reference: Sequence[str], n: int) -> tuple[int, int, int]:
    """How many different n-grams both have, and the reply and the reference each."""
    ours, theirs = set(_ngrams(reply, n)), set(_ngrams(reference, n))
    return len(ours & theirs), len(ours), len(theirs)


def _recall_precision_f(shared: int, ours: int, theirs: int) -> tuple[float, float, float]:
    precision = shared / ours if ours else 0.0
    recall = shared / theirs if theirs else 0.0
    return recall, precision, 2.0 * ((precision * recall) / (precision + recall + _EPSILON))


def _lcs_length(first: Sequence[str], second: Sequence[str]) -> int:
    """The length of the longest common subsequence.

    A column of the usual table is one integer here, a bit per word of `first` that is 0 where
    the length grows: Hyyrö, *Bit-parallel LCS-length computation revisited* (AWOCA 2004).
    """
    shared = set(first) & set(second)
    kept = [word for word in first if word in shared]
    places: dict[str, int] = {}
    for place, word in enumerate(kept):
        places[word] = places.get(word, 0) | 1 << place
    every = (1 << len(kept)) - 1
    column = every
    for word in second:
        if word in shared:
            matches = column & places[word]
            column = ((column + matches) | (column - matches)) & every
    return len(kept) - column.bit_count()


def _bleu(reply: Sequence[str], reference: Sequence[str]) -> tuple[float, ...]:
    """The clipped precision of the n-grams of each order alone, times the brevity penalty.

    Papineni et al., *BLEU* (ACL 2002), with the whole weight on one order; not cumulative.
    """
    penalty = math.exp(min(0.0, 1 - len(reference) / len(reply)))
    precisions = (_clipped_precision(reply, reference, n) for n in range(1, len(BLEUS) + 1))
    # Through the logarithm, as a geometric mean is taken: it moves the last digit.
    return tuple(penalty * math.exp(math.log(each)) if each else 0.0 for each in precisions)


def _clipped_precision(reply: Sequence[str], reference: Sequence[str], n: int) -> float:
    ours, find = Counter(_ngrams(reply, n)), Counter(_ngrams(reference, n)).get
    # No min() and no generator: they would take as long as the counting.
    hits = [
        count if count < theirs else theirs
        for ngram, count in ours.items()
        if (theirs := find(ngram))
    ]
    return sum(hits) / max(1, len(reply) - n + 1)


def _ngrams(words: Sequence[str], n: int) -> Iterator[tuple[str, ...]]:
    return zip(*(words[start:] for start in range(n)), strict=False)
