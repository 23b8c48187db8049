"""What replies have in common: thoughts, and phrases around an answer's letter.

All patterns expect text in Unicode form NFKC, so full-width letters, brackets and colons have
become plain ones. Every repetition is bounded or over one class, so long replies stay cheap.
"""

import re

_CLOSED_THOUGHT = re.compile(r"</(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_OPEN_THOUGHT = re.compile(r"<(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
# A letter that stands alone: not part of a word, of "B12", "C++", "B-tree" or "A's".
_LETTER_END = r"(?![A-Za-z0-9+#]|-\w|['’]\w)"
_UPPER = rf"(?:[A-J]{_LETTER_END})"
_ANY_CASE = rf"(?:[A-Ja-j]{_LETTER_END})"
_JOINER = r"\s{0,3}(?:[、/&+]|和|与|及|或者?|还是|以及|\bor\b|\band\b)\s{0,3}"
# After a comma a letter belongs to the list only if no statement follows it: "A, B is wrong".
_LISTED = r"(?=\s{0,3}(?:$|[,.。、;!)\]】\n]|和|与|及|或|\band\b|\bor\b))"


def _group(letter: str) -> str:
    """One letter, or several joined: "A", "BC", "A or B", "A、C"."""
    run = rf"[A-J](?:[ ]?[A-J]){{0,9}}{_LETTER_END}"
    more = rf"(?:{_JOINER}{letter}|\s{{0,3}},\s{{0,3}}{letter}{_LISTED}){{0,9}}"
    return rf"(?P<group>(?:{run}|{letter}){more})"


_MARKUP = r"[\s*_`$\"'“”‘’>]{0,12}"
_LETTER_OPENING = (
    rf"{_MARKUP}(?:\\(?:boxed|text|mathbf|mathrm|textbf)\{{){{0,3}}[(\[【「{{]{{0,2}}\s?"
)
_LABEL = r"(?:(?:the\s)?(?:option|choice|letter)\s{0,3}|选项\s?)?"

_EN_BE = (
    r"(?:\s+(?:is|was|would\s+be|should\s+be|must\s+be|has\s+to\s+be|will\s+be|"
    r"seems\s+to\s+be|appears\s+to\s+be|could\s+be|might\s+be|=)"
    r"(?:\s+(?:most\s+)?(?:probably|likely|clearly|definitely|therefore|thus))?)"
)
_ANSWER_EN = (
    rf"(?:answer(?:\s+to\s+[^.\n]{{1,60}}?)?{_EN_BE}|answer[\"'*_`]{{0,3}}\s?:|answer(?=[ (\[*>])|"
    rf"(?:correct|right|best|final)\s+(?:option|choice|one){_EN_BE})"
)
_ANSWER_ZH = (
    r"(?:答案(?:选项|应该|应当|应|可能|一定|就|显然|只能){0,3}(?:是|为|选择|选)?|"
    r"(?:正确|错误|题意|恰当|合适|准确|不当|符合)的(?:选项|一项|一个|说法|答案)?(?:是|为)|"
    r"(?:正确|最佳)选项(?:是|为)?|选择?的?(?:是|为)?|而是)"
)
_ANSWER = rf"(?:\b{_ANSWER_EN}|{_ANSWER_ZH})"
_NOT_BUT = rf"(?:not\s+{_ANY_CASE},?\s+but\s+(?:rather\s+)?)?"

MARKER = re.compile(
    rf"(?i:{_ANSWER}{_MARKUP}:?{_MARKUP}{_NOT_BUT}{_LABEL}){_LETTER_OPENING}{_group(_ANY_CASE)}"
)
MARKER_TEXT = re.compile(
    rf"(?i:\banswer(?:{_EN_BE}|\s?:)|答案(?:应该)?(?::|是:?|为:?)){_MARKUP}(?P<text>[^\n]{{1,500}})"
)

_SO_EN = (
    r"(?:therefore|thus|hence|consequently|so|it\s+is|it's|it\s+must\s+be|it\s+should\s+be|"
    r"(?:i|i'd|i'll)\s+(?:would\s+|will\s+)?(?:choose|pick|select|go\s+with|say)|"
    r"my\s+(?:choice|pick)\s+is)"
)
_SO_ZH = r"(?:所以|因此|因而|故|显然|综上(?:所述)?|可知|可见|于是|从而)"
_IS_ZH = r"(?:应该|应|是|为|本题){0,3}"
_CONCLUSION_END = (
    r"(?=[\s*_`$)\]】}\"'”’]{0,6}"
    r"(?:$|[,;:!。\n]|\.(?!\s?[a-z])|because\b|since\b|as\b|项|选项|正确|符合|对))"
)
CONCLUSION = re.compile(
    rf"(?i:\b{_SO_EN}\b|{_SO_ZH})[,:]?\s{{0,3}}(?i:{_IS_ZH}{_LABEL}){_LETTER_OPENING}{_group(_UPPER)}"
    rf"{_CONCLUSION_END}"
)

_RIGHT_ZH = (
    r"\s?(?:选项|项)?\s?(?:的|中|说法|描述|表述|叙述|观点|内容){0,3}\s?(?:才|就)?(?:是|为)?"
    r"(?:最|更|完全|唯一){0,2}(?:正确|对(?:的|$|[,.。;])|符合|准确|合适|恰当)"
)
_RIGHT_EN = (
    r"[)\].]?\s+(?i:is|seems|looks|appears|must\s+be|would\s+be)\s+(?i:to\s+be\s+)?"
    r"(?i:(?:the|most|only|clearly|indeed|definitely)\s+){0,3}"
    r"(?i:right|correct|best|true|accurate|appropriate|likely|"
    r"(?:the|my)\s+(?:final\s+)?(?:answer|choice))\b"
)
VERDICT = re.compile(rf"(?<![A-Za-z0-9]){_group(_UPPER)}(?:{_RIGHT_ZH}|{_RIGHT_EN})")

# A bullet or a list number may stand before the letter: "1. C".
_REPLY_START = (
    rf"[\s*_`$#>\"'“‘]{{0,12}}(?:[-•]\s)?(?:[1-9][0-9]?[.)、:]\s{{0,3}})?(?i:{_LABEL})"
    rf"{_LETTER_OPENING}"
)
LEADING_LETTER = re.compile(
    rf"{_REPLY_START}{_group(_ANY_CASE)}\s?(?:选项|项)?\s{{0,3}}(?:[)\]】}}.:、,;。!*_`$\"”’']|<(?=[/|])|$|(?=\n))"
)
LEADING_GROUP = re.compile(rf"{_REPLY_START}{_group(_UPPER)}")
LETTER_BLANK = re.compile(r"[\s*_`]{0,6}([A-J])[*_`]{0,4}\s+(?=\S)")
INDEX = re.compile(r"[\s*_`(\[]*([1-9])[)\].、:*_`。\s]*")
# A place and a text behind it: "2. Rome", "(2) Rome"; "2.5" is a number.
NUMBERED = re.compile(
    r"[\s*_`(\[]*(?P<number>[1-9])(?:[.:](?!\d)|[)\]、])[)\]*_`\s]{0,6}(?P<text>\S[^\n]*)"
)
NUMERIC = re.compile(r"[\d(+\-−.]")

_NOT_BEFORE = re.compile(
    r"(?:不|别|勿|非|不能|不应该?|不要|不会|不可|无法|没有|如果|假如|假设|若|是否|"
    r"(?:n['’]t|\b(?:not|never|cannot|unable\sto|if|whether|neither|nor))"
    r"(?:\s+(?:option|the))?)\s?$",
    re.IGNORECASE,
)
# No comma and no full stop between: "C, not A" and "A. Not to mention" do not deny.
_NOT_AFTER = re.compile(
    r"[ \t)\]】}*_`$\"”]{0,6}(?:选项|项)?[ ]?(?:的?说法)?(?:是|为)?[ ]?"
    r"(?:错|有误|并非|排除|不(?:正确|对|符合|成立|准确|恰当|合适|是(?!\s?[A-J]))|"
    r"(?:(?:is|are|was|were)\s+)?(?:wrong|incorrect|false|not\s+(?:correct|right|true))\b|"
    r"(?:is|are|was|were)(?:\s+not\b|n['’]t\b))",
    re.IGNORECASE,
)
_QUESTION_END = re.compile(r"[\s)\]】}*_`$\"”’']{0,6}(?:吗|\?)")
_LABELLED = re.compile(r"(?<![A-Za-z0-9])([A-J])[*_`]{0,2}[.):、\]】][*_`\s]{0,3}")
_LISTED_LINE = re.compile(r"^[\s*_`(\[]{0,6}([A-J])[)\]】]?[*_`]{0,2}[.):、:]", re.MULTILINE)
_WORD = re.compile(r"[ \t]+[^\W\d_]{2,}")
# No noun follows an article with these, so the letter before them is a label.
_CONNECTIVE = re.compile(r"\s+(?:because|since|as|is|for|due|according|based|which|but|not)\b")


def after_thoughts(reply: str) -> str | None:
    """The reply without closed thoughts; None if it was cut off while thinking."""
    spoken = _CLOSED_THOUGHT.split(reply)[-1]
    return None if _OPEN_THOUGHT.search(spoken) else spoken


def letters_of_group(group: str) -> frozenset[str]:
    """The labels a group names, as capitals."""
    return frozenset(
        letter.upper() for letter in re.findall(r"(?<![A-Za-z])[A-Ja-j](?![a-z])|[A-J]", group)
    )


def rest_of_line(text: str, start: int) -> str:
    """The text from `start` to the end of its line."""
    return text[start:].partition("\n")[0]


def is_negated_before(text: str, start: int) -> bool:
    """Whether what begins at `start` is negated or only supposed: "不选", "if", "not"."""
    return bool(_NOT_BEFORE.search(text[max(0, start - 24) : start]))


def is_negated_after(text: str, end: int) -> bool:
    """Whether what ends at `end` is called wrong: "A is incorrect", "A错误"."""
    return bool(_NOT_AFTER.match(text, end))


def is_question(text: str, end: int) -> bool:
    """Whether what ends at `end` is a question: "is the answer A?", "答案是A吗"."""
    return bool(_QUESTION_END.match(text, end))


def labelled_texts(line: str) -> list[tuple[str, str]]:
    """Every label in a line, with the text from there to the end of the line."""
    return [(match[1], line[match.end() :]) for match in _LABELLED.finditer(line)]


def lists_others(text: str, letter: str) -> bool:
    """Whether lines of the text begin with other labels, as when the options are repeated."""
    return any(label != letter.upper() for label in _LISTED_LINE.findall(text))


def is_article(letter: str, after: str) -> bool:
    """Whether a single letter is a word of its sentence: "a mammal", "A mammal", "I cannot".

    `after` is what follows the letter. A capital other than A and I is never one.
    """
    if letter.isupper() and letter not in "AI":
        return False
    return bool(_WORD.match(after)) and not _CONNECTIVE.match(after)


def starts_with_words(line: str, text: str) -> bool:
    """Whether the line begins with the text as words of its own."""
    following = line[len(text) : len(text) + 1]
    return line.startswith(text) and (not following.isalnum() or following in "是为")


def continues_with_option(rest: str, text: str) -> bool:
    """Whether the rest of a line goes on with another option: " or London"."""
    match = re.match(_JOINER + "|" + r"\s?,\s?", rest)
    return match is not None and rest.startswith(text, match.end())
