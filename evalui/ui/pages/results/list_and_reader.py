"""A filtered list, and the open one of it in full beside: each scrolls on its own.

On a narrow screen the two are pages of their own. The script `lists.js` knows them by their marks:
the links of `.questions`, those with `data-step` and what is read, `data-read`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import gradio as gr

from evalui.app.questions import PAGE_ROWS
from evalui.messages import Messages
from evalui.report.html import Html
from evalui.ui.components.form import MAX_FIND
from evalui.ui.components.listing import markup
from evalui.ui.components.templates import fill
from evalui.ui.screen import Screen


@dataclass(frozen=True, slots=True)
class Filter:
    """A list to filter by: words by values, and the value that is chosen.

    Another choice takes the parameters `drops` out of the address, too.
    """

    label: str
    offered: Mapping[str, str]
    chosen: str
    drops: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class ListAndReader:
    """What an address shows: the `lines` of the list and, of the open one, the `reader`.

    `filters` are named by their parameters. Whatever is filtered by, the parameters `drops` leave
    the address: they say what is open and how much is listed. `clear` is the address without any
    filter, "" where none is set.
    """

    head: Html
    filters: Mapping[str, Filter]
    drops: Sequence[str]
    find: str
    clear: str
    lines: Html
    reader: Html

    def show(self, screen: Screen) -> None:
        """Make the components."""
        with gr.Column(elem_classes="list-and-reader", key="list-and-reader"):
            _part("head", self.head)
            with gr.Row(elem_classes="filters", key="filters"):
                for name, each in self.filters.items():
                    drops = (*self.drops, *each.drops)
                    screen.picker(name, each.label, each.offered, each.chosen, drops=drops)
                _part("search", self._search(screen))
            with gr.Row(elem_classes="panes", key="panes"):
                _part("list", self.lines)
                _part("reader", self.reader)

    def _search(self, screen: Screen) -> Html:
        """A field of our own: what is being typed is not overwritten by what is drawn meanwhile."""
        address = screen.address(**dict.fromkeys((*self.drops, "find"), ""))
        return fill(
            "questions/search.html",
            t=screen.t,
            label=self.find,
            longest=MAX_FIND,
            address=address,
            found=screen.value("find"),
            clear=self.clear,
        )


def pager(t: Messages, page: int, total: int, href: Callable[[int], str]) -> Html | str:
    """Which lines of a page are listed, and the pages beside; "" where there is one page."""
    if total <= PAGE_ROWS:
        return ""
    first, last = page * PAGE_ROWS + 1, min((page + 1) * PAGE_ROWS, total)
    return fill(
        "questions/pager.html",
        shown=t("list.shown", first=f"{first:,}", last=f"{last:,}", total=f"{total:,}"),
        pages=[
            (t(f"list.{word}"), href(at))
            for word, at in (("earlier", page - 1), ("later", page + 1))
            if 0 <= at * PAGE_ROWS < total
        ],
    )


def _part(name: str, content: Html) -> None:
    markup(content, elem_classes=f"ev {name}-part", key=("list", name))
