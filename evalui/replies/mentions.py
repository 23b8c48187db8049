"""How a line names an option by letter or place: "B", 乙, "the second one", 选项2; and its marks.

Every mention becomes one character of Unicode's private area, which patterns can name. Letters may
be words, names or variables, and numbers quantities; those are left alone. `options` marks with
this what it finds, and what is mentioned by an option's own words.
"""

import re
from enum import IntEnum
from functools import lru_cache

from evalui.replies.text import CARDINALS, FIRST_MENTION, LAST_MENTION, NUMERALS
from evalui.types import LETTERS


def either(*blocks: str) -> str:
    """A pattern for any of these phrases, which a bar between blanks or a new line parts."""
    lines = (line.strip() for block in blocks for line in block.split("\n"))
    return f"(?:{'|'.join(phrase for line in lines if line for phrase in line.split(' | '))})"


# ---------------------------------------------------------------- mentions as characters

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


# ---------------------------------------------------------------- letters

MAX_SHORT = 80  # characters of a line in which small letters and numbers may be labels
# Where these words are, a small letter may be a label: "the answer is b".
SMALL_LETTER_WORDS = ("answer", "option", "choice", "选", "答案")
_MOST_IN_RUN = 10  # options, so that "AC" is two letters; with more of them it may be a word

# A letter before one of these is no article: no noun phrase goes on so.
_CONNECTIVE = either(r"""
    because | since | as | is | are | was | were | for | due | according | based | which | but
    not
    and | or | seems? | appears? | looks? | fits? | would | could | can | cannot | can't | will
    does
    doesn't | has | must | should | might | may | isn't | wasn't | won't | in | on | of | to
    with
    from | by | over | than | instead | describes | states | says | refers | mentions | represents
    matches | makes | gives | shows | contains | includes | satisfies | contradicts | implies
    means
    also | at | if | when | holds | works | it | here | fails | only | that | though | although
    while | then | so | probably | definitely | obviously | clearly | the | goes | leads | follows
    applies | stands | comes | i | rather | after | all | again | too | either | vs | versus
    anyway
    just | still | gets | best | plus | along | together | besides | followed | alternatively
    respectively | maybe | perhaps | possibly | correct(?= (?:and|or|but)\b)
""")
_LATIN = "A-Za-zÀ-ÖØ-öø-ɏḀ-ỿ"  # letters, also with accents: the C of "Câu" begins a word
_CONNECTIVE_OTHERS = either("""
    ist | und | oder | est | et | ou | es | seguid[ao] | jest | lub | albo | oraz | ve | veya
    ya da | noch | ni | nem | né | no | não | non | n'est | sind | sont | são
    şık\\w* | seçene\\w* | adalah | dan | atau | hoặc | olarak | nicht | richtig | falsch
""")
_NOUN_BEHIND = rf"[ \t]+(?!(?:{_CONNECTIVE}|{_CONNECTIVE_OTHERS})(?![{_LATIN}]))[{_LATIN}]{{2,}}"
_NAMES_BEHIND = "major|minor|flat|sharp|cells?|vitamins?|language|programming|levels?"
# Not part of a word, of "B12", "C++", "B-tree", "A's", "A = 1" or "F(x) = 1".
_LETTER_ENDS = (
    rf"(?![{_LATIN}0-9_+#^²³]|['’](?![dt][iıuü]r\b)[{_LATIN}]|[-‐‑][A-Za-z0-9]|\.[a-z0-9]"
    r"|\s?\([^()\n]{1,12}\)\s?[=<≤≥]"
    rf"|\s?[=<≤≥×÷∪∩⊂⊆∈](?!\s?{characters(Kind.TEXT)}))"
)


