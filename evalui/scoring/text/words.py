"""A text cut into the words that ROUGE and BLEU compare, as EvalScope cuts it.

Which language a text is in decides how it is cut, for each text alone: a Chinese reply to an
English reference is cut as Chinese. The splitters are given; this module knows no dictionary.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

_CHINESE = re.compile("[\u4e00-\u9fa5]")


@dataclass(frozen=True, slots=True)
class WordTokenizers:
    """How texts are cut into words: `chinese` keeps blanks as words, `english` drops them."""

    chinese: Callable[[str], Sequence[str]]
    english: Callable[[str], Sequence[str]]


@dataclass(frozen=True, slots=True)
class TokenizedText:
    """One text, cut once: the words that ROUGE compares and those that BLEU compares.

    Both are empty for a blank text.
    """

    rouge: tuple[str, ...]
    bleu: tuple[str, ...]


def contains_chinese(text: str) -> bool:
    """Whether the text has a character of the range U+4E00 to U+9FA5, EvalScope's test."""
    return _CHINESE.search(text) is not None


def tokenize(text: str, splitters: WordTokenizers) -> TokenizedText:
    """The words of a text: jieba's words in both for Chinese.

    For English ROUGE splits at blanks only ("Beijing." is not "Beijing"), BLEU as nltk does.
    """
    if not text.strip():
        return TokenizedText((), ())
    if not contains_chinese(text):
        return TokenizedText(_split_at_whitespace(text), tuple(splitters.english(text)))
    words = tuple(splitters.chinese(text))
    return TokenizedText(_split_at_whitespace(" ".join(words)), words)


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
