"""Which answer did a written judgement prefer? The rule that decided stands with it.

A reply is cleaned first (`judgements`): thoughts, quotations, code and what repeats the prompt are
no verdict. Then a line that is nothing but the verdict decides, else words in a sentence that
announce it, else a marker that ends the reply or stands on the last line that has one, else a
conclusion in words. What another subject, a condition, a denial or a report says announces nothing.
Contradictions, cut replies and lists of verdicts to choose from are unreadable: None, and never a
tie.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from operator import attrgetter
from typing import Any, cast

from evalui.replies.judge_statements import (
    ChosenVerdict,
    VerdictGrammar,
    VerdictLabel,
    choose,
    is_line_verdict,
    is_revision,
    line_verdict,
    only_value,
    without_lists,
)
from evalui.replies.judgements import (
    CUT_REASONS,
    SIDE_NOUN,
    Judgement,
    compiled,
    is_doubted,
    is_own,
    lead_of,
    parse_judgement,
    sentences_of,
    since_turn,
)
from evalui.replies.objects import is_number, is_own_value, json_values, key_value_pairs, strings_of
from evalui.replies.verdict_labels import (
    GradedOutcome,
    Letters,
    Preference,
    Side,
    explicit_labels,
    label_at,
    only_label,
    outcome_by_scores,
    preferences_in,
    side_labels,
    sides_in,
    single_bracket_labels,
)
from evalui.types import Outcome

# Part of the signature: raise it when a reply may be read otherwise.
VERDICT_VERSION = "verdict.5"


@dataclass(frozen=True, slots=True)
class ParsedVerdict:
    """What a judge decided, None if that cannot be read, and the rule that says so.

    `strength` is 3 for "much better" and 1 for "better" in formats that tell them apart.
    """

    outcome: Outcome | None
    rule: str
    strength: int | None = None


def read_verdict(
    form: str, reply: str, *, finish_reason: str = "stop", prompt_forms: Sequence[str] = ()
) -> ParsedVerdict:
    """The verdict of a reply in one of the `PAIRWISE_FORMATS`.

    `finish_reason`: "length" says that the reply was cut off at the limit of tokens; what it did
    not announce before is unreadable then (rule "cut"). `prompt_forms`: the parts of the prompt
    that show the form, as the closing and the reminder; what the reply repeats of them is no
    verdict. Lists of all verdicts are none without it, too.
    """
    if form in NUMBERED_FORMATS:
        reply = without_options(reply)
        prompt_forms = [without_options(text) for text in prompt_forms]
    grammar = _grammar(form)
    line_grammar = _pair_grammar() if form == "scores" else grammar
    is_verdict = partial(is_line_verdict, grammar=line_grammar)
    judgement = parse_judgement(reply, is_verdict, prompt_forms)
    if isinstance(judgement, str):
        return ParsedVerdict(None, judgement)
    judgement = without_lists(judgement, grammar)
    cut = finish_reason in CUT_REASONS
    chosen: ChosenVerdict[GradedOutcome] = ChosenVerdict(None, "cut" if cut else "unparsed")
    for read in _READERS[form]:
        tried = read(judgement, form, cut)
        if not tried.is_missing:
            chosen = tried
            break
    if chosen.value is None:
        return ParsedVerdict(None, chosen.rule)
    strength = chosen.value.strength if form in _GRADED_FORMS else None
    return ParsedVerdict(chosen.value.outcome, chosen.rule, strength)


def without_options(text: str) -> str:
    """The text with nothing that names an option of a question: letters, 甲 and 乙, "option 2"."""
    text = unicodedata.normalize("NFKC", text)
    text = compiled(_NAMED_BY_LETTER).sub(lambda label: label[1] + "12"[label[2] in "Bb"], text)
    for pattern in _OPTIONS:
        text = compiled(pattern).sub(rf"\g<lead>{_NO_LABEL}", text)
    return text


# ---------------------------------------------------------------- readers


def _read_text(judgement: Judgement, form: str, cut: bool) -> ChosenVerdict[GradedOutcome]:
    """The verdict in words or brackets."""
    return _undisputed(choose(judgement, _grammar(form), cut=cut), judgement, form)


def _undisputed(
    chosen: ChosenVerdict[GradedOutcome], judgement: Judgement, form: str
) -> ChosenVerdict[GradedOutcome]:
    """The verdict, unless all that the judge states in words is the opposite.

    A letter over "the other is better", or the letter for "both good" over "both are bad". What is
    stated before a change of mind disputes nothing.
    """
    if chosen.value is None or any(map(is_revision, judgement.lines)):
        return chosen
    outcome = chosen.value.outcome
    preferred = {
        one.side
        for line in judgement.lines
        for sentence in sentences_of(line)
        for one in _own_preferences(sentence)
        if one.direct and (not one.limited or chosen.rule == "line")
    }
    if len(preferred) == 1 and outcome not in preferred:
        return ChosenVerdict(None, "ambiguous")
    if outcome in ("tie", "neither") and "D" in _LETTERS[form]:
        stated = _both_stated(judgement, form)
        return ChosenVerdict(None, "ambiguous") if stated and outcome not in stated else chosen
    return chosen


def _both_stated(judgement: Judgement, form: str) -> set[Outcome]:
    """Whether whole sentences say that both answers are good, or bad."""
    grammar = _grammar(form)
    verdicts = (
        line_verdict(sentence, grammar)
        for line in judgement.lines
        if len(line) < _LONGEST_REASON
        for sentence in sentences_of(line)
    )
    labels = (verdict.label for verdict in verdicts if verdict and not verdict.cued)
    return {
        label.value.outcome
        for label in labels
        if label and label.stated and label.value and label.value.outcome in ("tie", "neither")
    }


def _read_objects(judgement: Judgement, form: str, cut: bool) -> ChosenVerdict[GradedOutcome]:
    """The verdict of a JSON object."""
    del cut  # an object's verdict is announced by its key
    reasons = Judgement(tuple(strings_of(judgement.blocks)), "")
    return _undisputed(_verdict_of_objects(judgement.blocks), reasons, form)


def _read_pair(judgement: Judgement, form: str, cut: bool) -> ChosenVerdict[GradedOutcome]:
    """The better of two scores that stand together."""
    return _undisputed(choose(judgement, _pair_grammar(), cut=cut), judgement, form)


def _read_labelled(judgement: Judgement, form: str, cut: bool) -> ChosenVerdict[GradedOutcome]:
    """The better of two scores that name their answers."""
    lines = judgement.lines[:-1] if cut else judgement.lines
    chosen = _verdict_of_labelled_scores(lines, stated=form != "scores")
    return _undisputed(chosen, judgement, form)


# ---------------------------------------------------------------- words and brackets


@cache
def _grammar(form: str) -> VerdictGrammar[GradedOutcome]:
    letters = _LETTERS[form]
    return VerdictGrammar(
        opening=compiled(_OPENING),
        cue=compiled(_LINE_CUE),
        sentence_cue=compiled(_SENTENCE_CUE),
        label_at=partial(label_at, letters=letters),
        explicit_labels=partial(explicit_labels, letters=letters),
        single_labels=partial(single_bracket_labels, letters=letters),
        same=attrgetter("outcome"),
        weigh=partial(_weigh, letters=letters),
        conclusions=_conclusions,
    )


def _weigh(graded: GradedOutcome, rest: str, letters: Letters) -> GradedOutcome | None:
    """The outcome with the strength that a marker behind it adds; None if contradicted there."""
    rest = rest[:_LONGEST_REASON]
    for _, label in explicit_labels(rest, letters):
        if label.value is None or label.value.outcome != graded.outcome:
            return None
        graded = replace(graded, strength=label.value.strength or graded.strength)
    if any(
        preferred.side != graded.outcome
        for preferred in _own_preferences(rest)
        if not preferred.limited
    ):
        return None
    for cue in compiled(_SENTENCE_CUE).finditer(rest):
        label = None if cue["weak"] else label_at(rest, cue.end(), letters)
        if label and label.value and label.value.outcome != graded.outcome:
            return None
    if graded.outcome in ("tie", "neither") and "D" in letters:
        start = len(rest) - len(rest.lstrip(" (-–—:,.;。、[\"'"))
        label = label_at(rest, start, letters)
        if label and label.stated and label.value and label.value.outcome != graded.outcome:
            return None
    return graded


def _own_preferences(sentence: str) -> Iterator[Preference]:
    """What the judge itself says is better."""
    for preferred in preferences_in(sentence):
        lead, rest = lead_of(sentence, preferred.start), sentence[preferred.end :]
        limited = compiled(_LIMITED).search(since_turn(lead))
        limited = limited or compiled(_TAKEN_BACK).search(rest)
        if not limited and is_own(lead) and not is_doubted(rest):
            yield preferred


def _conclusions(sentence: str) -> Sequence[GradedOutcome]:
    preferred = [one for one in _own_preferences(sentence) if not one.limited]
    if preferred:
        return [GradedOutcome(one.side, one.strength) for one in preferred]
    sides = sides_in(sentence)
    if len(sides) != 1 or not compiled(_CONCLUDES_FOR_ONE).search(sentence):
        return []
    return [GradedOutcome(*sides, strength=1)] if is_own(sentence) else []


# ---------------------------------------------------------------- objects


def _verdict_of_objects(text: str) -> ChosenVerdict[GradedOutcome]:
    """The verdict of the JSON values in the text, and the rule that read it.

    Values that differ are ambiguous unless the judge says that it corrects itself.
    """
    verdicts = [
        (value, outcomes)
        for value in json_values(text)
        if (outcomes := _outcomes_in_value(value.content))
    ]
    if verdicts:
        stated = [one for one in verdicts if any(one[1])] or verdicts
        last, outcomes = stated[-1]
        before = [outcome for _, others in stated[:-1] for outcome in others]
        since = stated[-2][0].end if len(stated) > 1 else 0
        revised = is_revision(text[since : last.start])
        judged = outcomes if revised else [*before, *outcomes]
        return only_value(judged, rule="json", missing_rule="no-verdict")
    pairs = _BROKEN_PAIR.finditer(text.translate(_STRAIGHT_QUOTES))
    judged = [
        None if pair[4] else _outcome_of_label(pair[1] or pair[2] or pair[3])
        for pair in pairs
        if _is_own_pair(text, pair)
    ]
    if judged:
        return only_value(judged, rule="broken-json", missing_rule="no-verdict")
    return ChosenVerdict(None, "unparsed")


def _is_own_pair(text: str, pair: re.Match[str]) -> bool:
    """Whether a broken pair stands in what was meant to be an object of the judge's own."""
    brace = text.rfind("{", 0, pair.start())
    if brace < 0:
        return pair[0][0] in "\"'" and is_own_value(text, pair.start())
    return is_own_value(text, brace)


