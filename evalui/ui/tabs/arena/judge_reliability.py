"""How far the verdicts of an arena can be trusted, as a card beside the standings."""

from collections.abc import Sequence

from evalui.messages import Messages
from evalui.report.analyses.arena.figures import PEOPLE, Arena
from evalui.report.analyses.judge import judge_notes, steadiness, steady_level
from evalui.report.numbers import figure
from evalui.report.numbers import span as spread
from evalui.scoring.arena.agreement import Agreement
from evalui.scoring.arena.verdicts import PANEL
from evalui.types import Interval
from evalui.ui.components.html import Child, Html, el, join, span
from evalui.ui.components.widgets import definitions, status, titled
from evalui.ui.tabs.arena.arena_view import ShownArena

_KINDS = {"steady": "ok", "fair": "warn", "unsteady": "warn"}
# The notes that warn of a preference, by its line.
_RULES = {
    "first": {"prefers-first", "prefers-second"},
    "longer": {"prefers-longer"},
    "lists": {"prefers-lists"},
}


def trust(shown: ShownArena) -> Html:
    """The card; a figure that cannot be known is left out or says why."""
    t, arena = shown.t, shown.arena
    steady = steadiness(arena, t.language)
    people = arena.by == PEOPLE
    word = status(_KINDS[steady.level], steady.word) if steady and not people else None
    return titled(
        t("arena.trust.people" if people else "arena.trust.title"),
        definitions(_lines(shown)),
        el("p", t("arena.trust.about"), cls="meta gap-s"),
        aside=word,
    )


def _lines(shown: ShownArena) -> Sequence[tuple[Child, Child]]:
    t, arena = shown.t, shown.arena
    kept = arena.reliability
    shares = (("first", kept.first), ("longer", kept.longer), ("lists", kept.lists))
    warned = {found.rule for found in judge_notes(arena, t.language) if found.level != "info"}
    missing = "no_majority" if arena.by == PANEL else "unreadable"
    lines: list[tuple[Child, Child] | None] = [
        *_orders(t, arena),
        *(
            (t(f"arena.trust.{name}"), _share(share, warn=bool(warned & _RULES[name])))
            for name, share in shares
            if share
        ),
        _people(shown),
        _among(shown),
        (
            t(f"arena.trust.{missing}"),
            _unreadable(t, arena, warn=bool(warned & {"judge-unreadable", "no-majority"})),
        ),
        _unreferenced(t, arena),
        (t("arena.trust.injected"), _injected(t, arena)),
    ]
    return [line for line in lines if line]


def _orders(t: Messages, arena: Arena) -> Sequence[tuple[Child, Child]]:
    """How often the order decided: a line for the judge, or one for each judge of a panel."""
    if arena.by == PEOPLE:
        return ()
    if not arena.swayed:
        return ((t("arena.trust.flips"), _flips(t, arena)),)
    return [
        (t("arena.trust.flips_of", judge=judge), _changed(t, flips))
        for judge, flips in arena.swayed.items()
    ]


def _people(shown: ShownArena) -> tuple[Child, Child] | None:
    """How often the judge says what people say."""
    t, found = shown.t, shown.with_people
    if shown.arena.by == PEOPLE:
        return None
    if found is None:
        return t("arena.trust.agrees_none"), span(t("arena.trust.no_votes"), cls="meta")
    return t("arena.trust.agrees", n=f"{found.n:,}"), _agreement(t, found)


def _among(shown: ShownArena) -> tuple[Child, Child] | None:
    """How often the judges of a panel, or people, say the same of one duel."""
    t, found = shown.t, shown.arena.agreement
    if found is None:
        return None
    key = "among_people" if shown.arena.by == PEOPLE else "panel"
    return t(f"arena.trust.{key}", n=f"{found.n:,}"), _agreement(t, found)


def _agreement(t: Messages, found: Agreement) -> Html:
    small = [spread(found.raw)]
    if found.kappa:
        small.append(t("arena.trust.kappa", kappa=f"{found.kappa.value:.2f}"))
    return join(f"{figure(found.raw)} %", _small(" · ".join(small)))


def _flips(t: Messages, arena: Arena) -> Child:
    flips = arena.reliability.flips
    if flips is None or arena.by == PANEL:
        return span(
            t("arena.trust.flips_none" if arena.orders != "double" else "arena.trust.unknown"),
            cls="meta",
        )
    return _changed(t, flips)


def _changed(t: Messages, flips: Interval) -> Html:
    word = t("arena.trust.of", k=f"{counted(flips):,}", n=f"{flips.n:,}")
    return join(status(_KINDS[steady_level(flips)], word), _small(f"{spread(flips)} %"))


def _share(share: Interval, *, warn: bool) -> Html:
    value = f"{figure(share)} %"
    return join(
        status("warn", value) if warn else value, _small(f"{spread(share)} · n {share.n:,}")
    )


def _unreadable(t: Messages, arena: Arena, *, warn: bool) -> Child:
    found = arena.reliability.unreadable
    if found is None:
        return span(t("arena.trust.unknown"), cls="meta")
    k = counted(found)
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


def counted(share: Interval) -> int:
    """The count that a share came from."""
    return round(share.value * share.n)


def _small(text: str) -> Html:
    return span(text, cls="meta ends")
