"""The 13 figures that SWIFT and EvalScope give for a written answer, and two of our own.

ROUGE and BLEU equal rouge_chinese 1.0.3 and nltk 3.10's `sentence_bleu` without smoothing to the
last digit, except that a BLEU without a match is 0 and not the smallest number a computer knows.
All are shares from 0 to 1, higher is better.
"""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from evalui.replies import HAN
from evalui.scoring.texts.tokenizers import tokenize_en, tokenize_zh

VERSION = "answer.2"  # part of the signature: raise it when a figure of a reply may change
ROUGES = ("rouge-1", "rouge-2", "rouge-l")
BLEUS = ("bleu-1", "bleu-2", "bleu-3", "bleu-4")
MAIN = "rouge-l-f"  # what stands for a written answer where only one figure can
RECALL = "rouge-l-r"  # EvalScope's main score; ROUGE-1's recall ignores the order of words
TEXT_METRICS = (*(f"{rouge}-{part}" for rouge in ROUGES for part in "rpf"), *BLEUS)
_PARTS = {"r": "recall", "p": "precision", "f": "harmonic mean of precision and recall"}
# Every figure of a written answer with what it is: the 13, then our own two.
ALL_TEXT_METRICS = {
    **{
        f"{rouge}-{part}": f"{what} of {rouge.upper()}"
        for rouge in ROUGES
        for part, what in _PARTS.items()
    },
    **{
        bleu: f"clipped precision of n-grams of order {bleu[-1]}, times the brevity penalty"
        for bleu in BLEUS
    },
    "exact_match": "1 if both are the same normalised words, else 0",
    "token_f1": "harmonic mean of precision and recall over normalised words",
}
_EPSILON = 1e-8  # rouge_chinese adds it to the divisor of f, also where nothing is zero
Scores = Mapping[str, float]
_ARTICLES = frozenset({"a", "an", "the"})
# The mark stands first, and what comes before it is looked at then: so the search goes from mark
# to mark and not from character to character.
_THOUSANDS = re.compile(r",(?<=\d,)(?=\d{3}(?!\d))")
_INNER_PUNCTUATION = rf"[.'’](?<=[^\W\d_{HAN}].)(?=[^\W\d_{HAN}])"
# Formulas of LaTeX, told from sums of money as Pandoc does (tex_math_dollars).
_FORMULA = re.compile(r"\${1,2}(?=\S)([^$]*[^$\s])\${1,2}(?!\d)")
_CURRENCIES = "$¢£¤¥€₹₩₽₺₫฿₴₿"
# Signs beside a number are words of their own, those behind a letter part of it: 5 %, $5, C#.
_WORD = (
    rf"[{HAN}]|[{_CURRENCIES}](?=\s?[-−]?\.?\d)|(?:(?<=\d)|(?<=\d\s))[%‰{_CURRENCIES}]"
    rf"|(?:(?<!\w)[-−](?=\.?\d))?(?:(?<![\w.])\.(?=\d))?"
    rf"(?:[^\W_{HAN}]|(?<=\d)\.(?=\d))+(?:(?<=[^\W\d_{HAN}])(?:\+\+|[+#](?![\w+#])))?"
)
_CHINESE_IN_EVALSCOPE = re.compile("[\u4e00-\u9fa5]")


@dataclass(frozen=True, slots=True)
class TokenizedText:
    """One text, cut once: the words that ROUGE compares and those that BLEU compares.

    Both are empty for a blank text.
    """

    rouge: tuple[str, ...]
    bleu: tuple[str, ...]


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
        top = max(each[f"{rouge}-f"] for each in scores)
        closest = next(each for each in scores if each[f"{rouge}-f"] == top)
        figures |= {name: value for name, value in closest.items() if name.startswith(rouge)}
    return figures | {bleu: max(each[bleu] for each in scores) for bleu in BLEUS}


def mean_scores(scores: Sequence[Scores]) -> Scores:
    """The plain mean of each figure over the replies that have it, at least one; no corpus BLEU."""
    assert scores, "no replies, no mean"
    names = dict.fromkeys(name for each in scores for name in each)
    having = {name: [each[name] for each in scores if name in each] for name in names}
    # fsum: a plain sum is rounded otherwise from Python 3.12 on.
    return {name: math.fsum(values) / len(values) for name, values in having.items()}


def normalised_words(text: str) -> tuple[str, ...]:
    """The words that are compared, the plain words of the text if nothing else is left of it."""
    plain = _FORMULA.sub(r"\1", unicodedata.normalize("NFKC", text).casefold())
    joined = _compiled(_INNER_PUNCTUATION).sub("", _THOUSANDS.sub("", plain))
    words = [word.replace("−", "-") for word in _compiled(_WORD).findall(joined)]
    return tuple(word for word in words if word not in _ARTICLES) or tuple(words or plain.split())


def exact_match(reply: Sequence[str], reference: Sequence[str]) -> float:
    """1 if both are the same normalised words in the same order, else 0; none match nothing."""
    return float(bool(reply) and reply == reference)


def token_f1(reply: Sequence[str], reference: Sequence[str]) -> float:
    """The harmonic mean of precision and recall over normalised words, repetitions counted."""
    shared = (Counter(reply) & Counter(reference)).total()
    return 2 * shared / (len(reply) + len(reference)) if shared else 0.0


def contains_chinese(text: str) -> bool:
    """Whether the text has a character of the range U+4E00 to U+9FA5, EvalScope's test."""
    return _CHINESE_IN_EVALSCOPE.search(text) is not None


def tokenize(text: str) -> TokenizedText:
    """The words of a text: jieba's words in both for Chinese.

    For English ROUGE splits at blanks only ("Beijing." is not "Beijing"), BLEU as nltk does.
    """
    if not text.strip():
        return TokenizedText((), ())
    if not contains_chinese(text):
        return TokenizedText(_split_at_whitespace(text), tuple(tokenize_en(text)))
    words = tuple(tokenize_zh(text))
    return TokenizedText(_split_at_whitespace(" ".join(words)), words)


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
    common = [word for word in first if word in shared]
    bits_of: dict[str, int] = {}
    for index, word in enumerate(common):
        bits_of[word] = bits_of.get(word, 0) | 1 << index
    all_bits = (1 << len(common)) - 1
    column = all_bits
    for word in second:
        if word in shared:
            matches = column & bits_of[word]
            column = ((column + matches) | (column - matches)) & all_bits
    return len(common) - column.bit_count()


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


@cache  # at first use: classes of so many characters take longer than to import the module
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _split_at_whitespace(text: str) -> tuple[str, ...]:
    for line_end in _line_end_pattern():
        text = line_end.sub(r"\1\n\2", text)
    lines = (line for line in text.rstrip().split("\n") if line)
    # A line of blanks is one empty word in rouge_chinese.
    return tuple(word for line in lines for word in line.split() or [""])


@cache  # at first use: to compile them takes longer than to import the module
def _line_end_pattern() -> tuple[re.Pattern[str], ...]:
    """Where rouge_chinese ends a line: after a sentence, a mark after it included.

    The order counts, and so does that the character after the mark is used up: in "??a" only the
    first mark ends a line.
    """
    return tuple(
        re.compile(f"({end})({following})")
        for end, following in (
            ("[。！？?]", "[^”’]"),
            (r"\.{6}", "[^”’]"),
            ("…{2}", "[^”’]"),
            ("[。！？?][”’]", "[^，。！？?]"),
        )
    )