def mark_letters(line: str, written: str, size: int, *, may_be_small: bool) -> str:
    """The line with the labels of so many options marked; `written` is it without any marks."""
    if not line.isascii():
        line = _OTHER_LETTERS.sub(
            lambda letter: (
                mention(Kind.LETTER, slot)
                if (slot := _OTHER_SLOTS[letter[0]]) < size
                else letter[0]
            ),
            line,
        )
    text = _capitals(size).sub(lambda match: _letter(match, size), line)
    if len(written) < MAX_SHORT or may_be_small:
        text = _small_letters(size).sub(
            lambda match: mention(
                Kind.LETTER if match["labelled"] else Kind.SMALL_LETTER,
                LETTERS.index(match[0].upper()),
            ),
            text,
        )
    return text


# Letters of other alphabets by the label that they stand for; В and С look like it, Б and Г count.
_OTHER_SLOTS = {"А": 0, "Б": 1, "В": 1, "С": 2, "Г": 3, "Д": 4, "Е": 4} | {
    letter: slot for letters in ("กขคง", "أبجد") for slot, letter in enumerate(letters)
}
_OTHER_LETTERS = re.compile(
    rf"(?<![\w\u0e30-\u0e4e])[{''.join(_OTHER_SLOTS)}](?=[\s).:\]»”\"]*(?:$|[,،]|ครับ|ค่ะ))"
)


_WORD = re.compile(r"\w")


@lru_cache(maxsize=len(LETTERS))
def _capitals(size: int) -> re.Pattern[str]:
    """Capitals of so many options where they are no part of a word, and no word themselves.

    It begins with a class and looks behind later, so that a search runs from capital to capital.
    """
    span = f"A-{LETTERS[size - 1]}"
    alone = either(
        rf"(?<![AI])(?! (?:{_NAMES_BEHIND})\b)",
        rf"(?<=A)(?!{_NOUN_BEHIND}) | (?<=ption A) | (?<=akes A) | (?<=项A)",
        r"(?<=I)(?=\s*(?:$|[.):\]}。;!?、]|选项|项|正确|is (?:the|correct|right)))",
    )
    return re.compile(
        rf"[{span}](?<![{_LATIN}0-9_°].)(?<![A-Za-z0-9][-'’].)(?<![a-z]\..)"
        rf"(?:{_LETTER_ENDS}{alone}|[{span}]{{1,{_MOST_IN_RUN}}}(?![{_LATIN}0-9_+\-]|\s?[=<≤≥]))"
    )


def _letter(match: re.Match[str], size: int) -> str:
    letters, line = match[0], match.string
    if len(letters) == 1:
        is_name = _is_of_name(line, match.start(), match.end())
        return letters if is_name else mention(Kind.LETTER, LETTERS.index(letters))
    is_sole = not _WORD.search(line, match.end()) and not _WORD.search(line, 0, match.start())
    if len(set(letters)) == 1 and is_sole:
        return mention(Kind.LETTER, LETTERS.index(letters[0]))  # "BBBB" and nothing else
    if size > _MOST_IN_RUN or "".join(sorted(set(letters))) != letters:
        return letters  # a word
    return "".join(mention(Kind.LETTER, LETTERS.index(letter)) for letter in letters)


@lru_cache(maxsize=len(LETTERS))
def _small_letters(size: int) -> re.Pattern[str]:
    """Small letters of so many options, dressed as labels or standing alone; never "i"."""
    span = f"[a-{LETTERS[size - 1].lower()}]"
    return re.compile(
        rf"(?P<labelled>(?<=[(\[【「<]){span}(?=[)\]】」>])"
        rf"|(?:(?<=ption )|(?<=hoice )|(?<=etter )|(?<=选项)){span}{_LETTER_ENDS})"
        rf"|(?<![{_LATIN}0-9_])(?<![A-Za-z0-9][-'’.])(?!i){span}{_LETTER_ENDS}"
        rf"(?!{_NOUN_BEHIND}|[ \t]+[(\"]?{characters(Kind.LETTER)})"  # "é a B"
    )


# ---------------------------------------------------------------- letters of names

