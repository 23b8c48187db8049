"""Which options refer to other options by letter or by place: another order changes what they mean.

"None of these" keeps its meaning wherever it stands and is no such option; nor is one that names
statements of the question ("①②") or letters that are the question's own (points A and B of a
figure, blood groups), as far as that can be decided from the options alone.
"""

import re
from collections.abc import Sequence
from functools import cache, partial

from evalui.datasets.answers import MIN_LETTERS
from evalui.datasets.model import normalise_cell
from evalui.types import LETTERS

_LETTER = r"[(\[]?[A-Z][)\]]?"
# Blanks follow a joint and precede only the first: two ways to match one would take for ever.
_JOIN = r"\s*(?:(?:,|;|、|/|&|\+|\band\b|\bor\b|和|与|及|以及|或者?)\s*)+"
_SEVERAL_LETTERS = rf"{_LETTER}(?:{_JOIN}{_LETTER})+"
# "A and B", "both A and C", "A, B and C are correct", "neither A nor B", "only A and C"
_EN_LETTERS = (
    rf"(?:(?:both|either|only|all of|options?|answers?|choices?)\s+)*{_SEVERAL_LETTERS}"
    r"(?:\s+(?:only|both|together))?"
    r"(?:\s+(?:are|is)(?:\s+(?:all|both))?(?:\s+not)?"
    r"\s+(?:correct|right|true|wrong|incorrect|false))?"
    rf"|neither\s+{_LETTER}\s+nor\s+{_LETTER}(?:\s+is\s+(?:correct|right|true))?"
    rf"|(?:options?|answers?|choices?)\s+{_LETTER}"
)
# "A和B", "A、B、C均正确", "选项A和B都对", "A、B两项"
_ZH_ALL = r"(?:都|均|皆|全)(?:不|没)?(?:是|对|正确|错误?|可以?|可能|包括|成立|符合|有|选)?的?"
_ZH_LETTERS = (
    rf"(?:选项|只有|仅|包括)*\s*(?:{_SEVERAL_LETTERS}|(?<=选项){_LETTER})\s*(?:选项|[两二三四]?[项者个])?\s*"
    rf"(?:{_ZH_ALL})?|[A-Z]{{2,}}{_ZH_ALL}"
)
# "all of the above", "none of the above statements is true", "both of the first two options"
_EN_THINGS = r"(?:options?|answers?|choices?|statements?|ones)"
_EN_PLACE = (
    r"(?:all|none|any|both|either|neither|each|some|one|two|three|most)\s+(?:of\s+)?"
    rf"(?:(?:the|these)\s+)?(?:(?:two|three|four|{_EN_THINGS})\s+)?(?:above|below)"
    rf"(?:\s+{_EN_THINGS})?(?:\s+(?:are|is|apply|applies)(?:\s+\w+){{0,2}})?"
    r"|(?:the\s+)?above\s+(?:are\s+)?all(?:\s+\w+){0,2}"
    r"|(?:both|all)\s+(?:of\s+)?the\s+(?:first|previous|preceding|last)"
    rf"(?:\s+(?:two|three|four))?(?:\s+{_EN_THINGS})?"
)
# "以上都对", "以上说法都不对", "上述方法都可以", "以上皆非", "前两项都是", "以上全部"
_ZH_THINGS = (
    r"(?:(?:所有|各|几|[两二三四五])?[项种个点者]?的?"
    r"(?:选项|说法|答案|情况|方法|观点|表述|叙述|描述|因素|措施|做法|原因|内容|特点|条件)?)"
)
_ZH_PLACE = (
    rf"(?:以上|上述|以下|前(?:面|述)?[两二三四][项者个种]){_ZH_THINGS}"
    r"(?:(?:都|均|皆|全|没有|无)[^,。;:]{0,8}|之一|(?<=[两二三四][项者]))"
    r"|(?:都|全部?)(?:是|不是)?以上(?:[^,。;:]{0,4})"
)
# What an option that names letters has, and what else it may have.
_LONE_CAPITALS = re.compile(r"(?<![A-Za-z])[A-Z]+(?![A-Za-z])")
_NAMING_CHARACTERS = re.compile(
    r"[A-Za-zＡ-Ｚａ-ｚ()（）\[\]［］,，;；、/／&＆+＋.．。!！\s"
    r"和与及以或者选项只有仅包括都均皆全不没是对正确错误可能成立符合的两二三四个]+"
)
_TRAILING_PUNCTUATION = " .。!！,，;；"


def refers_to_other_options(choices: Sequence[str]) -> bool:
    """Whether one of the options refers to another by its letter or its place."""
    joined = "\n".join(choices)
    lowered = joined.lower()
    if _has_place_word(lowered) and any(map(_refers_to_place, choices)):
        return True
    if lowered == joined or (joined.isascii() and not _LONE_CAPITALS.search(joined)):
        return False
    lettered = {
        slot: named
        for slot, choice in enumerate(choices)
        if _NAMING_CHARACTERS.fullmatch(choice)
        if (named := _letters_referred_to(_to_match(choice), len(choices)))
    }
    # "A和B", "A和C", "B和D", "C和D": such letters are the question's own, not the options'.
    return any(_refers_elsewhere(named, lettered, len(choices)) for named in lettered.values())


def _refers_to_place(choice: str) -> bool:
    if not _has_place_word(choice.lower()):
        return False
    text = _to_match(choice)
    english = _compiled(_EN_PLACE).fullmatch(text.casefold())
    return bool(english or _compiled(_ZH_PLACE).fullmatch(text))


def _to_match(choice: str) -> str:
    return normalise_cell(choice).strip(_TRAILING_PUNCTUATION)


def _has_place_word(text: str) -> bool:
    """Whether there is a word without which no option speaks of a place; written out to be fast."""
    if "前" in text or "以上" in text or "上述" in text or "以下" in text:
        return True
    if "o" in text and ("above" in text or "below" in text or "previous" in text):
        return True
    return "preceding" in text or ("st" in text and ("first" in text or "last" in text))


@cache  # at first use: to compile them takes longer than to import the module
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


def _letters_referred_to(text: str, n_options: int) -> frozenset[int]:
    """The options named, if the text does nothing else."""
    if not _LONE_CAPITALS.search(text):
        return frozenset()
    letters = set(LETTERS[: max(n_options, MIN_LETTERS)])
    folded = re.sub(r"[a-zA-Z]{2,}", partial(_fold_word, letters), text)
    if not (_compiled(_EN_LETTERS).fullmatch(folded) or _compiled(_ZH_LETTERS).fullmatch(folded)):
        return frozenset()
    named = re.findall(r"[A-Z]", folded)
    return frozenset(map(LETTERS.index, named)) if letters.issuperset(named) else frozenset()


def _fold_word(letters: set[str], word: re.Match[str]) -> str:
    # "AND" is a word, "ABC" may be three options.
    return word[0] if set(word[0]) <= letters else word[0].casefold()


def _refers_elsewhere(
    named: frozenset[int], lettered: dict[int, frozenset[int]], n_options: int
) -> bool:
    return all(slot < n_options and slot not in lettered for slot in named)
