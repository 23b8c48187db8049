"""Which answer did a written judgement prefer? The rule that decided stands with it.

A reply is cleaned first: HTML entities and full-width forms become plain ones, closed thoughts
go, and so does what stands in quotation marks or in code (unless a code span holds nothing but
the marker), because judges quote their instructions and the answers they judge. Of the markers
left, one that is announced as the verdict counts; else one that ends the reply; else the one on
a later line than all others. An unreadable judgement is None and never a tie.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from evalui.scoring.parsing import phrases
from evalui.scoring.parsing.verdict_json import GradedOutcome, outcome_by_scores, read_json
from evalui.types import Outcome

VERSION = "verdict.2"  # part of the signature: raise it when a reply may be read otherwise


@dataclass(frozen=True, slots=True)
class ParsedVerdict:
    """What a judge decided, None if that cannot be read, and the rule that says so.

    `strength` is 3 for "much better" and 1 for "better" in formats that tell them apart.
    """

    outcome: Outcome | None
    rule: str
    strength: int | None = None


def read_verdict(verdict_format: str, reply: str) -> ParsedVerdict:
    """The verdict of a reply in one of the `PAIRWISE_FORMATS`."""
    spoken = phrases.after_thoughts(phrases.plain_judgement(reply, _LOOKALIKES))
    if spoken is None:
        return ParsedVerdict(None, "unfinished")
    if not spoken.strip():
        return ParsedVerdict(None, "empty")
    return _READERS[verdict_format](spoken.strip())


# ---------------------------------------------------------------- markers and their rank


@dataclass(frozen=True, slots=True)
class _VerdictMarker:
    """A verdict in the text from `start` to `end`; `outcome` is None if it makes no sense."""

    start: int
    end: int
    outcome: GradedOutcome | None


def _select_marker(text: str, markers: Sequence[_VerdictMarker]) -> ParsedVerdict:
    """The marker that counts, by the order the module's docstring gives."""
    if not markers:
        return ParsedVerdict(None, "unparsed")
    leads = [phrases.text_before(text, marker.start) for marker in markers]
    announced = [
        (marker, cue)
        for marker, lead in zip(markers, leads, strict=True)
        if (cue := _announcement_end(lead))
    ]
    if announced:
        # Markers after one and the same announcement must agree.
        last = announced[-1][1]
        same = [marker for marker, cue in announced if cue == last]
        return _agreed_verdict(phrases.on_last_line(text, same), "announced")
    if _ENDING.fullmatch(text, markers[-1].end):
        return _agreed_verdict(markers[-1:], "end")
    return _agreed_verdict(phrases.on_last_line(text, markers), "last-line")


def _agreed_verdict(markers: Sequence[_VerdictMarker], rule: str) -> ParsedVerdict:
    judged = {marker.outcome for marker in markers}
    if len(judged) > 1:
        return ParsedVerdict(None, "ambiguous")
    (only,) = judged
    return (
        ParsedVerdict(None, "malformed")
        if only is None
        else ParsedVerdict(only.outcome, rule, only.strength)
    )


def _announcement_end(lead: tuple[int, str]) -> int:
    """Where the last announcement in front of a marker ends, 0 if there is none."""
    begin, text = lead
    ends = [cue.end() for cue in _ANNOUNCED.finditer(text)]
    return begin + ends[-1] if ends else 0


# ---------------------------------------------------------------- the formats


def _bracket_reader(
    judge: Callable[[str], GradedOutcome | None], label: str
) -> Callable[[str], ParsedVerdict]:
    """A reader of `[[label]]`; `[label]` counts when announced or at the end."""

    def read(reply: str) -> ParsedVerdict:
        double, single, naked = _bracket_patterns(label)
        text = phrases.without_quotations(reply, double)
        if markers := _find_markers(text, double, judge):
            return _select_marker(text, markers)
        single_bracket = _select_marker(text, _find_markers(text, single, judge))
        if single_bracket.rule in ("announced", "end"):
            return ParsedVerdict(single_bracket.outcome, "single-bracket", single_bracket.strength)
        return _last_without_brackets(text, naked, judge)

    return read


