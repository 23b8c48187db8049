"""Sentences on standings, judges and written answers that say what the figures say, and no more."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from evalui.report.answers import AnswerSummary
from evalui.report.arena import PEOPLE, Arena
from evalui.report.arena_panels import FEW, Grouping, Panel
from evalui.report.notes import Note
from evalui.report.numbers import count, figure, fixed, span
from evalui.report.sentences import SENTENCES, say
from evalui.scoring.bradley_terry import Connection
from evalui.scoring.elo import RUNS
from evalui.scoring.judging import PANEL
from evalui.types import Interval, Language

MAIN_FIGURE = "rouge-l-f"
_FEW_QUESTIONS = 10  # below, resampling them gives ranges that are too short
_NAMED = 3  # models in a title, before they are counted
_FAIR, _UNSTEADY = 0.10, 0.20  # of verdicts that change with the order
_UNREADABLE = 0.02  # of verdicts
_HALF = 0.5
_NOBODY: frozenset[str] = frozenset()

Steady = Literal["steady", "fair", "unsteady"]


@dataclass(frozen=True, slots=True)
class Steadiness:
    """How far a judge holds to its verdicts: a word, a sentence to set bold, and its reason."""

    level: Steady
    word: str
    lead: str
    rest: str


# ---------------------------------------------------------------- standings


def standings_title(arena: Arena, language: Language) -> str:
    """Who leads by how much, or why that cannot be said."""
    if not arena.standings or not arena.battles:
        return say("arena-empty", language)
    if arena.questions < _FEW_QUESTIONS:
        return say("arena-few", language, n=arena.questions)
    if arena.connection is None or not arena.connection.finite:
        return _no_rating(arena.connection, language)
    level = [standing.model for standing in arena.standings if standing.with_leader]
    n = count(arena.questions)
    if len(level) > 1:
        return say("arena-level", language, names=listed(level, language), n=n)
    first, second = (standing.model for standing in arena.standings[:2])
    if arena.lead is None:
        return say("arena-endless", language, first=first, second=second, n=n)
    gap, low, high = (fixed(points, 0) for points in arena.lead)
    return say("arena-leads", language, first=first, second=second, gap=gap, span=f"{low}–{high}")


def standings_subtitle(
    arena: Arena, language: Language, *, rule_based: frozenset[str] = _NOBODY
) -> str:
    """How to read the chart of ratings: battles, judge and questions."""
    if not arena.standings:
        return ""
    said = [say("elo-about", language, runs=count(RUNS), n=count(arena.questions))]
    if sum(standing.with_leader for standing in arena.standings) > 1:
        said.append(say("elo-grey", language))
    return joined([*said, battles_by(arena, language, rule_based=rule_based)], language)


def battles_by(arena: Arena, language: Language, *, rule_based: frozenset[str] = _NOBODY) -> str:
    """How many battles, and who judged them."""
    judge = judged_by(arena, language, rule_based=rule_based)
    return say("battles-by", language, battles=count(len(arena.battles)), judge=judge)


def judged_by(arena: Arena, language: Language, *, rule_based: frozenset[str] = _NOBODY) -> str:
    """The judge, the panel or the people; a rule is called one."""
    if arena.by == PEOPLE:
        return say("by-people", language)
    if arena.by == PANEL:
        named = [judge_name(judge, language, rule_based=rule_based) for judge in arena.judges]
        return say("by-panel", language, k=len(named), names=_series(named, language))
    name = judge_name(arena.by, language, rule_based=rule_based)
    return say("by-judge", language, name=name)


def judge_name(name: str, language: Language, *, rule_based: frozenset[str] = _NOBODY) -> str:
    """A judge's name, with a word if it is a rule and no model."""
    return say("rule-based", language, name=name) if name in rule_based else name


def matrix_title(arena: Arena, language: Language) -> str:
    """Who beats whom, if one model beats all."""
    models = [standing.model for standing in arena.standings]
    missing = sum(
        (first, second) not in arena.shares and (second, first) not in arena.shares
        for place, first in enumerate(models)
        for second in models[place + 1 :]
    )
    if missing:
        pairs = len(models) * (len(models) - 1) // 2
        return say("matrix-gap", language, k=count(missing), n=count(pairs))
    for model in models:
        against = [arena.shares[(model, other)] for other in models if other != model]
        if len(against) > 1 and all(share.low > _HALF for share in against):
            return say("matrix-most", language, first=model)
    return say("matrix", language)


def matrix_subtitle(arena: Arena, language: Language) -> str:
    """How to read the win matrix."""
    return say("matrix-about", language, n=count(arena.questions))


def listed(models: Sequence[str], language: Language) -> str:
    """ "a", "a and b", "a, b and c", and from four on "a and 3 others"."""
    if len(models) > _NAMED:
        return say("and-others", language, first=models[0], k=_others(len(models), language))
    if len(models) < 2:
        return "".join(models)
    first = _series(models[:-1], language)
    return say("and", language, first=first, last=models[-1])


