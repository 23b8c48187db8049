"""How far the verdicts of an arena can be trusted, as a card beside the standings."""

from collections.abc import Sequence

from evalui.messages import Messages
from evalui.report.analyses.arena.figures import PEOPLE, Arena
from evalui.report.analyses.judge import consistency_level, judge_notes, order_consistency
from evalui.report.numbers import format_range as spread
from evalui.report.numbers import format_value
from evalui.scoring.arena.agreement import RaterAgreement
from evalui.scoring.arena.verdicts import PANEL_NAME
from evalui.types import Interval
from evalui.ui.components.html import Child, Html, el, join, span
from evalui.ui.components.widgets import definitions, status, titled
from evalui.ui.tabs.arena.arena_view import ArenaView

_KINDS = {"steady": "ok", "fair": "warn", "unsteady": "warn"}
# The notes that warn of a preference, by its line.
_WARNING_RULES = {
    "first": {"prefers-first", "prefers-second"},
    "longer": {"prefers-longer"},
    "lists": {"prefers-lists"},
}


def judge_reliability_card(view: ArenaView) -> Html:
    """The card; a figure that cannot be known is left out or says why."""
    t, arena = view.t, view.arena
    steady = order_consistency(arena, t.language)
    people = arena.by == PEOPLE
    word = status(_KINDS[steady.level], steady.word) if steady and not people else None
    return titled(
        t("arena.trust.people" if people else "arena.trust.title"),
        definitions(_lines(view)),
        el("p", t("arena.trust.about"), cls="meta gap-s"),
        aside=word,
    )


def _lines(view: ArenaView) -> Sequence[tuple[Child, Child]]:
    t, arena = view.t, view.arena
    kept = arena.reliability
    shares = (
        ("first", kept.first_wins),
        ("longer", kept.longer_wins),
        ("lists", kept.more_items_wins),
    )
    warned = {found.rule for found in judge_notes(arena, t.language) if found.level != "info"}
    missing = "no_majority" if arena.by == PANEL_NAME else "unreadable"
    lines: list[tuple[Child, Child] | None] = [
        *_order_effect(t, arena),
        *(
            (t(f"arena.trust.{name}"), _share(share, warn=bool(warned & _WARNING_RULES[name])))
            for name, share in shares
            if share
        ),
        _people(view),
        _inter_rater(view),
        (
            t(f"arena.trust.{missing}"),
            _unreadable(t, arena, warn=bool(warned & {"judge-unreadable", "no-majority"})),
        ),
        _unreferenced(t, arena),
        (t("arena.trust.injected"), _injected(t, arena)),
    ]
    return [line for line in lines if line]


def _order_effect(t: Messages, arena: Arena) -> Sequence[tuple[Child, Child]]:
    """How often the order decided: a line for the judge, or one for each judge of a panel."""
    if arena.by == PEOPLE:
        return ()
    if not arena.judge_flip_rates:
        return ((t("arena.trust.flips"), _flips(t, arena)),)
    return [
        (t("arena.trust.flips_of", judge=judge), _changed(t, flips))
        for judge, flips in arena.judge_flip_rates.items()
    ]


def _people(view: ArenaView) -> tuple[Child, Child] | None:
    """How often the judge says what people say."""
    t, found = view.t, view.people_agreement
    if view.arena.by == PEOPLE:
        return None
    if found is None:
        return t("arena.trust.agrees_none"), span(t("arena.trust.no_votes"), cls="meta")
    return t("arena.trust.agrees", n=f"{found.n:,}"), _agreement(t, found)


def _inter_rater(view: ArenaView) -> tuple[Child, Child] | None:
    """How often the judges of a panel, or people, say the same of one duel."""
    t, found = view.t, view.arena.agreement
    if found is None:
        return None
    key = "among_people" if view.arena.by == PEOPLE else "panel"
    return t(f"arena.trust.{key}", n=f"{found.n:,}"), _agreement(t, found)


def _agreement(t: Messages, found: RaterAgreement) -> Html:
    small = [spread(found.raw)]
    if found.kappa:
        small.append(t("arena.trust.kappa", kappa=f"{found.kappa.value:.2f}"))
    return join(f"{format_value(found.raw)} %", _small_text(" · ".join(small)))


def _flips(t: Messages, arena: Arena) -> Child:
    flips = arena.reliability.flip_rate
    if flips is None or arena.by == PANEL_NAME:
        return span(
            t("arena.trust.flips_none" if arena.orders != "double" else "arena.trust.unknown"),
            cls="meta",
        )
    return _changed(t, flips)


def _changed(t: Messages, flips: Interval) -> Html:
    word = t("arena.trust.of", k=f"{numerator(flips):,}", n=f"{flips.n:,}")
    return join(status(_KINDS[consistency_level(flips)], word), _small_text(f"{spread(flips)} %"))


def _share(share: Interval, *, warn: bool) -> Html:
    value = f"{format_value(share)} %"
    return join(
        status("warn", value) if warn else value, _small_text(f"{spread(share)} · n {share.n:,}")
    )


def _unreadable(t: Messages, arena: Arena, *, warn: bool) -> Child:
    found = arena.reliability.unreadable
    if found is None:
        return span(t("arena.trust.unknown"), cls="meta")
    k = numerator(found)
    told = t("arena.trust.of", k=f"{k:,}", n=f"{found.n:,}")
    return status("warn" if warn else "ok", told) if warn or not k else told


def _unreferenced(t: Messages, arena: Arena) -> tuple[Child, Child] | None:
    k = arena.reliability.unreferenced
    told = t("arena.trust.of", k=f"{k:,}", n=f"{arena.reliability.n:,}")
    return (t("arena.trust.unreferenced"), told) if k else None


def _injected(t: Messages, arena: Arena) -> Html:
    k = arena.reliability.injected
    if not k:
        return status("ok", t("arena.trust.none"))
    return status("warn", t("arena.trust.of", k=f"{k:,}", n=f"{arena.reliability.n:,}"))


def numerator(share: Interval) -> int:
    """The count that a share came from."""
    return round(share.value * share.n)


def _small_text(text: str) -> Html:
    return span(text, cls="meta ends")