@cache  # at first use, as the texts of options: to compile takes longer than to import
def _bracket_patterns(label: str) -> tuple[re.Pattern[str], re.Pattern[str], re.Pattern[str]]:
    """A label in two brackets, in one, and in none."""
    return (
        re.compile(rf"\[\[\s*({_SLOPPY_LABEL})\s*\]\]", re.IGNORECASE),
        re.compile(rf"\[\s*({label})\s*\]", re.IGNORECASE),
        re.compile(rf"[\s:*_]*(?:(?:is|是|为)[\s:]*)?({label})[\s.。*_!]*", re.IGNORECASE),
    )


def _find_markers(
    text: str, marker: re.Pattern[str], judge: Callable[[str], GradedOutcome | None]
) -> list[_VerdictMarker]:
    return [
        _VerdictMarker(match.start(), match.end(), judge(match[1]))
        for match in marker.finditer(text)
    ]


def _last_without_brackets(
    text: str, naked: re.Pattern[str], judge: Callable[[str], GradedOutcome | None]
) -> ParsedVerdict:
    """A label without brackets, if it is all that follows an announcement."""
    for line in reversed(text.split("\n")):
        cues = list(_ANNOUNCED.finditer(line))
        if cues:
            match = naked.fullmatch(line, cues[-1].end())
            judged = judge(match[1]) if match else None
            return (
                ParsedVerdict(judged.outcome, "no-bracket", judged.strength)
                if judged
                else _UNPARSED_VERDICT
            )
    return _UNPARSED_VERDICT


def _three_way_outcome(label: str) -> GradedOutcome | None:
    return _THREE_WAY.get(_normalise_label(label))


def _read_named(reply: str) -> ParsedVerdict:
    """`[[Answer 1]]`, `[[Answer 2 much better]]`, `[[both bad]]`: the last line that has one."""
    text = phrases.without_quotations(reply, _NAMED)
    return _select_marker(text, _find_markers(text, _NAMED, _named_outcome))


def _named_outcome(label: str) -> GradedOutcome | None:
    match = _NAMED_LABEL.fullmatch(label.strip())
    if match is None:
        return None
    if match["both"]:
        return GradedOutcome("neither" if match["bad"] else "tie")
    better = match["better"] or ""
    strength = None if not better else 3 if re.search("much|明显", better, re.IGNORECASE) else 1
    return GradedOutcome("a" if match["side"] == "1" else "b", strength)


def _five_way_outcome(label: str) -> GradedOutcome | None:
    return _FIVE_WAY.get(re.sub(r"=+", "=", _normalise_label(label)))


def _normalise_label(label: str) -> str:
    return re.sub(r"\s|ASSISTANT|MODEL|助手", "", label.upper())


def _read_choice(reply: str) -> ParsedVerdict:
    """OpenCompass's four-way form: `选择：A`, `Choice: A`, or the text of the option."""
    text = phrases.without_quotations(reply, _CHOSEN)
    if announced := list(_announced_choices(text)):
        last = announced[-1]
        return (
            ParsedVerdict(last.outcome, "announced") if last else ParsedVerdict(None, "ambiguous")
        )
    if lone := _LONE_LETTER.match(text) or _LONE_ENDING.search(text):
        return ParsedVerdict(_FOUR_WAY[lone[1].upper()].outcome, "letter")
    return _read_conclusion(text)


def _read_conclusion(text: str) -> ParsedVerdict:
    """A letter that ends the reply as its conclusion: "A is better, so A."."""
    for match in phrases.CONCLUSION.finditer(text):
        if not _ENDING.fullmatch(text, match.end()) or phrases.is_negated_before(
            text, match.start()
        ):
            continue
        named = phrases.letters_of_group(match["group"])
        if len(named) > 1:
            return ParsedVerdict(None, "ambiguous")
        judged = _FOUR_WAY.get(match["group"][0].upper())
        return ParsedVerdict(judged.outcome, "conclusion") if judged else _UNPARSED_VERDICT
    return _UNPARSED_VERDICT


