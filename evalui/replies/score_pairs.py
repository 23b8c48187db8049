"""Two scores in a judge's reply, one for each answer: "8 6", "[[8, 6]]", "Assistant 1: 6/10".

Counts ("4 examples in 210 words") are no scores, and marks for single criteria none of the whole.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from evalui.replies.judge_statements import (
    ChosenVerdict,
    VerdictGrammar,
    VerdictLabel,
    choose,
    is_line_verdict,
)
from evalui.replies.judgements import SIDE_NOUN, Judgement, is_own, lead_of
from evalui.replies.verdict_labels import (
    GradedOutcome,
    Side,
    only_label,
    outcome_by_scores,
    side_labels,
)


def read_score_pair(judgement: Judgement, *, cut: bool) -> ChosenVerdict[GradedOutcome]:
    """The better of two scores that stand together, that of the first answer first."""
    return choose(judgement, _grammar(), cut=cut)


def is_score_pair(text: str) -> bool:
    """Whether the text is one line, and nothing but two scores."""
    return is_line_verdict(text, _grammar())


def read_labelled_scores(
    judgement: Judgement, *, cut: bool, stated: bool
) -> ChosenVerdict[GradedOutcome]:
    """The better of two scores of which each names its answer, in lines or in a table.

    `stated`: only what is called a score, as by "/10" or "score", and not any number.
    """
    lines = judgement.lines[:-1] if cut else judgement.lines
    scores = [*_labelled_scores(lines, stated=stated), *_table_scores(lines)]
    overall = [score for score in scores if score.overall]
    by_side = {
        side: {score.value for score in overall or scores if score.side == side}
        for side in ("a", "b")
    }
    if not all(by_side.values()):
        return ChosenVerdict(None, "unparsed")
    if any(len(values) > 1 for values in by_side.values()):
        return ChosenVerdict(None, "ambiguous")
    return ChosenVerdict(outcome_by_scores(*by_side["a"], *by_side["b"]), "scores")


@dataclass(frozen=True, slots=True)
class _Score:
    side: Side
    value: float
    overall: bool


def _labelled_scores(lines: Sequence[str], *, stated: bool) -> Iterator[_Score]:
    for line in lines:
        for side, start, end in (*side_labels(line), *_numbered_scores(line)):
            match = _SCORE_BEHIND.match(line, end)
            lead = lead_of(line, start)
            called = match and (match["of"] or _SCORE_NOUN.search(f"{lead} {match[0]}"))
            if match and (called or not stated) and is_own(lead):
                overall = bool(_OVERALL.search(lead) or _OVERALL.search(match["noun"] or ""))
                yield _Score(side, float(match["score"]), overall)


def _numbered_scores(line: str) -> Iterator[tuple[Side, int, int]]:
    """Scores that are named and not their answers: "Score 1: 5"."""
    for match in _NUMBERED_SCORE.finditer(line):
        yield "a" if (match[1] or match[2]) in "1Aa甲" else "b", match.start(), match.end()


def _table_scores(lines: Sequence[str]) -> Iterator[_Score]:
    """The row of a table that sums up, below a head that names both answers."""
    columns: dict[int, Side] = {}
    for line in lines:
        if line.count("|") < 3:
            columns = {}
            continue
        cells = [cell.strip() for cell in line.strip("| ").split("|")]
        named = {
            place: label.outcome
            for place, cell in enumerate(cells)
            if (label := only_label(cell, {})) and label.outcome in ("a", "b")
        }
        if sorted(named.values()) == ["a", "b"]:
            columns = {place: "a" if outcome == "a" else "b" for place, outcome in named.items()}
        elif columns and _OVERALL.search(cells[0]):
            for place, side in columns.items():
                if place < len(cells) and (match := _CELL.fullmatch(cells[place])):
                    yield _Score(side, float(match[1]), overall=True)


# ---------------------------------------------------------------- grammar


@cache
def _grammar() -> VerdictGrammar[GradedOutcome]:
    return VerdictGrammar(
        opening=re.compile(
            r"(?:so|therefore|thus|overall|finally|因此|所以|综上)[,:]?\s*", re.IGNORECASE
        ),
        cue=re.compile(_CUE, re.IGNORECASE),
        sentence_cue=re.compile(
            rf"(?P<weak>(?!))|(?P<free>\b(?:tuple|output)\b{_LINK}+)|{_CUE}", re.IGNORECASE
        ),
        label_at=_pair_at,
        explicit_labels=_double_pairs,
        single_labels=_single_pairs,
        same=_outcome_of,
        weigh=_unchanged,
        conclusions=_nothing,
    )


def _pair_at(text: str, position: int) -> VerdictLabel[GradedOutcome] | None:
    match = _PAIR.match(text, position)
    if not match and (slashed := _SLASHED_PAIR.match(text, position)):
        # "8.5 / 7" cannot be a mark out of seven, as "7/8" can.
        match = slashed if "." in slashed[2] or float(slashed[1]) > float(slashed[2]) else None
    return _label(match) if match else None


def _double_pairs(text: str) -> Iterator[tuple[int, VerdictLabel[GradedOutcome]]]:
    for match in _DOUBLE_PAIR.finditer(text):
        yield match.start(), _label(match)


def _single_pairs(text: str) -> Iterator[tuple[int, VerdictLabel[GradedOutcome]]]:
    for match in _SINGLE_PAIR.finditer(text):
        yield match.start(), _label(match)


def _label(match: re.Match[str]) -> VerdictLabel[GradedOutcome]:
    first, second = (float(number) for number in match.groups() if number is not None)
    explicit = match[0].startswith("[[")
    return VerdictLabel(outcome_by_scores(first, second), match.end(), explicit=explicit)


def _outcome_of(graded: GradedOutcome) -> str:
    return graded.outcome


def _unchanged(graded: GradedOutcome, rest: str) -> GradedOutcome:
    del rest
    return graded


def _nothing(sentence: str) -> Sequence[GradedOutcome]:
    del sentence
    return ()


_NUMBER = r"(-?\d{1,3}(?:\.\d{1,3})?)"
_OF = r"(?:\s?(?:/|out\sof)\s?\d{1,3})?(?:\s?分)?"
_APART = r"(?:\s?[,、;|]\s?|\s(?:and|vs\.?|to|和|比)\s|\s{1,4})"
_IN_BRACKETS = rf"\s?{_NUMBER}{_OF}\s?[,、:;/\s]\s?{_NUMBER}{_OF}\s?"
_DOUBLE_PAIR = re.compile(rf"\[\[{_IN_BRACKETS}\]\]")
_SINGLE_PAIR = re.compile(rf"(?<![\w\])])\[{_IN_BRACKETS}\]")
_PAIR = re.compile(
    rf"\[\[{_IN_BRACKETS}\]\]|\[{_IN_BRACKETS}\]|\({_IN_BRACKETS}\)|"
    rf"(?<![\d.\-]){_NUMBER}{_OF}{_APART}{_NUMBER}{_OF}(?![\d%]|\.\d|\s?[A-Za-z=+*/^\-]|\s\d)"
)
_SLASHED_PAIR = re.compile(rf"(?<![\d.\-]){_NUMBER}\s?/\s?{_NUMBER}(?![\d%/]|\.\d|\s?[A-Za-z=])")
_LINK = r"(?:\s?(?:\b(?:is|are|was|were|as|of)\b|[:=]|-{1,2}>?|[–—→⇒]|是|为))"
_CUE = (
    r"(?:\bi\s(?:would\s)?(?:rate|score|give|mark)\s(?:them|both)\s(?:as\s)?)|(?:\b(?:my|our|the|i\swould\sgive|i\sgive)\s)?(?:(?:final|overall|total|output|following|two)\s){0,3}"
    rf"\b(?:scores?|ratings?|marks?|output|results?|tuple|verdict|points)\b{_LINK}*\s*|"
    rf"(?:最终|总|综合|两者|最后)?的?(?:评分|得分|分数|打分|总分|结果){_LINK}*\s*"
)
_SCORE_NOUN = re.compile(
    r"\b(?:score|rating|mark|grade|points)s?\b|评分|得分|分数|打分", re.IGNORECASE
)
_OVERALL = re.compile(
    r"\b(?:overall|total|final|average|mean|sum)\b|总|综合|合计|平均|最终", re.IGNORECASE
)
_SCORE_BEHIND = re.compile(
    r"\s?(?:'s|的)?\s?(?P<noun>(?:(?:final|overall|total|最终|综合)\s?)?(?:score|rating|mark|grade|得分|评分|分数|总分|打分))?"
    r"\s?(?:\([^()\n]{0,30}\))?\s?(?:(?:(?:[:=|]|-{1,2}>?|[–—→]|\b(?:is|gets|receives|scores|earns|an?|score|of|with)\b|"
    r"得到?|获得|同样|也|均|都|为|是|打)\s?){1,4}|(?=\s\d{1,3}(?:\.\d{1,3})?\s?(?:分|/))\s)[\[(]{0,2}(?P<score>-?\d{1,3}(?:\.\d{1,3})?)"
    r"(?P<of>\s?(?:/|out\sof)\s?\d{1,3}|\s?分)?(?=[\])*]{0,4}\s{0,2}(?:$|[.,;:。、!(\[|\n]|[-–—]\s|and\b|vs\b|和|"
    rf"(?:(?:{SIDE_NOUN})\s?)?[AB12]\b))(?!\.\d)",
    re.IGNORECASE,
)
_NUMBERED_SCORE = re.compile(
    r"\b(?:score|rating|mark)\s(?:of\s|for\s)?([12AB])(?=\s?[:=])|(?:得分|评分|分数)\s?([12AB甲乙])(?=\s?[:=])",
    re.IGNORECASE,
)
_CELL = re.compile(
    r"[\s*\[(]{0,4}(\d{1,3}(?:\.\d{1,3})?)(?:\s?/\s?\d{1,3})?(?:\s?分)?[\s*\])]{0,4}"
)
