"""Is a short answer the reference, or how many of its words does it share?

After SQuAD's evaluation (Rajpurkar et al., arXiv 1606.05250): case, punctuation and the articles
do not count. What differs: full-width forms become plain ones, each Chinese character is a word
as in CMRC 2018 (arXiv 1810.07366), and the sign and the decimal point of a number are kept, so
that -5 is not 5 and 3.5 is not 35. For English and Chinese.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import cache

_ARTICLES = frozenset({"a", "an", "the"})
_CHINESE = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
# The mark stands first, and what comes before it is looked at then: so the search goes from mark
# to mark and not from character to character.
_THOUSANDS = re.compile(r",(?<=\d,)(?=\d{3}(?!\d))")
_INNER_PUNCTUATION = rf"[.'’](?<=[^\W\d_{_CHINESE}].)(?=[^\W\d_{_CHINESE}])"
_WORD = (
    rf"[{_CHINESE}]|(?:(?<!\w)[-−](?=\.?\d))?(?:(?<![\w.])\.(?=\d))?"
    rf"(?:[^\W_{_CHINESE}]|(?<=\d)\.(?=\d))+"
)


def normalised_words(text: str) -> tuple[str, ...]:
    """The words that are compared, the plain words of the text if nothing else is left of it."""
    plain = unicodedata.normalize("NFKC", text).casefold()
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


@cache  # at first use: classes of so many characters take longer than to import the module
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)
