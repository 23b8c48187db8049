"""The Arena tab: how models stand after their duels, and how far the judge can be trusted.

While a run goes on, the open view is drawn again when verdicts have come in.
"""

import time
from functools import partial
from typing import Any

import gradio as gr

from evalui.errors import EvaluiError, UnknownRun
from evalui.ui.arena_dimensions import Dimensions
from evalui.ui.arena_duels import Duels
from evalui.ui.arena_head import head, nowhere
from evalui.ui.arena_overall import Overall
from evalui.ui.arena_seen import Seen
from evalui.ui.arena_view import LIVE, ShownArena
from evalui.ui.arenas import Arenas
from evalui.ui.desk import Desk
from evalui.ui.draft import one
from evalui.ui.html import Html
from evalui.ui.pane import QUIET, SKIP, Act, Form, on, pane, read_act
from evalui.ui.text import Text

SUBS = ("overall", "language", "capability", "duels")
_TICK_S = 2.0
_RESTS = 5  # times what drawing took: one page costs at most a sixth of a core


class Arena:
    """The tab in one language; the browser keeps which run is shown and what it has seen."""

    def __init__(self, desk: Desk, t: Text) -> None:
        self.desk = desk
        self.t = t
        self.arenas = Arenas(desk, t)
        self.overall = Overall(t)
        self.language = Dimensions(t, "language")
        self.capability = Dimensions(t, "capability")
        self.duels = Duels(t, self._shown)
        self.outputs: list[Any] = []

    def build(self) -> None:
        """Lay out the head and the four views, each filled when it is opened."""
        t = self.t
        seen = gr.Textbox(visible=False)
        timer = gr.Timer(_TICK_S, active=False)
        with gr.Column(elem_classes=["page", "arena"]):
            top = pane("arena-head")
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
        on(top, self.picked, inputs=[seen], outputs=self.outputs)
        timer.tick(self.tick, [seen], self.outputs, trigger_mode="once", **QUIET)

    def enter(self, run_id: str, form: Form) -> tuple[Any, ...]:
        """All outputs for an address: the head, and the one view it names."""
        found = self._found(run_id, _place(one(form, "arena")))
        if isinstance(found, Html):
            return self._empty(found)
        wish = one(form, "sub")
        return self._page(found, wish if wish in SUBS else SUBS[0], form)

    def open(self, name: str, seen: str) -> tuple[Any, ...]:
        """The page's frame and a view when its tab is pressed; one that was filled already keeps
        its filters. If the run was deleted meanwhile, the page says so.
        """
        before, view = Seen.read(seen), self._views()[name]
        skipped = [SKIP for _ in view.outputs]
        if not before.run or name in before.filled:
            return (before._replace(sub=name).text(), SKIP, SKIP, SKIP, *skipped)
        found = self._found(before.run, before.place)
        if isinstance(found, Html):
            return (*_frame(found), *skipped)
        now = before._replace(sub=name, filled=(*before.filled, name))
        return (now.text(), SKIP, SKIP, SKIP, *self._content(found, name, {}))

    def picked(self, seen: str, event: gr.EventData) -> tuple[Any, ...]:
        """Another dataset or judge of the run, in the same view."""
        before, act = Seen.read(seen), read_act(event)
        found = self._found(before.run, before.place)
        if isinstance(found, Html):
            return self._empty(found)
        found.place = choose(found, act)
        return self._page(found, before.sub, {})

    def tick(self, seen: str) -> tuple[Any, ...]:
        """The open view if verdicts have come since, else nothing at all."""
        before, began = Seen.read(seen), time.time()
        try:
            due = before.run and self._due(before, began)
        except UnknownRun:  # it was deleted in another window
            due = True
        if not due:
            return tuple(SKIP for _ in self.outputs)
        found = self._found(before.run, before.place)
        if isinstance(found, Html):
            return self._empty(found)
        now, *page = self._page(found, before.sub, None)
        rest = time.time() + _RESTS * (time.time() - began)
        return (Seen.read(now)._replace(rest=rest).text(), *page)

    def _due(self, before: Seen, now: float) -> bool:
        run = self.desk.run(before.run)
        return run.revision != before.revision and (now >= before.rest or run.state not in LIVE)

    def _page(self, shown: ShownArena, sub: str, form: Form | None) -> tuple[Any, ...]:
        """Everything; without a form the page is only brought up to date, and stays in place."""
        parts: list[Any] = []
        # A list somebody reads in must not move under their eyes.
        filled = sub if form is not None or sub != "duels" else ""
        for name, view in self._views().items():
            parts += (
                self._content(shown, name, form or {})
                if name == filled
                else [SKIP] * len(view.outputs)
            )
        seen = Seen(shown.run.id, shown.place, shown.run.revision, sub, (filled,) if filled else ())
        tabs = gr.Tabs(visible=True, selected=sub) if form is not None else SKIP
        return seen.text(), gr.Timer(active=shown.live), head(shown), tabs, *parts

    def _found(self, run_id: str, place: int) -> ShownArena | Html:
        """An arena of the run, or the page that says why there is none."""
        try:
            shown = self._shown(run_id, place) if run_id else None
        except EvaluiError as error:
            return nowhere(self.desk, self.t, self.t.told(error.sentence))
        if shown is None or not shown.arenas:
            return nowhere(self.desk, self.t, run=shown.run if shown else None)
        return shown

    def _shown(self, run_id: str, place: int) -> ShownArena:
        return ShownArena(self.desk, self.t, self.arenas, run_id, place)

    def _content(self, shown: ShownArena, name: str, form: Form) -> tuple[Any, ...]:
        return self._views()[name].show(shown, form)

    def _empty(self, page: Html) -> tuple[Any, ...]:
        parts = [SKIP for view in self._views().values() for _ in view.outputs]
        return *_frame(page), *parts

    def _views(self) -> dict[str, Overall | Dimensions | Duels]:
        return {
            "overall": self.overall,
            "language": self.language,
            "capability": self.capability,
            "duels": self.duels,
        }


def choose(shown: ShownArena, act: Act) -> int:
    """The arena a picker asks for: of another dataset the one by the same judge, if there is."""
    if act.one("name") == "arena_place":
        place = _place(act.one("arena_place"))
        return place if place < len(shown.arenas) else shown.place
    dataset = act.one("arena_dataset")
    fitting = [place for place, one in enumerate(shown.arenas) if one.dataset == dataset]
    same = [place for place in fitting if shown.arenas[place].by == shown.arena.by]
    return next(iter(same or fitting), shown.place)


def _place(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 4 else 0


def _frame(page: Html) -> tuple[Any, ...]:
    """The frame without an arena: nothing seen, no timer, the page, no views."""
    return "", gr.Timer(active=False), page, gr.Tabs(visible=False)
