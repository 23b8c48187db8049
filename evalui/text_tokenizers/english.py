"""English words as `nltk.word_tokenize` finds them, several times faster.

nltk makes some 35 replacements in each sentence of a text. They see the word they change, whether
it is the last of its sentence, and little else, so each word is cut once, by nltk itself, and
remembered. Where a quote or a full stop stands so that more counts, nltk gets the whole sentence.
"""

import re
from collections.abc import Callable, Container
from functools import lru_cache

_QUOTES = ('"', "'")
# An opening quote is told by the blank before it, a closing one by the blank after it. nltk looks
# for spaces there, and for blanks among which it does not count the last four here.
_DEPENDS = re.compile(r"""(?<!\S)"|(?<!\w)'|'(?!\w)|''|[\x1c-\x1f]""")
_CLOSING = """])}>"'»”’"""
# What nltk makes of words without quotes. A mark stands alone, except that a comma or a colon
# belongs to the digit after it, and a full stop to its word.
_PIECE = re.compile(
    r"(?:[^\s\"'`.,:;@#$%&?!*()\[\]{}<>«»“”‘’„\u2012-\u2015-]|\.(?!\.)|-(?!-)|[:,](?=\d))+"
    r"|[;@#$%&?!*()\[\]{}<>«»“”‘’„\u2012-\u2015]|``?(?!`)|[:,](?![:,\d])"
)
_CONTRACTED = re.compile(r"(?i)\b(?:cannot|gimme|gonna|gotta|lemme|wanna)\b")
_WORD_AND_MARK = re.compile(r"([A-Za-z]{2,})([.?!])(?:\s+\S+|[^\w\s.])")
_REMEMBERED = 1 << 16  # words; some megabytes
_LONGEST = 64  # characters of a word that is remembered


class EnglishWords:
    """Cuts texts: `sentences` into sentences, and `words` each of these into words."""

    def __init__(
        self, sentences: Callable[[str], list[str]], words: Callable[[str], list[str]]
    ) -> None:
        self._sentences = sentences
        self._words = words
        self._inside = lru_cache(_REMEMBERED)(self._cut_inside)
        self._last = lru_cache(_REMEMBERED)(self._cut_last)

    def cut(self, text: str) -> list[str]:
        """The words and marks of a text."""
        return [word for sentence in self._sentences(text) for word in self._cut(sentence)]

    def _cut(self, sentence: str) -> list[str]:
        if sentence.startswith(_QUOTES) or (
            not sentence.isprintable() and _DEPENDS.search(sentence)
        ):
            return self._words(sentence)
        *inside, last = sentence.split()
        if not last.strip(_CLOSING + "."):
            return self._words(sentence)
        found = [word for each in inside for word in self._inside_of(each)]
        found += self._last_of(last)
        return found

    def _inside_of(self, word: str) -> tuple[str, ...]:
        return self._inside(word) if len(word) <= _LONGEST else self._cut_inside(word)

    def _last_of(self, word: str) -> tuple[str, ...]:
        return self._last(word) if len(word) <= _LONGEST else self._cut_last(word)

    def _cut_inside(self, word: str) -> tuple[str, ...]:
        """What a word becomes between two others."""
        return _pieces(word) or tuple(self._words(f"x {word} x")[1:-1])

    def _cut_last(self, word: str) -> tuple[str, ...]:
        """What the last word of a sentence becomes: its full stop stands alone."""
        alone = word.endswith(".") and not word.endswith("..")  # several stay together
        if alone and (pieces := _pieces(word[:-1])):
            return (*pieces, ".")
        if not word.rstrip(_CLOSING).endswith(".") and (pieces := _pieces(word)):
            return pieces
        return tuple(self._words(f"x {word}")[1:])


def ends_sentence(
    abbreviations: Container[str], collocated: Container[str], *, ask: Callable[[str], bool]
) -> Callable[[str], bool]:
    """nltk's `text_contains_sentbreak`: whether a sentence ends in a word, a mark and what follows.

    A word of letters before a mark decides it, unless it is an abbreviation or begins a pair of
    words that belong together, both in lower case; then `ask` decides.
    """

    def contains(text: str) -> bool:
        found = _WORD_AND_MARK.fullmatch(text)
        if not found:
            return ask(text)
        word, mark = found[1].lower(), found[2]
        return mark != "." or (word not in abbreviations and word not in collocated) or ask(text)

    return contains


def _pieces(word: str) -> tuple[str, ...]:
    """The pieces of a word that has no quotes nor doubled marks, else ()."""
    pieces = tuple(_PIECE.findall(word))
    return pieces if "".join(pieces) == word and not _CONTRACTED.search(word) else ()
