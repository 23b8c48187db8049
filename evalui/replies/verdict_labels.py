"""Words that name an outcome: "A", "Assistant 2", "the first", "B is better", "A>B", "both bad".

This knows labels and statements, not whether a judge decided by them: see `verdicts`.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Literal

from evalui.replies.judge_statements import VerdictLabel
from evalui.replies.judgements import DRESS, SIDE_NOUN
from evalui.types import Outcome

Side = Literal["a", "b"]
# How strongly one answer is preferred where a form tells it: "much better" and "better".
CLEAR, SLIGHT = 3, 1
TIE_DELTA = 0.1  # scores no further apart are a tie, as in FastChat


@dataclass(frozen=True, slots=True)
class GradedOutcome:
    """An outcome, and how clear the judge found it where the format says so (3 or 1)."""

    outcome: Outcome
    strength: int | None = None


@dataclass(frozen=True, slots=True)
class Preference:
    """A statement that one answer is better, from `start` to `end`.

    `limited`: it goes on so that it need not be one of the whole: "better in style". `direct`: it
    names the better one, and not the worse one.
    """

    side: Side
    start: int
    end: int
    strength: int
    limited: bool
    direct: bool


# What else names an outcome in a form: C and D, and the digits of PandaLM.
Letters = Mapping[str, GradedOutcome]


def outcome_by_scores(score_a: float, score_b: float) -> GradedOutcome:
    """The better score wins; scores within 0.1 of each other tie."""
    if abs(score_a - score_b) <= TIE_DELTA + 1e-9:
        return GradedOutcome("tie")
    return GradedOutcome("a" if score_a > score_b else "b")


def label_at(text: str, position: int, letters: Letters) -> VerdictLabel[GradedOutcome] | None:
    """The label that begins at `position`, in any dress; None if there is none."""
    if bracketed := _DOUBLE.match(text, position):
        content = bracketed[1].strip(_EDGES)
        outcome = only_label(content, letters) or letters.get(f"[[{content}]]")
        if not outcome and (named := _NAMED_INSIDE.match(content)):
            outcome = only_label(content[named.end() :], letters)
        if outcome or _SLOPPY.fullmatch(bracketed[1]):
            return VerdictLabel(outcome, bracketed.end(), explicit=True)
        return None
    if wrapped := _WRAPPED.match(text, position):
        content = next(part for part in wrapped.groups() if part is not None)
        outcome = only_label(content, letters)
        return VerdictLabel(outcome, wrapped.end()) if outcome else None
    return _naked_label(text, position, letters)


def only_label(text: str, letters: Letters) -> GradedOutcome | None:
    """The outcome that the text names, if it holds nothing else."""
    text = text.strip(_EDGES)
    if len(text) > _LONGEST_LABEL or not text:
        return None
    label = label_at(text, 0, letters)
    return label.value if label and not text[label.end :].strip(_EDGES) else None


def explicit_labels(
    text: str, letters: Letters
) -> Iterator[tuple[int, VerdictLabel[GradedOutcome]]]:
    """Every label in double brackets with its place; an index as in `m[[A]]` is none."""
    for match in _DOUBLE_ANYWHERE.finditer(text):
        label = label_at(text, match.start(), letters)
        if label and label.explicit:
            yield match.start(), label


def single_bracket_labels(
    text: str, letters: Letters
) -> Iterator[tuple[int, VerdictLabel[GradedOutcome]]]:
    """Every label in single square brackets with its place."""
    for match in _SINGLE_ANYWHERE.finditer(text):
        if not match[1].isdigit() and (outcome := only_label(match[1], letters)):
            yield match.start(), VerdictLabel(outcome, match.end())


def preferences_in(text: str) -> Iterator[Preference]:
    """Every statement that one answer is better, of limited scope or not."""
    for match in _side().finditer(text):
        if preferred := _preference(text, match):
            yield preferred


def side_labels(text: str) -> Iterator[tuple[Side, int, int]]:
    """Every naming of an answer with its place."""
    for match in _side().finditer(text):
        yield _side_of(match), match.start(), match.end()


def sides_in(text: str) -> set[Side]:
    """The answers that the text names."""
    return {_side_of(match) for match in _side().finditer(text)}


# ---------------------------------------------------------------- labels without brackets


def _naked_label(text: str, position: int, letters: Letters) -> VerdictLabel[GradedOutcome] | None:
    if match := _comparison().match(text, position):
        return VerdictLabel(_outcome_of_comparison(match), match.end(), stated=True)
    for pattern, outcome in _both_words().items():
        if match := pattern.match(text, position):
            return VerdictLabel(GradedOutcome(outcome), match.end(), stated=True)
    if match := _side().match(text, position):
        side = _side_of(match)
        preferred = _preference(text, match)
        if preferred and not preferred.limited:
            outcome = GradedOutcome(preferred.side, preferred.strength)
            return VerdictLabel(outcome, preferred.end, stated=True)
        return VerdictLabel(_plus(side, text, match), match.end() + _pluses(text, match))
    if match := _LOWER_LETTER.match(text, position) or _OTHER_LETTER.match(text, position):
        letter = match[1].upper()
        if letter in "AB":
            return VerdictLabel(GradedOutcome("a" if letter == "A" else "b"), match.end())
        return VerdictLabel(letters[letter], match.end()) if letter in letters else None
    if (match := _DIGIT.match(text, position)) and match[1] in letters:
        return VerdictLabel(letters[match[1]], match.end())
    return None


def _pluses(text: str, match: re.Match[str]) -> int:
    plus = _PLUSES.match(text, match.end())
    return len(plus[0]) if plus else 0


def _plus(side: Side, text: str, match: re.Match[str]) -> GradedOutcome:
    """WildBench's "A+" and "A++"."""
    strength = {0: None, 1: SLIGHT, 2: CLEAR}[_pluses(text, match)]
    return GradedOutcome(side, strength)