# A letter behind one of these is a name, as is one before a noun of the second list: A股.
_NAMING_WORDS = frozenset(
    re.findall(
        r"\w+",
        """vitamin vitamins hepatitis influenza plan type grade appendix schedule exhibit figure
        table section group class team company point angle serie agent""",
    )
)
_NAMED_BY_NOUN = re.compile(
    r"股|超(?!过)|语言|[大小]调|型|细胞|[座级类区栋轮盘市国]|公司|同学|[组班队]"
)
_COMMAND = re.compile(r"\\[A-Za-z]+ ?$")  # "\Delta H" is a variable
# "D. H. Lawrence"
_INITIAL_AFTER = re.compile(r"\. ?(?:[A-Z]\. ?){1,2}[A-Z][a-z]")
_INITIALS = re.compile(r"(?:\b[A-Z]\. ?){2,3}[A-Z][a-z]")


def _is_of_name(line: str, start: int, end: int) -> bool:
    """Whether the letter there belongs to a name: "vitamin C", "D. H. Lawrence"."""
    before = line[max(0, start - 14) : start]
    if before.endswith(" ") and before[before.rfind(" ", 0, -1) + 1 : -1].lower() in _NAMING_WORDS:
        return True
    if "\\" in before and _COMMAND.search(before):
        return True
    if before.endswith(("维生素", "key of ")) or _NAMED_BY_NOUN.match(line, end):
        return True
    if line[end : end + 1] != ".":
        return False
    return bool(_INITIAL_AFTER.match(line, end) or _INITIALS.match(line, max(0, start - 3)))


# ---------------------------------------------------------------- places and numbers

STEMS = "甲乙丙丁戊"
_ORDINALS = re.findall(r"\w+", "first second third fourth fifth sixth seventh eighth ninth tenth")
_ROMANS = re.findall(r"\w+", "i ii iii iv v vi vii viii")
_NTH = ("1st", "2nd", "3rd", "4th", "5th", "6th", "7th", "8th", "9th", "10th")
_ORDINAL = "|".join([*_ORDINALS, *_NTH, "last", "middle", "penultimate"])
_COUNT = "|".join([*CARDINALS, r"[1-9]\d?"])
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
    rf"|选项 ?(?P<numbered_zh>[{NUMERALS}]|\d{{1,2}}|{_ROMAN})(?![\d.%a-z])",
    re.IGNORECASE,
)

# Searched in lower case.
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
# Every alternative begins with a character; what must stand before it is looked at afterwards.
_ENDS_ZH = (
    r"(?=$|[\s,.。;:!?、)\]」”\"]|[是为正对错不符最更才吧呢和或与及都也既即当了还跟加又且再同另其均]|"
    rf"的?说法|应该|[{FIRST_MENTION}-{LAST_MENTION}])"
)
PLACE_ZH = re.compile(
    either(
        rf"(?:倒数|从后往前数?|从下往上数?|最后)第 ?(?P<from_end>[{NUMERALS}\d]) ?"
        "(?:个|项)(?:选项)?",
        rf"第 ?(?P<ordinal>[{NUMERALS}]|\d{{1,2}}) ?"
        rf"(?:(?:个|项|种|条|号)? ?(?:选项|答案|选择)|(?:个|项|种|条|号){_ENDS_ZH})",
        rf"第(?P<bare>[{NUMERALS}])(?:(?<=^第.)|(?<=[选是为:]第.))(?=[.。!]?$)",
        "(?P<last>最后|末)的?[一那这]?(?:个|项)(?:选项)?",
        "(?P<of_two>前者|后者)",
        rf"(?P<numbered>[\d{NUMERALS}](?<![\w-].)\d?) ?号(?:选项|(?=$|[,.。;]))",
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
    for words in (_ORDINALS, CARDINALS, _ROMANS, NUMERALS):
        if word in words:
            return words.index(word) + 1
    digits = word.rstrip("stndrh")
    return int(digits) if digits.isdecimal() else None
