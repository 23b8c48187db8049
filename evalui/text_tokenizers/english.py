"""English words as `nltk.word_tokenize` finds them, several times faster.

nltk makes some 35 replacements in each sentence of a text. They see the word they change, whether
it is the last of its sentence, and little else, so each word is cut once, by nltk itself, and
remembered. Where a quote or a full stop stands so that more counts, nltk gets the whole sentence.
"""

import re
from collections.abc import Callable, Container
from functools import lru_cache

_QUOTES = ('"', "'")
# An opening quote has a blank before it, a closing one a blank after it. nltk looks
# for spaces there, and for blanks among which it does not count the last four here.
_CONTEXT_DEPENDENT = re.compile(r"""(?<!\S)"|(?<!\w)'|'(?!\w)|''|[\x1c-\x1f]""")
_CLOSING = """])}>"'»”’"""
# What nltk makes of words without quotes. A mark stands alone, except that a comma or a colon
# belongs to the digit after it, and a full stop to its word.
_TOKEN = re.compile(
    r"(?:[^\s\"'`.,:;@#$%&?!*()\[\]{}<>«»“”‘’„\u2012-\u2015-]|\.(?!\.)|-(?!-)|[:,](?=\d))+"
    r"|[;@#$%&?!*()\[\]{}<>«»“”‘’„\u2012-\u2015]|``?(?!`)|[:,](?![:,\d])"
)
_CONTRACTION = re.compile(r"(?i)\b(?:cannot|gimme|gonna|gotta|lemme|wanna)\b")
_WORD_AND_MARK = re.compile(r"([A-Za-z]{2,})([.?!])(?:\s+\S+|[^\w\s.])")
_CACHE_SIZE = 1 << 16  # words; some megabytes
_MAX_CACHED_CHARS = 64  # characters of a word that is remembered


class EnglishTokenizer:
    """Cuts texts: `sentences` into sentences, and `words` each of these into words."""

    def __init__(
        self, sentences: Callable[[str], list[str]], words: Callable[[str], list[str]]
    ) -> None:
        self._split_sentences = sentences
        self._tokenize_words = words
        self._cached_inner = lru_cache(_CACHE_SIZE)(self._tokenize_inner)
        self._cached_last = lru_cache(_CACHE_SIZE)(self._tokenize_last)

    def tokenize(self, text: str) -> list[str]:
        """The words and marks of a text."""
        return [
            word
            for sentence in self._split_sentences(text)
            for word in self._tokenize_sentence(sentence)
        ]

    def _tokenize_sentence(self, sentence: str) -> list[str]:
        if sentence.startswith(_QUOTES) or (
            not sentence.isprintable() and _CONTEXT_DEPENDENT.search(sentence)
        ):
            return self._tokenize_words(sentence)
        *inside, last = sentence.split()
        if not last.strip(_CLOSING + "."):
            return self._tokenize_words(sentence)
        words = [word for each in inside for word in self._inner_tokens(each)]
        words += self._last_tokens(last)
        return words

    def _inner_tokens(self, word: str) -> tuple[str, ...]:
        return (
            self._cached_inner(word)
            if len(word) <= _MAX_CACHED_CHARS
            else self._tokenize_inner(word)
        )

    def _last_tokens(self, word: str) -> tuple[str, ...]:
        return (
            self._cached_last(word) if len(word) <= _MAX_CACHED_CHARS else self._tokenize_last(word)
        )

    def _tokenize_inner(self, word: str) -> tuple[str, ...]:
        """What a word becomes between two others."""
        return _simple_tokens(word) or tuple(self._tokenize_words(f"x {word} x")[1:-1])

    def _tokenize_last(self, word: str) -> tuple[str, ...]:
        """What the last word of a sentence becomes: its full stop stands alone."""
        alone = word.endswith(".") and not word.endswith("..")  # several stay together
        if alone and (pieces := _simple_tokens(word[:-1])):
            return (*pieces, ".")
        if not word.rstrip(_CLOSING).endswith(".") and (pieces := _simple_tokens(word)):
            return pieces
        return tuple(self._tokenize_words(f"x {word}")[1:])


def sentence_end_detector(
    abbreviations: Container[str], collocated: Container[str], *, fallback: Callable[[str], bool]
) -> Callable[[str], bool]:
    """nltk's `text_contains_sentbreak`: whether a sentence ends in a word, a mark and what follows.

    A word of letters before a mark decides it, unless it is an abbreviation or begins a pair of
    words that belong together, both in lower case; then `fallback` decides.
    """

    def contains(text: str) -> bool:
        match = _WORD_AND_MARK.fullmatch(text)
        if not match:
            return fallback(text)
        word, mark = match[1].lower(), match[2]
        return (
            mark != "." or (word not in abbreviations and word not in collocated) or fallback(text)
        )

    return contains


def _simple_tokens(word: str) -> tuple[str, ...]:
    """The pieces of a word that has no quotes nor doubled marks, else ()."""
    pieces = tuple(_TOKEN.findall(word))
    return pieces if "".join(pieces) == word and not _CONTRACTION.search(word) else ()
