"""Arena, Duels: filters, a page of duels, and one duel in full."""

from collections.abc import Callable, Sequence
from typing import Any

import gradio as gr

from evalui.messages import Messages
from evalui.report.analyses.arena.figures import PEOPLE
from evalui.report.html import Html, div, el, span
from evalui.report.icons import icon
from evalui.scoring.arena.verdicts import PANEL_NAME
from evalui.ui.components.component_tabs import html_fragment, on_action
from evalui.ui.components.form import ClientStateError, Form, field_value, load_client_state
from evalui.ui.components.fragment import Action
from evalui.ui.components.widgets import card, field, paged_list, select
from evalui.ui.tabs.arena.arena_view import ArenaClientState, ArenaView
from evalui.ui.tabs.arena.duel import (
    OUTCOMES,
    DuelFilters,
    JudgedPair,
    all_capabilities,
    duel_card,
    filtered,
    judged_pairs_of,
    model_pairs,
    read_duel_filters,
    short_id,
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

    def answer(self, state: str, act: Action) -> Html:
        """The page after a filter, a step or a click on a duel."""
        before = load_client_state(ArenaClientState, state)
        form = act.form | {name: act.value(name) for name in ("page", "duel") if act.value(name)}
        if act.do == "set":
            form |= {"page": "0", "duel": ""}
        view = self._get_view(before.run, before.place)
        if not view.arenas:  # the field names a run without duels, which no page has shown
            raise ClientStateError
        return self.page(view, form)

    def show(self, view: ArenaView, form: Form) -> tuple[Any, ...]:
        """Everything the view shows of an arena."""
        return (self.page(view, form),)

    def page(self, view: ArenaView, form: Form) -> Html:
        """Filters, list and the opened duel."""
        filters, every = read_duel_filters(form), judged_pairs_of(view.arena)
        listed = filtered(view.arena, every, filters)
        first = filters.page * PAGE_SIZE
        rows = listed[first : first + PAGE_SIZE]
        requested = field_value(form, "duel")
        opened = next((one for one in every if one.key == requested), next(iter(rows), None))
        return div(
            _filter_bar(view, every, filters),
            div(
                _listing(view, rows, filters, opened, total=len(listed)),
                _opened_duel(view, opened),
                cls="two-pane",
            ),
            cls="stack",
        )


def _opened_duel(view: ArenaView, opened: JudgedPair | None) -> Html:
    if opened is None:
        return card(div(view.t(f"{_KEY}.nothing"), cls="empty"))
    return duel_card(view, opened, view.address("duels", duel=opened.key))


def _filter_bar(view: ArenaView, every: Sequence[JudgedPair], filters: DuelFilters) -> Html:
    """A field per filter. The page starts again from the first when one changes."""
    t, any_ = view.t, {"": view.t(f"{_KEY}.any")}
    pairs = any_ | {
        f"{left}|{right}": t(f"{_KEY}.versus", left=left, right=right)
        for left, right in model_pairs(every)
    }
    outcomes = any_ | {name: _outcome(view, name, filters) for name in OUTCOMES}
    capabilities = any_ | {name: name for name in all_capabilities(view.arena)}
    find = el(
        "input", type="search", name="find", value=filters.find, placeholder=t(f"{_KEY}.find_hint")
    )
    return div(
        field(t(f"{_KEY}.pair"), select("duel_pair", pairs, filters.pair))
        if len(pairs) > 2
        else None,
        field(t(f"{_KEY}.outcome"), select("duel_outcome", outcomes, filters.outcome)),
        field(t(f"{_KEY}.capability"), select("duel_capability", capabilities, filters.capability))
        if len(capabilities) > 2
        else None,
        field(t(f"{_KEY}.find"), find),
        cls="fields",
    )


def _outcome(view: ArenaView, name: str, filters: DuelFilters) -> str:
    """A filter's word; with one pair chosen it names the winner."""
    t = view.t
    if name == "changed" and view.arena.by == PEOPLE:
        return t(f"{_KEY}.disagreed")
    if name == "unreadable" and view.arena.by == PANEL_NAME:
        return t(f"{_KEY}.undecided")
    if name in ("left", "right") and filters.pair:
        left, _, right = filters.pair.partition("|")
        return t(f"{_KEY}.left_of", model=left if name == "left" else right)
    return t(f"{_KEY}.{name}")


def _listing(
    view: ArenaView,
    rows: Sequence[JudgedPair],
    filters: DuelFilters,
    opened: JudgedPair | None,
    *,
    total: int,
) -> Html:
    """The duels of one page; arrow keys move between them."""
    return paged_list(
        view.t,
        _KEY,
        [_item(view, meeting, current=meeting is opened) for meeting in rows],
        first=filters.page * PAGE_SIZE,
        total=total,
        page=filters.page,
        opened=("duel", opened.key if opened else ""),
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
