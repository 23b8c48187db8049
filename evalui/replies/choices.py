"""Which option did a written reply choose? The rule that decided stands with it.

A reply is stripped of thoughts, further turns, markup and full-width forms; the options it
mentions are marked (`options`), each sentence says something of them (`statements`), and all
sentences together choose one option or none (`decision`). Nothing is guessed: a reply that names
two options, denies one, refuses, contradicts itself or was cut off while thinking has no answer.
Nothing here knows the right answer; `ParsedChoice.grade` compares.
"""

import json
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any, cast

from evalui.replies.decision import (
    AMBIGUOUS,
    UNPARSED,
    ParsedChoice,
    only_slot,
    read_statements,
)
from evalui.replies.grammar import is_provisional, refuses
from evalui.replies.han import contains_han
from evalui.replies.mentions import either
from evalui.replies.options import Options, make_options, plain_text
from evalui.replies.text import (
    before_next_question,
    before_other_options,
    fold_width,
    own_turn,
    shortened,
    without_article,
    without_markup,
    without_unknown_tags,
    without_variants,
)
from evalui.replies.thoughts import split_thoughts
from evalui.types import LETTERS, Reading

# Part of the signature: raise it when a reply may be read otherwise.
TOLERANT_VERSION = "tolerant.5"

# Every rule a tolerant reading can name: first those that read an answer, then those that say why
# there is none, or why there are several.
RULES = (
    "strict",
    "marker",
    "marker+text",
    "letter",
    "letter+text",
    "text",
    "index",
    "index+text",
    "ordinal",
    "conclusion",
    "verdict",
    "elimination",
    "named-text",
    "leading-text",
    "tie",
    "ambiguous",
    "label-text-conflict",
    "index-guard",
    "unfinished",
    "empty",
    "unparsed",
)


def grade_reply(
    reply: str, options: Sequence[str], target: int, *, is_cut: bool = False
) -> dict[str, Reading]:
    """The tolerant and the strict reading of a reply, graded, by their names.

    `is_cut` says that the limit of tokens ended the reply: then only an answer that is announced
    counts.
    """
    strict = read_strict(reply, options)
    tolerant = strict if strict.choice is not None else _read(reply, options, is_cut=is_cut)
    return {"tolerant": tolerant.grade(target), "strict": strict.grade(target)}


def read_strict(reply: str, options: Sequence[str]) -> ParsedChoice:
    """The reply is one capital letter, blanks around it and one closing `.` `)` `。` allowed."""
    match = _STRICT.fullmatch(reply)
    slot = LETTERS.find(match[1]) if match else -1
    return _STRICT_CHOICES[slot] if 0 <= slot < len(options) else _NOT_A_LETTER


def read_tolerant(reply: str, options: Sequence[str], *, is_cut: bool = False) -> ParsedChoice:
    """What the reply chooses in whatever words; see `RULES` for the names of the rules."""
    strict = read_strict(reply, options)
    return strict if strict.choice is not None else _read(reply, options, is_cut=is_cut)


# U+2581 and U+0120 are how tokenizers write the blank before a word.
_STRICT = re.compile(r"[\s\u2581\u0120]*([A-Z])[.)。]?\s*")
_STRICT_CHOICES = tuple(ParsedChoice(slot, "strict") for slot in range(len(LETTERS)))
_NOT_A_LETTER = ParsedChoice(None, "not-a-letter")


_SHORT = 200  # characters of a reply that others are likely to equal


def _read(reply: str, options: Sequence[str], *, is_cut: bool) -> ParsedChoice:
    read = _read_once if len(reply) <= _SHORT else _read_anew
    return read(reply, tuple(options), is_cut=is_cut)


def _read_anew(reply: str, options: Sequence[str], *, is_cut: bool) -> ParsedChoice:
    spoken = split_thoughts(reply).spoken
    if spoken is None:
        return ParsedChoice(None, "unfinished")
    text = without_unknown_tags(own_turn(fold_width(shortened(spoken))), options)
    if not text:
        return ParsedChoice(None, "empty")
    text, known = before_next_question(text), make_options(options)
    before = before_other_options(text, options)
    parsed = _read_turn(before, options, known, is_cut=is_cut)
    if before == text or not _may_go_on(before, parsed):
        return parsed
    return _read_turn(text, options, known, is_cut=is_cut)


def _may_go_on(text: str, parsed: ParsedChoice) -> bool:
    """Whether a text holds no answer, or a guess that it calls the first, and no refusal."""
    if parsed.choice is not None:
        return is_provisional(text)
    return len(text) > _SHORT or (parsed is UNPARSED and bool(text) and not refuses(text))


def _read_turn(text: str, options: Sequence[str], known: Options, *, is_cut: bool) -> ParsedChoice:
    return (
        _read_plain(text, known)
        or _read_json(text, known)
        or _read_in_words(text, options, known, is_cut=is_cut)
    )


# Where all questions have the same options, such as yes and no, most replies equal an earlier one.
_read_once = lru_cache(maxsize=1024)(_read_anew)


