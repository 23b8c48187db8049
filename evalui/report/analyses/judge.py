"""Who judged, how far the judge, a panel or people can be trusted, and what to know of them."""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from evalui.messages import add_messages, localized, messages
from evalui.pictures import ids
from evalui.report.analyses.base import OpenContext
from evalui.report.analyses.warnings import LEVELS, ReportNote, state_notes
from evalui.report.blocks import (
    NONE,
    Details,
    Headline,
    Kind,
    Paragraph,
    StateCell,
    Table,
    TableCell,
    text_table,
)
from evalui.report.numbers import count, format_range, format_value, percent, signed, signed_range
from evalui.report.words import join_names, join_sentences
from evalui.scoring.arena.agreement import RaterAgreement
from evalui.scoring.arena.figures import PEOPLE, POOLED, Arena
from evalui.scoring.arena.verdicts import PANEL_NAME
from evalui.types import Interval, JudgeOutput, Language, Sample, leaves_out_pictures

add_messages(Path(__file__).with_suffix(".toml"))

_FAIR, _UNSTEADY = 0.10, 0.20  # of verdicts that change with the order
_UNREADABLE = 0.02  # of verdicts
_HALF = 0.5
_HEADS = ("trust.head-measure", "trust.head-value", "head-range", "trust.head-count")

ConsistencyLevel = Literal["steady", "fair", "unsteady"]


# ---------------------------------------------------------------- who judged


def judge_name(name: str, context: OpenContext) -> str:
    """A judge's name, with a word if it is a rule and no model."""
    if name not in context.rules:
        return name
    return localized("trust.rule-based", context.language, name=name)


def judged_by(arena: Arena, context: OpenContext) -> str:
    """The judge, the panel or the people; a rule is called one."""
    language = context.language
    if arena.by == PEOPLE:
        return localized("trust.by-people", language)
    if arena.by == PANEL_NAME:
        named = [judge_name(judge, context) for judge in arena.judges]
        return localized(
            "trust.by-panel", language, k=len(named), names=join_names(named, language)
        )
    if arena.by == POOLED:
        named = [
            localized("trust.name-people", language)
            if judge == PEOPLE
            else judge_name(judge, context)
            for judge in arena.judges
        ]
        return localized("trust.by-pooled", language, names=join_names(named, language))
    name = judge_name(arena.by, context)
    return localized("trust.by-judge", language, name=name)


def battles_by(arena: Arena, context: OpenContext) -> str:
    """How many battles, and who judged them."""
    language = context.language
    judge = judged_by(arena, context)
    return localized("trust.battles-by", language, battles=count(len(arena.battles)), judge=judge)


# ---------------------------------------------------------------- how steady a judge is


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
    changed = localized(
        "trust.changed" if flips.value else "trust.changed-none", language, **fields
    )
    so = "" if level == "steady" else localized(f"trust.{level}-so", language)
    lead = localized(f"trust.{level}", language)
    return OrderConsistency(level, lead, changed, join_sentences(changed, so))


def consistency_level(flips: Interval) -> ConsistencyLevel:
    """How steady a judge is whose verdicts changed this often with the order."""
    if flips.value < _FAIR:
        return "steady"
    return "unsteady" if flips.value > _UNSTEADY else "fair"


# ---------------------------------------------------------------- beside the verdict


def judged_headline(arena: Arena, verdict: str, context: OpenContext) -> Headline:
    """The verdict with the one thing that changes how it must be read, else how steady it is."""
    language = context.language
    if arena.state == "failed":
        reason = localized("warnings.failed", language, reason=arena.error)
        return Headline(verdict, reason, kind="bad")
    if context.rules.intersection(_judges(arena)):
        lead, said = localized("trust.rule-lead", language), localized("trust.rule-said", language)
        return Headline(verdict, said, lead, "warn")
    lost = arena.reliability.unreadable
    if lost and lost.value > _HALF:
        key = "trust.no-majority-said" if arena.by == PANEL_NAME else "trust.unreadable-said"
        fields = {"value": format_value(lost), "n": count(lost.n)}
        return Headline(verdict, localized(key, language, **fields), kind="warn")
    if steady := order_consistency(arena, language):
        kind = "ok" if steady.level == "steady" else "warn"
        return Headline(verdict, steady.changed, steady.headline, kind)
    if arena.by not in (PANEL_NAME, PEOPLE):
        said = localized("trust.one-order-said", language) if arena.verdicts else ""
        return Headline(verdict, said, kind="na")
    fields = {"k": len(arena.judges), "n": count(len(arena.verdicts))}
    lead, agree = localized(f"trust.{arena.by}-lead", language, **fields), ""
    if agreed := arena.agreement:
        fields = {"value": format_value(agreed.raw), "span": format_range(agreed.raw)}
        agree = localized("trust.raters-agree", language, **fields)
    return Headline(verdict, agree, lead)


