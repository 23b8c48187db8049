"""Which of a judge's statements is its verdict: an outcome, a mark, or right and wrong.

A statement outranks another by where it stands: a line that is nothing but the verdict before
words inside sentences, an announcement before a mere marker. Of statements of equal rank that
differ the last one counts if it revises the others or alone calls itself final; else none does.
"""

import re
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Generic, TypeVar

from evalui.replies.judgements import (
    DRESS,
    Judgement,
    is_doubted,
    is_heading_of_verdict,
    is_instruction,
    is_own,
    lead_of,
    sentences_of,
)
from evalui.replies.text import FILLER

ValueT = TypeVar("ValueT", bound=Hashable)
_ItemT = TypeVar("_ItemT")


class Rank(IntEnum):
    """Where a statement stands, the strongest first."""

    LINE = 0  # a line that is nothing but an announced verdict, or one in double brackets
    ALONE = 1  # a first or last line that is nothing but a label or a statement
    ANNOUNCED = 2  # in a sentence that announces it
    END = 3  # a marker that ends the reply
    LAST_LINE = 4  # a marker on the last line that has any
    STATED = 5  # a conclusion in words


@dataclass(frozen=True, slots=True)
class VerdictLabel(Generic[ValueT]):
    """What names a verdict, and where it ends; `value` is None if its brackets hold none.

    `explicit`: in double brackets. `stated`: a statement ("B is better") and not a name.
    """

    value: ValueT | None
    end: int
    explicit: bool = False
    stated: bool = False


@dataclass(frozen=True, slots=True)
class JudgeStatement(Generic[ValueT]):
    """A verdict on a line of a judgement; `value` is None if it contradicts itself or is malformed.

    `settled`: it was announced, or named by itself, and complete before a later cut.
    """

    value: ValueT | None
    rank: Rank
    line: int
    rule: str
    final: bool = False
    revised: bool = False
    settled: bool = True


@dataclass(frozen=True, slots=True)
class LineVerdict(Generic[ValueT]):
    """A line that is nothing but a verdict and its reason.

    `label` is None where a verdict is only announced. `problem` is the rule by which it counts for
    nothing: it names several, contradicts itself or is no verdict of the form.
    """

    label: VerdictLabel[ValueT] | None
    cued: bool
    final: bool = False
    revised: bool = False
    gloss: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class VerdictGrammar(Generic[ValueT]):
    """How one kind of verdict is written.

    `opening` ("So,") and `cue` ("My choice is") are matched where a line begins; `sentence_cue` is
    searched, and its group `weak` ("I think") announces statements only. `same` is what values that
    agree have in common. `weigh`: the value with what the words behind its label add, None if they
    contradict it. `conclusions`: what a sentence states in words alone.
    """

    opening: re.Pattern[str]
    cue: re.Pattern[str]
    sentence_cue: re.Pattern[str]
    label_at: Callable[[str, int], VerdictLabel[ValueT] | None]
    explicit_labels: Callable[[str], Iterator[tuple[int, VerdictLabel[ValueT]]]]
    single_labels: Callable[[str], Iterator[tuple[int, VerdictLabel[ValueT]]]]
    same: Callable[[ValueT], Hashable]
    weigh: Callable[[ValueT, str], ValueT | None]
    conclusions: Callable[[str], Sequence[ValueT]]


@dataclass(frozen=True, slots=True)
class ChosenVerdict(Generic[ValueT]):
    """The value that counts, the rule that decided and its line; None if nothing can be read."""

    value: ValueT | None
    rule: str
    line: int | None = None

    @property
    def is_missing(self) -> bool:
        """Whether there is no verdict at all, not even one that counts for nothing."""
        return self.rule in ("unparsed", "cut")


def only_value(
    values: Sequence[ValueT | None], *, rule: str, missing_rule: str
) -> ChosenVerdict[ValueT]:
    """The value that all of at least one give; those that differ are ambiguous."""
    if len(set(values)) > 1:
        return ChosenVerdict(None, "ambiguous")
    return ChosenVerdict(values[0], rule if values[0] is not None else missing_rule)