def joined(sentences: Sequence[str], language: Language) -> str:
    """Sentences one after the other, as the language sets them."""
    return ("" if language == "zh" else " ").join(filter(None, sentences))


# ---------------------------------------------------------------- groups of questions


def panels_title(panels: Sequence[Panel], grouping: Grouping, language: Language) -> str:
    """Which model is first in most groups, small groups left out."""
    group, groups = (say(f"group-{name}", language) for name in _FORMS[grouping])
    leaders = [_leader(panel.shares) for panel in panels if not panel.few]
    if not leaders:
        return say("panels-few", language, group=group)
    firsts = {model: leaders.count(model) for model in leaders if model}
    most = max(firsts.values(), default=0)
    first = [model for model, times in firsts.items() if times == most]
    if len(first) != 1:
        return say("panels-split", language, groups=groups)
    return say("panels-most", language, model=first[0], k=most, n=len(leaders), groups=groups)


def panels_subtitle(
    arena: Arena, language: Language, *, rule_based: frozenset[str] = _NOBODY
) -> str:
    """How to read the panels."""
    about = say("panels-about", language, few=FEW)
    return joined([about, battles_by(arena, language, rule_based=rule_based)], language)


def dimension_name(name: str, language: Language) -> str:
    """A capability as the file has it, a language and the whole in words."""
    key = f"dimension-{name}"
    return say(key, language) if key in SENTENCES else name


# ---------------------------------------------------------------- judges


def steadiness(arena: Arena, language: Language) -> Steadiness | None:
    """What swapping the answers did to the verdicts; None if nothing was shown in both orders."""
    flips = arena.reliability.flips
    if flips is None:
        return None
    level: Steady = "steady"
    if flips.value >= _FAIR:
        level = "unsteady" if flips.value > _UNSTEADY else "fair"
    changed = say("changed", language, value=figure(flips), span=span(flips))
    so = "" if level == "steady" else say(f"{level}-so", language)
    word = say(f"{level}-word", language)
    lead = say(f"panel-{level}" if arena.by == PANEL else level, language)
    return Steadiness(level, word, lead, joined([changed, so], language))


def judge_notes(
    arena: Arena, language: Language, *, rule_based: frozenset[str] = _NOBODY
) -> tuple[Note, ...]:
    """What a reader must know before believing the verdicts, most serious first."""
    found = [*_about_cell(arena, language), *_about_judges(arena, language, rule_based)]
    found += _about_verdicts(arena, language)
    return tuple(sorted(found, key=lambda note: ("bad", "warn", "info").index(note.level)))


# ---------------------------------------------------------------- written answers


def text_title(summaries: Sequence[AnswerSummary], language: Language) -> str:
    """Whose answers are closest to the references."""
    found = [(s.means[MAIN_FIGURE], s) for s in summaries if MAIN_FIGURE in s.means]
    if not found:
        return say("closest-none", language)
    best = max(mean.value for mean, _ in found)
    first = [(mean, summary) for mean, summary in found if mean.value == best]
    mean, summary = first[0]
    told = {"metric": MAIN_FIGURE, "value": share_of_one(best)}
    if len(found) == 1:
        n, ends = count(summary.compared), between(mean)
        return say("reaches", language, model=summary.cell.model, n=n, span=ends, **told)
    if len(first) > 1:
        names = listed([summary.cell.model for _, summary in first], language)
        return say("closest-equal", language, names=names, **told)
    return say("closest", language, model=summary.cell.model, span=between(mean), **told)


def text_subtitle(summaries: Sequence[AnswerSummary], language: Language) -> str:
    """How to read the text figures."""
    sizes = [summary.compared for summary in summaries if summary.means]
    if not sizes:
        return ""
    low, high = min(sizes), max(sizes)
    n = (
        say("n-same", language, n=count(low))
        if low == high
        else say("n-range", language, low=count(low), high=count(high))
    )
    return say("text-about", language, n=n)


def answer_notes(
    summary: AnswerSummary, language: Language, *, rule_based: frozenset[str] = _NOBODY
) -> tuple[Note, ...]:
    """What a reader must know before believing the text figures, most serious first."""
    if summary.state == "impossible":
        return (Note("info", "not-run", say("not-run", language, reason=summary.error)),)
    found: list[Note] = []
    if summary.state == "failed":
        found.append(Note("bad", "failed", say("failed", language, reason=summary.error)))
    if summary.n < summary.questions:
        told = {"done": count(summary.n), "total": count(summary.questions)}
        found.append(Note("warn", "partial", say("answers-partial", language, **told)))
    missing = summary.n - summary.compared
    counts: Mapping[str, int] = {"empty": summary.empty, "cut": summary.cut, "bare": missing}
    for rule, k in counts.items():
        if k:
            text = say(f"answers-{rule}", language, k=count(k), n=count(summary.n))
            found.append(Note("info" if rule == "bare" else "warn", rule, text))
    for rated in summary.rated:
        if rated.unscored:
            judge = judge_name(rated.by, language, rule_based=rule_based)
            told = {"k": count(rated.unscored), "n": count(rated.n + rated.unscored)}
            text = say("answers-unscored", language, judge=judge, **told)
            found.append(Note("warn", "unscored", text))
    return tuple(found)


