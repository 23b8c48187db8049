"""Two texts word by word: what both say, and what only one of them says."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import groupby

from evalui.text_tokenizers.words import chinese

_CJK = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_WORD = re.compile(r"\w+(?:['’]\w+)*|[^\w\s]")
_MOST_WORDS = 4000  # in both texts together; comparing longer ones would keep the page waiting
_QUICK = 1000  # words beyond which frequent ones are no longer looked up, only carried along


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of one text; `shared` if the other text has it too."""

    text: str
    shared: bool


@dataclass(frozen=True, slots=True)
class Sides:
    """A reference and a reply in pieces; joined, the pieces of each are its text.

    `compared` is False for texts that are too long: each is then one piece, neither shared nor not.
    """

    reference: tuple[Piece, ...]
    reply: tuple[Piece, ...]
    compared: bool = True


def sides(reference: str, reply: str) -> Sides:
    """The two texts, their common words told from the others; case and blanks do not count."""
    first, second = words(reference), words(reply)
    if len(first) + len(second) > _MOST_WORDS:
        return Sides((Piece(reference, True),), (Piece(reply, True),), compared=False)
    long = len(first) + len(second) > _QUICK
    matcher = SequenceMatcher(None, _keys(first), _keys(second), autojunk=long)
    in_first, in_second = [False] * len(first), [False] * len(second)
    for block in matcher.get_matching_blocks():
        in_first[block.a : block.a + block.size] = [True] * block.size
        in_second[block.b : block.b + block.size] = [True] * block.size
    return Sides(_pieces(first, in_first), _pieces(second, in_second))


def closest(references: Sequence[str], reply: str) -> int:
    """The place of the reference that has the most words in common with the reply."""
    found = [set(_keys(words(reference))) for reference in references]
    said = set(_keys(words(reply)))
    shares = [len(each & said) / (len(each | said) or 1) for each in found]
    return shares.index(max(shares))


def words(text: str) -> list[str]:
    """The words of a text, each with the blanks after it; joined they are the text.

    >>> words("It is 8 km.")
    ['It ', 'is ', '8 ', 'km', '.']
    """
    cut = chinese(text) if _CJK.search(text) else _split(text)
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


def _pieces(cut: Sequence[str], shared: Sequence[bool]) -> tuple[Piece, ...]:
    pairs = groupby(zip(cut, shared, strict=True), key=lambda pair: pair[1])
    return tuple(Piece("".join(word for word, _ in group), flag) for flag, group in pairs)