def choose(
    judgement: Judgement, grammar: VerdictGrammar[ValueT], *, cut: bool
) -> ChosenVerdict[ValueT]:
    """The verdict of a judgement; `cut`: the reply was cut off at the limit of tokens."""
    statements = _statements_of(judgement, grammar)
    if cut:
        kept = [one for one in statements if one.settled and one.rank <= Rank.ANNOUNCED]
        return _strongest(kept, grammar) if kept else ChosenVerdict(None, "cut")
    return _strongest(statements, grammar)


def is_line_verdict(text: str, grammar: VerdictGrammar[ValueT]) -> bool:
    """Whether the text is one line, and nothing but a verdict."""
    if "\n" in text or len(text) > _LONGEST_BARE_LINE:
        return False
    verdict = line_verdict(text.strip(), grammar)
    return verdict is not None and verdict.label is not None and not verdict.gloss


def without_lists(judgement: Judgement, grammar: VerdictGrammar[ValueT]) -> Judgement:
    """The judgement without lists of verdicts to choose from and what stands in their paragraphs.

    A line that names one of them again stays: it is the choice.
    """
    verdicts, _ = _line_verdicts(_numbered(judgement.lines), grammar)
    listed = _listed(judgement.lines, verdicts)
    if not listed:
        return judgement
    chosen = {place for place, one in verdicts.items() if place not in listed and _is_line(one)}
    dropped = _paragraphs_of(judgement.lines, listed) - chosen
    lines = ("" if place in dropped else line for place, line in enumerate(judgement.lines))
    return replace(judgement, lines=tuple(lines))


def _numbered(lines: Sequence[str]) -> list[tuple[int, str]]:
    return [(place, line) for place, line in enumerate(lines) if line]


def _is_line(verdict: LineVerdict[ValueT]) -> bool:
    return verdict.label is not None and (verdict.cued or verdict.label.explicit)


def _statements_of(
    judgement: Judgement, grammar: VerdictGrammar[ValueT]
) -> list[JudgeStatement[ValueT]]:
    """Every statement of the judgement that may be its verdict."""
    lines = _numbered(judgement.lines)
    verdicts, announced = _line_verdicts(lines, grammar)
    statements = list(_line_statements(judgement.lines, verdicts))
    taken = {one.line for one in statements}
    rest = [(place, line) for place, line in lines if place not in taken]
    statements += [one for place, line in rest for one in _announcements(place, line, grammar)]
    statements += _markers(rest, announced, grammar, grammar.explicit_labels)
    if not statements:
        single = _markers(rest[-1:], announced, grammar, grammar.single_labels)
        statements = [replace(one, rule="single-bracket") for one in single if one.rank <= Rank.END]
    return statements or _conclusions(rest, grammar)


# ---------------------------------------------------------------- which one counts


def _strongest(
    statements: Sequence[JudgeStatement[ValueT]], grammar: VerdictGrammar[ValueT]
) -> ChosenVerdict[ValueT]:
    if not statements:
        return ChosenVerdict(None, "unparsed")
    rank = min(one.rank for one in statements)
    group = sorted((one for one in statements if one.rank == rank), key=lambda one: one.line)
    chosen = _agreed(group, grammar)
    later = [
        one
        for one in statements
        if Rank.ANNOUNCED <= one.rank <= Rank.LAST_LINE
        and one.line > group[-1].line
        and one.value is not None
        and (chosen.value is None or grammar.same(one.value) != grammar.same(chosen.value))
    ]
    # Words in a sentence do not outrank a line, but a judge that changes its mind in them does.
    if rank < Rank.ANNOUNCED and later:
        last = later[-1]
        if last.revised:
            return ChosenVerdict(last.value, last.rule, last.line)
        return ChosenVerdict(None, "ambiguous") if last.final else chosen
    return chosen


def _agreed(
    group: Sequence[JudgeStatement[ValueT]], grammar: VerdictGrammar[ValueT]
) -> ChosenVerdict[ValueT]:
    last = group[-1]
    if last.value is None:
        return ChosenVerdict(None, last.rule)
    others = [
        one
        for one in group
        if one.value is None or grammar.same(one.value) != grammar.same(last.value)
    ]
    if not others or last.revised or (last.final and not any(one.final for one in others)):
        return ChosenVerdict(last.value, last.rule, last.line)
    return ChosenVerdict(None, "ambiguous")


