"""Sentences on how far judges can be believed: steadiness, and what to know of their verdicts."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from evalui.messages import localized, messages
from evalui.report.analyses.arena.figures import PEOPLE, Arena
from evalui.report.analyses.arena.narrative import joined, judge_name, series
from evalui.report.analyses.overview.warnings import Note
from evalui.report.numbers import count, figure, span
from evalui.scoring.arena.verdicts import PANEL
from evalui.types import Interval, Language

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


def steadiness(arena: Arena, language: Language) -> Steadiness | None:
    """What swapping the answers did to the verdicts; None if nothing was shown in both orders.

    A panel has none: judges that change their verdict leave it without a majority, and its own
    flips do not count those. `Arena.swayed` tells of its judges.
    """
    flips = arena.reliability.flips
    if flips is None or arena.by == PANEL:
        return None
    level = steady_level(flips)
    changed = localized("changed", language, value=figure(flips), span=span(flips))
    so = "" if level == "steady" else localized(f"{level}-so", language)
    word = localized(f"{level}-word", language)
    lead = localized(level, language)
    return Steadiness(level, word, lead, joined([changed, so], language))


def steady_level(flips: Interval) -> Steady:
    """How steady a judge is whose verdicts changed this often with the order."""
    if flips.value < _FAIR:
        return "steady"
    return "unsteady" if flips.value > _UNSTEADY else "fair"


def judge_notes(
    arena: Arena, language: Language, *, rule_based: frozenset[str] = _NOBODY
) -> tuple[Note, ...]:
    """What a reader must know before believing the verdicts, most serious first."""
    found = [*_about_cell(arena, language), *_about_judges(arena, language, rule_based)]
    found += [*_about_reading(arena, language, rule_based), *_about_verdicts(arena, language)]
    return tuple(sorted(found, key=lambda note: ("bad", "warn", "info").index(note.level)))


def _about_cell(arena: Arena, language: Language) -> list[Note]:
    found: list[Note] = []
    if arena.state == "failed":
        found.append(Note("bad", "failed", localized("failed", language, reason=arena.error)))
    if arena.state == "impossible":
        found.append(Note("info", "not-run", localized("not-run", language, reason=arena.error)))
    if arena.done < arena.planned and arena.by != PEOPLE:
        told = {"done": count(arena.done), "total": count(arena.planned)}
        found.append(Note("warn", "partial", localized("arena-partial", language, **told)))
    return found


def _about_judges(arena: Arena, language: Language, rule_based: frozenset[str]) -> list[Note]:
    found: list[Note] = []
    candidates = {contestant.name for contestant in arena.contestants}
    judges = _judges(arena)
    if own := [judge for judge in judges if judge in candidates]:
        names = series([judge_name(j, language, rule_based=rule_based) for j in own], language)
        found.append(Note("warn", "self-judge", localized("self-judge", language, names=names)))
    if rules := [judge for judge in judges if judge in rule_based]:
        text = localized("rule-judge", language, names=series(rules, language))
        found.append(Note("warn", "rule-judge", text))
    return found


def _judges(arena: Arena) -> Collection[str]:
    if arena.by == PEOPLE:
        return ()
    return arena.judges or (arena.by,)


def _about_reading(arena: Arena, language: Language, rule_based: frozenset[str]) -> list[Note]:
    """Verdicts that change with the order, and those that count for nobody."""
    found: list[Note] = []
    steady = steadiness(arena, language)
    if steady and steady.level != "steady":
        text = joined([steady.lead, steady.rest], language)
        found.append(Note("warn", steady.level, text))
    if arena.orders != "double" and arena.by != PEOPLE and arena.verdicts:
        found.append(Note("info", "one-order", localized("one-order", language)))
    if k := arena.reliability.unreferenced:
        told = {"k": count(k), "n": count(len(arena.verdicts))}
        found.append(Note("info", "no-reference", localized("no-reference", language, **told)))
    lost = arena.reliability.unreadable
    if lost and lost.value > _UNREADABLE:
        rule = "no-majority" if arena.by == PANEL else "judge-unreadable"
        note = _share_note("warn", rule, lost, language)
        # Only a rule is known to need a reference.
        k = bare_verdicts(arena) if rule_based.intersection(_judges(arena)) else 0
        why = localized("judge-bare", language, k=count(k)) if k else ""
        found.append(Note("warn", rule, joined([note.text, why], language)))
    swayed = {judge: flips for judge, flips in arena.swayed.items() if flips.value >= _FAIR}
    if swayed:
        told = [
            localized("swayed-judge", language, name=judge, value=figure(flips), span=span(flips))
            for judge, flips in swayed.items()
        ]
        found.append(
            Note("warn", "swayed", localized("swayed", language, names=series(told, language)))
        )
    return found


def bare_verdicts(arena: Arena) -> int:
    """How many of the judged verdicts that count for nobody are on questions without a reference.

    These are a panel's: one of its judges may have judged.
    """
    lost = (
        one.duel.sample_id for one in arena.verdicts if one.outcome is None and not one.unreferenced
    )
    return sum(key in arena.samples and not arena.samples[key].references for key in lost)


def _about_verdicts(arena: Arena, language: Language) -> list[Note]:
    found: list[Note] = []
    kept = arena.reliability
    if kept.injected:
        text = localized("injected", language, k=count(kept.injected))
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
    if "{n}" in messages(language).by_key[rule]:
        told["n"] = count(share.n)
    return Note(level, rule, localized(rule, language, **told))
