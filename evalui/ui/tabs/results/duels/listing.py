"""The duels of a judged run: filters, a page of the list, and one duel in full.

The address is the whole state: each filter, page and duel has its own.
"""

from collections.abc import Sequence

from evalui.app.open_run_view import OpenRunView
from evalui.report.html import Html, div, el, span
from evalui.report.icons import icon
from evalui.scoring.arena.figures import PEOPLE
from evalui.scoring.arena.verdicts import PANEL_NAME
from evalui.ui.components.form import Form, field_value
from evalui.ui.components.format import short_id
from evalui.ui.components.fragment import Action
from evalui.ui.components.widgets import card, labelled, pager, search_field, segments, select
from evalui.ui.tabs.results.duels.duel import (
    OUTCOMES,
    DuelFilters,
    JudgedPair,
    all_capabilities,
    duel_card,
    filtered,
    judged_pairs_of,
    model_pairs,
    read_duel_filters,
)

PAGE_SIZE = 50
_FILTERS = ("duel_pair", "duel_outcome", "duel_capability", "find")


def changed_form(action: Action) -> Form:
    """The form after an action; another filter begins again at the first page and duel."""
    form = action.form | {name: action.value(name) for name in ("arena",) if action.value(name)}
    if action.do == "set" and action.value("name") in _FILTERS:
        form |= {"page": "", "duel": ""}
    return form


def duels_page(view: OpenRunView, form: Form) -> Html:
    """Filters, list and the opened duel; its element holds their address."""
    filters, arena = read_duel_filters(form), view.arena
    every = arena.remember("pairs", lambda: judged_pairs_of(arena))
    listed = filtered(arena, every, filters)
    first = filters.page * PAGE_SIZE
    rows = listed[first : first + PAGE_SIZE]
    requested = field_value(form, "duel")
    opened = next((one for one in every if one.key == requested), next(iter(rows), None))
    address = _Address(view, filters)
    return div(
        segments(parts, view.t("arena.judge")) if (parts := view.links("duels")) else None,
        _filter_bar(view, every, filters),
        div(
            _listing(address, rows, opened, total=len(listed)),
            _opened_duel(address, listed, opened),
            cls="two-pane opened" if requested and opened else "two-pane",
        ),
        cls="stack",
        data_address=address.to(duel=requested and opened.key if opened else "").removeprefix("?"),
    )


class _Address:
    """Addresses of the list under its filters."""

    def __init__(self, view: OpenRunView, filters: DuelFilters) -> None:
        self.view = view
        self.filters = filters

    def to(self, *, duel: str = "", page: int | None = None) -> str:
        """A duel under the same filters, or another page of the list."""
        filters = self.filters
        shown = filters.page if page is None else page
        return self.view.address(
            "duels",
            duel_pair=filters.pair,
            duel_outcome=filters.outcome,
            duel_capability=filters.capability,
            find=filters.find,
            page=str(shown) if shown else "",
            duel=duel,
        )


def _opened_duel(
    address: _Address, listed: Sequence[JudgedPair], opened: JudgedPair | None
) -> Html:
    view = address.view
    if opened is None:
        return card(div(view.t("arena.duel.nothing"), cls="empty"), cls="col-r")
    at = listed.index(opened) if opened in listed else -1
    steps = {"k": at - 1, "j": at + 1}
    links = (
        _step(address, listed[place], place, key)
        for key, place in steps.items()
        if at >= 0 and 0 <= place < len(listed)
    )
    back = el("a", view.t("arena.duel.back", n=f"{len(listed):,}"), href=address.to(), cls="back")
    steps = div(back, *links, cls="links steps")
    return div(steps, duel_card(view, opened, address.to(duel=opened.key)), cls="col-r")