# ---------------------------------------------------------------- lines that are only a verdict


def line_verdict(line: str, grammar: VerdictGrammar[ValueT]) -> LineVerdict[ValueT] | None:
    """The verdict of a line that holds nothing else but a reason behind it, else None."""
    match = _LINE_OPENING.match(line)
    position = match.end() if match else 0
    opened, cued = position, False
    for _ in range(5):
        if (opening := grammar.opening.match(line, position)) and opening.end() > position:
            position = opening.end()
        elif (cue := grammar.cue.match(line, position)) and cue.end() > position:
            cued, position = True, cue.end()
        else:
            break
    lead = line[opened:position]
    _, dress, behind = line.rpartition(DRESS[1])
    if dress and behind.strip(_DECORATION) and (not cued or DRESS[0] in line[:position]):
        return None  # something is stated of a verdict in quotation marks
    verdict: LineVerdict[ValueT] = LineVerdict(
        grammar.label_at(line, position),
        cued,
        bool(_FINAL.search(lead)),
        bool(_REVISION.search(lead)),
    )
    if verdict.label is None:
        announces = cued and not line[position:].strip(_DECORATION)
        return verdict if announces else None
    return _with_gloss(verdict, line[verdict.label.end :], grammar)


def _with_gloss(
    verdict: LineVerdict[ValueT], rest: str, grammar: VerdictGrammar[ValueT]
) -> LineVerdict[ValueT] | None:
    """The verdict with what follows its label; None if it is part of a longer sentence."""
    label = verdict.label
    assert label is not None, "a verdict without label has no gloss"
    if not rest.strip(_DECORATION):
        return replace(verdict, problem="" if label.value is not None else "malformed")
    if is_doubted(rest):
        return None
    if names_another(rest, label, grammar):
        return replace(verdict, gloss=rest, problem="ambiguous")
    if not _is_gloss(verdict, label, rest, grammar):
        return None
    if label.stated and not label.explicit and _CONTRAST.search(rest):
        return None
    if label.value is None:
        return replace(verdict, gloss=rest, problem="malformed")
    weighed = None if is_revision(rest) else grammar.weigh(label.value, rest)
    problem = "" if weighed is not None else "ambiguous"
    return replace(verdict, label=replace(label, value=weighed), gloss=rest, problem=problem)


def _is_gloss(
    verdict: LineVerdict[ValueT],
    label: VerdictLabel[ValueT],
    rest: str,
    grammar: VerdictGrammar[ValueT],
) -> bool:
    """Whether what follows a label explains it and does not go on with its sentence."""
    if not (verdict.cued or label.explicit or label.stated):
        return bool(_PARENTHESIS.fullmatch(rest.strip()) or _REASON.match(rest))
    if _GLOSS.match(rest):
        return True
    if not label.explicit or len(rest) > _LONGEST_BARE_LINE or any(grammar.explicit_labels(rest)):
        return False
    return is_own(rest) and not _CONTRAST.search(rest)


def names_another(rest: str, label: VerdictLabel[ValueT], grammar: VerdictGrammar[ValueT]) -> bool:
    """Whether another label is offered behind the first: "A or B", "[[A]], [[B]] or [[C]]"."""
    joiner = _JOINER.match(rest)
    if not joiner:
        return False
    other = grammar.label_at(rest, joiner.end())
    if other is None or (other.stated and not other.explicit) or other.value == label.value:
        return False
    return not _GOES_ON.match(rest, other.end)


def _line_verdicts(
    lines: Sequence[tuple[int, str]], grammar: VerdictGrammar[ValueT]
) -> tuple[dict[int, LineVerdict[ValueT]], set[int]]:
    """The verdicts by line, and the lines below one that announces a verdict."""
    verdicts: dict[int, LineVerdict[ValueT]] = {}
    announced: set[int] = set()
    below = False
    for place, line in lines:
        if below:
            announced.add(place)
        verdict = line_verdict(line, grammar) if len(line) <= _LONGEST_LINE else None
        below = verdict is not None and verdict.label is None
        if verdict and verdict.label:
            named = place in announced and not verdict.label.stated
            verdicts[place] = replace(verdict, cued=verdict.cued or named)
    return verdicts, announced


