"""The Arena tab: how models stand after their duels, and how far the judge can be trusted.

While a run goes on, the open view is drawn again when verdicts have come in.
"""

import time
from collections.abc import Sequence
from functools import partial
from typing import Any

import gradio as gr

from evalui.errors import EvaluiError, UnknownRun
from evalui.messages import Messages
from evalui.report.analyses.arena.figures import PEOPLE, Arena
from evalui.report.analyses.arena.narrative import judged_by
from evalui.report.html import Child, Html, div, el
from evalui.runs.database.records import RunRow
from evalui.runs.database.runs import read_runs
from evalui.scoring.arena.verdicts import PANEL_NAME
from evalui.ui.components.component_tabs import QUIET, SKIP, html_fragment, on_action, skip_all
from evalui.ui.components.form import Form, dump_client_state, field_value, load_client_state
from evalui.ui.components.format import format_time
from evalui.ui.components.fragment import Action
from evalui.ui.components.widgets import (
    field,
    note,
    page_head,
    run_state,
    select,
    table,
    titled,
)
from evalui.ui.services.run_labels import LIVE_STATES
from evalui.ui.services.service import AppService
from evalui.ui.tabs.arena.arena_view import ArenaCache, ArenaClientState, ArenaView, has_duels
from evalui.ui.tabs.arena.duels import ArenaDuelsView
from evalui.ui.tabs.arena.overall import ArenaOverallView
from evalui.ui.tabs.arena.standings import ArenaDimensionsView

SUBS = ("overall", "language", "capability", "duels")
_TICK_S = 2.0
_REFRESH_FACTOR = 5  # times what drawing took: one page costs at most a sixth of a core
_RECENT = 20  # runs with duels
_MAX_RUNS_CHECKED = 60  # runs that are searched for some


class ArenaTab:
    """The tab in one language; the browser keeps which run is shown and what it has seen."""

    def __init__(self, service: AppService, t: Messages) -> None:
        self.service = service
        self.t = t
        self.arenas = ArenaCache(service, t)
        self.overall = ArenaOverallView(t)
        self.language = ArenaDimensionsView(t, "language")
        self.capability = ArenaDimensionsView(t, "capability")
        self.duels = ArenaDuelsView(t, self._view)
        self.outputs: list[Any] = []

    def build(self) -> None:
        """Lay out the head and the four views, each filled when it is opened."""
        t = self.t
        seen = gr.Textbox(visible=False)
        timer = gr.Timer(_TICK_S, active=False)
        with gr.Column(elem_classes=["page", "arena"]):
            top = html_fragment("arena-head")
            with gr.Tabs(elem_id="arena-sub", visible=False) as views:
                for name, view in self._views().items():
                    with gr.Tab(
                        t(f"arena.sub.{name}"), id=name, elem_id=f"tab-arena-{name}"
                    ) as tab:
                        view.build(seen)
                    tab.select(
                        partial(self.open, name),
                        [seen],
                        [seen, timer, top, views, *view.outputs],
                        **QUIET,
                    )
        self.outputs = [
            seen,
            timer,
            top,
            views,
            *(part for view in self._views().values() for part in view.outputs),
        ]
        on_action(top, self.picked, inputs=[seen], outputs=self.outputs)
        timer.tick(self.tick, [seen], self.outputs, trigger_mode="once", **QUIET)

    def enter(self, run_id: str, form: Form) -> tuple[Any, ...]:
        """All outputs for an address: the head, and the one view it names."""
        view = self._view_or_error(run_id, _place(field_value(form, "arena")))
        if isinstance(view, Html):
            return self._empty(view)
        requested = field_value(form, "sub")
        return self._page(view, requested if requested in SUBS else SUBS[0], form)

    def open(self, name: str, state: str) -> tuple[Any, ...]:
        """The page's frame and a view when its tab is pressed; one that was filled already keeps
        its filters. If the run was deleted meanwhile, the page states it.
        """
        before, view = load_client_state(ArenaClientState, state), self._views()[name]
        skipped = skip_all(view.outputs)
        if not before.run or name in before.filled:
            return (dump_client_state(before._replace(sub=name)), SKIP, SKIP, SKIP, *skipped)
        arena_view = self._view_or_error(before.run, before.place)
        if isinstance(arena_view, Html):
            return (*_frame(arena_view), *skipped)
        now = before._replace(sub=name, filled=(*before.filled, name))
        return (dump_client_state(now), SKIP, SKIP, SKIP, *self._content(arena_view, name, {}))

    def picked(self, state: str, act: Action) -> tuple[Any, ...]:
        """Another dataset or judge of the run, in the same view."""
        before = load_client_state(ArenaClientState, state)
        view = self._view_or_error(before.run, before.place)
        if isinstance(view, Html):
            return self._empty(view)
        view.place = picked_arena(view, act)
        return self._page(view, before.sub, {})

    def tick(self, state: str) -> tuple[Any, ...]:
        """The open view if verdicts have come since, else nothing at all."""
        before, began = load_client_state(ArenaClientState, state), time.time()
        try:
            due = before.run and self._needs_refresh(before, began)
        except UnknownRun:  # it was deleted in another window
            due = True
        if not due:
            return skip_all(self.outputs)
        view = self._view_or_error(before.run, before.place)
        if isinstance(view, Html):
            return self._empty(view)
        now, *page = self._page(view, before.sub, None)
        rest = time.time() + _REFRESH_FACTOR * (time.time() - began)
        later = load_client_state(ArenaClientState, now)._replace(refresh_after=rest)
        return (dump_client_state(later), *page)

    def _needs_refresh(self, before: ArenaClientState, now: float) -> bool:
        run = self.service.run(before.run)
        return run.revision != before.revision and (
            now >= before.refresh_after or run.state not in LIVE_STATES
        )

    def _page(self, arena_view: ArenaView, sub: str, form: Form | None) -> tuple[Any, ...]:
        """Everything; without a form the page is only brought up to date, and stays in place."""
        parts: list[Any] = []
        # A list that is being read must not move.
        filled = sub if form is not None or sub != "duels" else ""
        for name, view in self._views().items():
            parts += (
                self._content(arena_view, name, form or {})
                if name == filled
                else skip_all(view.outputs)
            )
        seen = ArenaClientState(
            arena_view.run.id,
            arena_view.place,
            arena_view.run.revision,
            sub,
            (filled,) if filled else (),
        )
        tabs = gr.Tabs(visible=True, selected=sub) if form is not None else SKIP
        return (
            dump_client_state(seen),
            gr.Timer(active=arena_view.live),
            head(arena_view),
            tabs,
            *parts,
        )

    def _view_or_error(self, run_id: str, place: int) -> ArenaView | Html:
        """An arena of the run, or the page that states why there is none."""
        try:
            view = self._view(run_id, place) if run_id else None
        except EvaluiError as error:
            return no_arena_page(self.service, self.t, self.t.translate(error.sentence))
        if view is None or not view.arenas:
            return no_arena_page(self.service, self.t, run=view.run if view else None)
        return view

    def _view(self, run_id: str, place: int) -> ArenaView:
        return ArenaView(self.service, self.t, self.arenas, run_id, place)

    def _content(self, view: ArenaView, name: str, form: Form) -> tuple[Any, ...]:
        return self._views()[name].show(view, form)

    def _empty(self, page: Html) -> tuple[Any, ...]:
        return *_frame(page), *skip_all(self.outputs[4:])

    def _views(self) -> dict[str, ArenaOverallView | ArenaDimensionsView | ArenaDuelsView]:
        return {
            "overall": self.overall,
            "language": self.language,
            "capability": self.capability,
            "duels": self.duels,
        }