def share_of_one(value: float) -> str:
    """A text figure as a part of one, two decimals: the third is noise for hundreds of answers."""
    return fixed(value, 2)


def between(mean: Interval) -> str:
    """The range of a text figure: "0.35–0.47"."""
    return f"{share_of_one(mean.low)}–{share_of_one(mean.high)}"


_FORMS: Mapping[Grouping, tuple[str, str]] = {
    "capability": ("capability", "capabilities"),
    "language": ("language", "languages"),
}


def _no_rating(connection: Connection | None, language: Language) -> str:
    if connection is None:
        return say("arena-empty", language)
    if len(connection.islands) > 1:
        return say("arena-islands", language, k=len(connection.islands))
    if connection.unbeaten:
        return say("arena-unbeaten", language, names=listed(connection.unbeaten, language))
    if connection.winless:
        return say("arena-winless", language, names=listed(connection.winless, language))
    return say("arena-apart", language)


def _others(models: int, language: Language) -> int:
    """How many are meant beside the one named; Chinese counts it among them."""
    return models if language == "zh" else models - 1


def _series(names: Sequence[str], language: Language) -> str:
    return ("、" if language == "zh" else ", ").join(names)


def _leader(shares: Mapping[str, Interval]) -> str | None:
    best = max(share.value for share in shares.values())
    first = [model for model, share in shares.items() if share.value == best]
    return first[0] if len(first) == 1 else None


def _about_cell(arena: Arena, language: Language) -> list[Note]:
    found: list[Note] = []
    if arena.state == "failed":
        found.append(Note("bad", "failed", say("failed", language, reason=arena.error)))
    if arena.state == "impossible":
        found.append(Note("info", "not-run", say("not-run", language, reason=arena.error)))
    if arena.done < arena.planned and arena.by != PEOPLE:
        told = {"done": count(arena.done), "total": count(arena.planned)}
        found.append(Note("warn", "partial", say("arena-partial", language, **told)))
    return found


def _about_judges(arena: Arena, language: Language, rule_based: frozenset[str]) -> list[Note]:
    found: list[Note] = []
    candidates = {contestant.name for contestant in arena.contestants}
    judges = _judges(arena)
    if own := [judge for judge in judges if judge in candidates]:
        names = _series([judge_name(j, language, rule_based=rule_based) for j in own], language)
        found.append(Note("warn", "self-judge", say("self-judge", language, names=names)))
    if rules := [judge for judge in judges if judge in rule_based]:
        text = say("rule-judge", language, names=_series(rules, language))
        found.append(Note("warn", "rule-judge", text))
    return found


def _judges(arena: Arena) -> Collection[str]:
    if arena.by == PEOPLE:
        return ()
    return arena.judges or (arena.by,)


def _about_verdicts(arena: Arena, language: Language) -> list[Note]:
    found: list[Note] = []
    kept = arena.reliability
    steady = steadiness(arena, language)
    if steady and steady.level != "steady":
        text = joined([steady.lead, steady.rest], language)
        found.append(Note("warn", steady.level, text))
    if arena.orders != "double" and arena.by != PEOPLE and arena.verdicts:
        found.append(Note("info", "one-order", say("one-order", language)))
    if kept.unreadable and kept.unreadable.value > _UNREADABLE:
        rule = "no-majority" if arena.by == PANEL else "judge-unreadable"
        found.append(_share_note("warn", rule, kept.unreadable, language))
    if kept.injected:
        text = say("injected", language, k=count(kept.injected))
        found.append(Note("warn", "injected", text))
    if kept.longer and kept.longer.low > _HALF:
        found.append(_share_note("warn", "prefers-longer", kept.longer, language))
    if kept.lists and kept.lists.low > _HALF:
        found.append(_share_note("info", "prefers-lists", kept.lists, language))
    if kept.first and kept.first.low > _HALF:
        found.append(_share_note("warn", "prefers-first", kept.first, language))
    if kept.first and kept.first.high < _HALF:
        found.append(_share_note("warn", "prefers-second", kept.first, language))
    return found


def _share_note(
    level: Literal["warn", "info"], rule: str, share: Interval, language: Language
) -> Note:
    told = {"value": figure(share), "span": span(share)}
    if "{n}" in SENTENCES[rule][language]:
        told["n"] = count(share.n)
    return Note(level, rule, say(rule, language, **told))
