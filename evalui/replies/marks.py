"""What mark did a judge give a single answer? The rule that decided stands with it.

The policy is that of `verdicts`: thoughts, quotations and code do not count, a line that is
nothing but the mark outranks words inside sentences, and marks that contradict each other, marks of
another scale and replies that were cut off before their mark are unreadable: the judge is asked
again.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache, partial
from typing import Any, cast

from evalui.replies.judge_statements import (
    VerdictGrammar,
    VerdictLabel,
    choose,
    is_line_verdict,
    line_verdict,
    only_value,
    without_lists,
)
from evalui.replies.judgements import (
    CUT_REASONS,
    DRESS,
    Judgement,
    compiled,
    is_own,
    lead_of,
    parse_judgement,
)
from evalui.replies.objects import is_number, json_values, key_value_pairs, plain_key
from evalui.replies.text import CARDINALS, NUMERALS

# Part of the signature: raise it when a reply may be read otherwise.
RATING_VERSION = "rating.3"
LOWEST_RATING, HIGHEST_RATING = 1.0, 10.0
Scale = tuple[float, float]


@dataclass(frozen=True, slots=True)
class ParsedRating:
    """The mark of a judge on its scale, or 1 for correct and 0 for incorrect; None if unreadable.

    `marks` are those of single criteria, by the names they were asked for under.
    """

    value: float | None
    rule: str
    marks: Mapping[str, float] = field(default_factory=dict[str, float])


def read_rating(
    reply: str,
    *,
    scale: Scale = (LOWEST_RATING, HIGHEST_RATING),
    criteria: Sequence[str] = (),
    finish_reason: str = "stop",
    prompt_forms: Sequence[str] = (),
) -> ParsedRating:
    """The mark on a scale, as `[[7]]`, announced ("Rating: 7/10", `[RESULT] 4`) or in JSON.

    `criteria` are names whose marks are read, too, from JSON, from a table or from lines
    ("Accuracy: 7"). Without an overall mark the rating is their mean (rule "criteria"), if none
    is missing. `finish_reason` and `prompt_forms` are as in `read_verdict`.
    """
    grammar = _rating_grammar(scale)
    judgement = parse_judgement(reply, partial(is_line_verdict, grammar=grammar), prompt_forms)
    if isinstance(judgement, str):
        return ParsedRating(None, judgement)
    judgement = without_lists(judgement, grammar)
    cut = finish_reason in CUT_REASONS
    chosen = choose(_without_criteria(judgement, criteria, grammar), grammar, cut=cut)
    if chosen.line is not None and _is_other_scale(judgement.lines[chosen.line], scale):
        return ParsedRating(None, "out-of-range")
    if chosen.is_missing and (values := _values_of_keys(judgement, _RATING_KEYS, scale)):
        chosen = only_value(values, rule="json", missing_rule="malformed")
    rule = "out-of-range" if chosen.rule == "malformed" else chosen.rule
    if not criteria:
        return ParsedRating(chosen.value, rule)
    marks = _criteria_marks(judgement, criteria, scale, cut=cut)
    if chosen.is_missing and len(marks) == len(criteria):
        return ParsedRating(sum(marks.values()) / len(marks), "criteria", marks)
    return ParsedRating(chosen.value, rule, marks)


def read_correctness(
    reply: str, *, finish_reason: str = "stop", prompt_forms: Sequence[str] = ()
) -> ParsedRating:
    """1 for `[[correct]]`, 0 for `[[incorrect]]`, or for the word where it is announced or alone.

    `finish_reason` and `prompt_forms` are as in `read_verdict`.
    """
    grammar = _correctness_grammar()
    judgement = parse_judgement(reply, partial(is_line_verdict, grammar=grammar), prompt_forms)
    if isinstance(judgement, str):
        return ParsedRating(None, judgement)
    judgement = without_lists(judgement, grammar)
    chosen = choose(judgement, grammar, cut=finish_reason in CUT_REASONS)
    if chosen.is_missing and (values := _correctness_values(judgement)):
        chosen = only_value(values, rule="json", missing_rule="malformed")
    return ParsedRating(chosen.value, chosen.rule)


# ---------------------------------------------------------------- marks


@cache
def _rating_grammar(scale: Scale) -> VerdictGrammar[float]:
    label_at = partial(_mark_at, scale=scale)
    labels_in = partial(
        _labels_in, match=_NUMBER.fullmatch, value_of=partial(_value_of, scale=scale)
    )
    return VerdictGrammar(
        opening=compiled(_OPENING),
        cue=compiled(_RATING_CUE),
        sentence_cue=compiled(_RATING_SENTENCE_CUE),
        label_at=label_at,
        explicit_labels=partial(labels_in, brackets=_DOUBLE_BRACKET),
        single_labels=partial(labels_in, brackets=_SINGLE_BRACKET),
        same=lambda value: value,
        weigh=partial(_weigh, sentence_cue=_RATING_SENTENCE_CUE, label_at=label_at),
        conclusions=partial(_lone_mark, scale=scale),
    )


def _mark_at(text: str, position: int, scale: Scale) -> VerdictLabel[float] | None:
    """The mark that begins at `position`; its value is None where it is no mark of the scale."""
    if bracketed := _bracketed(text, position):
        inner = _NUMBER.fullmatch(bracketed.content) or _NUMBER_WORD.fullmatch(bracketed.content)
        if not inner:
            return None
        of = _OF_BRACKETS.match(text, bracketed.end)
        value = None if of and float(of[1]) != scale[1] else _value_of(inner, scale)
        end = of.end() if of else bracketed.end
        return VerdictLabel(value, end, explicit=bracketed.is_double)
    if between := _RANGE.match(text, position):
        return VerdictLabel(None, between.end())
    if match := _NUMBER.match(text, position) or _NUMBER_WORD.match(text, position):
        return VerdictLabel(_value_of(match, scale), match.end())
    return None


def _value_of(match: re.Match[str], scale: Scale) -> float | None:
    """None if the number is none of the scale, or of another scale ("4/5")."""
    lowest, highest = scale
    groups = match.groupdict()
    if word := groups.get("word"):
        value = float(_NUMBER_WORDS[word.casefold()])
    else:
        value = float(match["number"])
        if match["of"] and float(match["of"]) != highest:
            return None
    return value if lowest <= value <= highest else None


def _is_other_scale(line: str, scale: Scale) -> bool:
    """Whether the line names another highest mark: "满分 5 分，我给 4 分"."""
    return any(float(next(filter(None, match))) != scale[1] for match in _FULL_MARKS.findall(line))


def _lone_mark(sentence: str, scale: Scale) -> Sequence[float]:
    """A sentence that is nothing but a mark with its scale: "8/10."."""
    match = _NUMBER.fullmatch(sentence.strip(" .。*"))
    value = _value_of(match, scale) if match and match["of"] else None
    return [] if value is None else [value]


def _criteria_marks(
    judgement: Judgement, criteria: Sequence[str], scale: Scale, *, cut: bool
) -> dict[str, float]:
    """The marks of single criteria, without those that are missing or contradict each other."""
    lines = judgement.lines[:-1] if cut else judgement.lines
    marks: dict[str, float] = {}
    for name in criteria:
        values = set(_values_of_keys(judgement, {plain_key(name)}, scale))
        for line in lines:
            for match in _criterion(name).finditer(line):
                label = _mark_at(line, match.end(), scale)
                if label and is_own(lead_of(line, match.start())):
                    values.add(label.value)
        only = values.pop() if len(values) == 1 else None
        if only is not None:
            marks[name] = only
    return marks


def _without_criteria(
    judgement: Judgement, criteria: Sequence[str], grammar: VerdictGrammar[float]
) -> Judgement:
    """The judgement without marks of criteria, which are not overall.

    Those are lines that begin with a criterion, and lines of which several name their marks.
    """
    named = {
        place
        for place, line in enumerate(judgement.lines)
        if _NAMED_MARK.match(line) and line_verdict(line, grammar) is None
    }
    dropped = named if len(named) > 1 else set[int]()
    for place, line in enumerate(judgement.lines):
        if any(_criterion(name).match(line.lstrip("-+•|[ ")) for name in criteria):
            dropped.add(place)
    lines = ("" if place in dropped else line for place, line in enumerate(judgement.lines))
    return replace(judgement, lines=tuple(lines))


@lru_cache(256)  # names are those of rubrics
def _criterion(name: str) -> re.Pattern[str]:
    """The name of a criterion and what leads to its mark; Chinese words have no ends."""
    end = r"(?!\w)" if name[-1:].isascii() else ""
    return re.compile(rf"(?<![A-Za-z0-9]){re.escape(name)}{end}{_CRITERION_LINK}", re.IGNORECASE)


def _values_of_keys(
    judgement: Judgement, keys: set[str] | frozenset[str], scale: Scale
) -> list[float | None]:
    """The marks under these keys in the objects of the reply; None for one that is no mark."""
    written = (
        str(content).strip()
        for pairs in _objects(judgement)
        for key, content in pairs
        if key in keys and (is_number(content) or isinstance(content, str))
    )
    return [_value_of(match, scale) for text in written if (match := _NUMBER.fullmatch(text))]


def _objects(judgement: Judgement) -> Iterator[list[tuple[str, Any]]]:
    for value in json_values(judgement.blocks):
        if isinstance(value.content, dict):
            pairs = key_value_pairs(cast("dict[Any, Any]", value.content))
            yield pairs
            for _, content in pairs:
                if isinstance(content, dict):
                    yield key_value_pairs(cast("dict[Any, Any]", content))


# ---------------------------------------------------------------- correct or incorrect


@cache
def _correctness_grammar() -> VerdictGrammar[float]:
    word = compiled(_WORD)
    labels_in = partial(_labels_in, match=word.fullmatch, value_of=_correctness_of)
    return VerdictGrammar(
        opening=compiled(_OPENING),
        cue=compiled(_CORRECTNESS_CUE),
        sentence_cue=compiled(_CORRECTNESS_SENTENCE_CUE),
        label_at=_word_at,
        explicit_labels=partial(labels_in, brackets=_DOUBLE_BRACKET),
        single_labels=partial(labels_in, brackets=_SINGLE_BRACKET),
        same=lambda value: value,
        weigh=partial(_weigh, sentence_cue=_CORRECTNESS_SENTENCE_CUE, label_at=_word_at),
        conclusions=_stated_correctness,
    )


def _word_at(text: str, position: int) -> VerdictLabel[float] | None:
    if bracketed := _bracketed(text, position):
        word = compiled(_WORD).fullmatch(bracketed.content)
        value = _correctness_of(word) if word else None
        return VerdictLabel(value, bracketed.end, explicit=bracketed.is_double) if word else None
    word = compiled(_WORD).match(text, position)
    return VerdictLabel(_correctness_of(word), word.end()) if word else None


def _correctness_of(word: re.Match[str]) -> float | None:
    """1 or 0; None for what is correct in part."""
    if word["partly"]:
        return None
    return 0.0 if word["wrong"] else 1.0


def _stated_correctness(sentence: str) -> Sequence[float]:
    """What the sentence says of the whole answer: "The answer is incorrect."."""
    values: list[float] = []
    for match in compiled(_STATED).finditer(sentence):
        word = compiled(_WORD).match(sentence, match.end())
        if not word or not compiled(_STATED_END).match(sentence, word.end()):
            continue
        value = _correctness_of(word)
        if compiled(_TAKEN_BACK).search(sentence, word.end()):
            continue
        if value is not None and is_own(lead_of(sentence, match.start())):
            values.append(value)
    return values


def _correctness_values(judgement: Judgement) -> list[float | None]:
    return [
        value
        for pairs in _objects(judgement)
        for key, content in pairs
        if key in _CORRECTNESS_KEYS and (value := _correctness_of_content(content)) is not None
    ]


def _correctness_of_content(content: Any) -> float | None:
    if isinstance(content, bool):
        return float(content)
    word = compiled(_WORD).fullmatch(content.strip()) if isinstance(content, str) else None
    return _correctness_of(word) if word else None


# ---------------------------------------------------------------- what both share


@dataclass(frozen=True, slots=True)
class _Bracketed:
    """What stands in brackets or in quotation marks, and where they end."""

    content: str
    end: int
    is_double: bool


def _bracketed(text: str, position: int) -> _Bracketed | None:
    for pattern in (_DOUBLE_BRACKET, _WRAPPED):
        if match := pattern.match(text, position):
            content = next(part for part in match.groups() if part is not None)
            return _Bracketed(content.strip(), match.end(), pattern is _DOUBLE_BRACKET)
    return None


def _labels_in(
    text: str,
    *,
    brackets: re.Pattern[str],
    match: Callable[[str], re.Match[str] | None],
    value_of: Callable[[re.Match[str]], float | None],
) -> Iterator[tuple[int, VerdictLabel[float]]]:
    """Every mark in such brackets with its place; behind a word they are an index."""
    is_double = brackets is _DOUBLE_BRACKET
    for found in brackets.finditer(text):
        inner = match(found[1].strip())
        if inner and not (found.start() and text[found.start() - 1] in _INDEXED):
            yield found.start(), VerdictLabel(value_of(inner), found.end(), explicit=is_double)


def _weigh(
    value: float,
    rest: str,
    *,
    sentence_cue: str,
    label_at: Callable[[str, int], VerdictLabel[float] | None],
) -> float | None:
    """The value, None if another one is announced or stands in double brackets behind it."""
    rest = rest[:_LONGEST_REASON]
    ends = [cue.end() for cue in compiled(sentence_cue).finditer(rest) if not cue["weak"]]
    ends += [match.start() for match in _DOUBLE_BRACKET.finditer(rest)]
    for end in ends:
        label = label_at(rest, end)
        if label and label.value is not None and label.value != value:
            return None
    return value


# ---------------------------------------------------------------- tables

_LONGEST_REASON = 1000
_INDEXED = "])" + "abcdefghijklmnopqrstuvwxyz0123456789_"  # before brackets that are an index
_RATING_KEYS = frozenset(
    re.findall(
        r"\w+",
        """rating score mark grade overall overall_score overall_rating overall_mark final_score
        final_rating final_mark total total_score 评分 得分 打分 分数 总分 总评 综合得分
        综合评分 综合分数 总体评分 总体得分 最终得分 最终评分 最终分数 综合 总体""",
    )
)
_CORRECTNESS_KEYS = frozenset(
    re.findall(
        r"\w+",
        """correct is_correct verdict result judgment judgement decision grade correctness label
        判定 结论 判断 结果 是否正确 正确""",
    )
)
_NUMBER_WORDS = {
    **{word: number for number, word in enumerate(CARDINALS, 1)},
    **{word: number for number, word in enumerate(NUMERALS, 1)},
    "两": 2,
    "满": 10,
}
_DOUBLE_BRACKET = re.compile(r"[{(]?\[\[\s*([^\[\]\n]{1,40}?)\s*\]\]?[})]?")
_SINGLE_BRACKET = re.compile(r"(?<![\w\])\[])\[\s*([^\[\]\n]{1,40}?)\s*\](?!\])")
_WRAPPED = re.compile(
    rf"\[\s*([^\[\]\n]{{1,40}}?)\s*\]|\{{+\s*([^{{}}\n]{{1,40}}?)\s*\}}+|\(\s*([^()\n]{{1,40}}?)\s*\)|"
    rf"{DRESS[0]}\[{{0,2}}([^{DRESS}\[\]\n]{{1,40}})\]{{0,2}}{DRESS[1]}|<([^<>\n]{{1,20}})>"
)
_UNIT = r"(?:\s?(?:points?|marks?|stars?|分))?"
_OF = rf"{_UNIT}(?:\s?(?:/|out\sof|of)\s?(?P<of>\d{{1,3}}))?{_UNIT}"
_NUMBER = re.compile(
    rf"(?P<number>[-+]?\d{{1,4}}(?:\.\d{{1,3}})?)(?![\d%+]|[.,]\d|[A-Za-z]|\s?[=*^]){_OF}(?![\w%])",
    re.IGNORECASE,
)
_NUMBER_WORD = re.compile(
    rf"(?P<word>{'|'.join(CARDINALS)}|[{NUMERALS}两](?=\s?分?\s*(?:$|[。,;.!)\]]))|满(?=分))"
    rf"(?![\w一-龥](?<!分)){_OF.replace('?P<of>', '')}",
    re.IGNORECASE,
)
_FULL_MARKS = re.compile(
    r"满分\s?(?:为|是)?\s?(\d{1,3})|\bout\sof\s(?:a\spossible\s)?(\d{1,3})|\bscale\s(?:of|from)\s\d\s?(?:to|-)\s?(\d{1,3})",
    re.IGNORECASE,
)
_OF_BRACKETS = re.compile(r"\s?(?:/|out\sof)\s?\[\[(\d{1,3})\]\]")
_NAMED_MARK = re.compile(r"[\W\d]{0,6}[^\W\d][^:|\n]{0,30}[:|]\s?\[{0,2}\d{1,3}(?:\.\d{1,2})?\b")
_RANGE = re.compile(
    r"-?\d{1,3}(?:\.\d{1,3})?\s?(?:分\s?)?(?:[-–—~～]|到|至|\bto\b)\s?\d{1,3}(?:\.\d{1,3})?(?:\s?分)?"
    r"(?:\s?/\s?\d{1,3})?"
)
_OPENING = (
    r"(?:(?:so|thus|therefore|hence|finally|ultimately|in\s(?:conclusion|summary|short)|on\s(?:balance|the\swhole|"
    r"reflection)|consequently|all\sin\sall|for\s(?:these|this)\sreasons?|综上所述|综上|因此|因而|所以|总之|总的来说|"
    r"综合来看|综合考虑|最终|最后|于是)(?![a-z])[,:]?\s*|故[,:\s]\s*)"
)
_LINK = (
    r"(?:\s?\((?!\d)[^()\n]{0,30}\))?(?:\s?(?:\b(?:is|are|was|be|as|of|at|a|an|only|just)\b|[:=|]|-{1,2}>|[–—→⇒]|-(?=\s)|"
    r"应该|应当|应|是|为|给予?|打))"
)
_ADJECTIVES = r"(?:(?:my|our|the|this|final|overall|total|ultimate|average|resulting|own)\s){0,4}"
_ZH_ADJECTIVES = (
    r"(?:(?:我的|我给出|最终|最后|综合|总体|整体|总|回答的?|该回答的?|本回答的?)的?){0,3}"
)
_RATING_NOUN = r"(?:rating|score|mark|grade|points|verdict|assessment|evaluation)"
_ZH_RATING_NOUN = r"(?:评分|得分|打分|分数|总分|总评|给分|评定|分值|评价)(?:结果)?"
_WHOLE = r"(?:overall|final)(?:\s(?:quality|assessment|impression|performance|result))?"
_WHOM = (
    r"(?:\s(?:it|this|that|the|assistant|assistant's|model|model's|answer|response|reply|a|an|an?\s(?:rating|score|mark)|"
    r"rating|score|mark|of|as|at|with|to|one|overall|solid|only|just)\b){0,8}"
)
_RATING_VERBS = (
    rf"\b(?:i|we)(?:'d|'ll|\s(?:would|will|must|therefore|thus|hereby|can\sonly|only)){{0,3}}\s"
    rf"(?:rate|give|score|grade|mark|assign|award|settle\son|go\swith){_WHOM}\s?:?\s*"
)
_ZH_RATING_VERBS = (
    r"(?:我们?|本人)(?:会|将|最终|只能|愿意|认为|因此|就){0,2}(?:给予?|打|评|判)(?:出|了|它|该回答|这个回答|本回答|回答|其|为|一个){0,3}"
    r"\s?:?\s*(?=[\[\d一二两三四五六七八九十])"
)
_RATING_CUE = (
    r"(?:\[result\]\s*:?\s*|<(?:rating|score|mark|result|评分)>\s*|"
    rf"[\[(\"“]?{_ADJECTIVES}{_RATING_NOUN}\b[\])\"”]?{_LINK}*\s*|{_WHOLE}\s?[:=|\-–]\s*|"
    rf"[\[(\"“]?{_ZH_ADJECTIVES}{_ZH_RATING_NOUN}[\])\"”]?{_LINK}*\s*|(?:综合|总体|总计|合计|最终|总)\s?[:|]\s*|"
    rf"{_RATING_VERBS}|{_ZH_RATING_VERBS}|(?:给予?|打|评|(?:该|本|这个)?(?:回答|答案)?应?得|给(?:该|本|这个)?回答打?)(?:出|为|了)?\s?(?=[\d一二两三四五六七八九十]))"
)
_RATING_SENTENCE_CUE = (
    r"(?<![a-z])(?:(?P<weak>(?!))|(?P<free>\[result\]\s*:?\s*|"
    r"(?:我认为|我觉得|(?:本|该|这个|此)回答)(?:应该|应当|应|可以|可|能|只能)?(?:得|给|打|评|拿)(?:到|出)?\s?(?=[\d一二两三四五六七八九十.]+\s?分)|"
    r"(?<!perfect\s)(?<!ideal\s)\b(?:answer|response|reply|it|this)\s(?:clearly\s|only\s|therefore\s|thus\s)?"
    r"(?:deserves|merits|warrants|(?:is|should\sbe)\s(?:rated|scored|graded|marked))"
    r"(?:\s(?:a|an|as|at|with|only|rating|score|mark|grade|of|final|overall)){0,5}\s?:?\s*)|"
    rf"\b{_ADJECTIVES}{_RATING_NOUN}\b{_LINK}+\s*|{_ZH_ADJECTIVES}{_ZH_RATING_NOUN}{_LINK}+\s*|"
    rf"{_RATING_VERBS}|{_ZH_RATING_VERBS}|(?:(?:应|值|该|应该|应当)(?:得|给|打)|给予?|打)(?:出|了|这个回答|该回答|本回答|它)?打?\s?"
    r"(?=[\d一二两三四五六七八九十.]+\s?分)|"
    rf"{_WHOLE}\s?:\s*|(?:综合|总体|最终)\s?:\s*)"
)
_CRITERION_LINK = (
    r"[\s*_]{0,4}(?:\([^()\n]{0,30}\))?[\s*_]{0,4}"
    r"(?:(?:[:=|]|-{1,2}>?|[–—→]|是|为|得分?|评分|打分)[\s*_]{0,4}){0,3}"
)

_PARTLY = (
    r"partial(?:ly)?|partly|mostly|almost|nearly|somewhat|largely|half|neither|"
    r"部分|基本|大致|大体|半|不完全"
)
_WRONG = (
    r"incorrect|not\s(?:quite\s|entirely\s|fully\s)?(?:correct|right|true)|wrong|false|"
    r"不正确|错误的?|有误|不对|错的|错"
)
_RIGHT = r"correct|right|true|正确的?|无误|对的|对"
_WORD = (
    rf"(?:(?:fully|completely|entirely|essentially|factually|clearly|simply|完全|显然|明显|确实|并|是)\s?){{0,2}}"
    rf"(?:(?P<partly>(?:{_PARTLY})(?:[\s-]?(?:{_WRONG}|{_RIGHT}))?)|(?P<wrong>{_WRONG})|"
    rf"(?:{_RIGHT}))(?![a-z]|答案|的?[选说做地])"
)
_CORRECTNESS_NOUN = (
    r"(?:verdict|decision|judge?ment|conclusion|result|grade|label|assessment|evaluation|"
    r"classification|marking)"
)
_ZH_CORRECTNESS_NOUN = r"(?:判定|结论|判断|结果|评判|裁决|判决|评定|判分)(?:结果)?"
_CORRECTNESS_CUE = (
    r"(?:\[result\]\s*:?\s*|<(?:verdict|result|decision|judge?ment|结论)>\s*|"
    rf"[\[(\"“]?{_ADJECTIVES}{_CORRECTNESS_NOUN}\b[\])\"”]?{_LINK}*\s*|(?:final|overall)\s?:\s*|"
    rf"[\[(\"“]?{_ZH_ADJECTIVES}{_ZH_CORRECTNESS_NOUN}[\])\"”]?{_LINK}*\s*|(?:最终|综合)\s?:\s*)"
)
_CORRECTNESS_SENTENCE_CUE = (
    r"(?<![a-z])(?:(?P<weak>(?!))|(?P<free>\[result\]\s*:?\s*)|"
    rf"\b{_ADJECTIVES}{_CORRECTNESS_NOUN}\b{_LINK}+\s*|{_ZH_ADJECTIVES}{_ZH_CORRECTNESS_NOUN}{_LINK}+\s*|"
    r"\b(?:i|we)(?:'d|\s(?:would|must|therefore|thus)){0,2}\s(?:mark|judge|grade|rate|consider|deem|label)"
    r"\s(?:it|this|this\sanswer|the\s(?:answer|response))\s(?:as\s)?|"
    r"(?:我)?(?:因此|所以|故|应|应当)?(?:判定?|判断)(?:为|该回答为?|回答为?)\s?)"
)
_STATED = (
    r"(?<!reference\s)(?<!correct\s)(?<!right\s)(?<!expected\s)\b(?:this|answer|response|reply|solution|prediction|submission)\s"
    r"(?:given\s|provided\s)?(?:is|was)\s(?:therefore\s|thus\s|clearly\s|also\s|indeed\s|still\s)?|"
    r"\b(?:so|therefore|thus|hence),?\s(?:it|this)\s(?:is|was)\s|"
    r"(?<=一致),\s?|(?<=相符),\s?|(?:因此|所以|故)(?:是|为|判定?为)?\s?|"
    r"(?<!参考)(?<!标准)(?<!正确)(?:回答|答案|作答)(?:是|为|因此|显然|仍然?|也|就|应?判为|属于)?\s?"
)
_TAKEN_BACK = r"\b(?:but|however|yet|except)\b|但|然而|不过"
_STATED_END = (
    r"[\s*]{0,3}(?:$|[.,;:!。(\n]|[-–—]|\b(?:because|since|as|and|according)\b|的?(?:$|[,。;])|了)"
)