def _listed(lines: Sequence[str], verdicts: dict[int, LineVerdict[ValueT]]) -> set[int]:
    """The lines that repeat a list of verdicts to choose from, or stand beside its instruction."""
    listed: set[int] = set()
    run: list[int] = []
    seen: set[ValueT | None] = set()
    for place, verdict in verdicts.items():
        value = verdict.label.value if verdict.label else None
        revises = verdict.revised or (
            verdict.final and not verdicts[run[-1]].final if run else False
        )
        if not (run and place == run[-1] + 1 and value not in seen and not revises):
            listed |= set(run) if len(run) > 1 else set()
            run, seen = [], set()
        run.append(place)
        seen.add(value)
    listed |= set(run) if len(run) > 1 else set()
    for place in verdicts:
        beside = [lines[near] for near in (place - 1, place + 1) if 0 <= near < len(lines)]
        if any(is_instruction(line) for line in beside):
            listed.add(place)
    return listed


def _paragraphs_of(lines: Sequence[str], places: set[int]) -> set[int]:
    """The lines of the paragraphs in which these lines stand."""
    paragraphs = set(places)
    for step, order in ((1, sorted(places)), (-1, sorted(places, reverse=True))):
        for place in order:
            near = place + step
            while 0 <= near < len(lines) and lines[near] and near not in paragraphs:
                paragraphs.add(near)
                near += step
    return paragraphs


def _line_statements(
    lines: Sequence[str], verdicts: dict[int, LineVerdict[ValueT]]
) -> Iterator[JudgeStatement[ValueT]]:
    written = [place for place, line in enumerate(lines) if line]
    named = {
        place: verdict.label.value
        for place, verdict in verdicts.items()
        if verdict.label and not (verdict.cued or verdict.label.explicit or verdict.label.stated)
    }
    several = len(set(named.values())) > 1
    headings = {
        place for place in named if several or (lines[place].endswith(":") and place != written[-1])
    }
    checked = 0  # lines before this one were searched for a change of mind
    revised = False
    for place, verdict in verdicts.items():
        label = verdict.label
        if label is None or place in headings:
            continue
        revised = revised or any(map(is_revision, lines[checked:place]))
        checked = place
        is_line = _is_line(verdict)
        at_edge = place == written[0] or place == written[-1]
        if not (is_line or at_edge):
            continue
        yield JudgeStatement(
            None if verdict.problem else label.value,
            Rank.LINE if is_line else Rank.ALONE,
            place,
            verdict.problem or _rule_of(verdict, label, last=place == written[-1]),
            final=verdict.final,
            revised=revised or verdict.revised,
            settled=(is_line or not label.stated)
            and (place != written[-1] or _is_whole(lines[place], verdict, label)),
        )
        revised = False


def _is_whole(line: str, verdict: LineVerdict[ValueT], label: VerdictLabel[ValueT]) -> bool:
    """Whether more text could not have changed the label at the end: "1" may be a cut "10"."""
    if label.explicit or verdict.gloss.strip():
        return True
    return not label.stated and not line[: label.end][-1:].isdigit()


def _rule_of(verdict: LineVerdict[ValueT], label: VerdictLabel[ValueT], *, last: bool) -> str:
    if verdict.cued:
        return "announced"
    return "end" if label.explicit and last else "line"


# ---------------------------------------------------------------- words inside sentences


def _announcements(
    place: int, line: str, grammar: VerdictGrammar[ValueT]
) -> Iterator[JudgeStatement[ValueT]]:
    """What the cues inside a line announce, and a quoted verdict behind a colon at its end."""
    span = next(iter(_LAST_DRESSED.finditer(line)), None)
    if span and is_heading_of_verdict(line[: span.start()]) and is_own(lead_of(line, span.start())):
        quoted = line_verdict(span[1], grammar)
        if quoted and quoted.label and not quoted.problem:
            yield JudgeStatement(
                quoted.label.value, Rank.ANNOUNCED, place, "announced", quoted.final
            )
    for cue in _at_edges(list(grammar.sentence_cue.finditer(line))):
        lead = lead_of(line, cue.start())
        if _is_dressed(line, cue.start()) or not _is_own_cue(lead, cue) or is_instruction(lead):
            continue
        label = grammar.label_at(line, cue.end())
        if label is None or (cue["weak"] and not label.stated):
            continue
        rest = line[label.end : label.end + _LONGEST_LINE]
        if is_doubted(rest) or not (label.explicit or label.stated or _LABEL_END.match(rest)):
            continue
        several = names_another(rest, label, grammar)
        yield JudgeStatement(
            None if several else label.value,
            Rank.ANNOUNCED,
            place,
            "ambiguous" if several else "announced" if label.value is not None else "malformed",
            final=bool(_FINAL.search(cue[0])),
            revised=is_revision(line[max(0, cue.start() - _LONGEST_LINE) : cue.start()]),
            settled=label.explicit or bool(rest.strip()),
        )


