"""The Arena tab: how models stand after their duels, and how far the judge can be trusted.

While a run goes on, the open view is drawn again when verdicts have come in.
"""

import time
from functools import partial
from typing import Any

import gradio as gr

from evalui.errors import EvaluiError, UnknownRun
from evalui.messages import Messages
from evalui.ui.components.form import Form, field_value
from evalui.ui.components.fragment import QUIET, SKIP, Action, html_fragment, on_action, read_action
from evalui.ui.components.html import Html
from evalui.ui.services.service import AppService
from evalui.ui.tabs.arena.arena_cache import ArenaCache
from evalui.ui.tabs.arena.arena_view import LIVE, ArenaView
from evalui.ui.tabs.arena.client_state import ArenaClientState
from evalui.ui.tabs.arena.dimensions import ArenaDimensionsView
from evalui.ui.tabs.arena.duels import ArenaDuelsView
from evalui.ui.tabs.arena.head import head, no_arena_page
from evalui.ui.tabs.arena.overall import ArenaOverallView

SUBS = ("overall", "language", "capability", "duels")
_TICK_S = 2.0
_REFRESH_FACTOR = 5  # times what drawing took: one page costs at most a sixth of a core


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
        found = self._view_or_error(run_id, _place(field_value(form, "arena")))
        if isinstance(found, Html):
            return self._empty(found)
        wish = field_value(form, "sub")
        return self._page(found, wish if wish in SUBS else SUBS[0], form)

    def open(self, name: str, state: str) -> tuple[Any, ...]:
        """The page's frame and a view when its tab is pressed; one that was filled already keeps
        its filters. If the run was deleted meanwhile, the page says so.
        """
        before, view = ArenaClientState.load(state), self._views()[name]
        skipped = [SKIP for _ in view.outputs]
        if not before.run or name in before.filled:
            return (before._replace(sub=name).dump(), SKIP, SKIP, SKIP, *skipped)
        found = self._view_or_error(before.run, before.place)
        if isinstance(found, Html):
            return (*_frame(found), *skipped)
        now = before._replace(sub=name, filled=(*before.filled, name))
        return (now.dump(), SKIP, SKIP, SKIP, *self._content(found, name, {}))

    def picked(self, state: str, event: gr.EventData) -> tuple[Any, ...]:
        """Another dataset or judge of the run, in the same view."""
        before, act = ArenaClientState.load(state), read_action(event)
        found = self._view_or_error(before.run, before.place)
        if isinstance(found, Html):
            return self._empty(found)
        found.place = picked_arena(found, act)
        return self._page(found, before.sub, {})

    def tick(self, state: str) -> tuple[Any, ...]:
        """The open view if verdicts have come since, else nothing at all."""
        before, began = ArenaClientState.load(state), time.time()
        try:
            due = before.run and self._needs_refresh(before, began)
        except UnknownRun:  # it was deleted in another window
            due = True
        if not due:
            return tuple(SKIP for _ in self.outputs)
        found = self._view_or_error(before.run, before.place)
        if isinstance(found, Html):
            return self._empty(found)
        now, *page = self._page(found, before.sub, None)
        rest = time.time() + _REFRESH_FACTOR * (time.time() - began)
        return (ArenaClientState.load(now)._replace(refresh_after=rest).dump(), *page)

    def _needs_refresh(self, before: ArenaClientState, now: float) -> bool:
        run = self.service.run(before.run)
        return run.revision != before.revision and (
            now >= before.refresh_after or run.state not in LIVE
        )

    def _page(self, arena_view: ArenaView, sub: str, form: Form | None) -> tuple[Any, ...]:
        """Everything; without a form the page is only brought up to date, and stays in place."""
        parts: list[Any] = []
        # A list somebody reads in must not move under their eyes.
        filled = sub if form is not None or sub != "duels" else ""
        for name, view in self._views().items():
            parts += (
                self._content(arena_view, name, form or {})
                if name == filled
                else [SKIP] * len(view.outputs)
            )
        seen = ArenaClientState(
            arena_view.run.id,
            arena_view.place,
            arena_view.run.revision,
            sub,
            (filled,) if filled else (),
        )
        tabs = gr.Tabs(visible=True, selected=sub) if form is not None else SKIP
        return seen.dump(), gr.Timer(active=arena_view.live), head(arena_view), tabs, *parts

    def _view_or_error(self, run_id: str, place: int) -> ArenaView | Html:
        """An arena of the run, or the page that says why there is none."""
        try:
            shown = self._view(run_id, place) if run_id else None
        except EvaluiError as error:
            return no_arena_page(self.service, self.t, self.t.translate(error.sentence))
        if shown is None or not shown.arenas:
            return no_arena_page(self.service, self.t, run=shown.run if shown else None)
        return shown

    def _view(self, run_id: str, place: int) -> ArenaView:
        return ArenaView(self.service, self.t, self.arenas, run_id, place)

    def _content(self, view: ArenaView, name: str, form: Form) -> tuple[Any, ...]:
        return self._views()[name].show(view, form)

    def _empty(self, page: Html) -> tuple[Any, ...]:
        parts = [SKIP for view in self._views().values() for _ in view.outputs]
        return *_frame(page), *parts

    def _views(self) -> dict[str, ArenaOverallView | ArenaDimensionsView | ArenaDuelsView]:
        return {
            "overall": self.overall,
            "language": self.language,
            "capability": self.capability,
            "duels": self.duels,
        }


def picked_arena(view: ArenaView, act: Action) -> int:
    """The arena a picker asks for: of another dataset the one by the same judge, if there is."""
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
