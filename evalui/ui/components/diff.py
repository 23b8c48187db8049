"""Two texts word by word: what both say, and what only one of them says."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby

from evalui.text_tokenizers import tokenize_zh
from evalui.text_tokenizers.han import contains_han

_WORD = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")
_MAX_WORDS = 4000  # in both texts together; comparing longer ones would keep the page waiting
_MAX_FULL_LOOKUP_WORDS = (
    1000  # words beyond which frequent ones are no longer looked up, only carried along
)


@dataclass(frozen=True, slots=True)
class DiffSegment:
    """A stretch of one text; `shared` if the other text has it too."""

    text: str
    shared: bool


@dataclass(frozen=True, slots=True)
class TextDiff:
    """A reference and a reply in pieces; joined, the pieces of each are its text.

    `compared` is False for texts that are too long: each is then one piece, neither shared nor not.
    """

    reference: tuple[DiffSegment, ...]
    reply: tuple[DiffSegment, ...]
    compared: bool = True


def diff_texts(reference: str, reply: str) -> TextDiff:
    """The two texts, their common words told from the others; case and blanks do not count."""
    first, second = split_words(reference), split_words(reply)
    if len(first) + len(second) > _MAX_WORDS:
        return TextDiff(
            (DiffSegment(reference, True),), (DiffSegment(reply, True),), compared=False
        )
    long = len(first) + len(second) > _MAX_FULL_LOOKUP_WORDS
    matcher = SequenceMatcher(None, _keys(first), _keys(second), autojunk=long)
    in_first, in_second = [False] * len(first), [False] * len(second)
    for block in matcher.get_matching_blocks():
        in_first[block.a : block.a + block.size] = [True] * block.size
        in_second[block.b : block.b + block.size] = [True] * block.size
    return TextDiff(_segments(first, in_first), _segments(second, in_second))


def closest_reference(references: Sequence[str], reply: str) -> int:
    """The place of the reference that has the most words in common with the reply."""
    found = [set(_keys(split_words(reference))) for reference in references]
    said = set(_keys(split_words(reply)))
    shares = [len(each & said) / (len(each | said) or 1) for each in found]
    return shares.index(max(shares))


def split_words(text: str) -> list[str]:
    """The words of a text, each with the blanks after it; joined they are the text.

    >>> words("It is 8 km.")
    ['It ', 'is ', '8 ', 'km', '.']
    """
    cut = tokenize_zh(text) if contains_han(text) else _split(text)
    joined: list[str] = []
    for word in cut:
        if joined and (word.isspace() or joined[-1].isspace()):
            joined[-1] += word
        else:
            joined.append(word)
    return joined


def _split(text: str) -> list[str]:
    parts: list[str] = []
    end = 0
    for found in _WORD.finditer(text):
        parts += [part for part in (text[end : found.start()], found[0]) if part]
        end = found.end()
    return [*parts, text[end:]] if text[end:] else parts


def _keys(cut: Sequence[str]) -> list[str]:
    return [word.strip().casefold() for word in cut]


def _segments(cut: Sequence[str], shared: Sequence[bool]) -> tuple[DiffSegment, ...]:
    pairs = groupby(zip(cut, shared, strict=True), key=lambda pair: pair[1])
    return tuple(DiffSegment("".join(word for word, _ in group), flag) for flag, group in pairs)