def _outcomes_in_value(value: Any, depth: int = 0) -> list[GradedOutcome | None]:
    """The verdicts in a JSON value, [] if it holds none."""
    if depth > _DEEPEST:
        return []
    if isinstance(value, dict):
        pairs = key_value_pairs(cast("dict[Any, Any]", value))
        if outcomes := _outcomes_in_pairs(pairs):
            return outcomes
        nested = [content for _, content in pairs]
    elif isinstance(value, list):
        nested = cast("list[Any]", value)
        ranks = _ranks_by_side(nested)
        if ranks.keys() == {"a", "b"}:
            return [outcome_by_scores(-ranks["a"], -ranks["b"])]
    else:
        return []
    return [outcome for content in nested for outcome in _outcomes_in_value(content, depth + 1)]


def _outcomes_in_pairs(pairs: Sequence[tuple[str, Any]]) -> list[GradedOutcome | None]:
    if outcomes := [
        _outcome_of_label(content)
        for key, content in pairs
        if key in _VERDICT_KEYS and not isinstance(content, dict | list)
    ]:
        return outcomes
    scores: dict[Side, float] = {}
    for key, content in pairs:
        named = only_label(_SCORE_WORDS.sub(" ", key).replace("_", " ").strip(), {})
        if named and is_number(content) and named.outcome in ("a", "b"):
            scores["a" if named.outcome == "a" else "b"] = content
    return [outcome_by_scores(scores["a"], scores["b"])] if len(scores) == 2 else []