def picked_arena(view: ArenaView, act: Action) -> int:
    """The arena of a picker: of another dataset the one by the same judge, if there is."""
    if act.value("name") == "arena_place":
        place = _place(act.value("arena_place"))
        return place if place < len(view.arenas) else view.place
    dataset = act.value("arena_dataset")
    fitting = [place for place, one in enumerate(view.arenas) if one.dataset == dataset]
    same = [place for place in fitting if view.arenas[place].by == view.arena.by]
    return next(iter(same or fitting), view.place)


def _place(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 4 else 0


def _frame(page: Html) -> tuple[Any, ...]:
    """The frame without an arena: nothing seen, no timer, the page, no views."""
    return "", gr.Timer(active=False), page, gr.Tabs(visible=False)


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
    count = t.count("arena.meta.verdicts", len(arena.verdicts) - k)
    return f"{count} · {t('arena.meta.unreferenced', k=f'{k:,}')}" if k else count


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


def _runs_with_duels(service: AppService) -> list[RunRow]:
    rows: list[RunRow] = []
    for row in read_runs(service.database, service.owner)[:_MAX_RUNS_CHECKED]:
        if has_duels(service, row.id):
            rows.append(row)
        if len(rows) == _RECENT:
            break
    return rows


def _listing(t: Messages, rows: Sequence[RunRow]) -> Html:
    heads = [t("arena.run"), t("arena.state"), t("arena.when")]
    lines: list[list[Child]] = [
        [
            el("a", row.name, href=f"?run={row.id}&tab=arena"),
            run_state(t, row.state),
            format_time(t, row.created),
        ]
        for row in rows
    ]
    return table(heads, lines)


def _empty(t: Messages, key: str, other: Html | None = None) -> Html:
    go = el("button", t("arena.go"), type="button", cls="btn pri", data_tab="tab-evaluate")
    ways = div(go, other, cls="ways")
    return titled(t(key), div(el("p", t(f"{key}_about"), cls="dim"), ways, cls="empty"))