def _announced_choices(text: str) -> Iterator[GradedOutcome | None]:
    """What each announcement chooses, None for two letters; what names no option is no choice."""
    for cue in _CHOICE.finditer(text):
        rest = text[cue.end() : cue.end() + _MAX_LEAD_CHARS].split("\n", 1)[0]
        letter = _LETTER.match(rest)
        if letter and _ANOTHER_LETTER.match(rest, letter.end()):
            yield None
        elif letter:
            yield _FOUR_WAY[letter[0][-1].upper()]
        elif outcome := _outcome_by_text(rest):
            yield GradedOutcome(outcome)


def _outcome_by_text(rest: str) -> Outcome | None:
    for outcome, pattern in _OPTION_TEXTS.items():
        if _compiled(pattern).match(rest):
            return outcome
    return None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def _read_scores(reply: str) -> ParsedVerdict:
    """Two scores, that of the first answer before that of the second."""
    text = phrases.without_quotations(reply, _DOUBLE_PAIR)
    for pattern in (_DOUBLE_PAIR, _SINGLE_PAIR):
        markers = [
            _VerdictMarker(
                pair.start(), pair.end(), outcome_by_scores(float(pair[1]), float(pair[2]))
            )
            for pair in pattern.finditer(text)
        ]
        if markers:
            return _select_marker(text, markers)
    if first := _FIRST_LINE_PAIR.match(text):
        return ParsedVerdict(
            outcome_by_scores(float(first[1]), float(first[2])).outcome, "first-line"
        )
    return _UNPARSED_VERDICT


def _read_object(reply: str) -> ParsedVerdict:
    judged, rule = read_json(reply)
    return (
        ParsedVerdict(judged.outcome, rule, judged.strength)
        if judged
        else ParsedVerdict(None, rule)
    )


# ---------------------------------------------------------------- tables

_UNPARSED_VERDICT = ParsedVerdict(None, "unparsed")
_MAX_LEAD_CHARS = 400  # characters after an announcement in which its letter stands

# Brackets and arrows, and the traditional characters of the words below.
_LOOKALIKES = str.maketrans(
    {"【": "[", "】": "]", "≫": ">>", "≪": "<<"}
    | dict(zip("選擇終後結論斷決應兩個為與項較對", "选择终后结论断决应两个为与项较对", strict=True))
)
_ENDING = re.compile(r"""[\s*_`.。!"')\]}$<>/|~]*(?:</\w+>\s*)?""")
_ANNOUNCED = re.compile(
    r"(?<!initial )(?<!first )(?:\bfinal\b|\bverdict\b|\bchoice\b|最终|最后|选择|结论|判断|裁决)",
    re.IGNORECASE,
)
# Wider than any label, so that a malformed verdict is seen and not passed over.
_SLOPPY_LABEL = r"(?:(?:assistant|model|助手)\s*)?[A-FX](?:\s*[<>=≈]+\s*[A-FX])*|tie"

_THREE_WAY: Mapping[str, GradedOutcome] = {
    "A": GradedOutcome("a"),
    "B": GradedOutcome("b"),
    "C": GradedOutcome("tie"),
    "TIE": GradedOutcome("tie"),
}
_FIVE_WAY: Mapping[str, GradedOutcome] = {
    "A": GradedOutcome("a", 1),
    "A>B": GradedOutcome("a", 1),
    "A>>B": GradedOutcome("a", 3),
    "B<A": GradedOutcome("a", 1),
    "B<<A": GradedOutcome("a", 3),
    "B": GradedOutcome("b", 1),
    "B>A": GradedOutcome("b", 1),
    "B>>A": GradedOutcome("b", 3),
    "A<B": GradedOutcome("b", 1),
    "A<<B": GradedOutcome("b", 3),
    "A=B": GradedOutcome("tie", 1),
    "B=A": GradedOutcome("tie", 1),
    "A≈B": GradedOutcome("tie", 1),
    "TIE": GradedOutcome("tie", 1),
}
_FOUR_WAY: Mapping[str, GradedOutcome] = {
    "A": GradedOutcome("a"),
    "B": GradedOutcome("b"),
    "C": GradedOutcome("tie"),
    "D": GradedOutcome("neither"),
}
_FIVE_WAY_LABEL = r"[AB]\s*(?:>>?|<<?|=+|≈)\s*[AB]|[AB]|tie"