# ---------------------------------------------------------------- how far it can be trusted


def trust_details(arena: Arena, people: RaterAgreement | None, context: OpenContext) -> Details:
    """A line on it, and below every figure on the judge with its range and n.

    `people` is how far the judge and most people agree.
    """
    language = context.language
    return Details(
        "trust",
        localized("trust.of-people" if arena.by == PEOPLE else "trust.of-judge", language),
        _trust_finding(arena, people, context),
        (
            *map(Paragraph, _compared(arena, language)),
            _trust_table(arena, people, context),
            Paragraph(localized("trust.about", language), small=True),
        ),
    )


def _trust_finding(arena: Arena, people: RaterAgreement | None, context: OpenContext) -> str:
    """How far the judge can be trusted, in a line: its flips, and its agreement with people."""
    language = context.language
    if arena.by in (PANEL_NAME, PEOPLE):
        agreed = arena.agreement
        if agreed is None:
            return localized("trust.rater-alone", language)
        return localized(
            "trust.raters", language, value=format_value(agreed.raw), n=count(agreed.n)
        )
    flips = arena.reliability.flip_rate
    finding = localized("trust.flips-unknown", language)
    if flips:
        key = f"trust.flips-{consistency_level(flips) if flips.value else 'none'}"
        if arena.by in context.rules:
            key = "trust.flips-rule" if flips.value else "trust.flips-rule-none"
        finding = localized(key, language, value=format_value(flips))
    if people:
        value = format_value(people.raw)
        return finding + messages(language).count("trust.and-people", people.n, value=value)
    return finding + localized("trust.and-nobody", language)


def _compared(arena: Arena, language: Language) -> Iterator[str]:
    counted = arena.comparisons
    if counted is None or counted.extraction_rate is None:
        return
    rate = percent(counted.extraction_rate)
    fields = {"total": count(counted.total), "read": count(counted.extracted), "rate": rate}
    none = count(counted.meaningful - counted.extracted)
    key = "trust.compared-panel" if arena.by == PANEL_NAME else "trust.compared"
    yield localized(key, language, none=none, **fields)
    if same := counted.total - counted.meaningful:
        shown = {"total": fields["total"], "n": count(counted.meaningful), "k": count(same)}
        yield localized("trust.meaningful", language, **shown)
    if arena.by == PANEL_NAME:
        return
    if arena.orders == "double" and counted.consistent_rate is not None:
        fields = {"k": count(counted.consistent), "rate": percent(counted.consistent_rate)}
        yield localized("trust.consistent", language, **fields)
        yield localized(f"trust.contradicted-{arena.conflict}", language)
    if arena.strong > 1:
        yield localized("trust.strong-weight", language, k=count(arena.strong))
    if arena.by != PEOPLE:
        yield output_sentence(arena.output, arena.reliability.as_text, counted.extracted, language)


def output_sentence(output: JudgeOutput, as_text: int, n: int, language: Language) -> str:
    """In what the judge gave its `n` readable verdicts, and how many were read as text."""
    return localized(f"trust.output-{output}", language, k=count(as_text), n=count(n))


