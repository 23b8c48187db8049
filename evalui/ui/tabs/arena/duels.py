"""Arena, Duels: filters, a page of duels, and one duel in full."""

from collections.abc import Callable, Sequence
from typing import Any

import gradio as gr

from evalui.messages import Messages
from evalui.report.analyses.arena.figures import PEOPLE
from evalui.scoring.arena.verdicts import PANEL_NAME
from evalui.ui.components.form import ClientStateError, Form, field_value
from evalui.ui.components.fragment import html_fragment, on_action, read_action
from evalui.ui.components.html import Html, div, el, span
from evalui.ui.components.widgets import button, card, field, icon, select
from evalui.ui.tabs.arena.arena_view import ArenaView
from evalui.ui.tabs.arena.client_state import ArenaClientState
from evalui.ui.tabs.arena.duel import duel_card, short_id
from evalui.ui.tabs.arena.judged_pairs import (
    OUTCOMES,
    DuelFilters,
    JudgedPair,
    all_capabilities,
    filtered,
    judged_pairs_of,
    model_pairs,
    read_duel_filters,
)

PAGE_SIZE = 100
_KEY = "arena.duel"


class ArenaDuelsView:
    """The view in one language. The form in the browser is its whole state.

    `find` gives the arena of a run and a place.
    """

    def __init__(self, t: Messages, get_view: Callable[[str, int], ArenaView]) -> None:
        self.t = t
        self._get_view = get_view
        self.outputs: list[Any] = []

    def build(self, state: gr.Textbox) -> None:
        """Lay out the one pane."""
        whole = html_fragment("arena-duels")
        self.outputs = [whole]
        on_action(whole, self.answer, inputs=[state], outputs=[whole])

    def answer(self, state: str, event: gr.EventData) -> Html:
        """The page after a filter, a step or a click on a duel."""
        act, before = read_action(event), ArenaClientState.load(state)
        form = act.form | {name: act.value(name) for name in ("page", "duel") if act.value(name)}
        if act.do == "set":
            form |= {"page": "0", "duel": ""}
        shown = self._get_view(before.run, before.place)
        if not shown.arenas:  # the field names a run without duels, which no page has shown
            raise ClientStateError
        return self.page(shown, form)

    def show(self, view: ArenaView, form: Form) -> tuple[Any, ...]:
        """Everything the view shows of an arena."""
        return (self.page(view, form),)

    def page(self, view: ArenaView, form: Form) -> Html:
        """Filters, list and the opened duel."""
        wish, every = read_duel_filters(form), judged_pairs_of(view.arena)
        found = filtered(view.arena, every, wish)
        first = wish.page * PAGE_SIZE
        rows = found[first : first + PAGE_SIZE]
        asked = field_value(form, "duel")
        opened = next((one for one in every if one.key == asked), next(iter(rows), None))
        return div(
            _filter_bar(view, every, wish),
            div(
                _listing(view, rows, wish, opened, total=len(found)),
                _opened_duel(view, opened),
                cls="two-pane",
            ),
            cls="stack",
        )


def _opened_duel(view: ArenaView, opened: JudgedPair | None) -> Html:
    if opened is None:
        return card(div(view.t(f"{_KEY}.nothing"), cls="empty"))
    return duel_card(view, opened, view.address("duels", duel=opened.key))


def _filter_bar(view: ArenaView, every: Sequence[JudgedPair], wish: DuelFilters) -> Html:
    """A field per filter. The page starts again from the first when one changes."""
    t, any_ = view.t, {"": view.t(f"{_KEY}.any")}
    pairs = any_ | {
        f"{left}|{right}": t(f"{_KEY}.versus", left=left, right=right)
        for left, right in model_pairs(every)
    }
    outcomes = any_ | {name: _outcome(view, name, wish) for name in OUTCOMES}
    asked = any_ | {name: name for name in all_capabilities(view.arena)}
    find = el(
        "input", type="search", name="find", value=wish.find, placeholder=t(f"{_KEY}.find_hint")
    )
    return div(
        field(t(f"{_KEY}.pair"), select("duel_pair", pairs, wish.pair)) if len(pairs) > 2 else None,
        field(t(f"{_KEY}.outcome"), select("duel_outcome", outcomes, wish.outcome)),
        field(t(f"{_KEY}.capability"), select("duel_capability", asked, wish.capability))
        if len(asked) > 2
        else None,
        field(t(f"{_KEY}.find"), find),
        cls="fields",
    )


