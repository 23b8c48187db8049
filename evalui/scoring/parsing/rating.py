"""What mark did a judge give a single answer? The rule that decided is told with it.

The policy is that of `scoring.verdict`: thoughts, quotations and code do not count; of the
markers left those on the last line that announces one decide, else those on the last line that
has any. Markers that contradict each other there are unreadable: the judge is asked again.
"""

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

LOWEST_RATING, HIGHEST_RATING = 1.0, 10.0


@dataclass(frozen=True, slots=True)
class ParsedRating:
    """What a judge said: 1 to 10, or 1 for correct and 0 for incorrect; None if unreadable."""

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
    from html import unescape  # its table of 2,000 names

    plain = unicodedata.normalize("NFKC", unescape(reply)).translate(_LOOKALIKES)
    plain = re.sub(r"\\([\[\]])", r"\1", plain)
    if not (spoken := _CLOSED_THOUGHT.split(plain)[-1]).strip():
        return ParsedRating(None, "empty")
    if _OPEN_THOUGHT.search(spoken):
        return ParsedRating(None, "unfinished")
    text = _strip_quotes_and_code(spoken.strip(), scale.double_bracket)
    if markers := _find_markers(text, scale.double_bracket, scale):
        return _select_markers(text, markers)
    single = _select_markers(text, _find_markers(text, scale.single_bracket, scale))
    if single.rule in ("announced", "end"):
        return ParsedRating(single.value, "single-bracket")
    if markers := _find_markers(text, scale.no_bracket, scale):
        return _agreed_rating(markers[-1:], "no-bracket")
    return ParsedRating(None, "unparsed")


def _strip_quotes_and_code(text: str, marker: re.Pattern[str]) -> str:
    """Without quotations and code, unless code that ends its line is nothing but the marker."""

    def unwrap(span: re.Match[str]) -> str:
        inside = next(part for part in span.groups() if part is not None)
        rest = span.string[span.end() :].partition("\n")[0]
        alone = marker.fullmatch(inside.strip()) and _ENDING.fullmatch(rest)
        return inside if alone else _PLACEHOLDER

    text = _CODE.sub(unwrap, text)
    bare = text.strip("\"“”'")
    return bare if marker.fullmatch(bare) else _QUOTED.sub(_PLACEHOLDER, text)


def _find_markers(text: str, pattern: re.Pattern[str], scale: _RatingScale) -> list[_RatingMarker]:
    return [
        _RatingMarker(match.start(), match.end(), scale.parse_value(match))
        for match in pattern.finditer(text)
    ]


def _select_markers(text: str, markers: Sequence[_RatingMarker]) -> ParsedRating:
    if not markers:
        return ParsedRating(None, "unparsed")
    if announced := [marker for marker in markers if _ANNOUNCED.search(_text_before(text, marker))]:
        return _agreed_rating(_on_last_line(text, announced), "announced")
    rule = "end" if _ENDING.fullmatch(text, markers[-1].end) else "last-line"
    return _agreed_rating(_on_last_line(text, markers), rule)


def _on_last_line(text: str, markers: Sequence[_RatingMarker]) -> list[_RatingMarker]:
    """The markers on the line of the last one."""
    begin = text.rfind("\n", 0, markers[-1].start) + 1
    return [marker for marker in markers if marker.start >= begin]


def _agreed_rating(markers: Sequence[_RatingMarker], rule: str) -> ParsedRating:
    values = {marker.value for marker in markers}
    if len(values) > 1:
        return ParsedRating(None, "ambiguous")
    (value,) = values
    return ParsedRating(None, "out-of-range") if value is None else ParsedRating(value, rule)


def _text_before(text: str, marker: _RatingMarker) -> str:
    """What stands before the marker on its line, or a heading above it."""
    nearest = max(0, marker.start - _MAX_LEAD_CHARS)
    begin = max(nearest, text.rfind("\n", nearest, marker.start) + 1)
    if not text[begin : marker.start].strip(" *_#>\t"):
        above = nearest + len(text[nearest:begin].rstrip())
        begin = max(nearest, text.rfind("\n", nearest, above) + 1)
    return text[begin : marker.start]


def _rating_value(match: re.Match[str]) -> float | None:
    """None if the number is none of the scale, or of another scale ("4/5")."""
    value, of = float(match[1]), match[2] or "10"
    return (
        value if LOWEST_RATING <= value <= HIGHEST_RATING and float(of) == HIGHEST_RATING else None
    )


def _correctness_value(match: re.Match[str]) -> float:
    return 1.0 if match[1].lower() in ("correct", "正确") else 0.0


_MAX_LEAD_CHARS = (
    400  # characters before a marker that may announce it: a line may hold many markers
)
_PLACEHOLDER = "\ufffc"  # stands where a quotation stood, so that what is around it is not joined
_LOOKALIKES = str.maketrans({"【": "[", "】": "]"})
_CLOSED_THOUGHT = re.compile(r"</(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_OPEN_THOUGHT = re.compile(r"<(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_CODE = re.compile(r"```(?:[a-z]+\n)?(.*?)```|`([^`\n]+)`", re.DOTALL | re.IGNORECASE)
# Bounded: each mark that opens and is never closed is searched to the end of its line.
_QUOTED = re.compile(
    r'"[^"\n]*"|“[^”\n]{0,4000}”|「[^」\n]{0,4000}」|『[^』\n]{0,4000}』|‘[^’\n]{0,4000}’|'
    r"(?<!\w)'[^'\n]*'(?!\w)"
)
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
