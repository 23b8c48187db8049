"""What mark did a judge give a single answer? The rule that decided stands with it.

The policy is that of `parsing.verdict`: thoughts, quotations and code do not count; of the
markers left those on the last line that announces one decide, else those on the last line that
has any. Markers that contradict each other there are unreadable: the judge is queried again.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from evalui.scoring.parsing import phrases

LOWEST_RATING, HIGHEST_RATING = 1.0, 10.0


@dataclass(frozen=True, slots=True)
class ParsedRating:
    """The mark of a judge: 1 to 10, or 1 for correct and 0 for incorrect; None if unreadable."""

    value: float | None
    rule: str


def read_rating(reply: str) -> ParsedRating:
    """The mark from 1 to 10, as `[[7]]` or announced without brackets ("Rating: 7")."""
    return _parse_reply(reply, _rating_scale())


def read_correctness(reply: str) -> ParsedRating:
    """1 for `[[correct]]`, 0 for `[[incorrect]]`, or for the word alone where it is announced."""
    return _parse_reply(reply, _correctness_scale())


@dataclass(frozen=True, slots=True)
class _RatingScale:
    """How one kind of mark is written, in brackets and after an announcement, and its value."""

    double_bracket: re.Pattern[str]
    single_bracket: re.Pattern[str]
    no_bracket: re.Pattern[str]
    parse_value: Callable[[re.Match[str]], float | None]


@dataclass(frozen=True, slots=True)
class _RatingMarker:
    start: int
    end: int
    value: float | None


def _parse_reply(reply: str, scale: _RatingScale) -> ParsedRating:
    spoken = phrases.after_thoughts(phrases.plain_judgement(reply, _LOOKALIKES))
    if spoken is None:
        return ParsedRating(None, "unfinished")
    if not spoken.strip():
        return ParsedRating(None, "empty")
    text = phrases.without_quotations(spoken.strip(), scale.double_bracket, _ends_line)
    if markers := _find_markers(text, scale.double_bracket, scale):
        return _select_markers(text, markers)
    single = _select_markers(text, _find_markers(text, scale.single_bracket, scale))
    if single.rule in ("announced", "end"):
        return ParsedRating(single.value, "single-bracket")
    if markers := _find_markers(text, scale.no_bracket, scale):
        return _agreed_rating(markers[-1:], "no-bracket")
    return ParsedRating(None, "unparsed")


def _ends_line(rest: str) -> bool:
    return _ENDING.fullmatch(rest) is not None


def _find_markers(text: str, pattern: re.Pattern[str], scale: _RatingScale) -> list[_RatingMarker]:
    return [
        _RatingMarker(match.start(), match.end(), scale.parse_value(match))
        for match in pattern.finditer(text)
    ]


def _select_markers(text: str, markers: Sequence[_RatingMarker]) -> ParsedRating:
    if not markers:
        return ParsedRating(None, "unparsed")
    if announced := [
        marker
        for marker in markers
        if _ANNOUNCED.search(phrases.text_before(text, marker.start)[1])
    ]:
        return _agreed_rating(phrases.on_last_line(text, announced), "announced")
    rule = "end" if _ENDING.fullmatch(text, markers[-1].end) else "last-line"
    return _agreed_rating(phrases.on_last_line(text, markers), rule)


def _agreed_rating(markers: Sequence[_RatingMarker], rule: str) -> ParsedRating:
    values = {marker.value for marker in markers}
    if len(values) > 1:
        return ParsedRating(None, "ambiguous")
    (value,) = values
    return ParsedRating(None, "out-of-range") if value is None else ParsedRating(value, rule)


def _rating_value(match: re.Match[str]) -> float | None:
    """None if the number is none of the scale, or of another scale ("4/5")."""
    value, of = float(match[1]), match[2] or "10"
    return (
        value if LOWEST_RATING <= value <= HIGHEST_RATING and float(of) == HIGHEST_RATING else None
    )


def _correctness_value(match: re.Match[str]) -> float:
    return 1.0 if match[1].lower() in ("correct", "正确") else 0.0


_LOOKALIKES = str.maketrans({"【": "[", "】": "]"})
_ENDING = re.compile(r"""[\s*_`.。!"')\]}$<>/|~]*""")
_CUE = (
    r"\bfinal\b|\bverdict\b|\brating\b|\bscore\b|\bmark\b|\bgrade\b|\bdecision\b|\bjudge?ment\b|"
    r"最终|结论|判定|判断|评分|得分|打分|分数|裁决"
)
_ANNOUNCED = re.compile(rf"(?<!initial )(?<!first )(?:{_CUE})", re.IGNORECASE)
_NO_BRACKET_CUE = (
    rf"(?:{_CUE})(?:[ \t]*(?:rating|score|mark|grade|verdict|decision|结果|分数|评分)){{0,2}}"
)
_CUE_LINK = r"[ \t*_]*(?:(?:is\b|was\b|of\b|[:=]|为|是)[ \t*_:]*)?"
# Gaps side by side are possessive (*+): else a run of blanks would be split between them every way.
_NUMBER = r"(-?\d+(?:\.\d+)?)(?:\s*+(?:/|out of)\s*+(\d+))?(?:\s*+分)?"
_WORD = r"(correct|incorrect|not\s+correct|正确|不正确|错误)"
_MARKER_END = r"(?=[\s*_.。!]*(?:$|\n|\()|\s*+[*_]*[.,;,。、](?!\d))"


@cache  # at first use, as the other scale: they take longer to compile than the module to import
def _rating_scale() -> _RatingScale:
    return _RatingScale(
        double_bracket=re.compile(rf"\[\[\s*{_NUMBER}\s*\]\]"),
        single_bracket=re.compile(rf"\[\s*{_NUMBER}\s*\]"),
        no_bracket=re.compile(
            rf"{_NO_BRACKET_CUE}{_CUE_LINK}{_NUMBER}{_MARKER_END}", re.IGNORECASE
        ),
        parse_value=_rating_value,
    )


@cache
def _correctness_scale() -> _RatingScale:
    return _RatingScale(
        double_bracket=re.compile(rf"\[\[\s*{_WORD}\s*\]\]", re.IGNORECASE),
        single_bracket=re.compile(rf"\[\s*{_WORD}\s*\]", re.IGNORECASE),
        no_bracket=re.compile(
            rf"(?:^[ \t*_]*|{_NO_BRACKET_CUE}{_CUE_LINK}){_WORD}[ \t*_.。!]*$",
            re.IGNORECASE | re.MULTILINE,
        ),
        parse_value=_correctness_value,
    )