def _trust_table(arena: Arena, people: RaterAgreement | None, context: OpenContext) -> Table:
    language = context.language
    kept = arena.reliability
    panel = arena.by == PANEL_NAME
    warned = {note.rule for note in judge_notes(arena, context) if note.level == "warn"}
    shares = {
        "first": (kept.first_wins, {"prefers-first", "prefers-second"}),
        "longer": (kept.longer_wins, {"prefers-longer"}),
        "lists": (kept.more_items_wins, {"prefers-lists"}),
    }
    rows = [*_flip_rows(arena, language)]
    rows += [
        _share_row(localized(f"trust.row-{key}", language), share, warn=bool(warned & rules))
        for key, (share, rules) in shares.items()
        if share
    ]
    rows += _agreement_rows(arena, people, language)
    if lost := kept.unreadable:
        word = localized(f"trust.row-{'no-majority' if panel else 'unreadable'}", language)
        rows.append(_share_row(word, lost, warn=bool(warned & {"no-majority", "judge-unreadable"})))
    if arena.by not in (PANEL_NAME, PEOPLE):
        rows.append(_count_row("retried", kept.retried, kept.n, None, language))
        if kept.retried:
            rows.append(_count_row("recovered", kept.recovered, kept.retried, None, language))
    if kept.unreferenced:
        rows.append(_count_row("no-reference", kept.unreferenced, kept.n, None, language))
    rows.append(
        _count_row("injected", kept.injected, kept.n, "warn" if kept.injected else "ok", language)
    )
    return text_table([localized(key, language) for key in _HEADS], rows)


def _flip_rows(arena: Arena, language: Language) -> Iterator[tuple[TableCell, ...]]:
    if arena.by != PANEL_NAME and (flips := arena.reliability.flip_rate):
        yield _flip_row(localized("trust.row-flips", language), flips)
    for judge, flips in arena.judge_flip_rates.items():
        yield _flip_row(localized("trust.row-flips-of", language, judge=judge), flips)


def _flip_row(name: str, flips: Interval) -> tuple[TableCell, ...]:
    steady = consistency_level(flips) == "steady"
    return _share_row(name, flips, warn=not steady, fine=steady)


def _agreement_rows(
    arena: Arena, people: RaterAgreement | None, language: Language
) -> Iterator[tuple[TableCell, ...]]:
    if people:
        yield from _agreement(people, "people", "people-kappa", language)
    elif arena.by != PEOPLE:
        yield (
            localized("trust.row-people", language),
            localized("trust.no-votes", language),
            NONE,
            NONE,
        )
    if agreed := arena.agreement:
        keys = {PANEL_NAME: ("agree", "kappa")}
        key, kappa_key = keys.get(arena.by, ("among-people", "among-kappa"))
        yield from _agreement(agreed, key, kappa_key, language)


def _agreement(
    agreed: RaterAgreement, key: str, kappa_key: str, language: Language
) -> Iterator[tuple[TableCell, ...]]:
    yield _share_row(localized(f"trust.row-{key}", language), agreed.raw)
    if value := agreed.kappa:
        ends = _kappa_range(agreed) or NONE
        yield (
            localized(f"trust.row-{kappa_key}", language),
            signed(value.value, 2),
            ends,
            count(agreed.n),
        )


def _share_row(
    name: str, share: Interval, *, warn: bool = False, fine: bool = False
) -> tuple[TableCell, ...]:
    value: TableCell = f"{format_value(share)} %"
    if warn or fine:
        value = StateCell("warn" if warn else "ok", value)
    return (name, value, format_range(share), count(share.n))


def _count_row(
    key: str, k: int, n: int, kind: Kind | None, language: Language
) -> tuple[TableCell, ...]:
    return (
        localized(f"trust.row-{key}", language),
        StateCell(kind, count(k)) if kind else count(k),
        NONE,
        count(n),
    )


def kappa_text(agreed: RaterAgreement) -> str:
    """Kappa with its range: "0.31 (0.09 … 0.54)"; "–" where all votes are alike."""
    if agreed.kappa is None:
        return NONE
    value, ends = signed(agreed.kappa.value, 2), _kappa_range(agreed)
    return f"{value} ({ends})" if ends else value


def _kappa_range(agreed: RaterAgreement) -> str:
    value = agreed.kappa
    if value is None or value.low is None or value.high is None:
        return ""
    return signed_range(value.low, value.high, 2)


# ---------------------------------------------------------------- what to know of its verdicts


def judge_notes(arena: Arena, context: OpenContext) -> tuple[ReportNote, ...]:
    """What a reader must know before believing the verdicts, most serious first."""
    language = context.language
    done = arena.planned if arena.by == PEOPLE else arena.done
    made = (
        *state_notes(
            arena.state, arena.error, done, arena.planned, language, partial="trust.partial"
        ),
        *_choice_notes(arena, context),
        *_reading_notes(arena, context),
        *_verdict_notes(arena, language),
    )
    return tuple(sorted(made, key=lambda note: LEVELS.index(note.level)))