def _step(address: _Address, meeting: JudgedPair, place: int, key: str) -> Html:
    """A link to the duel before or after, which a key presses too."""
    words = address.view.t(f"arena.duel.{'previous' if key == 'k' else 'next'}")
    href = address.to(duel=meeting.key, page=place // PAGE_SIZE)
    return el("a", words, " ", el("kbd", key), href=href, data_hotkey=key)


def _filter_bar(view: OpenRunView, every: Sequence[JudgedPair], filters: DuelFilters) -> Html:
    """A field per filter."""
    t, any_ = view.t, {"": view.t("arena.duel.any")}
    pairs = any_ | {
        f"{left}|{right}": t("arena.duel.versus", left=left, right=right)
        for left, right in model_pairs(every)
    }
    outcomes = any_ | {name: _outcome(view, name, filters) for name in OUTCOMES}
    capabilities = any_ | {name: name for name in all_capabilities(view.arena)}
    pickers = (
        ("pair", pairs, filters.pair, len(pairs) > 2),
        ("outcome", outcomes, filters.outcome, True),
        ("capability", capabilities, filters.capability, len(capabilities) > 2),
    )
    return div(
        *(
            labelled(t(f"arena.duel.{name}"), select(f"duel_{name}", words, chosen))
            for name, words, chosen, offered in pickers
            if offered
        ),
        search_field("find", filters.find, t("arena.duel.find"), data_hotkey="/"),
        cls="filters",
    )


def _outcome(view: OpenRunView, name: str, filters: DuelFilters) -> str:
    """A filter's word; with one pair chosen it names the winner."""
    t = view.t
    if name == "changed" and view.arena.by == PEOPLE:
        return t("arena.duel.disagreed")
    if name == "unreadable" and view.arena.by == PANEL_NAME:
        return t("arena.duel.undecided")
    if name in ("left", "right") and filters.pair:
        left, _, right = filters.pair.partition("|")
        return t("arena.duel.left_of", model=left if name == "left" else right)
    return t(f"arena.duel.{name}")


def _listing(
    address: _Address, rows: Sequence[JudgedPair], opened: JudgedPair | None, *, total: int
) -> Html:
    """The duels of one page."""
    t, page = address.view.t, address.filters.page
    items = [_item(address, meeting, current=meeting is opened) for meeting in rows]
    pages = pager(t, page, PAGE_SIZE, total, lambda place: address.to(page=place))
    return card(
        div(el("h2", t.count("arena.duel.count", total)), cls="card-h pad"),
        el("ul", *items, cls="list") if items else el("p", t("arena.duel.nothing"), cls="dim pad"),
        div(pages, cls="pad") if pages else None,
        cls="flush",
    )


def _item(address: _Address, meeting: JudgedPair, *, current: bool) -> Html:
    view = address.view
    t = view.t
    sample = view.arena.samples.get(meeting.sample_id)
    pair = t("arena.duel.versus", left=meeting.left, right=meeting.right)
    speaks = t("arena.duel.injected")
    body = el(
        "a",
        span(short_id(meeting.sample_id), cls="mono id"),
        span(sample.question if sample else "", cls="q"),
        span(icon("warn"), span(speaks, cls="hidden"), cls="warn", title=speaks)
        if meeting.injected
        else span(),
        span(f"{pair} · ", _result(view, meeting), cls="meta"),
        href=address.to(duel=meeting.key),
        aria_current="true" if current else None,
    )
    return el("li", body)


def _result(view: OpenRunView, meeting: JudgedPair) -> str:
    t = view.t
    if meeting.changed:
        return t("arena.duel.disagreed" if view.arena.by == PEOPLE else "arena.duel.changed")
    side = next((side for side in meeting.sides if side), None)
    if side is None and meeting.unreferenced and not meeting.unreadable:
        return t("arena.duel.unreferenced")
    if side is None:
        return t("arena.duel.undecided" if view.arena.by == PANEL_NAME else "arena.duel.unreadable")
    winners = {"left": meeting.left, "right": meeting.right}
    if side in winners:
        return t("arena.duel.left_of", model=winners[side])
    return t(f"arena.duel.{side}")