def _side_of(match: re.Match[str]) -> Side:
    named = (
        match["named"]
        or match["ordinal"]
        or match["zh_ordinal"]
        or match["pronoun"]
        or match["letter"]
    )
    return "a" if named.casefold() in _FIRST_NAMES else "b"


def _outcome_of_comparison(match: re.Match[str]) -> GradedOutcome | None:
    first, sign, second = match["left"], match["sign"], match["right"]
    sides = ["a" if name.casefold() in _FIRST_NAMES else "b" for name in (first, second)]
    if sides[0] == sides[1]:
        return None
    if sign[0] in "=≈~":
        return GradedOutcome("tie", SLIGHT)
    strength = CLEAR if len(sign) > 1 else SLIGHT
    return GradedOutcome("a" if (sides[0] == "a") == (sign[0] in ">≻") else "b", strength)


def _preference(text: str, subject: re.Match[str]) -> Preference | None:
    """The statement whose subject is this naming of an answer."""
    side = _side_of(subject)
    ranked: tuple[tuple[re.Pattern[str], Side], ...] = (
        (_better(), side),
        (_worse(), "b" if side == "a" else "a"),
    )
    for pattern, preferred in ranked:
        match = pattern.match(text, subject.end())
        if match and not (subject["letter"] and _NO_VERB.match(match[0])):
            limited = not _STATEMENT_END.match(text, match.end())
            return Preference(
                side=preferred,
                start=subject.start(),
                end=match.end(),
                strength=_strength_of(match),
                limited=limited,
                direct=preferred == side,
            )
    return None


def _strength_of(match: re.Match[str]) -> int:
    return CLEAR if _CLEARLY.search(match[0]) else SLIGHT


# ---------------------------------------------------------------- patterns

