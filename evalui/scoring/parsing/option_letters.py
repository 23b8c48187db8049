"""Where letters of a line are labels of options, and where they are words, names or variables."""

import re
from functools import lru_cache

from evalui.scoring.parsing.mentions import Kind, characters, mention, slot_of
from evalui.scoring.parsing.patterns import either
from evalui.types import LETTERS

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
        line = _OTHER_LETTERS.sub(lambda match: _other_letter(match[0], size), line)
    text = _capitals(size).sub(lambda match: _letter(match, size), line)
    is_short = len(written) < MAX_SHORT
    if is_short or may_be_small:
        text = _small_letters(size).sub(_small_letter, text)
        if is_short and not _CAPITAL.search(written):  # all is small, so letters are too
            text = _SMALL_MENTION.sub(lambda sign: mention(Kind.LETTER, slot_of(sign[0])), text)
    return text


# Letters of other alphabets by the label that they stand for; В and С look like it, Б and Г count.
_OTHER_SLOTS = {"А": 0, "Б": 1, "В": 1, "С": 2, "Г": 3, "Д": 4, "Е": 4} | {
    letter: slot for letters in ("กขคง", "أبجد") for slot, letter in enumerate(letters)
}
_OTHER_LETTERS = re.compile(
    rf"(?<![\w\u0e30-\u0e4e])[{''.join(_OTHER_SLOTS)}](?=[\s).:\]»”\"]*(?:$|[,،]|ครับ|ค่ะ))"
)


def _other_letter(letter: str, size: int) -> str:
    slot = _OTHER_SLOTS[letter]
    return mention(Kind.LETTER, slot) if slot < size else letter


_CAPITAL, _WORD = re.compile("[A-Z]"), re.compile(r"\w")
_SMALL_MENTION = re.compile(characters(Kind.SMALL_LETTER))


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


def _small_letter(match: re.Match[str]) -> str:
    kind = Kind.LETTER if match["labelled"] else Kind.SMALL_LETTER
    return mention(kind, LETTERS.index(match[0].upper()))


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
