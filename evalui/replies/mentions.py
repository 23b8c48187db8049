"""Mentions of options as single characters of Unicode's private area, which patterns can name."""

import re
from enum import IntEnum

FIRST_MENTION, LAST_MENTION = "\ue000", "\ue17f"
_SLOTS_PER_KIND = 32


class Kind(IntEnum):
    """How an option is mentioned."""

    LETTER = 0  # a capital, or any letter in brackets or after "option"
    SMALL_LETTER = 1  # a small letter that stands alone: often a word or a variable
    PLACE = 2  # "the second option", 第二项, 选项2
    STEM = 3  # 甲, 乙, 丙
    NUMBER = 4  # a number that stands alone, where no option is a number
    NUMBER_AND_TEXT = 5  # "2. Rome" where Rome is the second
    LETTER_AND_TEXT = 6  # "B. Rome", "Rome (B)"
    TEXT = 7  # an option's own words
    CONFLICT = 8  # a letter or a place with another option's words


_KINDS = tuple(Kind)
_FIRST = ord(FIRST_MENTION)


def mention(kind: Kind, slot: int) -> str:
    """The character that stands for a mention."""
    return chr(_FIRST + _SLOTS_PER_KIND * kind + slot)


def kind_of(character: str) -> Kind:
    """How this character mentions its option."""
    return _KINDS[(ord(character) - _FIRST) // _SLOTS_PER_KIND]


def slot_of(character: str) -> int:
    """The slot of the option that this character mentions."""
    return (ord(character) - _FIRST) % _SLOTS_PER_KIND


def characters(*kinds: Kind) -> str:
    """A pattern for mentions of these kinds."""
    spans = (f"{mention(kind, 0)}-{mention(kind, _SLOTS_PER_KIND - 1)}" for kind in kinds)
    return f"[{''.join(spans)}]"


MENTION = characters(*Kind)
MENTIONS = re.compile(MENTION)
