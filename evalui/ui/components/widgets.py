"""The small parts every page is made of, with their icons. Text comes in translated."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from evalui.messages import Messages
from evalui.report.html import Attribute, Child, Html, div, el, join, span
from evalui.types import RunState
from evalui.ui.components.templates import macro

RUN_STATE_KINDS: Mapping[RunState, str] = {
    "queued": "na",
    "running": "go",
    "done": "ok",
    "failed": "bad",
    "cancelled": "warn",
}
UPLOAD = Html(
    '<svg width="32" height="32" viewBox="0 0 32 32" aria-hidden="true">'
    '<path d="M16 21V6m-6 6l6-6 6 6M5 20v6h22v-6" fill="none" stroke="var(--accent)" '
    'stroke-width="2"/></svg>'
)
MAGNIFIER = Html(
    '<svg width="16" height="16" viewBox="0 0 16 16" aria-hidden="true">'
    '<circle cx="7" cy="7" r="4.5" fill="none" stroke="currentColor" stroke-width="1.6"/>'
    '<path d="M10.5 10.5L14 14" stroke="currentColor" stroke-width="1.6"/></svg>'
)


def card(*children: Child, cls: str = "", **attributes: Attribute) -> Html:
    """A bordered box, the only level of boxes."""
    return el("section", *children, cls=f"card {cls}".strip(), **attributes)


def titled(title: str, *children: Child, aside: Child = None, cls: str = "") -> Html:
    """A card with its title and something small beside it."""
    small = (
        span(aside, cls="meta") if isinstance(aside, str) and not isinstance(aside, Html) else aside
    )
    return card(div(el("h2", title), small, cls="card-h"), *children, cls=cls)


def heading(text: str, level: int = 2) -> Html:
    """A heading."""
    return macro("widgets.html", "heading", text, level)


def page_head(title: str, below: Html | str = "", beside: Html | str = "") -> Html:
    """The one H1 of a page, what stands below it, and a button at the right."""
    return macro("widgets.html", "page_head", title, below, beside)


def status_icon(kind: str) -> Html:
    """The icon of a state: ok, warn, bad, na or go."""
    return macro("icons.html", "status_icon", kind)


def status(kind: str, word: str) -> Html:
    """A state: its colour always comes with its icon and word."""
    return macro("icons.html", "status", kind, word)


def model_name(name: str, place: int, baseline: bool) -> Html:
    """A model with its marker, the same everywhere in a run."""
    return macro("icons.html", "model_name", name, place, baseline)


def note(kind: str, text: str) -> Html:
    """A sentence that must be seen; `kind` is ok, warn, bad or na."""
    return macro("widgets.html", "note", kind, text)


def alert(kind: str, text: str) -> Html | None:
    """A note that is read out at once; None without a text."""
    return macro("widgets.html", "alert", kind, text) if text else None


def done(text: str) -> Html:
    """That something was done, which is read out at once too."""
    return macro("widgets.html", "alert", "ok", text, role="status")


def link(word: str, href: str, *, cls: str = "btn") -> Html:
    """A way to another page that looks like a button."""
    return macro("widgets.html", "link", word, href, cls)


def empty(about: str, *ways: Child) -> Html:
    """Why there is nothing yet, and the ways to something."""
    return div(el("p", about, cls="dim"), *ways, cls="empty")


def run_state(t: Messages, state: RunState) -> Html:
    """The state of a run in a word."""
    return status(RUN_STATE_KINDS[state], t(f"runstate.{state}"))


def bar(share: float, *, label: str = "") -> Html:
    """A thin bar filled to `share` (0 to 1); `label` makes it a progress bar for screen readers."""
    return macro("widgets.html", "bar", share, label)


def button(word: Child, do: str, *, cls: str = "", **data: Attribute) -> Html:
    """A real button whose press is an action of the listing it stands in."""
    return el("button", word, type="button", cls=f"btn {cls}".strip(), data_do=do, **data)


def link_button(word: Child, do: str, **data: Attribute) -> Html:
    """A button that looks like a link, for actions inside tables."""
    return el("button", word, type="button", cls="link", data_do=do, **data)


def copy_button(t: Messages, address: str, *, cls: str = "btn") -> Html:
    """Copies an address that is relative to the page."""
    return macro("widgets.html", "copy_button", t, address, cls)


def pager(
    t: Messages, page: int, size: int, total: int, address: Callable[[int], str]
) -> Html | None:
    """Which of `total` rows are shown, and the pages beside; None if one page holds them all.

    `address` gives that of a page, counted from 0.
    """
    if total <= size:
        return None
    first, last = page * size, min((page + 1) * size, total)
    shown = t("list.shown", first=f"{first + 1:,}", last=f"{last:,}", total=f"{total:,}")
    links = (
        el("a", t(f"list.{word}"), href=address(place), cls="btn")
        for word, place in (("earlier", page - 1), ("later", page + 1))
        if 0 <= place * size < total
    )
    return div(span(shown, cls="meta"), *links, cls="links pager")


def hidden(name: str, value: str, *, many: bool = False) -> Html:
    """A field that no control shows; `many`: it is one of several values."""
    return el("input", type="hidden", name=name, value=value, data_many=many)


def field(label: str, control: Html, *, hint: Child = None, key: str | None = None) -> Html:
    """A labelled form field.

    With a `key`, which is unique among its neighbours, what was typed stays when the answer has the
    field in another place.
    """
    below = div(hint, cls="meta gap-s") if hint else None
    return el("label", span(label), control, below, cls="field", data_key=key)


def select(name: str, options: Mapping[str, str], chosen: str, **attributes: Attribute) -> Html:
    """A drop-down list of value -> word."""
    items = [
        el("option", word, value=value, selected=value == chosen) for value, word in options.items()
    ]
    return el("select", *items, name=name, **attributes)


def table(
    heads: Sequence[Child],
    rows: Iterable[Sequence[Child]],
    *,
    right: Sequence[int] = (),
    opened: int | None = None,
    cls: str = "",
    repeats: bool = False,
) -> Html:
    """A table; `right` are the columns of numbers, `opened` is the place of a row that is open.

    With `repeats` each cell has the name of its column, for a phone that shows rows as cards.

    Wide ones scroll inside their card.
    """
    body = [
        el(
            "tr",
            *(
                el(
                    "td",
                    cell,
                    cls="r" if at in right else None,
                    data_head=heads[at] if repeats and not isinstance(heads[at], Html) else None,
                )
                for at, cell in enumerate(row)
            ),
            cls="sel" if place == opened else None,
        )
        for place, row in enumerate(rows)
    ]
    top = [
        head
        if isinstance(head, Html) and head.startswith("<th")
        else _head(head, right=at in right)
        for at, head in enumerate(heads)
    ]
    element = el("table", el("thead", el("tr", *top)), el("tbody", *body), cls=cls or None)
    return div(element, cls="scroll")


def definitions(pairs: Iterable[tuple[Child, Child]]) -> Html:
    """Words at the left, figures at the right."""
    return el("dl", *(join(el("dt", word), el("dd", figure)) for word, figure in pairs))


def _head(head: Child, *, right: bool) -> Html:
    return el("th", head, scope="col", cls="r" if right else None)