def _outcome_of_label(value: Any) -> GradedOutcome | None:
    """The verdict that a value names; None for null and for whatever else names none."""
    if isinstance(value, bool) or not isinstance(value, str | int):
        return None
    text = str(value).replace("_", " ").strip()
    if text in ("1", "2"):
        return GradedOutcome("a" if text == "1" else "b")
    if text.casefold() == "none":
        return GradedOutcome("neither")
    explained = re.fullmatch(r"([^()]{1,60}?)\s*\(([^()]*)\)", text)
    for read in (text, text.upper(), text.casefold(), explained[1] if explained else ""):
        if outcome := only_label(read, _LETTERS_OF_OBJECTS):
            disputed = explained and sides_in(explained[2]) - {outcome.outcome}
            return None if disputed else outcome
    return None


def _ranks_by_side(rows: Sequence[Any]) -> dict[str, float]:
    """AlpacaEval's ranking: `[{"model": "model_1", "rank": 2}, ...]`."""
    ranks: dict[str, float] = {}
    for row in rows:
        if isinstance(row, dict):
            named = cast("dict[str, Any]", row)
            judged, rank = _outcome_of_label(named.get("model")), named.get("rank")
            if judged and is_number(rank):
                ranks[judged.outcome] = rank
    return ranks


# ---------------------------------------------------------------- two scores


