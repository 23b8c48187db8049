"""How far judges can be believed: their steadiness, and what to know of their verdicts."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Literal

from evalui.messages import localized, messages
from evalui.report.analyses.arena.narrative import judge_name
from evalui.report.analyses.warnings import ReportNote, state_notes
from evalui.report.blocks import Headline, Kind
from evalui.report.numbers import count, format_range, format_value
from evalui.report.words import join_names, join_sentences
from evalui.scoring.arena.agreement import RaterAgreement
from evalui.scoring.arena.figures import PEOPLE, Arena
from evalui.scoring.arena.verdicts import PANEL_NAME
from evalui.types import Interval, Language

_FAIR, _UNSTEADY = 0.10, 0.20  # of verdicts that change with the order
_UNREADABLE = 0.02  # of verdicts
_HALF = 0.5
_NO_RULES: frozenset[str] = frozenset()

ConsistencyLevel = Literal["steady", "fair", "unsteady"]


@dataclass(frozen=True, slots=True)
class OrderConsistency:
    """How far a judge holds to its verdicts: a bold sentence, its figure, and what follows."""

    level: ConsistencyLevel
    headline: str
    changed: str
    explanation: str


def order_consistency(arena: Arena, language: Language) -> OrderConsistency | None:
    """What swapping the answers did to the verdicts; None if nothing was shown in both orders.

    A panel has none: judges that change their verdict leave it without a majority, and its own
    flips do not count those. `Arena.judge_flip_rates` has those of its judges.
    """
    flips = arena.reliability.flip_rate
    if flips is None or arena.by == PANEL_NAME:
        return None
    level = consistency_level(flips)
    fields = {"value": format_value(flips), "span": format_range(flips), "n": count(flips.n)}
    changed = localized("changed" if flips.value else "changed-none", language, **fields)
    so = "" if level == "steady" else localized(f"{level}-so", language)
    lead = localized(level, language)
    return OrderConsistency(level, lead, changed, join_sentences(changed, so))


def judged_headline(
    arena: Arena, verdict: str, language: Language, *, rule_based: frozenset[str] = _NO_RULES
) -> Headline:
    """The verdict with the one thing that changes how it must be read, else how steady it is."""
    lead, support, kind = _support(arena, language, rule_based)
    return Headline(verdict, support, lead, kind)


def _support(
    arena: Arena, language: Language, rule_based: frozenset[str]
) -> tuple[str, str, Kind | None]:
    if arena.state == "failed":
        return "", localized("failed", language, reason=arena.error), "bad"
    if rule_based.intersection(_judges(arena)):
        lead, rest = (localized(f"rule-{part}", language) for part in ("lead", "said"))
        return lead, rest, "warn"
    lost = arena.reliability.unreadable
    if lost and lost.value > _HALF:
        key = "no-majority-said" if arena.by == PANEL_NAME else "unreadable-said"
        fields = {"value": format_value(lost), "n": count(lost.n)}
        return "", localized(key, language, **fields), "warn"
    steady = order_consistency(arena, language)
    if steady:
        return steady.headline, steady.changed, "ok" if steady.level == "steady" else "warn"
    return _raters(arena, language)


def _raters(arena: Arena, language: Language) -> tuple[str, str, Kind | None]:
    """Who judged where no order effect is known: a panel, people, or a judge in one order."""
    if arena.by not in (PANEL_NAME, PEOPLE):
        return "", localized("one-order-said", language) if arena.verdicts else "", "na"
    lead = localized(
        f"{arena.by}-lead", language, k=len(arena.judges), n=count(len(arena.verdicts))
    )
    agreed = arena.agreement
    if agreed is None:
        return lead, "", None
    fields = {"value": format_value(agreed.raw), "span": format_range(agreed.raw)}
    return lead, localized("raters-agree", language, **fields), None


def trust_finding(
    arena: Arena,
    people: RaterAgreement | None,
    language: Language,
    *,
    rule_based: frozenset[str] = _NO_RULES,
) -> str:
    """How far the judge can be trusted, in a line: its flips, and its agreement with people."""
    if arena.by in (PANEL_NAME, PEOPLE):
        agreed = arena.agreement
        if agreed is None:
            return localized("trust-alone", language)
        return localized(
            "trust-raters", language, value=format_value(agreed.raw), n=count(agreed.n)
        )
    flips = arena.reliability.flip_rate
    finding = localized("trust-one-order", language)
    if flips:
        key = "trust-none" if not flips.value else f"trust-{consistency_level(flips)}"
        if arena.by in rule_based:
            key = "trust-rule" if flips.value else "trust-rule-none"
        finding = localized(key, language, value=format_value(flips))
    if people:
        value = format_value(people.raw)
        return finding + messages(language).count("trust-people", people.n, value=value)
    return finding + localized("trust-nobody", language)


def consistency_level(flips: Interval) -> ConsistencyLevel:
    """How steady a judge is whose verdicts changed this often with the order."""
    if flips.value < _FAIR:
        return "steady"
    return "unsteady" if flips.value > _UNSTEADY else "fair"


def judge_notes(
    arena: Arena, language: Language, *, rule_based: frozenset[str] = _NO_RULES
) -> tuple[ReportNote, ...]:
    """What a reader must know before believing the verdicts, most serious first."""
    done = arena.planned if arena.by == PEOPLE else arena.done
    made = state_notes(
        arena.state, arena.error, done, arena.planned, language, partial="arena-partial"
    )
    made += _judge_notes(arena, language, rule_based)
    made += [*_reading_notes(arena, language, rule_based), *_verdict_notes(arena, language)]
    return tuple(sorted(made, key=lambda note: ("bad", "warn", "info").index(note.level)))


def _judge_notes(arena: Arena, language: Language, rule_based: frozenset[str]) -> list[ReportNote]:
    made: list[ReportNote] = []
    candidates = {contestant.name for contestant in arena.contestants}
    judges = _judges(arena)
    if own := [judge for judge in judges if judge in candidates]:
        names = join_names([judge_name(j, language, rule_based=rule_based) for j in own], language)
        made.append(
            ReportNote("warn", "self-judge", localized("self-judge", language, names=names))
        )
    if rules := [judge for judge in judges if judge in rule_based]:
        text = localized("rule-judge", language, names=join_names(rules, language))
        made.append(ReportNote("warn", "rule-judge", text))
    return made


def _judges(arena: Arena) -> Collection[str]:
    if arena.by == PEOPLE:
        return ()
    return arena.judges or (arena.by,)


def _reading_notes(
    arena: Arena, language: Language, rule_based: frozenset[str]
) -> list[ReportNote]:
    """Verdicts that change with the order, and those that count for no model."""
    made: list[ReportNote] = []
    steady = order_consistency(arena, language)
    if steady and steady.level != "steady":
        text = join_sentences(steady.headline, steady.explanation)
        made.append(ReportNote("warn", steady.level, text))
    if arena.orders != "double" and arena.by != PEOPLE and arena.verdicts:
        made.append(ReportNote("info", "one-order", localized("one-order", language)))
    if k := arena.reliability.unreferenced:
        fields = {"k": count(k), "n": count(len(arena.verdicts))}
        made.append(
            ReportNote("info", "no-reference", localized("no-reference", language, **fields))
        )
    lost = arena.reliability.unreadable
    if lost and lost.value > _UNREADABLE:
        rule = "no-majority" if arena.by == PANEL_NAME else "judge-unreadable"
        note = _share_note("warn", rule, lost, language)
        # Only a rule is known to need a reference.
        k = unreferenced_verdicts(arena) if rule_based.intersection(_judges(arena)) else 0
        why = localized("judge-bare", language, k=count(k)) if k else ""
        made.append(ReportNote("warn", rule, join_sentences(note.text, why)))
    swayed = {
        judge: flips for judge, flips in arena.judge_flip_rates.items() if flips.value >= _FAIR
    }
    if swayed:
        fields = [
            localized(
                "swayed-judge",
                language,
                name=judge,
                value=format_value(flips),
                span=format_range(flips),
            )
            for judge, flips in swayed.items()
        ]
        made.append(
            ReportNote(
                "warn", "swayed", localized("swayed", language, names=join_names(fields, language))
            )
        )
    return made


def unreferenced_verdicts(arena: Arena) -> int:
    """How many of the judged verdicts that count for no model are on questions without a reference.

    These are a panel's: one of its judges may have judged.
    """
    lost = (
        one.duel.sample_id for one in arena.verdicts if one.outcome is None and not one.unreferenced
    )
    return sum(key in arena.samples and not arena.samples[key].references for key in lost)


def _verdict_notes(arena: Arena, language: Language) -> list[ReportNote]:
    made: list[ReportNote] = []
    kept = arena.reliability
    if kept.injected:
        text = localized("injected", language, k=count(kept.injected))
        made.append(ReportNote("warn", "injected", text))
    if kept.longer_wins and kept.longer_wins.low > _HALF:
        made.append(_share_note("warn", "prefers-longer", kept.longer_wins, language))
    if kept.more_items_wins and kept.more_items_wins.low > _HALF:
        made.append(_share_note("info", "prefers-lists", kept.more_items_wins, language))
    if kept.first_wins and kept.first_wins.low > _HALF:
        made.append(_share_note("warn", "prefers-first", kept.first_wins, language))
    if kept.first_wins and kept.first_wins.high < _HALF:
        made.append(_share_note("warn", "prefers-second", kept.first_wins, language))
    return made


def _share_note(
    level: Literal["warn", "info"], rule: str, share: Interval, language: Language
) -> ReportNote:
    fields = {"value": format_value(share), "span": format_range(share)}
    if "{n}" in messages(language).by_key[rule]:
        fields["n"] = count(share.n)
    return ReportNote(level, rule, localized(rule, language, **fields))
