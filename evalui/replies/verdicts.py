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

from evalui.replies.judge_statements import (
    ChosenVerdict,
    VerdictGrammar,
    choose,
    is_line_verdict,
    is_revision,
    line_verdict,
    without_lists,
)
from evalui.replies.judgements import (
    CUT_REASONS,
    SIDE_NOUN,
    Judgement,
    is_doubted,
    is_own,
    lead_of,
    parse_judgement,
    sentences_of,
    since_turn,
)
from evalui.replies.objects import read_json, strings_of
from evalui.replies.score_pairs import (
    is_score_pair,
    read_labelled_scores,
    read_score_pair,
)
from evalui.replies.verdict_labels import (
    GradedOutcome,
    Letters,
    Preference,
    explicit_labels,
    label_at,
    preferences_in,
    sides_in,
    single_bracket_labels,
)
from evalui.types import Outcome

# Part of the signature: raise it when a reply may be read otherwise.
VERDICT_VERSION = "verdict.4"


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
    is_verdict = is_score_pair if form == "scores" else partial(is_line_verdict, grammar=grammar)
    judgement = parse_judgement(reply, is_verdict, prompt_forms)
    if isinstance(judgement, str):
        return ParsedVerdict(None, judgement)
    judgement = without_lists(judgement, grammar)
    cut = finish_reason in CUT_REASONS
    chosen: ChosenVerdict[GradedOutcome] = ChosenVerdict(None, "cut" if cut else "unparsed")
    for read in _READERS[form]:
        tried = read(judgement, form, cut)
        if tried.rule not in _NOTHING_READ:
            chosen = tried
            break
    if chosen.value is None:
        return ParsedVerdict(None, chosen.rule)
    strength = chosen.value.strength if form in _GRADED_FORMS else None
    return ParsedVerdict(chosen.value.outcome, chosen.rule, strength)


def without_options(text: str) -> str:
    """The text with nothing that names an option of a question: letters, 甲 and 乙, "option 2"."""
    text = unicodedata.normalize("NFKC", text)
    text = _compiled(_NAMED_BY_LETTER).sub(lambda label: label[1] + "12"[label[2] in "Bb"], text)
    for pattern in _OPTIONS:
        text = _compiled(pattern).sub(rf"\g<lead>{_NO_LABEL}", text)
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
    return _undisputed(read_json(judgement.blocks), reasons, form)


def _read_pair(judgement: Judgement, form: str, cut: bool) -> ChosenVerdict[GradedOutcome]:
    """The better of two scores that stand together."""
    return _undisputed(read_score_pair(judgement, cut=cut), judgement, form)


def _read_labelled(judgement: Judgement, form: str, cut: bool) -> ChosenVerdict[GradedOutcome]:
    """The better of two scores that name their answers."""
    scores = read_labelled_scores(judgement, cut=cut, stated=form != "scores")
    return _undisputed(scores, judgement, form)


# ---------------------------------------------------------------- grammar


@cache
def _grammar(form: str) -> VerdictGrammar[GradedOutcome]:
    letters = _LETTERS[form]
    return VerdictGrammar(
        opening=_compiled(_OPENING),
        cue=_compiled(_LINE_CUE),
        sentence_cue=_compiled(_SENTENCE_CUE),
        label_at=partial(label_at, letters=letters),
        explicit_labels=partial(explicit_labels, letters=letters),
        single_labels=partial(single_bracket_labels, letters=letters),
        same=_outcome_of,
        weigh=partial(_weigh, letters=letters),
        conclusions=_conclusions,
    )


@cache  # at first use: to compile takes longer than to import
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)


def _outcome_of(graded: GradedOutcome) -> Outcome:
    return graded.outcome


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
    for cue in _compiled(_SENTENCE_CUE).finditer(rest):
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
        limited = _compiled(_LIMITED).search(since_turn(lead))
        limited = limited or _compiled(_TAKEN_BACK).search(rest)
        if not limited and is_own(lead) and not is_doubted(rest):
            yield preferred


def _conclusions(sentence: str) -> Sequence[GradedOutcome]:
    preferred = [one for one in _own_preferences(sentence) if not one.limited]
    if preferred:
        return [GradedOutcome(one.side, one.strength) for one in preferred]
    sides = sides_in(sentence)
    if len(sides) != 1 or not _compiled(_CONCLUDES_FOR_ONE).search(sentence):
        return []
    return [GradedOutcome(*sides, strength=1)] if is_own(sentence) else []


# ---------------------------------------------------------------- tables

_NOTHING_READ = ("unparsed", "cut")
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
