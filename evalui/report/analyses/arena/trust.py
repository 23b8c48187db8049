"""How far a judge, a panel or people can be trusted, in figures."""

from collections.abc import Iterator

from evalui.messages import localized
from evalui.report.analyses.judge import consistency_level, judge_notes
from evalui.report.blocks import (
    NONE,
    Block,
    Kind,
    Paragraph,
    StateCell,
    Table,
    TableCell,
    text_table,
)
from evalui.report.numbers import count, format_range, format_value, percent, signed
from evalui.scoring.arena.agreement import RaterAgreement
from evalui.scoring.arena.figures import PEOPLE, Arena
from evalui.scoring.arena.verdicts import PANEL_NAME
from evalui.types import Interval, JudgeOutput, Language

_HEADS = ("measure", "value", "range", "count")


def trust_blocks(
    arena: Arena, people: RaterAgreement | None, language: Language
) -> Iterator[Block]:
    """How many verdicts could be read, and every figure on the judge with its range and n."""
    yield from map(Paragraph, _compared(arena, language))
    yield _trust_table(arena, people, language)
    yield Paragraph(localized("trust-about", language), small=True)


def _compared(arena: Arena, language: Language) -> Iterator[str]:
    counted = arena.comparisons
    if counted is None or counted.extraction_rate is None:
        return
    rate = percent(counted.extraction_rate)
    fields = {"total": count(counted.total), "read": count(counted.extracted), "rate": rate}
    none = count(counted.meaningful - counted.extracted)
    key = "compared-panel" if arena.by == PANEL_NAME else "compared"
    yield localized(key, language, none=none, **fields)
    if same := counted.total - counted.meaningful:
        shown = {"total": fields["total"], "n": count(counted.meaningful), "k": count(same)}
        yield localized("meaningful", language, **shown)
    if arena.by == PANEL_NAME:
        return
    if arena.orders == "double" and counted.consistent_rate is not None:
        fields = {"k": count(counted.consistent), "rate": percent(counted.consistent_rate)}
        yield localized("consistent", language, **fields)
        yield localized(f"contradicted-{arena.conflict}", language)
    if arena.strong > 1:
        yield localized("strong-weight", language, k=count(arena.strong))
    if arena.by != PEOPLE:
        yield output_sentence(arena.output, arena.reliability.as_text, counted.extracted, language)


def output_sentence(output: JudgeOutput, as_text: int, n: int, language: Language) -> str:
    """In what the judge gave its `n` readable verdicts, and how many were read as text."""
    return localized(f"output-{output}", language, k=count(as_text), n=count(n))


def _trust_table(arena: Arena, people: RaterAgreement | None, language: Language) -> Table:
    kept = arena.reliability
    panel = arena.by == PANEL_NAME
    warned = {note.rule for note in judge_notes(arena, language) if note.level == "warn"}
    shares = {
        "first": (kept.first_wins, {"prefers-first", "prefers-second"}),
        "longer": (kept.longer_wins, {"prefers-longer"}),
        "lists": (kept.more_items_wins, {"prefers-lists"}),
    }
    rows = [*_flip_rows(arena, language)]
    rows += [
        _share_row(localized(f"row-{key}", language), share, warn=bool(warned & rules))
        for key, (share, rules) in shares.items()
        if share
    ]
    rows += _agreement_rows(arena, people, language)
    if lost := kept.unreadable:
        word = localized(f"row-{'no-majority' if panel else 'unreadable'}", language)
        rows.append(_share_row(word, lost, warn=bool(warned & {"no-majority", "judge-unreadable"})))
    if arena.by not in (PANEL_NAME, PEOPLE):
        rows.append(_count_row("row-retried", kept.retried, kept.n, None, language))
        if kept.retried:
            rows.append(_count_row("row-recovered", kept.recovered, kept.retried, None, language))
    if kept.unreferenced:
        rows.append(_count_row("row-no-reference", kept.unreferenced, kept.n, None, language))
    rows.append(
        _count_row(
            "row-injected", kept.injected, kept.n, "warn" if kept.injected else "ok", language
        )
    )
    return text_table([localized(f"head-{key}", language) for key in _HEADS], rows)


def _flip_rows(arena: Arena, language: Language) -> Iterator[tuple[TableCell, ...]]:
    if arena.by != PANEL_NAME and (flips := arena.reliability.flip_rate):
        yield _flip_row(localized("row-flips", language), flips)
    for judge, flips in arena.judge_flip_rates.items():
        yield _flip_row(localized("row-flips-of", language, judge=judge), flips)


def _flip_row(name: str, flips: Interval) -> tuple[TableCell, ...]:
    steady = consistency_level(flips) == "steady"
    return _share_row(name, flips, warn=not steady, fine=steady)


def _agreement_rows(
    arena: Arena, people: RaterAgreement | None, language: Language
) -> Iterator[tuple[TableCell, ...]]:
    if people:
        yield from _agreement(people, "row-people", "row-people-kappa", language)
    elif arena.by != PEOPLE:
        yield (localized("row-people", language), localized("no-votes", language), NONE, NONE)
    if agreed := arena.agreement:
        keys = {PANEL_NAME: ("row-agree", "row-kappa")}
        key, kappa_key = keys.get(arena.by, ("row-among-people", "row-among-kappa"))
        yield from _agreement(agreed, key, kappa_key, language)


def _agreement(
    agreed: RaterAgreement, key: str, kappa_key: str, language: Language
) -> Iterator[tuple[TableCell, ...]]:
    yield _share_row(localized(key, language), agreed.raw)
    if value := agreed.kappa:
        ends = NONE
        if value.low is not None and value.high is not None:
            ends = f"{signed(value.low, 2)} … {signed(value.high, 2)}"
        name = localized(kappa_key, language)
        yield (name, signed(value.value, 2), ends, count(agreed.n))


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
        localized(key, language),
        StateCell(kind, count(k)) if kind else count(k),
        NONE,
        count(n),
    )
