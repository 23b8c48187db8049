"""The head of the Arena tab: what was judged by whom, the pickers, and the empty states."""

from collections.abc import Sequence

from evalui.messages import Messages
from evalui.report.analyses.arena.figures import PEOPLE, Arena
from evalui.report.analyses.arena.narrative import judged_by
from evalui.report.analyses.judge import judge_notes, steadiness
from evalui.report.analyses.overview.warnings import Level, Note
from evalui.runs.database.records import RunRow
from evalui.scoring.arena.verdicts import PANEL
from evalui.ui.components.format import moment
from evalui.ui.components.html import Child, Html, div, el
from evalui.ui.components.icons import icon
from evalui.ui.components.widgets import field, note, page_head, select, status, table, titled
from evalui.ui.services.service import Desk
from evalui.ui.tabs.arena.arena_cache import has_duels
from evalui.ui.tabs.arena.arena_view import ShownArena

_KINDS: dict[Level, str] = {"bad": "bad", "warn": "warn", "info": "na"}
_ICONS: dict[Level, str] = {"bad": "bad", "warn": "warn", "info": "none"}
_STATES = {"queued": "na", "running": "go", "done": "ok", "failed": "bad", "cancelled": "warn"}
# The filter of the list of duels that shows what a note speaks of.
_DUELS = {
    "fair": "changed",
    "swayed": "unreadable",
    "unsteady": "changed",
    "judge-unreadable": "unreadable",
    "no-majority": "unreadable",
    "no-reference": "unreferenced",
    "injected": "injected",
}
_AT_TOP = 2  # notes above the standings; the others follow below
_RECENT = 20  # runs with duels
_LOOKED_AT = 60  # runs that are searched for some


def head(shown: ShownArena) -> Html:
    """Title, what the figures rest on, and a picker for each thing there are several of."""
    t, arena = shown.t, shown.arena
    return div(
        page_head(t("arena.title", dataset=arena.dataset), facts(shown)),
        _pickers(shown),
        cls="stack arena-head",
    )


def facts(shown: ShownArena) -> str:
    """ "120 questions · 3 pairs · both orders · 720 verdicts · judge: judge-local"."""
    t, arena = shown.t, shown.arena
    judge = judged_by(arena, t.language, rule_based=shown.rule_based)
    orders = t(f"arena.meta.{arena.orders}") if arena.by != PEOPLE else ""
    parts = [
        t.count("arena.meta.questions", arena.questions) if arena.questions else "",
        t.count("arena.meta.pairs", arena.pairs) if arena.pairs else "",
        orders,
        _verdicts(t, arena),
        judge,
    ]
    return " · ".join(part for part in parts if part)


def warnings(shown: ShownArena) -> list[Html]:
    """The most serious things to know; the judge's steadiness if there is nothing else."""
    steady = steadiness(shown.arena, shown.t.language)
    told = [_told(shown, found) for found in _notes(shown)[:_AT_TOP]]
    if not told and steady:
        told.append(note("ok", el("b", steady.lead), " ", steady.rest))
    return told


def further(shown: ShownArena) -> Html | None:
    """What else there is to know, as a card; None if that is nothing."""
    rest = _notes(shown)[_AT_TOP:]
    lines = [
        div(icon(_ICONS[found.level]), div(*_words(shown, found)), cls=f"told {found.level}")
        for found in rest
    ]
    return titled(shown.t("arena.further"), *lines) if lines else None


def nowhere(desk: Desk, t: Messages, problem: str = "", *, run: RunRow | None = None) -> Html:
    """The page without an arena: the runs that have one, and what to do to get one."""
    rows = _with_duels(desk)
    listed = titled(t("arena.recent"), _listing(t, rows)) if rows else None
    if run is not None:
        results = el("a", t("arena.results"), href=f"?run={run.id}&tab=results", cls="btn")
        empty = _empty(t, "arena.none_here", results if run.done else None)
    else:
        empty = None if rows else _empty(t, "arena.none")
    return div(
        page_head(run.name if run else t("arena.plain"), t("arena.promise")),
        div(note("warn", problem), role="alert") if problem else None,
        empty,
        listed,
        cls="stack",
    )


def _verdicts(t: Messages, arena: Arena) -> str:
    if arena.done < arena.planned:
        return t("arena.live", done=f"{arena.done:,}", total=f"{arena.planned:,}")
    k = arena.reliability.unreferenced
    told = t.count("arena.meta.verdicts", len(arena.verdicts) - k)
    return f"{told} · {t('arena.meta.unreferenced', k=f'{k:,}')}" if k else told


def _pickers(shown: ShownArena) -> Html | None:
    t, arena = shown.t, shown.arena
    datasets = {one.dataset: one.dataset for one in shown.arenas}
    judges = {
        str(place): _by(t, one)
        for place, one in enumerate(shown.arenas)
        if one.dataset == arena.dataset
    }
    fields = [
        field(t("arena.dataset"), select("arena_dataset", datasets, arena.dataset))
        if len(datasets) > 1
        else None,
        field(t("arena.judge"), select("arena_place", judges, str(shown.place)))
        if len(judges) > 1
        else None,
    ]
    return div(*fields, cls="fields arena-pick") if any(fields) else None


def _by(t: Messages, arena: Arena) -> str:
    return t(f"arena.{arena.by}") if arena.by in (PANEL, PEOPLE) else arena.by


def _notes(shown: ShownArena) -> Sequence[Note]:
    found = judge_notes(shown.arena, shown.t.language, rule_based=shown.rule_based)
    # Without a verdict the empty page says so itself.
    return found if shown.arena.verdicts else [one for one in found if one.rule != "partial"]


def _told(shown: ShownArena, found: Note) -> Html:
    return note(_KINDS[found.level], *_words(shown, found))


def _words(shown: ShownArena, found: Note) -> list[Child]:
    """The sentence of a note, and a link to the duels it speaks of."""
    steady = steadiness(shown.arena, shown.t.language)
    words: list[Child] = [found.text]
    if steady and found.rule == steady.level:
        words = [el("b", steady.lead), " ", steady.rest]
    if found.rule in _DUELS:
        address = shown.address("duels", duel_outcome=_DUELS[found.rule])
        words += [" ", el("a", shown.t("arena.see"), href=address)]
    return words


def _with_duels(desk: Desk) -> list[RunRow]:
    found: list[RunRow] = []
    for row in desk.store.runs(desk.owner)[:_LOOKED_AT]:
        if has_duels(desk, row.id):
            found.append(row)
        if len(found) == _RECENT:
            break
    return found


def _listing(t: Messages, rows: Sequence[RunRow]) -> Html:
    heads = [t("arena.run"), t("arena.state"), t("arena.when")]
    lines: list[list[Child]] = [
        [
            el("a", row.name, href=f"?run={row.id}&tab=arena"),
            status(_STATES[row.state], t(f"runstate.{row.state}")),
            moment(t, row.created),
        ]
        for row in rows
    ]
    return table(heads, lines)


def _empty(t: Messages, key: str, other: Html | None = None) -> Html:
    go = el("button", t("arena.go"), type="button", cls="btn pri", data_tab="tab-evaluate")
    ways = div(go, other, cls="ways")
    return titled(t(key), div(el("p", t(f"{key}_about"), cls="dim"), ways, cls="empty"))