@cache
def _pair_grammar() -> VerdictGrammar[GradedOutcome]:
    return VerdictGrammar(
        opening=compiled(r"(?:so|therefore|thus|overall|finally|因此|所以|综上)[,:]?\s*"),
        cue=compiled(_SCORE_CUE),
        sentence_cue=compiled(
            rf"(?P<weak>(?!))|(?P<free>\b(?:tuple|output)\b{_SCORE_LINK}+)|{_SCORE_CUE}"
        ),
        label_at=_pair_at,
        explicit_labels=_double_pairs,
        single_labels=lambda _: iter(()),
        same=attrgetter("outcome"),
        weigh=lambda graded, _: graded,
        conclusions=lambda _: (),
    )


def _pair_at(text: str, position: int) -> VerdictLabel[GradedOutcome] | None:
    match = _PAIR.match(text, position)
    if not match and (slashed := _SLASHED_PAIR.match(text, position)):
        # "8.5 / 7" cannot be a mark out of seven, as "7/8" can.
        match = slashed if "." in slashed[2] or float(slashed[1]) > float(slashed[2]) else None
    return _pair_label(match) if match else None


def _double_pairs(text: str) -> Iterator[tuple[int, VerdictLabel[GradedOutcome]]]:
    for match in _DOUBLE_PAIR.finditer(text):
        yield match.start(), _pair_label(match)


def _pair_label(match: re.Match[str]) -> VerdictLabel[GradedOutcome]:
    first, second = (float(number) for number in match.groups() if number is not None)
    explicit = match[0].startswith("[[")
    return VerdictLabel(outcome_by_scores(first, second), match.end(), explicit=explicit)


def _verdict_of_labelled_scores(
    lines: Sequence[str], *, stated: bool
) -> ChosenVerdict[GradedOutcome]:
    """The better of two scores of which each names its answer, in lines or in a table.

    `stated`: only what is called a score, as by "/10" or "score", and not any number.
    """
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
class _LabelledScore:
    side: Side
    value: float
    overall: bool


