"""Places in a list of options, as words: "the second one", 选项二, 倒数第二项, "the latter"."""

import re

from evalui.scoring.parsing.mentions import FIRST_MENTION, LAST_MENTION
from evalui.scoring.parsing.patterns import either

STEMS = "甲乙丙丁戊"
_ORDINALS = re.findall(r"\w+", "first second third fourth fifth sixth seventh eighth ninth tenth")
_CARDINALS = re.findall(r"\w+", "one two three four five six seven eight nine ten")
_ROMANS = re.findall(r"\w+", "i ii iii iv v vi vii viii")
_NUMERALS = "一二三四五六七八九十"
_NTH = ("1st", "2nd", "3rd", "4th", "5th", "6th", "7th", "8th", "9th", "10th")
_ORDINAL = "|".join([*_ORDINALS, *_NTH, "last", "middle", "penultimate"])
_COUNT = "|".join([*_CARDINALS, r"[1-9]\d?"])
_ROMAN = "(?:vi{1,3}|iv|i{2,3})"  # a single letter is a label

# One of these words is in everything that the patterns below find.
NUMBERED_WORDS = ("option", "choice", "alternative", "number", "no.", "#", "选项")
PLACE_WORDS_EN = (
    *(*_ORDINALS, *_NTH, "last", "middle", "final", "penultimate", "next to", "next-to"),
    *("one before", "former", "latter"),
)
PLACE_WORDS_ZH = ("第", "最后", "末", "中间", "前者", "后者", "号", *STEMS)

NUMBERED = re.compile(
    r"\b(?:option|choice|alternative|number|no\.|#) ?(?:number |no\. ?|#)?"
    rf"(?P<numbered>{_COUNT}|{_ROMAN})\b(?![.,]\d|%)"
    rf"|选项 ?(?P<numbered_zh>[{_NUMERALS}]|\d{{1,2}}|{_ROMAN})(?![\d.%a-z])",
    re.IGNORECASE,
)

# Searched in lower case. It begins with words, which is quicker than to begin with an article; the
# article is taken off afterwards.
_OF_LIST = (
    r"(?: (?:of|in|from|among|on) (?:the|these|those)\b"
    rf"(?: (?:{_COUNT}|options|choices|listed|list|answers|top|left)\b)*)"
)
_NO_NOUN_FOLLOWS = (
    r"(?=\s*(?:$|[.,;!?)(&/+=>–—-])| (?:or|and|nor|then|vs|versus|as|plus|along|together|followed|"
    r"but|not|rather|alternatively|maybe|perhaps|would|is (?:correct|right)|are)\b)"
)
_FROM_LAST = either(
    r"(?:to|from)(?:[ -]the)?[ -](?:last|end|bottom)",
    "last",
)
PLACE_EN = re.compile(
    either(
        rf"\b(?P<from_last>second|third|next|fourth)[ -]{_FROM_LAST}\b"
        r"(?: (?:option|choice|one)\b)?",
        r"\b(?P<but_last>last but (?:one|two))\b(?: (?:option|choice)\b)?",
        r"\b(?P<before_last>(?:one|option) before (?:the )?last)\b(?: (?:option|one)\b)?",
        rf"\b(?P<ordinal>{_ORDINAL}) (?:(?:answer )?option|one|alternative|item|answer choice)\b"
        rf"(?: listed\b)?{_OF_LIST}?",
        r"\b(?:(?<=\bthe )|(?<=\bvery ))"
        + either(
            rf"(?P<choice>{_ORDINAL}) (?:choice|possibility|answer(?= (?:is|seems|looks)\b))\b"
            rf"{_OF_LIST}?",
            r"(?P<final>final) (?:option|one|alternative|item)"
            rf"(?=\s*(?:$|[.,;!?])| (?:of|in|listed)\b| is (?:correct|right)){_OF_LIST}?",
            rf"(?P<of_list>{_ORDINAL}){_OF_LIST}",
            rf"(?P<bare>{_ORDINAL})(?: of them)?{_NO_NOUN_FOLLOWS}",
            r"(?P<of_two>former|latter)\b",
        ),
        rf"^\W*(?P<only>{_ORDINAL})(?=\W*$| from the top\W*$)",
    )
)
ARTICLES = re.compile(r"(?:\b[Tt]he )?(?:very )?$")

# Every alternative begins with a character; what must stand before it is looked at afterwards.
_ENDS_ZH = (
    r"(?=$|[\s,.。;:!?、)\]」”\"]|[是为正对错不符最更才吧呢和或与及都也既即当了还跟加又且再同另其均]|"
    rf"的?说法|应该|[{FIRST_MENTION}-{LAST_MENTION}])"
)
PLACE_ZH = re.compile(
    either(
        rf"(?:倒数|从后往前数?|从下往上数?|最后)第 ?(?P<from_end>[{_NUMERALS}\d]) ?"
        "(?:个|项)(?:选项)?",
        rf"第 ?(?P<ordinal>[{_NUMERALS}]|\d{{1,2}}) ?"
        rf"(?:(?:个|项|种|条|号)? ?(?:选项|答案|选择)|(?:个|项|种|条|号){_ENDS_ZH})",
        rf"第(?P<bare>[{_NUMERALS}])(?:(?<=^第.)|(?<=[选是为:]第.))(?=[.。!]?$)",
        "(?P<last>最后|末)的?[一那这]?(?:个|项)(?:选项)?",
        "(?P<of_two>前者|后者)",
        rf"(?P<numbered>[\d{_NUMERALS}](?<![\w-].)\d?) ?号(?:选项|(?=$|[,.。;]))",
        "(?P<middle>中间)的?(?:那|这)?一?(?:个|项)(?:选项)?",
        rf"(?P<stem>[{STEMS}])"
        r"(?:(?<![\u4e00-\u9fff].)|(?<=[选是为即填项答故案和或与及有还且又加跟].))(?:选?项)?"
        r"(?:(?![\u4e00-\u9fff])|(?=[对正是才这吧和或与及还跟加]))",
    )
)

# A number that stands alone, no quantity, and no part of a formula.
NUMBER = re.compile(
    r"[(\[【]\s?(?P<in_brackets>[1-9]\d?)\s?[)\]】]"
    r"|(?<![A-Za-z0-9_.,/$€£%+\-×÷=^])(?<![=+\-×÷/<>] )(?P<number>[1-9]\d?)"
    r"(?![A-Za-z0-9_%°/^²³$€£]|[.,:]\d|\s?[=+\-×÷<>])"
)

_FROM_END = ("but_last", "before_last", "from_last")


def slot_of_place(match: re.Match[str], size: int) -> int | None:
    """The slot at the place that a match of these patterns names, of so many options."""
    name = match.lastgroup or ""
    word = match[name].casefold()
    if name == "of_two":
        slot = None if size > 2 else int(word in ("latter", "后者"))
    elif word in ("last", "final", "最后", "末"):
        slot = size - 1
    elif word in ("middle", "中间"):
        slot = size // 2 if size % 2 else None
    elif name in _FROM_END or word == "penultimate":
        slot = size - (4 if word == "fourth" else 3 if word in ("third", "last but two") else 2)
    else:
        place = place_of(word)
        slot = place and (size - place if name == "from_end" else place - 1)
    return slot if slot is not None and 0 <= slot < size else None


def place_of(word: str) -> int | None:
    """The number that a word names: "second", "two", "ii", 二, "2nd"."""
    for words in (_ORDINALS, _CARDINALS, _ROMANS, _NUMERALS):
        if word in words:
            return words.index(word) + 1
    digits = word.rstrip("stndrh")
    return int(digits) if digits.isdecimal() else None