def _is_dressed(line: str, position: int) -> bool:
    """Whether a place is inside a quotation that is nothing but a verdict."""
    return line.rfind(DRESS[0], 0, position) > line.rfind(DRESS[1], 0, position)


def _is_own_cue(lead: str, cue: re.Match[str]) -> bool:
    """Whether a cue is the judge's own: no possessive and no noun of another stands before it."""
    first_person = bool(_FIRST_PERSON.match(cue[0]))
    if not is_own(lead, first_person=first_person):
        return False
    return first_person or cue["free"] is not None or bool(_FREE_LEAD.search(lead))


@dataclass(frozen=True, slots=True)
class _Marker(Generic[ValueT]):
    """A marker inside a sentence, and where it stands in its line."""

    statement: JudgeStatement[ValueT]
    start: int
    end: int


def _markers(
    lines: Sequence[tuple[int, str]],
    announced: set[int],
    grammar: VerdictGrammar[ValueT],
    labels: Callable[[str], Iterator[tuple[int, VerdictLabel[ValueT]]]],
) -> list[JudgeStatement[ValueT]]:
    """The markers that are announced, else those on the last line that has any."""
    markers = [
        marker
        for place, line in lines
        for marker in _markers_of_line(place, line, grammar, labels, announced=place in announced)
    ]
    if chosen := [one.statement for one in markers if one.statement.rank == Rank.ANNOUNCED]:
        return chosen
    if not markers:
        return []
    last = markers[-1]
    place, line = next(each for each in reversed(lines) if each[0] == last.statement.line)
    turn = max((turn.end() for turn in _CONTRAST.finditer(line, 0, last.start)), default=0)
    kept = [
        one.statement
        for one in markers
        if not turn or (one.statement.line == place and one.start >= turn)
    ]
    if place != lines[-1][0] or line[last.end :].strip(_DECORATION):
        return kept
    return [replace(one, rank=Rank.END, rule=_ending_rule(one)) for one in kept]


def _names_verdict(text: str, position: int, grammar: VerdictGrammar[ValueT]) -> bool:
    """Whether a cue has announced a name already, so that no later marker is its verdict."""
    label = grammar.label_at(text, position)
    return label is not None and not label.stated


def _at_edges(items: Sequence[_ItemT]) -> Sequence[_ItemT]:
    """All of them, or the first and the last where no judge would write so many in a line."""
    few = _MOST_IN_A_LINE // 2
    return items if len(items) <= _MOST_IN_A_LINE else (*items[:few], *items[-few:])


def _ending_rule(statement: JudgeStatement[ValueT]) -> str:
    return "end" if statement.value is not None else statement.rule


def _markers_of_line(
    place: int,
    line: str,
    grammar: VerdictGrammar[ValueT],
    labels: Callable[[str], Iterator[tuple[int, VerdictLabel[ValueT]]]],
    *,
    announced: bool,
) -> Iterator[_Marker[ValueT]]:
    line = _DRESSED.sub(lambda span: FILLER * len(span[0]), line)
    markers = list(labels(line))
    if len(markers) > _MOST_IN_A_LINE and len({label.value for _, label in markers}) > 1:
        markers = []  # no judge's words
    for start, label in _at_edges(markers):
        lead = lead_of(line, start)
        rest = line[label.end : label.end + _LONGEST_LEAD]
        if not is_own(lead) or is_instruction(lead) or is_doubted(rest):
            continue
        cues = [
            cue
            for cue in grammar.sentence_cue.finditer(lead)
            if not cue["weak"]
            and _is_own_cue(lead[: cue.start()], cue)
            and not _names_verdict(lead, cue.end(), grammar)
        ]
        rank = Rank.ANNOUNCED if announced or cues else Rank.LAST_LINE
        several = names_another(rest, label, grammar)
        rule = "announced" if rank == Rank.ANNOUNCED else "last-line"
        statement = JudgeStatement(
            None if several else label.value,
            rank,
            place,
            "ambiguous" if several else rule if label.value is not None else "malformed",
            final=any(_FINAL.search(cue[0]) for cue in cues) or bool(_TURN.search(lead)),
            revised=is_revision(lead),
        )
        yield _Marker(statement, start, label.end)