def _labelled_scores(lines: Sequence[str], *, stated: bool) -> Iterator[_LabelledScore]:
    for line in lines:
        for side, start, end in (*side_labels(line), *_numbered_scores(line)):
            match = _SCORE_BEHIND.match(line, end)
            lead = lead_of(line, start)
            called = match and (match["of"] or _SCORE_NOUN.search(f"{lead} {match[0]}"))
            if match and (called or not stated) and is_own(lead):
                overall = bool(_OVERALL.search(lead) or _OVERALL.search(match["noun"] or ""))
                yield _LabelledScore(side, float(match["score"]), overall)


def _numbered_scores(line: str) -> Iterator[tuple[Side, int, int]]:
    """Scores that are named and not their answers: "Score 1: 5"."""
    for match in _NUMBERED_SCORE.finditer(line):
        yield "a" if (match[1] or match[2]) in "1Aa甲" else "b", match.start(), match.end()


def _table_scores(lines: Sequence[str]) -> Iterator[_LabelledScore]:
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
                    yield _LabelledScore(side, float(match[1]), overall=True)


# ---------------------------------------------------------------- tables

_LONGEST_REASON = 1000
_GRADED_FORMS = ("arena_hard", "json", "graded")
# What else than A and B means an outcome.
_DIGITS: Letters = {"1": GradedOutcome("a"), "2": GradedOutcome("b")}
_TIE: Letters = {"C": GradedOutcome("tie")}
_NEITHER: Letters = {"D": GradedOutcome("neither")}
_NUMBERS: Letters = {"[[1]]": GradedOutcome("a"), "[[2]]": GradedOutcome("b")}
_LETTERS: Mapping[str, Letters] = {
    "mtbench": {**_DIGITS, **_TIE},
    "arena_hard": _DIGITS,
    "compass": {**_DIGITS, **_TIE, **_NEITHER},
    "json": {**_DIGITS, **_TIE, **_NEITHER},
    "scores": {},
    # No letter is left of the reply; that there is one for two bad answers has both words compared.
    "named": {**_NUMBERS, **_NEITHER},
    "graded": {**_NUMBERS, **_NEITHER},
}
# Forms that name the answers by numbers, because a question may have options of its own.
NUMBERED_FORMATS = ("named", "graded")
_NO_LABEL = "Ø"
_NAMED_BY_LETTER = r"(\[\[\s?(?:answer|assistant|response|回答|助手)\s?)([AB])(?=\s?\]\])"
_OPTIONS = (
    r"(?P<lead>(?<![A-Za-z0-9'’_]))(?-i:[A-H])(?![A-Za-z0-9'’])",
    r"(?P<lead>(?<![A-Za-z0-9'’_]))[a-d](?=[\s)\]}]*(?:$|[.,;:。、\n(]))",
    rf"(?P<lead>(?:{SIDE_NOUN})s?[ \t_-]{{0,2}}[(\[“\"]?\s?)[a-d甲乙](?![A-Za-z0-9])",
    r"(?P<lead>)[甲乙]",
    r"(?P<lead>(?:\b(?:options?|choice)|选项|方案)[ \t_-]{0,2}[(\[“\"]?\s?)"
    r"(?:[12一二]|one\b|two\b)",
)