def _read_in_words(
    text: str, options: Sequence[str], known: Options, *, is_cut: bool
) -> ParsedChoice:
    """The text as it is; else with "true" and 错误 as texts of options; else without variants."""
    parsed = _read_text(text, known, is_cut=is_cut)
    if parsed.choice is None and (polar := _read_polar(text, known)):
        return polar
    if parsed is UNPARSED and (common := known.named_by_common_words()):
        parsed = _read_text(text, common, is_cut=is_cut)
    if parsed is not UNPARSED:
        return parsed
    plain_options = [without_article(without_variants(option)) for option in options]
    plain = without_variants(text)
    is_other = plain != text or plain_options != list(options)
    if not is_other or len(set(plain_options)) < len(set(options)):
        return parsed
    varied = _read_text(plain, make_options(plain_options), is_cut=is_cut)
    # Without their accents words of other languages no longer say what they say of letters.
    return varied if "text" in varied.rule or contains_han(text) else parsed


_MAX_DRESS = 40  # characters of markup and punctuation around an option's text


def _read_text(text: str, options: Options, *, is_cut: bool) -> ParsedChoice:
    is_brief = len(text) <= options.longest + _MAX_DRESS
    if is_brief and (slots := options.slots_with_text(text)):
        return _read_option_text(text, slots, options)
    if is_result := _RESULT.fullmatch(text):
        slots = options.slots_with_text(is_result["value"])
        if len(slots) == 1 and options.are_numeric:
            return ParsedChoice(slots[0], "text")
    line = text.partition("\n")[0]
    if number := _NUMBER.fullmatch(line):
        return _read_number(int(number[1]), options)
    return read_statements(without_markup(text), options, is_cut=is_cut)


def _read_option_text(text: str, slots: Sequence[int], options: Options) -> ParsedChoice:
    plain = plain_text(text)
    label = LETTERS.find(plain.upper()) if len(plain) == 1 else -1
    if 0 <= label < len(options) and label not in slots:
        return AMBIGUOUS  # the label of one option and the text of another
    return only_slot(slots, "text", options)


# ---------------------------------------------------------------- true or false

_YES = either("true | yes | correct | right | 正确 | 对 | 是 | 真 | 没错 | 成立")
_NO = either("""
    not (?:true|correct|right) | untrue | false | no | incorrect | wrong | 不正确 | 不对 | 不是
    不成立 | 错误 | 错 | 否 | 假
""")
# A clause that says one of these of the statement, and no more.
_POLAR = re.compile(
    r"\W*(?:(?:so|but|therefore|thus|hence|所以|因此|故|但)\W{1,2})?"
    r"(?:(?:the|this|that)(?: (?:given |above )?(?:statement|claim|assertion|proposition|answer))?"
    r"(?: is|'s)(?: therefore)? |it(?: is|'s) |"
    r"(?:该|这个|这种|此|本题|题中|上述|题干)的?(?:说法|陈述|命题|判断|叙述|描述|表述|结论|题目)?(?:应该?)?[是为]?)?"
    rf"(?:(?P<no>{_NO})|(?P<yes>{_YES}))的?\W*",
    re.IGNORECASE,
)
_CLAUSE_END = re.compile(r"[.,;:!?。\n]|\s[-–—]\s|—|\b(?:because|since|as)\b|因为|由于")
_ONLY_YES, _ONLY_NO = re.compile(_YES), re.compile(_NO)


def _read_polar(text: str, options: Options) -> ParsedChoice | None:
    """Where one option says yes and another no: what the clauses say that say either."""
    yes = [slot for slot, each in enumerate(options.texts) if _ONLY_YES.fullmatch(each.plain)]
    no = [slot for slot, each in enumerate(options.texts) if _ONLY_NO.fullmatch(each.plain)]
    if len(yes) != 1 or len(no) != 1:
        return None
    clauses = _CLAUSE_END.split(without_markup(text))
    said = [match for clause in clauses if (match := _POLAR.fullmatch(clause))]
    slots = {no[0] if match["no"] else yes[0] for match in said}
    return ParsedChoice(slots.pop(), "verdict") if len(slots) == 1 else None


# ---------------------------------------------------------------- numbers

_NUMBER = re.compile(r"[\s*_`(\[【]*([1-9]\d?)[)\].、:*_`。】\s]*")
# A variable or a calculation with its result: "Therefore x = 15."
_RESULT = re.compile(
    r"(?:\$|\W*(?:so|therefore|thus|hence|then|we get|所以|因此|故|得)\W)?"
    r"\W*(?:[a-z]|[\d ().,+\-×*/÷^]{1,60})\s?=\s?(?P<value>[^=\n]{1,40})",
    re.IGNORECASE,
)


def _read_number(number: int, options: Options) -> ParsedChoice:
    """The option at this place."""
    if options.are_numeric:
        return ParsedChoice(None, "index-guard")  # here a number is a value, not a place
    return ParsedChoice(number - 1, "index") if number <= len(options) else UNPARSED


# ---------------------------------------------------------------- the plainest replies

