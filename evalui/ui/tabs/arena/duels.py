"""Arena, Duels: filters, a page of duels, and one duel in full."""

from collections.abc import Callable, Sequence
from typing import Any

import gradio as gr

from evalui.messages import Messages
from evalui.report.analyses.arena.figures import PEOPLE
from evalui.scoring.arena.verdicts import PANEL
from evalui.ui.components.client_state import KeptError
from evalui.ui.components.fragment import Form, on, pane, read_act
from evalui.ui.components.html import Html, div, el, span
from evalui.ui.components.icons import icon
from evalui.ui.components.widgets import button, card, field, select
from evalui.ui.tabs.arena.arena_view import ShownArena
from evalui.ui.tabs.arena.client_state import Seen
from evalui.ui.tabs.arena.duel import detail, short
from evalui.ui.tabs.arena.judged_pairs import (
    OUTCOMES,
    Meeting,
    Wish,
    all_capabilities,
    fitting,
    meetings,
    pairs_of,
    read_wish,
)
from evalui.ui.tabs.evaluate.run_form import one

PAGE_SIZE = 100
_KEY = "arena.duel"


class Duels:
    """The view in one language. The form in the browser is its whole state.

    `find` gives the arena of a run and a place.
    """

    def __init__(self, t: Messages, find: Callable[[str, int], ShownArena]) -> None:
        self.t = t
        self._find = find
        self.outputs: list[Any] = []

    def build(self, seen: gr.Textbox) -> None:
        """Lay out the one pane."""
        whole = pane("arena-duels")
        self.outputs = [whole]
        on(whole, self.answer, inputs=[seen], outputs=[whole])

    def answer(self, seen: str, event: gr.EventData) -> Html:
        """The page after a filter, a step or a click on a duel."""
        act, before = read_act(event), Seen.read(seen)
        form = act.form | {name: act.one(name) for name in ("page", "duel") if act.one(name)}
        if act.do == "set":
            form |= {"page": "0", "duel": ""}
        shown = self._find(before.run, before.place)
        if not shown.arenas:  # the field names a run without duels, which no page has shown
            raise KeptError
        return self.page(shown, form)

    def show(self, shown: ShownArena, form: Form) -> tuple[Any, ...]:
        """Everything the view shows of an arena."""
        return (self.page(shown, form),)

    def page(self, shown: ShownArena, form: Form) -> Html:
        """Filters, list and the opened duel."""
        wish, every = read_wish(form), meetings(shown.arena)
        found = fitting(shown.arena, every, wish)
        first = wish.page * PAGE_SIZE
        rows = found[first : first + PAGE_SIZE]
        asked = one(form, "duel")
        opened = next((one for one in every if one.key == asked), next(iter(rows), None))
        return div(
            _bar(shown, every, wish),
            div(
                _listing(shown, rows, wish, opened, total=len(found)),
                _opened(shown, opened),
                cls="two-pane",
            ),
            cls="stack",
        )


def _opened(shown: ShownArena, opened: Meeting | None) -> Html:
    if opened is None:
        return card(div(shown.t(f"{_KEY}.nothing"), cls="empty"))
    return detail(shown, opened, shown.address("duels", duel=opened.key))


def _bar(shown: ShownArena, every: Sequence[Meeting], wish: Wish) -> Html:
    """A field per filter. The page starts again from the first when one changes."""
    t, any_ = shown.t, {"": shown.t(f"{_KEY}.any")}
    pairs = any_ | {
        f"{left}|{right}": t(f"{_KEY}.versus", left=left, right=right)
        for left, right in pairs_of(every)
    }
    outcomes = any_ | {name: _outcome(shown, name, wish) for name in OUTCOMES}
    asked = any_ | {name: name for name in all_capabilities(shown.arena)}
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


def _outcome(shown: ShownArena, name: str, wish: Wish) -> str:
    """A filter's word; with one pair chosen it names the winner."""
    t = shown.t
    if name == "changed" and shown.arena.by == PEOPLE:
        return t(f"{_KEY}.disagreed")
    if name == "unreadable" and shown.arena.by == PANEL:
        return t(f"{_KEY}.undecided")
    if name in ("left", "right") and wish.pair:
        left, _, right = wish.pair.partition("|")
        return t(f"{_KEY}.left_of", model=left if name == "left" else right)
    return t(f"{_KEY}.{name}")


def _listing(
    shown: ShownArena,
    rows: Sequence[Meeting],
    wish: Wish,
    opened: Meeting | None,
    *,
    total: int,
) -> Html:
    """The duels of one page; arrow keys move between them."""
    t, first = shown.t, wish.page * PAGE_SIZE
    last = first + len(rows)
    told = t(f"{_KEY}.shown", first=f"{first + 1:,}", last=f"{last:,}") if rows else ""
    items = [_item(shown, meeting, current=meeting is opened) for meeting in rows]
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


def _item(shown: ShownArena, meeting: Meeting, *, current: bool) -> Html:
    t = shown.t
    sample = shown.arena.samples.get(meeting.sample_id)
    pair = t(f"{_KEY}.versus", left=meeting.left, right=meeting.right)
    speaks = t(f"{_KEY}.injected")
    body = el(
        "button",
        span(short(meeting.sample_id), cls="mono id"),
        span(sample.question if sample else "", cls="q"),
        span(icon("warn"), span(speaks, cls="hidden"), cls="warn", title=speaks)
        if meeting.injected
        else span(),
        span(f"{pair} · ", _result(shown, meeting), cls="meta"),
        type="button",
        data_do="open",
        data_duel=meeting.key,
        aria_current="true" if current else None,
    )
    return el("li", body)


def _result(shown: ShownArena, meeting: Meeting) -> str:
    t = shown.t
    if meeting.changed:
        return t(f"{_KEY}.disagreed" if shown.arena.by == PEOPLE else f"{_KEY}.changed")
    side = next((side for side in meeting.sides if side), None)
    if side is None and meeting.unreferenced and not meeting.unreadable:
        return t(f"{_KEY}.unreferenced")
    if side is None:
        return t(f"{_KEY}.undecided" if shown.arena.by == PANEL else f"{_KEY}.unreadable")
    winners = {"left": meeting.left, "right": meeting.right}
    if side in winners:
        return t(f"{_KEY}.left_of", model=winners[side])
    return t(f"{_KEY}.{side}")