# ---------------------------------------------------------------- conclusions in words


def _conclusions(
    lines: Sequence[tuple[int, str]], grammar: VerdictGrammar[ValueT]
) -> list[JudgeStatement[ValueT]]:
    """What is stated in words alone, by a sentence that concludes or begins or ends the reply."""
    sentences = [
        (place, sentence)
        for place, line in lines
        for sentence in sentences_of(_DRESSED.sub(FILLER, line))
    ]
    stated = [
        (number, place, value)
        for number, (place, sentence) in enumerate(sentences)
        for value in _conclusions_of(sentence, grammar)
    ]
    concluding = [one for one in stated if _CONCLUDING.search(sentences[one[0]][1])]
    edges = [one for one in stated if one[0] in (0, len(sentences) - 1)]
    chosen = concluding or (stated if edges else [])
    if chosen and len({grammar.same(value) for _, _, value in chosen}) > 1:
        return [JudgeStatement(None, Rank.STATED, chosen[-1][1], "ambiguous")]
    return [JudgeStatement(value, Rank.STATED, place, "stated") for _, place, value in chosen[-1:]]


def _conclusions_of(sentence: str, grammar: VerdictGrammar[ValueT]) -> Sequence[ValueT]:
    if stated := grammar.conclusions(sentence):
        return stated
    verdict = line_verdict(sentence.strip(), grammar) if len(sentence) < _LONGEST_LINE else None
    label = verdict.label if verdict and not verdict.problem else None
    return [label.value] if label and label.stated and label.value is not None else []


def is_revision(text: str) -> bool:
    """Whether the text says that the judge changes its mind: "On reflection", "更正"."""
    return bool(_REVISION.search(text))


# ---------------------------------------------------------------- patterns