_LONGEST_LABEL = 60
_EDGES = " \t\n*_`\"'“”‘’.。!,;:" + DRESS
_FIRST_NAMES = frozenset(("a", "1", "甲", "一", "one", "first", "1st", "former", "前者"))
_DOUBLE = re.compile(r"[{(]?\[\[\s*([^\[\]\n]{1,60}?)\s*\]\]?[})]?")
_DOUBLE_ANYWHERE = re.compile(r"(?<![A-Za-z0-9_\])])\[\[")
_SINGLE_ANYWHERE = re.compile(r"(?<![A-Za-z0-9_\])\[])\[\s*([^\[\]\n]{1,60}?)\s*\](?!\])")
_WRAPPED = re.compile(
    rf"\[\s*([^\[\]\n]{{1,60}}?)\s*\]|\{{+\s*([^{{}}\n]{{1,60}}?)\s*\}}+|\(+\s*([^()\n]{{1,60}}?)\s*\)+|"
    rf"{DRESS[0]}([^{DRESS}\n]{{1,80}}){DRESS[1]}|<([^<>\n]{{1,40}})>"
)
# Wider than any label, so that a malformed verdict is seen and not passed over.
_SLOPPY = re.compile(
    r"(?:(?:assistant|model|助手)\s*)?[A-FX](?:\s*[<>=≈]+\s*[A-FX])*|tie", re.IGNORECASE
)
_LOWER_LETTER = re.compile(r"([abcd])(?=[\s)\]}]*(?:$|[.,;:。、\n(]))")
_OTHER_LETTER = re.compile(r"(?:(?:[Oo]ption|选项)\s?)?\(?([CD])\)?(?![A-Za-z0-9'’_+#])")
_NAMED_INSIDE = re.compile(r"(?!(?-i:[A-D])\b)[a-z]\w{0,12}\s?[:=]\s?", re.IGNORECASE)  # "x ="
_DIGIT = re.compile(r"([12])(?![\w.,/%:>=<+\-]|\s?分|\s\d)")
_PLUSES = re.compile(r"\+{1,2}(?!\w)")
# "A better suggestion" prefers nothing: between a letter and such a word stands a verb.
_NO_VERB = re.compile(
    r"\s(?:clearly\s|much\s|far\s|slightly\s)?(?:better|best|superior|stronger|prefer|winn|more|choice)",
    re.IGNORECASE,
)
_CLEARLY = re.compile(
    r"\b(?:much|significantly|far|considerably|substantially|vastly|greatly|decisively)\b|"
    r"明显|显著|远|大幅|显然|完胜",
    re.IGNORECASE,
)
# What may follow a statement of the whole: its end, a reason, or whom it is compared with.
_STATEMENT_END = re.compile(
    r"[\s)\]}*_`\"”’」]{0,4}(?:$|[.,;:!?。、|(\[<\n" + DRESS + r"]|[-–—]|"
    r"\bthan\b(?!(?:\s\w{1,12}){1,4}\s(?:in|at|on|for|with|regarding|when)\b)|\b(?:because|since|as|due|overall|over|here|and|but|by\sfar|this\s(?:round|one|comparison|time)|for\sthe\sreasons?|among)\b|"
    r"于|过|一筹|一些|一点|得多|因为|的(?:$|[,。;:]|一个|一方|回答|那个)|了)",
    re.IGNORECASE,
)

_EN_NOUNS = "|".join(noun for noun in SIDE_NOUN.split("|") if noun.isascii())
_ZH_NOUNS = "|".join(noun for noun in SIDE_NOUN.split("|") if not noun.isascii())
_SIDE_FORMS = (
    rf"(?:the\s)?(?:\b(?:{_EN_NOUNS})s?['’]?|(?:{_ZH_NOUNS}))[ \t_-]{{0,2}}"
    r"(?:\#\s?|no\.\s?|number\s)?[(\[“\"]?\s?(?P<named>[ab12甲乙]|[一二](?![下个些般样致句条点次步直])|one\b|two\b)"
    r"(?![A-Za-z0-9])[)\]”\"]?(?:号)?|"
    rf"(?:the\s)?\b(?P<ordinal>first|second|1st|2nd|former|latter)(?:\s(?:{_EN_NOUNS}|one)\b|"
    r"(?=\s(?:is|was|wins)\b|\s*(?:$|[.,;:!)\n])))|"
    rf"第\s?(?P<zh_ordinal>[一二12])\s?(?:个|份|条|位|种|篇|段)?(?:{_ZH_NOUNS})|"
    r"(?P<pronoun>前者|后者)|"
    r"(?:(?<![A-Za-z0-9'’_\-/+.])(?P<letter>(?-i:[AB])(?![A-Za-z0-9'’_#/]|-\w)|[甲乙](?![醇方烷级状骨板虫壳苯酸烯炔醛酮型类肝流]))(?:的(?:回答|答案))?)"
)
_ADVERBS_EN = (
    r"(?:(?:clearly|slightly|much|significantly|far|marginally|overall|somewhat|a\s(?:little|bit|lot)|"
    r"definitely|generally|considerably|substantially|notably|simply|only|just|the|by\sfar|"
    r"ultimately|therefore|thus|still|also|my|our|vastly|greatly|decisively|narrowly|to\sbe|as|"
    r"moderately|marginal|final|clear|overall|obvious|preferred|better|stronger)\s){0,5}"
)
_ADVERBS_ZH = (
    r"(?:整体上?|总体上?|明显|显然|显著|略微?|稍微?|稍|要|则|也|才|是|为|综合|相对|确实|的确|更加?|远远?|大幅|"
    r"最终|完|无疑|就|应当?|应该|会|更为|较为|表现|做得|写得|回答得|质量|是个?|总的来说){0,5}"
)
_BETTER_EN = (
    r"better|best|superior|stronger|preferable|preferred|(?:the\s)?winner|winning|wins?|won|"
    r"my\schoice|(?:the\s)?choice|ahead|more\s(?:appropriate|suitable|preferable)"
)
_BETTER_ZH = (
    r"更好|较好|最好|更优|较优|最优|更佳|较佳|最佳|更胜一筹|略胜一筹|更强|更合适|更合适|胜出|获胜|取胜|胜过|占优|"
    r"领先|优于|好于|强于|胜于|好(?=\s?(?:$|[;。,.!)\]]|一些|一点|得多))|优(?=\s?(?:$|[;。,.!)\]]))|"
    r"胜(?=\s?(?:$|[;。,.!)\]]|了))|赢"
)