_DRESS, _UNDRESS = r"[\s*_`\"'“(\[【{$]{0,8}", r"[\s*_`\"'”)\]】}$]{0,8}"
_DRESSED_LETTER = re.compile(rf"{_DRESS}([A-Z]){_UNDRESS}[.。!,:]?{_UNDRESS}")
_LETTER_AND_TEXT = re.compile(rf"{_DRESS}([A-Z]){_UNDRESS}[.):、][)*_`\s]{{0,4}}([^\n]{{1,200}})")
_ANNOUNCED = re.compile(
    r"[\s*_#>]{0,6}(?:(?i:(?:(?:so|therefore|thus|hence|finally|in conclusion|overall)[, ]{1,2})?"
    r"(?:(?:the|my) )?(?:(?:(?:final|correct|right|best) ){0,2}answer|"
    r"(?:(?:final|correct|right|best) ){1,2}(?:option|choice))"
    r"(?: is| would be| should be| must be)?)[\s:*_]{1,6}(?:(?i:option|choice) )?|"
    r"(?:综上所述|综上|所以|因此|故)?,?(?:(?:本题|此题)的?)?"
    r"(?:(?:正确|最终|参考)?答案(?:应该|应当|应|就)?(?:是|为|选)?|(?:应该?|我)?选择?)"
    r"[\s:】*_]{0,6}(?:选项)?)"
    rf"{_DRESS}([A-Z])(?![A-Za-z0-9'’]){_UNDRESS}(?:选?项)?(?:$|[.:、,。][*_`\s]{{0,4}}|"
    rf"\s)([^\n]{{0,200}})"
)
# Words in what stands before, with which the last line may be no more than one answer of several.
_MAY_CONTRADICT = re.compile(
    r"[Nn][Ss][Ww][Ee][Rr]\W{0,4}(?:is|was|[:=]|would|should|could)|答案|选[^项择]|^\W*[A-Z]\W"
)
_MIN_LONG = 300  # characters of a reply whose last line stands for itself


@lru_cache(maxsize=1024)
def _letter_read(letter: str, rule: str) -> ParsedChoice:
    return ParsedChoice(LETTERS.index(letter), rule)


def _read_plain(text: str, options: Options) -> ParsedChoice | None:
    """Most replies: a letter, with its text, or announced in a line of its own, at the end.

    What is read here `read_statements` reads as the same; this is ten times quicker.
    """
    if any(len(each.plain) == 1 for each in options.texts):
        return None  # a letter may be a text
    end = text.rfind("\n") + 1
    if end and len(text) < _MIN_LONG:
        return None
    if not end:
        if match := _DRESSED_LETTER.fullmatch(text):
            return _own(match[1], "", "letter", options)
        if match := _LETTER_AND_TEXT.fullmatch(text):
            return _own(match[1], match[2], "letter+text", options)
    match = _ANNOUNCED.fullmatch(text[end:].strip())
    if not match or (end and _MAY_CONTRADICT.search(text, 0, end)):
        return None
    return _own(match[1], match[2], "marker", options)


def _own(letter: str, text: str, rule: str, options: Options) -> ParsedChoice | None:
    """The option with this letter, if nothing or its own text stands behind it."""
    slot = LETTERS.index(letter)
    if slot >= len(options):
        return None
    rest = text.strip(" .。!*_`)…")
    if plain_text(rest) != options.texts[slot].plain if rest else options.is_name_of_another(slot):
        return None
    return _letter_read(letter, rule)


# ---------------------------------------------------------------- JSON

_ANSWER_KEY = re.compile(
    r"answer|choice|option|select|letter|label|prediction|result|final|选择|选项|答案",
    re.IGNORECASE,
)
_OTHER_KEY = re.compile(
    r"index|idx|alternativ|wrong|incorrect|confidence|reason|expla|other|options$|choices$|"
    r"runner|"
    r"second|eliminat|reject|错|排除|解析|理由",
    re.IGNORECASE,
)


def _read_json(text: str, options: Options) -> ParsedChoice | None:
    """The one answer of a JSON object; None if the text is none, or holds none."""
    if not text.startswith(("{", "[{")):
        return None
    try:
        value, _ = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict | list):
        return None
    answers = list(_answers(value, is_answer=False))
    slots = {_read_text(answer, options, is_cut=False).choice for answer in answers}
    if len(slots) > 1:
        return AMBIGUOUS
    slot = slots.pop() if slots else None
    return UNPARSED if slot is None else ParsedChoice(slot, "marker")


def _answers(value: Any, *, is_answer: bool) -> Iterator[str]:  # any JSON value
    """The texts under keys that name an answer; several in a list are one answer of several."""
    if isinstance(value, str):
        if is_answer and value.strip():
            yield value.strip()
    elif isinstance(value, list):
        members = cast("list[Any]", value)
        if is_answer:
            yield ", ".join(each for each in members if isinstance(each, str))
        elif len(members) == 1:
            yield from _answers(members[0], is_answer=False)
    elif isinstance(value, dict):
        for key, each in cast("dict[str, Any]", value).items():
            names_answer = bool(_ANSWER_KEY.search(key)) and not _OTHER_KEY.search(key)
            yield from _answers(each, is_answer=names_answer)