_LONGEST_LINE = 1000  # a line that is nothing but a verdict and its reason
_LONGEST_BARE_LINE = 120
_MOST_IN_A_LINE = 40
_LONGEST_LEAD = 80
_DECORATION = " \t*_`.。!！\"'“”‘’」』)]}$<>/|~=-–—:;,·•#✓✔✅🏆👍" + DRESS
_DRESSED = re.compile(f"{DRESS[0]}[^{DRESS}\n]*{DRESS[1]}")
_LAST_DRESSED = re.compile(f"{DRESS[0]}([^{DRESS}\\n]*){DRESS[1]}[\\s.。!*]*$")
_LINE_OPENING = re.compile(
    rf"[\s*_`#>~|=\-–—·•→➡⇒:.。,!✓✔✅🏆👉{DRESS[0]}]{{0,40}}(?:\d{{1,2}}[.)、]\s{{1,3}})?"
)
_GLOSS = re.compile(
    r"[\s*_`\"'”’」』)\]}]{0,6}(?:[(\[{]|[,.;:。、!|]|[-–—→]{1,2}|</|and\s\w{1,20}[\s.。]*$|"
    r"\b(?:because|since|as|due|given|over|than|for\s(?:its|being|having|this|these)|overall)\b|因为|由于|，)",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"[\s*_`\"'”’」』)\]}]{0,6}[,:\-–—]?\s?(?:because|since|due\sto|因为|由于)\b", re.IGNORECASE
)
_PARENTHESIS = re.compile(r"\([^()]{1,200}\)[\s.。!*_]*")
_CONTRAST = re.compile(
    r"\b(?:but|however|yet|though|although|while|whereas|nevertheless|then|instead|rather)\b|"
    r"但|然而|不过|可是|而(?!且)|却|虽|尽管",
    re.IGNORECASE,
)
_TURN = re.compile(r"\b(?:but|then|instead)\b|但|改", re.IGNORECASE)  # to another verdict
_JOINER = re.compile(
    r"[\s*_`\"'”’」』)\]}]{0,6}(?:或者?|和|与|跟|及|还是|/|\||,\s?(?:or\b|and\b|或)?|、|&|\bor\b|\band\b|\bvs\b\.?)"
    r"[\s*_`\"'“‘「『]{0,6}",
    re.IGNORECASE,
)
# Behind a label that begins a statement of its own: "A, B is wrong".
_GOES_ON = re.compile(
    r"\s?(?:is|was|has|does|did|would|could)\b|'s\b|的(?!$)|\s[a-z]{3,}(?<!and)(?<!only)\b"
)
_LABEL_END = re.compile(
    r"[\s*_`\"'”’」』)\]}" + DRESS + r"]{0,6}(?:$|[,.;:!?。、(\[{|<\n]|[-–—→]|"
    r"\b(?:because|since|as|for\s(?:its|being|having|this|these|assistants?|both)|over|due|in\sthis|here|than|given|overall|on\sbalance)\b|"
    r"因为|由于|而不|一?票|"
    r"为|胜|略|更)",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(r"(?:my|our|i|we)\b|(?:我|本人|笔者)", re.IGNORECASE)
_FREE_LEAD = re.compile(
    r"(?:^|[.,;:!?)\]|>。、(\-–—"
    + FILLER
    + r"]|\b(?:so|thus|therefore|hence|and|but|then|is|that|overall|finally|"
    r"now|as|here|here's|conclude|conclusion|consequently|makes|ultimately|accordingly|feedback|with|"
    r"balance|considered|we|i)|"
    r"因此|因而|所以|综上|综上所述|综合来看|总之|于是|则|那么|得出|作出|做出|给出|以下|如下|我|我们|(?<![一-龥])应(?:该|当)?|"
    r"最终|最后|是|下|整体上?|总体上?|总的来说|综合|故而|以上)\s{0,2}$",
    re.IGNORECASE,
)
_FINAL = re.compile(
    r"\b(?:final|finally|ultimate(?:ly)?|overall|definitive)\b|最终|最后|综合|总", re.IGNORECASE
)
_REVISION = re.compile(
    r"\bon\s(?:second\sthoughts?|reflection)\b|\b(?:wait|scratch\sthat)\b|(?:^|[.;,:]\s)actually,|"
    r"\bcorrection\b|\bcorrected\b(?:\s\w{1,12}){0,2}:|\bcorrected\s(?:verdict|choice|rating|decision|score)|"
    r"\bre-?(?:check|examin|consider|evaluat|read)\w{0,4}\b|\breconsider\w{0,3}\b|"
    r"\bchang(?:e|ed|ing)\smy\b|\bi\s(?:was\swrong|stand\scorrected|revise|lower|raise|change|correct)\b|"
    r"\b(?:revised|updated|amended)\b|更正|修正|改判|改为|改选|重新(?:考虑|审视|评估|检查|核对|比较|计算)|纠正|收回|推翻|"
    r"(?:前面|上面|刚才)[^。\n]{0,8}(?:有误|不对|错)|我错了|等等|等一下|再想|仔细[^。\n]{0,6}(?:后|发现)",
    re.IGNORECASE,
)
_CONCLUDING = re.compile(
    r"^[\s\W]{0,6}(?:overall|in\s(?:conclusion|summary|the\send|short|total|all)|on\s(?:balance|the\swhole)|to\s"
    r"(?:conclude|sum\sup|summari[sz]e)|therefore|thus|hence|so|consequently|all\s(?:in\sall|things\sconsidered)|"
    r"ultimately|taken\stogether|finally|considering|综上|综合|总体|总的|总之|整体|因此|因而|所以|故|可见|两者相比|相比之下|"
    r"我(?:们)?(?:更)?(?:认为|觉得|倾向)|i\s(?:think|believe|find|feel|conclude)|in\smy\s(?:view|opinion))",
    re.IGNORECASE,
)