@cache
def _side() -> re.Pattern[str]:
    return re.compile(_SIDE_FORMS, re.IGNORECASE)


@cache
def _better() -> re.Pattern[str]:
    return re.compile(
        r"(?:\s(?:is|was|are|seems?|appears?|looks?|comes?\sout|proves?|stands?\sout|remains|does|did|"
        r"performs?|performed|gives?|provides?|offers?|has|overall)\b)?\s?"
        rf"{_ADVERBS_EN}(?:{_BETTER_EN})\b"
        r"(?:\s(?:one|answer|response|choice|option|reply|assistant|job|overall|of\sthe\stwo|here))*|"
        rf"\s?(?:的(?:回答|表现|质量)?)?(?:比\s?(?:{_ZH_NOUNS})?\s?[AB12甲乙后前]者?\s?(?:的?(?:{_ZH_NOUNS}))?)?"
        rf"{_ADVERBS_ZH}(?<!不)(?:{_BETTER_ZH})(?:\s?(?:{_ZH_NOUNS})?\s?[AB12甲乙](?![A-Za-z0-9]))?",
        re.IGNORECASE,
    )


@cache
def _worse() -> re.Pattern[str]:
    return re.compile(
        r"\s(?:is|was|seems?|appears?)\s(?:clearly\s|slightly\s|much\s|significantly\s|far\s){0,2}"
        r"(?:worse|inferior|weaker)\b(?:\s(?:one|answer|response))?|"
        rf"\s?(?:{_ADVERBS_ZH})(?:不如|不及|逊于|劣于|弱于|输给|逊色于)"
        rf"\s?(?:{_ZH_NOUNS})?\s?(?:[AB12甲乙](?![A-Za-z0-9])|后者|前者)",
        re.IGNORECASE,
    )


@cache
def _comparison() -> re.Pattern[str]:
    noun = rf"(?:(?:{SIDE_NOUN})\s?)?"
    return re.compile(
        rf"{noun}(?P<left>[AB12甲乙])\s?(?P<sign>>{{1,3}}|<{{1,3}}|={{1,3}}|≈|≻)\s?{noun}"
        r"(?P<right>[AB12甲乙])(?![A-Za-z0-9]|\s?[<>=≈])",
        re.IGNORECASE,
    )


_BOTH_EN = (
    rf"(?:both(?:\sof\s(?:them|these))?(?:\s(?:the\s)?(?:{_EN_NOUNS})s?)?"
    r"(?:\s[A1]\s?(?:and|&)\s?[B2])?|"
    rf"(?:the\s)?(?:two\s)?(?:{_EN_NOUNS})s?\s?[A1]\s?(?:and|&|,)\s?(?:(?:{_EN_NOUNS})\s?)?[B2]|they|all)"
)
_BOTH_ZH = (
    rf"(?:(?:两(?:个|份|位|种|者|篇|方)?(?:的)?(?:{_ZH_NOUNS})?|二者|双方|"
    rf"(?:{_ZH_NOUNS})?\s?[A1甲]\s?(?:、|,|和|与|及)\s?(?:{_ZH_NOUNS})?\s?[B2乙])(?:的(?:{_ZH_NOUNS}|质量|表现))?)"
)
_QUITE_ZH = r"(?:很|较为?|比较|挺|非常|十分|同样|一样|是|相当|属于){0,2}"