_OPENING = (
    r"(?:(?:so|thus|therefore|hence|overall|finally|ultimately|in\s(?:conclusion|summary|short|the\send|"
    r"total|my\s(?:view|opinion|judge?ment))|to\s(?:conclude|sum\sup|summari[sz]e)|on\s(?:balance|the\swhole|"
    r"reflection|second\sthoughts?)|all\s(?:in\sall|things\sconsidered)|consequently|accordingly|as\sa\sresult|"
    r"for\s(?:these|this)\sreasons?|(?:given|based\son)\s(?:this|these|the\sabove|all\sthis|my\s\w{1,12})(?:\s\w{1,12})?|"
    r"i\s(?:(?:would\s)?(?:say|think|believe|find|feel|judge|conclude))(?:\sthat)?|corrected|correction|actually|"
    r"综上所述|综上|因此|因而|所以|总之|总的来说|综合来看|综合考虑|综合(?:以上|上述)?(?:因素|分析|各项)?|总体(?:来看|而言|上|来说)?|"
    r"整体(?:来看|而言|上|来说)?|两者相比|二者相比|相比之下|相较之下|最终|最后|于是|那么|更正|修正|"
    r"我们?(?:更|会)?(?:认为|觉得))(?![a-z])[,:]?\s*)"
)
_LINK = (
    r"(?:\s?\([^()\n]{0,30}\))?(?:\s?(?:\bis\b|\bare\b|\bwas\b|\b(?:would|will|must|should|shall|has\sto|can\sonly)\sbe\b|"
    r"\bgo(?:es)?\sto\b|\bfor\b|\bin\sfavou?r\sof\b|\bthat\b|\bto\b|[:=]|-{1,2}>?|[–—→⇒]|"
    r"应该|应当|应|是|为|给|属于|选(?!项)择?))"
)
_BETTER_NOUN = (
    r"(?:(?:better|best|preferred|winning|stronger|superior)(?:-?\s?performing)?\s(?:answer|response|assistant|"
    r"model|one|reply|output|system)|better\schoice)"
)
_NOUN = (
    rf"(?:verdict|choice|decision|judge?ment|winner|preference|pick|selection|conclusion|ruling|vote|result|"
    rf"outcome|recommendation|{_BETTER_NOUN})"
)
_ZH_NOUN = (
    r"(?:选择|结论|结果|判断|判定|裁决|裁定|评判结果|评审结果|评判|评审结论|决定|胜者|胜方|优胜者|获胜者|获胜方|胜出者|赢家|优胜|"
    r"判决|投票|(?:更好|较好|更优|较优|更佳|最佳|优胜|胜出|获胜)的?(?:一个|一方|回答|答案|助手|选项|(?=是)))(?:结果)?"
)
_ADJECTIVES = r"(?:(?:final|overall|ultimate|definitive|clear|own|honest|resulting)\s){0,3}"
_ZH_ADJECTIVES = r"(?:(?:我们?的|本轮|本次|综合|整体|总体|最终|最后|评审|裁判)的?){0,3}"
_VERBS = (
    r"(?:choose|pick|select|prefer|favou?r|go\swith|vote\sfor|opt\sfor|settle\son|side\swith|declare|award|"
    r"rule\s(?:for|in\sfavou?r\sof)|decide\s(?:on|for|in\sfavou?r\sof)|recommend|"
    r"give\s(?:it|this|this\sone|the\swin|my\svote|the\sedge|the\snod)\sto)"
)
_AUXILIARIES = (
    r"(?:'d|'ll|'m|\s(?:would|will|must|shall|have\sto|do|therefore|thus|hereby|clearly|still|ultimately|"
    r"finally|also|strongly|slightly|am\sgoing\sto|had\sto)){0,4}"
)
_ZH_VERBS = (
    r"(?:选择|选了|选(?!项)|支持|投票给|投给|投|偏向于?|倾向于?|判给|判定|判为|判|推荐|裁定|认定|更喜欢|"
    r"把票投给)"
)
_ZH_AUXILIARIES = (
    r"(?:还是|会|将|更|最终|仍|也|只能|因此|所以|就|要|应该|应当|应|决定|宁愿|的选择是){0,3}"
)
_LINE_CUE = (
    r"(?:\[result\]\s*:?|result\s?:|<(?:answer|final_verdict|final|result)>\s*|"
    rf"[<\[({{\"“]?\s?(?:(?:my|our|the|this|a)\s)?{_ADJECTIVES}{_NOUN}\b\s?[>\])}}\"”]?{_LINK}*\s*|"
    rf"[<\[({{\"“]?\s?(?:final|overall)\s?[>\])}}\"”]?\s?[:\-–—]\s*|"
    rf"[\[(\"“<]?\s?{_ZH_ADJECTIVES}{_ZH_NOUN}\s?[\])\"”>]?{_LINK}*\s*|"
    rf"(?:最终|最后|综合|总评|总体)\s?:\s*|"
    rf"(?:i|we){_AUXILIARIES}\s{_VERBS}\b\s?:?\s*(?:that\s)?|"
    r"(?:it|this|this\sone|the\s(?:win|point|edge|nod|vote|prize))\sgo(?:es)?\sto\s|"
    rf"(?:我们?|本人)?{_ZH_AUXILIARIES}{_ZH_VERBS}(?:了|为|是)?\s?:?\s*)"
)
_SENTENCE_CUE = (
    r"(?<![a-z])(?:(?P<free>\[result\]\s*:?\s*|\bthe\s(?:win|point|edge|nod|vote|prize)\sgoes\sto\s)|"
    r"(?P<weak>\b(?:i|we)(?:'d|\swould|\smust|\scan)?\s(?:conclude|find|believe|think|say|judge|feel|rate|deem)"
    r"(?:\sthat)?\s|(?:我们?|本人|笔者)(?:更|会|仍)?(?:认为|觉得|判断)\s?)|"
    rf"(?:\b(?:my|our|the|this)\s)?\b{_ADJECTIVES}{_NOUN}\b(?:\s(?:here|overall|between\sthe\stwo))?{_LINK}+\s*|"
    rf"\b(?:i|we){_AUXILIARIES}\s{_VERBS}\b\s?:?\s*(?:that\s)?|"
    rf"{_ZH_ADJECTIVES}{_ZH_NOUN}{_LINK}+\s*|(?:最终|最后|综合)\s?:\s*|"
    rf"(?:我们?|本人|笔者){_ZH_AUXILIARIES}{_ZH_VERBS}(?:了|为|是)?\s?:?\s*|"
    rf"(?:因此|因而|所以|应当|应该|综上|于是|最终|决定|只能)我?{_ZH_VERBS}(?:了|为|是)?\s?:?\s*|"
    r"(?:选择|选(?!项))\s?:?\s*|\b(?:so|therefore|thus|hence)[,:]?\s(?=\S{1,12}$)|"
    r"(?:因此|所以)[,:]?\s?(?=\S{1,12}$))"
)
# Scopes that are not the whole, and concessions.
_LIMITED = (
    r"(?:在|就|从|论)[^,。]{1,12}(?:方面|上|而言|来看|来说|看|来讲)(?<!整体上)(?<!总体上)|"
    r"\b(?:in|on|for|of)\s(?:the\s)?(?:first|second|third|last|next|turn)\s?(?:turn|part|question|half|round|\d)|第.[轮问题部]|"
    r"\b(?:in\sterms\sof|regarding|with\srespect\sto|for\s(?:clarity|style|accuracy)|on\s(?:accuracy|style|clarity))\b|"
    r"(?:\balthough\b|\bthough\b|\bwhile\b|虽然|尽管)[^,]*$"
)
_TAKEN_BACK = r"\b(?:but|however|yet)\b|但|然而|不过|却"
_CONCLUDES_FOR_ONE = (
    r"^[\s\W]{0,6}(?:overall|in\s(?:conclusion|summary|the\send|short)|on\s(?:balance|the\swhole)|to\s(?:conclude|sum\sup)|"
    r"therefore|thus|hence|so\b|综上|综合|总体|总的|总之|整体|因此|所以|故)[^\n]{0,300}?"
    r"(?:\b(?:better|best|superior|winner|wins|stronger|preferable|preferred)\b|更好|更优|更佳|较好|较优|胜出|获胜|更合适)"
)