def _outcome(view: ArenaView, name: str, wish: DuelFilters) -> str:
    """A filter's word; with one pair chosen it names the winner."""
    t = view.t
    if name == "changed" and view.arena.by == PEOPLE:
        return t(f"{_KEY}.disagreed")
    if name == "unreadable" and view.arena.by == PANEL_NAME:
        return t(f"{_KEY}.undecided")
    if name in ("left", "right") and wish.pair:
        left, _, right = wish.pair.partition("|")
        return t(f"{_KEY}.left_of", model=left if name == "left" else right)
    return t(f"{_KEY}.{name}")


def _listing(
    view: ArenaView,
    rows: Sequence[JudgedPair],
    wish: DuelFilters,
    opened: JudgedPair | None,
    *,
    total: int,
) -> Html:
    """The duels of one page; arrow keys move between them."""
    t, first = view.t, wish.page * PAGE_SIZE
    last = first + len(rows)
    told = t(f"{_KEY}.shown", first=f"{first + 1:,}", last=f"{last:,}") if rows else ""
    items = [_item(view, meeting, current=meeting is opened) for meeting in rows]
    steps = div(
        button(t(f"{_KEY}.earlier"), "page", data_page=wish.page - 1) if wish.page else None,
        button(t(f"{_KEY}.later"), "page", data_page=wish.page + 1) if last < total else None,
        cls="links pad",
    )
    return card(
        div(el("h2", t.count(f"{_KEY}.count", total)), span(told, cls="meta"), cls="card-h pad"),
        el("input", type="hidden", name="page", value=wish.page),
        el("input", type="hidden", name="duel", value=opened.key if opened else ""),
        el("ul", *items, cls="list") if items else el("p", t(f"{_KEY}.nothing"), cls="dim pad"),
        steps if wish.page or last < total else None,
        cls="flush",
    )


def _item(view: ArenaView, meeting: JudgedPair, *, current: bool) -> Html:
    t = view.t
    sample = view.arena.samples.get(meeting.sample_id)
    pair = t(f"{_KEY}.versus", left=meeting.left, right=meeting.right)
    speaks = t(f"{_KEY}.injected")
    body = el(
        "button",
        span(short_id(meeting.sample_id), cls="mono id"),
        span(sample.question if sample else "", cls="q"),
        span(icon("warn"), span(speaks, cls="hidden"), cls="warn", title=speaks)
        if meeting.injected
        else span(),
        span(f"{pair} · ", _result(view, meeting), cls="meta"),
        type="button",
        data_do="open",
        data_duel=meeting.key,
        aria_current="true" if current else None,
    )
    return el("li", body)


def _result(view: ArenaView, meeting: JudgedPair) -> str:
    t = view.t
    if meeting.changed:
        return t(f"{_KEY}.disagreed" if view.arena.by == PEOPLE else f"{_KEY}.changed")
    side = next((side for side in meeting.sides if side), None)
    if side is None and meeting.unreferenced and not meeting.unreadable:
        return t(f"{_KEY}.unreferenced")
    if side is None:
        return t(f"{_KEY}.undecided" if view.arena.by == PANEL_NAME else f"{_KEY}.unreadable")
    winners = {"left": meeting.left, "right": meeting.right}
    if side in winners:
        return t(f"{_KEY}.left_of", model=winners[side])
    return t(f"{_KEY}.{side}")