@cache
def _both_words() -> Mapping[re.Pattern[str], Outcome]:
    """Words for a tie and for two bad answers, in the order in which they are tried."""
    neither = (
        r"tie\s?[(\[:,-]?\s?\(?both\s?_?bad\)?|both[\s_-]?bad\b|"
        r"neither\b(?:\s(?:of\s(?:them|the\stwo)|(?:one|side)\b|"
        rf"(?:{_EN_NOUNS})s?)(?:\s[A1]\s?(?:n?or|and)\s(?:(?:{_EN_NOUNS})\s)?[B2])?)?"
        r"(?:\s(?:is|are|was)\s(?:any\s)?(?:good|acceptable|satisfactory|correct|adequate|right|"
        r"helpful|useful))?(?!\s(?:is|are|was|wins|stands|has|comes)\b)|none\sof\s(?:them|the\stwo)\b|"
        rf"{_BOTH_EN}\s(?:are\s|were\s)?(?:all\s|equally\s|both\s|very\s|quite\s|just\sas\s){{0,2}}"
        r"(?:bad|poor|wrong|incorrect|unsatisfactory|unacceptable|inadequate|unhelpful|terrible|"
        r"not\sgood)\b|(?:equally\s)(?:bad|poor)\b|"
        rf"{_BOTH_ZH}?\s?(?:都|均|皆|全)(?:不|没有?)(?:太|够|算|是|怎么)?(?:好|行|佳|合格|理想|正确|对|符合(?:要求)?|"
        r"可取|满意|可用|达标)的?|"
        rf"{_BOTH_ZH}?\s?(?:都|均|皆|全){_QUITE_ZH}(?:差|糟糕?|烂|错误?的?|坏)|{_BOTH_ZH}?\s?(?:同样|一样)(?:差|糟)"
    )
    tie = (
        rf"(?:(?:it(?:'s|\sis)|this\sis|call\sit|declare)\s)?(?:an?\s|the\s)?(?:tie|draw|tied|drawn|toss-?up|"
        r"dead\sheat|stalemate|equal(?:ly\s(?:good|well|strong))?|even|equivalent|no\s(?:clear\s)?(?:winner|"
        r"preference|difference)|on\sa\spar)\b(?:\s\(?(?:both\sgood|between\s(?:the\stwo|them|A\sand\sB|both))\)?)?|"
        r"both[\s_-]?good\b|both(?=\s*(?:$|[.,;:!)\n]))|"
        rf"{_BOTH_EN}\s(?:are\s|were\s)?(?:all\s|equally\s|both\s|very\s|quite\s|just\sas\s){{0,2}}"
        r"(?:good|great|fine|excellent|strong|acceptable|correct|well|helpful|satisfactory|tied|equal|"
        r"comparable|equivalent)\b|"
        r"neither\s(?:(?:answer|response|assistant|one)\s)?(?:is|wins|stands)\s(?:clearly\s)?(?:better|out)\b|"
        rf"{_BOTH_ZH}?\s?(?:平局|平手|打平|打成平手|持平|不分(?:上下|高下|伯仲|胜负)|难分(?:高下|伯仲|胜负|上下|优劣)|"
        r"不相上下|旗鼓相当|势均力敌|没有(?:明显|显著)?(?:差别|差异|区别|高下)|(?:质量|水平|表现)?相当(?![好不差大])|同等|"
        r"一样好|同样好|无明显(?:差别|差异))|"
        rf"{_BOTH_ZH}?\s?(?:都|均|皆|全){_QUITE_ZH}(?:好|不错|优秀|出色|符合(?:要求)?|正确|对|令人满意)的?"
    )
    return {
        re.compile(neither, re.IGNORECASE): "neither",
        re.compile(tie, re.IGNORECASE): "tie",
    }
