"""The head of the Arena tab: what was judged by whom, the pickers, and the empty states."""

from collections.abc import Sequence

from evalui.messages import Messages
from evalui.report.analyses.arena.figures import PEOPLE, Arena
from evalui.report.analyses.arena.narrative import judged_by
from evalui.report.analyses.judge import judge_notes, order_consistency
from evalui.report.analyses.overview.warnings import Level, ReportNote
from evalui.runs.database.records import RunRow
from evalui.runs.database.runs import read_runs
from evalui.scoring.arena.verdicts import PANEL_NAME
from evalui.ui.components.format import format_time
from evalui.ui.components.html import Child, Html, div, el
from evalui.ui.components.widgets import field, icon, note, page_head, select, status, table, titled
from evalui.ui.services.service import AppService
from evalui.ui.tabs.arena.arena_cache import has_duels
from evalui.ui.tabs.arena.arena_view import ArenaView

_KINDS: dict[Level, str] = {"bad": "bad", "warn": "warn", "info": "na"}
_ICONS: dict[Level, str] = {"bad": "bad", "warn": "warn", "info": "none"}
_STATES = {"queued": "na", "running": "go", "done": "ok", "failed": "bad", "cancelled": "warn"}
# The filter of the list of duels that shows what a note speaks of.
_DUEL_FILTERS = {
    "fair": "changed",
    "swayed": "unreadable",
    "unsteady": "changed",
    "judge-unreadable": "unreadable",
    "no-majority": "unreadable",
    "no-reference": "unreferenced",
    "injected": "injected",
}
_MAX_AT_TOP = 2  # notes above the standings; the others follow below
_RECENT = 20  # runs with duels
_MAX_RUNS_CHECKED = 60  # runs that are searched for some


def head(view: ArenaView) -> Html:
    """Title, what the figures rest on, and a picker for each thing there are several of."""
    t, arena = view.t, view.arena
    return div(
        page_head(t("arena.title", dataset=arena.dataset), facts_line(view)),
        _pickers(view),
        cls="stack arena-head",
    )


def facts_line(view: ArenaView) -> str:
    """ "120 questions · 3 pairs · both orders · 720 verdicts · judge: judge-local"."""
    t, arena = view.t, view.arena
    judge = judged_by(arena, t.language, rule_based=view.rule_based)
    orders = t(f"arena.meta.{arena.orders}") if arena.by != PEOPLE else ""
    parts = [
        t.count("arena.meta.questions", arena.questions) if arena.questions else "",
        t.count("arena.meta.pairs", arena.pairs) if arena.pairs else "",
        orders,
        _verdicts(t, arena),
        judge,
    ]
    return " · ".join(part for part in parts if part)


def warnings(view: ArenaView) -> list[Html]:
    """The most serious things to know; the judge's steadiness if there is nothing else."""
    steady = order_consistency(view.arena, view.t.language)
    told = [_note_banner(view, found) for found in _notes(view)[:_MAX_AT_TOP]]
    if not told and steady:
        told.append(note("ok", el("b", steady.headline), " ", steady.explanation))
    return told


def further_warnings(view: ArenaView) -> Html | None:
    """What else there is to know, as a card; None if that is nothing."""
    rest = _notes(view)[_MAX_AT_TOP:]
    lines = [
        div(icon(_ICONS[found.level]), div(*_note_text(view, found)), cls=f"told {found.level}")
        for found in rest
    ]
    return titled(view.t("arena.further"), *lines) if lines else None


def no_arena_page(
    service: AppService, t: Messages, problem: str = "", *, run: RunRow | None = None
) -> Html:
    """The page without an arena: the runs that have one, and what to do to get one."""
    rows = _runs_with_duels(service)
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


def _pickers(view: ArenaView) -> Html | None:
    t, arena = view.t, view.arena
    datasets = {one.dataset: one.dataset for one in view.arenas}
    judges = {
        str(place): _judge_label(t, one)
        for place, one in enumerate(view.arenas)
        if one.dataset == arena.dataset
    }
    fields = [
        field(t("arena.dataset"), select("arena_dataset", datasets, arena.dataset))
        if len(datasets) > 1
        else None,
        field(t("arena.judge"), select("arena_place", judges, str(view.place)))
        if len(judges) > 1
        else None,
    ]
    return div(*fields, cls="fields arena-pick") if any(fields) else None


def _judge_label(t: Messages, arena: Arena) -> str:
    return t(f"arena.{arena.by}") if arena.by in (PANEL_NAME, PEOPLE) else arena.by


def _notes(view: ArenaView) -> Sequence[ReportNote]:
    found = judge_notes(view.arena, view.t.language, rule_based=view.rule_based)
    # Without a verdict the empty page says so itself.
    return found if view.arena.verdicts else [one for one in found if one.rule != "partial"]


def _note_banner(view: ArenaView, found: ReportNote) -> Html:
    return note(_KINDS[found.level], *_note_text(view, found))


def _note_text(view: ArenaView, found: ReportNote) -> list[Child]:
    """The sentence of a note, and a link to the duels it speaks of."""
    steady = order_consistency(view.arena, view.t.language)
    words: list[Child] = [found.text]
    if steady and found.rule == steady.level:
        words = [el("b", steady.headline), " ", steady.explanation]
    if found.rule in _DUEL_FILTERS:
        address = view.address("duels", duel_outcome=_DUEL_FILTERS[found.rule])
        words += [" ", el("a", view.t("arena.see"), href=address)]
    return words


def _runs_with_duels(service: AppService) -> list[RunRow]:
    found: list[RunRow] = []
    for row in read_runs(service.database, service.owner)[:_MAX_RUNS_CHECKED]:
        if has_duels(service, row.id):
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
            format_time(t, row.created),
        ]
        for row in rows
    ]
    return table(heads, lines)


def _empty(t: Messages, key: str, other: Html | None = None) -> Html:
    go = el("button", t("arena.go"), type="button", cls="btn pri", data_tab="tab-evaluate")
    ways = div(go, other, cls="ways")
    return titled(t(key), div(el("p", t(f"{key}_about"), cls="dim"), ways, cls="empty"))