# ---------------------------------------------------------------- tables of objects

_DEEPEST = 4
_LETTERS_OF_OBJECTS: Letters = {**_TIE, **_NEITHER}
_STRAIGHT_QUOTES = str.maketrans("“”‘’", "\"\"''")
_VERDICT_KEY = (
    "winner|choice|verdict|final_verdict|final_choice|final_decision|preference|preferred|preferred_answer|"
    "decision|better|better_answer|better_response|best_answer|best|judgment|judgement|selection|selected|"
    "选择|结论|胜者|最终选择|最终结论|优胜者|获胜者|更好的回答|判定|裁决"
)
_VERDICT_KEYS = frozenset(_VERDICT_KEY.split("|"))
_SCORE_WORDS = re.compile(
    r"(?:overall_|final_|total_)?(?:score|rating|mark|评分|得分|分数)s?(?:_of|_for)?"
)
# A key with an escaped quotation mark after it stands inside another string and does not match.
# "A" or "B" offers both: it repeats the instruction and decides nothing.
_ALTERNATIVE = r"\||/|或者?|还是|or\b|and\b|和|与"
_BROKEN_PAIR = re.compile(
    rf"[\"']?\b(?:{_VERDICT_KEY})[\"']?\s{{0,9}}:\s{{0,9}}"
    r"(?:\"([^\"\n\\]{1,20})\"|'([^'\n\\]{1,20})'|([\w+=<>]{1,20})(?=\s{0,9}[,}\n]))"
    rf"(\s{{0,9}},?\s{{0,9}}(?:{_ALTERNATIVE})\s{{0,9}}[\"']?\w)?",
    re.IGNORECASE,
)