def _judges(arena: Arena) -> Collection[str]:
    if arena.by == PEOPLE:
        return ()
    return arena.judges or (arena.by,)


def is_shown_no_pictures(signature: str, samples: Iterable[Sample]) -> bool:
    """Whether the pictures of some of a judge's questions were left out of its prompts."""
    return leaves_out_pictures(signature) and any(ids(sample.texts) for sample in samples)


def _choice_notes(arena: Arena, context: OpenContext) -> Iterator[ReportNote]:
    """Judges that are candidates, too, those that follow a rule, and those shown no pictures."""
    language = context.language
    candidates, judges = {contestant.name for contestant in arena.contestants}, _judges(arena)
    if own := [judge for judge in judges if judge in candidates]:
        names = join_names([judge_name(j, context) for j in own], language)
        yield ReportNote("warn", "self-judge", localized("trust.self-judge", language, names=names))
    if rules := [judge for judge in judges if judge in context.rules]:
        text = localized("trust.rule-judge", language, names=join_names(rules, language))
        yield ReportNote("warn", "rule-judge", text)
    if is_shown_no_pictures(arena.signature, arena.samples.values()):
        yield ReportNote("warn", "blind-judge", localized("trust.blind-judge", language))


def _reading_notes(arena: Arena, context: OpenContext) -> Iterator[ReportNote]:
    """Verdicts that change with the order, and those that count for no model."""
    language = context.language
    steady = order_consistency(arena, language)
    if steady and steady.level != "steady":
        text = join_sentences(steady.headline, steady.explanation)
        yield ReportNote("warn", steady.level, text)
    if arena.orders != "double" and arena.by != PEOPLE and arena.verdicts:
        yield ReportNote("info", "one-order", localized("trust.one-order", language))
    if k := arena.reliability.unreferenced:
        fields = {"k": count(k), "n": count(len(arena.verdicts))}
        yield ReportNote(
            "info", "no-reference", localized("trust.no-reference", language, **fields)
        )
    lost = arena.reliability.unreadable
    if lost and lost.value > _UNREADABLE:
        rule = "no-majority" if arena.by == PANEL_NAME else "judge-unreadable"
        # Only a rule is known to need a reference.
        k = unreferenced_verdicts(arena) if context.rules.intersection(_judges(arena)) else 0
        why = localized("trust.judge-bare", language, k=count(k)) if k else ""
        yield ReportNote("warn", rule, join_sentences(_share_text(rule, lost, language), why))
    swayed = [
        localized(
            "trust.swayed-judge",
            language,
            name=judge,
            value=format_value(flips),
            span=format_range(flips),
        )
        for judge, flips in arena.judge_flip_rates.items()
        if flips.value >= _FAIR
    ]
    if swayed:
        names = join_names(swayed, language)
        yield ReportNote("warn", "swayed", localized("trust.swayed", language, names=names))


def unreferenced_verdicts(arena: Arena) -> int:
    """How many of the judged verdicts that count for no model are on questions without a reference.

    These are a panel's: one of its judges may have judged.
    """
    lost = (
        one.duel.sample_id for one in arena.verdicts if one.outcome is None and not one.unreferenced
    )
    return sum(key in arena.samples and not arena.samples[key].references for key in lost)


def _verdict_notes(arena: Arena, language: Language) -> Iterator[ReportNote]:
    """What sways the verdicts: a text that speaks to the judge, length, lists, and places."""
    kept = arena.reliability
    if kept.injected:
        text = localized("trust.injected", language, k=count(kept.injected))
        yield ReportNote("warn", "injected", text)
    for rule, share in (
        ("prefers-longer", kept.longer_wins),
        ("prefers-lists", kept.more_items_wins),
        ("prefers-first", kept.first_wins),
    ):
        if share and share.low > _HALF:
            level = "info" if rule == "prefers-lists" else "warn"
            yield ReportNote(level, rule, _share_text(rule, share, language))
    if kept.first_wins and kept.first_wins.high < _HALF:
        rule = "prefers-second"
        yield ReportNote("warn", rule, _share_text(rule, kept.first_wins, language))


def _share_text(rule: str, share: Interval, language: Language) -> str:
    fields = {"value": format_value(share), "span": format_range(share), "n": count(share.n)}
    return localized(f"trust.{rule}", language, **fields)
