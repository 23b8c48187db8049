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

LOWEST, HIGHEST = 1.0, 10.0


@dataclass(frozen=True, slots=True)
class Mark:
    """What a judge said: 1 to 10, or 1 for correct and 0 for incorrect; None if unreadable."""

    value: float | None
    rule: str


def read_rating(reply: str) -> Mark:
    """The mark from 1 to 10, as `[[7]]` or announced without brackets ("Rating: 7")."""
    return _read(reply, _rating_scale())


def read_correctness(reply: str) -> Mark:
    """1 for `[[correct]]`, 0 for `[[incorrect]]`, or for the word alone where it is announced."""
    return _read(reply, _correctness_scale())


@dataclass(frozen=True, slots=True)
class _Scale:
    """How one kind of mark is written, in brackets and after an announcement, and its value."""

    double: re.Pattern[str]
    single: re.Pattern[str]
    naked: re.Pattern[str]
    value: Callable[[re.Match[str]], float | None]


@dataclass(frozen=True, slots=True)
class _Marker:
    start: int
    end: int
    value: float | None


def _read(reply: str, scale: _Scale) -> Mark:
    from html import unescape  # its table of 2,000 names

    plain = unicodedata.normalize("NFKC", unescape(reply)).translate(_LOOKALIKES)
    plain = re.sub(r"\\([\[\]])", r"\1", plain)
    if not (spoken := _CLOSED_THOUGHT.split(plain)[-1]).strip():
        return Mark(None, "empty")
    if _OPEN_THOUGHT.search(spoken):
        return Mark(None, "unfinished")
    text = _unquoted(spoken.strip(), scale.double)
    if markers := _found(text, scale.double, scale):
        return _ranked(text, markers)
    single = _ranked(text, _found(text, scale.single, scale))
    if single.rule in ("announced", "end"):
        return Mark(single.value, "single-bracket")
    if markers := _found(text, scale.naked, scale):
        return _decided(markers[-1:], "no-bracket")
    return Mark(None, "unparsed")


def _unquoted(text: str, marker: re.Pattern[str]) -> str:
    """Without quotations and code, unless code that ends its line is nothing but the marker."""

    def unwrap(span: re.Match[str]) -> str:
        inside = next(part for part in span.groups() if part is not None)
        rest = span.string[span.end() :].partition("\n")[0]
        alone = marker.fullmatch(inside.strip()) and _ENDING.fullmatch(rest)
        return inside if alone else _GONE

    text = _CODE.sub(unwrap, text)
    bare = text.strip("\"“”'")
    return bare if marker.fullmatch(bare) else _QUOTED.sub(_GONE, text)


def _found(text: str, pattern: re.Pattern[str], scale: _Scale) -> list[_Marker]:
    return [
        _Marker(match.start(), match.end(), scale.value(match)) for match in pattern.finditer(text)
    ]


def _ranked(text: str, markers: Sequence[_Marker]) -> Mark:
    if not markers:
        return Mark(None, "unparsed")
    if announced := [marker for marker in markers if _ANNOUNCED.search(_lead(text, marker))]:
        return _decided(_beside(text, announced), "announced")
    rule = "end" if _ENDING.fullmatch(text, markers[-1].end) else "last-line"
    return _decided(_beside(text, markers), rule)


def _beside(text: str, markers: Sequence[_Marker]) -> list[_Marker]:
    """The markers on the line of the last one."""
    begin = text.rfind("\n", 0, markers[-1].start) + 1
    return [marker for marker in markers if marker.start >= begin]


def _decided(markers: Sequence[_Marker], rule: str) -> Mark:
    values = {marker.value for marker in markers}
    if len(values) > 1:
        return Mark(None, "ambiguous")
    (value,) = values
    return Mark(None, "out-of-range") if value is None else Mark(value, rule)


def _lead(text: str, marker: _Marker) -> str:
    """What stands before the marker on its line, or a heading above it."""
    nearest = max(0, marker.start - _NEAR)
    begin = max(nearest, text.rfind("\n", nearest, marker.start) + 1)
    if not text[begin : marker.start].strip(" *_#>\t"):
        above = nearest + len(text[nearest:begin].rstrip())
        begin = max(nearest, text.rfind("\n", nearest, above) + 1)
    return text[begin : marker.start]


def _rating(match: re.Match[str]) -> float | None:
    """None if the number is none of the scale, or of another scale ("4/5")."""
    value, of = float(match[1]), match[2] or "10"
    return value if LOWEST <= value <= HIGHEST and float(of) == HIGHEST else None


def _correctness(match: re.Match[str]) -> float:
    return 1.0 if match[1].lower() in ("correct", "正确") else 0.0


_NEAR = 400  # characters before a marker that may announce it: a line may hold many markers
_GONE = "\ufffc"  # stands where a quotation stood, so that what is around it is not joined
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
_NAKED = rf"(?:{_CUE})(?:[ \t]*(?:rating|score|mark|grade|verdict|decision|结果|分数|评分)){{0,2}}"
_SAID = r"[ \t*_]*(?:(?:is\b|was\b|of\b|[:=]|为|是)[ \t*_:]*)?"
# Gaps side by side are possessive (*+): else a run of blanks would be split between them every way.
_NUMBER = r"(-?\d+(?:\.\d+)?)(?:\s*+(?:/|out of)\s*+(\d+))?(?:\s*+分)?"
_WORD = r"(correct|incorrect|not\s+correct|正确|不正确|错误)"
_STOPS = r"(?=[\s*_.。!]*(?:$|\n|\()|\s*+[*_]*[.,;,。、](?!\d))"


@cache  # at first use, as the other scale: they take longer to compile than the module to import
def _rating_scale() -> _Scale:
    return _Scale(
        double=re.compile(rf"\[\[\s*{_NUMBER}\s*\]\]"),
        single=re.compile(rf"\[\s*{_NUMBER}\s*\]"),
        naked=re.compile(rf"{_NAKED}{_SAID}{_NUMBER}{_STOPS}", re.IGNORECASE),
        value=_rating,
    )


@cache
def _correctness_scale() -> _Scale:
    return _Scale(
        double=re.compile(rf"\[\[\s*{_WORD}\s*\]\]", re.IGNORECASE),
        single=re.compile(rf"\[\s*{_WORD}\s*\]", re.IGNORECASE),
        naked=re.compile(
            rf"(?:^[ \t*_]*|{_NAKED}{_SAID}){_WORD}[ \t*_.。!]*$", re.IGNORECASE | re.MULTILINE
        ),
        value=_correctness,
    )