# "A" before a small word is the English article ("A good answer"), unless the word gives a reason.
_NO_ARTICLE = r"(?!\s+(?!(?:because|since|as|is|for|due|given|over|with|or|and)\b)[a-z])"
_LETTER = re.compile(
    r"[\s*_\[(]*(?:(?:[Oo]ption|选项)\s*)?(?:"
    rf"[ABCD](?![A-Za-z]){_NO_ARTICLE}|[abcd](?=[\s*_\])]*(?:$|[.,;:。、])))"
)
_ANOTHER_LETTER = re.compile(
    r"[\s*_\])]*(?:或|和|与|跟|及|/|\||,|、|\bor\b|\band\b)[\s*_\[(]*[ABCD](?:\b(?!\s+(?:is|was)\b)|(?=[均都]))"
)
_CHOICE = re.compile(
    r"(?:选择|最终|结论|我选|应选|故选|因此选|所以选|\bchoice\b|\bverdict\b|\bi choose\b)"
    r"[\s*_]*(?:了|[:=]|是|为|is\b)?[\s*_:]*",
    re.IGNORECASE,
)
_CHOSEN = re.compile(r"(?:(?:选择|choice)[\s*:]*)?[ABCD]", re.IGNORECASE)
_LONE_LETTER = re.compile(r"[\s*_\[(]*([ABCD])[\s*_\]).。]*(?:\n|$)", re.IGNORECASE)
_LONE_ENDING = re.compile(r"\n[\s*_\[(]*([ABCD])[\s*_\]).。]*$", re.IGNORECASE)

_FIRST_ANSWER, _SECOND_ANSWER = r"(?:回答|response|answer)\s*1", r"(?:回答|response|answer)\s*2"
_BOTH_ANSWERS = (
    rf"(?:两个?(?:回答|者)?|{_FIRST_ANSWER}\s*(?:、|,|和|与|and)\s*(?:{_SECOND_ANSWER}|2)|"
    r"both\b[^.;\n]*?)"
)
_OPTION_TEXTS: Mapping[Outcome, str] = {
    "neither": rf"[\s*_]*(?:{_BOTH_ANSWERS}\s*(?:都|均|are)\s*(?:不|not)|neither\b)",
    "tie": rf"[\s*_]*{_BOTH_ANSWERS}\s*(?:都|均|are)\s*(?:较?好|good|符合|正确)",
    "a": rf"[\s*_]*{_FIRST_ANSWER}\s*(?:is\s+)?(?:更|较)?(?:好|good|better)",
    "b": rf"[\s*_]*{_SECOND_ANSWER}\s*(?:is\s+)?(?:更|较)?(?:好|good|better)",
}

_SCORE_PAIR = r"\s*(-?\d+(?:\.\d+)?)\s*[,、:;/]\s*(-?\d+(?:\.\d+)?)\s*"
_DOUBLE_PAIR = re.compile(rf"\[\[{_SCORE_PAIR}\]\]")
_SINGLE_PAIR = re.compile(rf"\[{_SCORE_PAIR}\]")
_FIRST_LINE_PAIR = re.compile(r"\s*(\d+(?:\.\d+)?)[\s,]+(\d+(?:\.\d+)?)\s*(?:\n|$)")

_NAMED = re.compile(r"\[\[([^\[\]\n]{1,40})\]\]")
_NAMED_LABEL = re.compile(
    r"(?:answer|回答)?\s*(?P<side>[12])\s*(?P<better>(?:is\s+)?(?:much\s+)?better|(?:明显)?更好)?|"
    r"(?P<both>(?:(?:两个)?都|both\s+)(?:(?P<bad>不好|bad)|好|good))",
    re.IGNORECASE,
)

_READERS: Mapping[str, Callable[[str], ParsedVerdict]] = {
    "mtbench": _bracket_reader(_three_way_outcome, "[ABC]|tie"),
    "arena_hard": _bracket_reader(_five_way_outcome, _FIVE_WAY_LABEL),
    "compass": _read_choice,
    "json": _read_object,
    "scores": _read_scores,
    "named": _read_named,
    "graded": _read_named,
}
PAIRWISE_FORMATS = tuple(_READERS)