# ---------------------------------------------------------------- tables of scores

_SCORE = r"(-?\d{1,3}(?:\.\d{1,3})?)"
_OF_SCORE = r"(?:\s?(?:/|out\sof)\s?\d{1,3})?(?:\s?分)?"
_APART = r"(?:\s?[,、;|]\s?|\s(?:and|vs\.?|to|和|比)\s|\s{1,4})"
_IN_BRACKETS = rf"\s?{_SCORE}{_OF_SCORE}\s?[,、:;/\s]\s?{_SCORE}{_OF_SCORE}\s?"
_DOUBLE_PAIR = re.compile(rf"\[\[{_IN_BRACKETS}\]\]")
_PAIR = re.compile(
    rf"\[\[{_IN_BRACKETS}\]\]|\[{_IN_BRACKETS}\]|\({_IN_BRACKETS}\)|"
    rf"(?<![\d.\-]){_SCORE}{_OF_SCORE}{_APART}{_SCORE}{_OF_SCORE}(?![\d%]|\.\d|\s?[A-Za-z=+*/^\-]|\s\d)"
)
_SLASHED_PAIR = re.compile(rf"(?<![\d.\-]){_SCORE}\s?/\s?{_SCORE}(?![\d%/]|\.\d|\s?[A-Za-z=])")
_SCORE_LINK = r"(?:\s?(?:\b(?:is|are|was|were|as|of)\b|[:=]|-{1,2}>?|[–—→⇒]|是|为))"
_SCORE_CUE = (
    r"(?:\bi\s(?:would\s)?(?:rate|score|give|mark)\s(?:them|both)\s(?:as\s)?)|(?:\b(?:my|our|the|i\swould\sgive|i\sgive)\s)?(?:(?:final|overall|total|output|following|two)\s){0,3}"
    rf"\b(?:scores?|ratings?|marks?|output|results?|tuple|verdict|points)\b{_SCORE_LINK}*\s*|"
    rf"(?:最终|总|综合|两者|最后)?的?(?:评分|得分|分数|打分|总分|结果){_SCORE_LINK}*\s*"
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

_Reader = Callable[[Judgement, str, bool], ChosenVerdict[GradedOutcome]]
_READERS: Mapping[str, tuple[_Reader, ...]] = {
    "mtbench": (_read_text, _read_objects, _read_labelled),
    "arena_hard": (_read_text, _read_objects, _read_labelled),
    "compass": (_read_text, _read_objects, _read_labelled),
    "json": (_read_objects, _read_text, _read_labelled),
    "scores": (_read_pair, _read_labelled, _read_text, _read_objects),
    "named": (_read_text, _read_objects, _read_labelled),
    "graded": (_read_text, _read_objects, _read_labelled),
}
PAIRWISE_FORMATS = tuple(_READERS)
