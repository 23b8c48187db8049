"""A filtered list, and the open one of it in full beside: each scrolls on its own.

On a narrow screen the two are pages of their own.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import gradio as gr

from evalui.report.html import Html
from evalui.ui.components.filters import Filters
from evalui.ui.components.listing import markup
from evalui.ui.components.pickers import Words
from evalui.ui.components.question_list import Steps, question_list


@dataclass(frozen=True, slots=True)
class ListContent:
    """What an address shows: the list's `lines` and, of the one that is open, the `reader`.

    `offered` are the lists to filter by, `find` what is searched, `clear` the word and the address
    of what takes the filters away, `head` stands above.
    """

    lines: Html
    reader: Html
    steps: Steps
    offered: Mapping[str, Words] = field(default_factory=dict[str, Words])
    find: str = ""
    clear: tuple[str, str] = ("", "")
    head: Html | str = ""


class ListAndReader:
    """The components; `kind` is their class, `reader` makes that of what is open."""

    def __init__(
        self,
        kind: str,
        labels: Mapping[str, str],
        *,
        find: str,
        hint: str,
        reader: Callable[[], gr.HTML],
    ) -> None:
        with gr.Column(visible=False, elem_classes=f"list-and-reader {kind}") as self.view:
            self.head = markup(elem_classes="ev above-list")
            self.filters = Filters(labels, find, hint)
            with gr.Row(elem_classes="panes"):
                self.list = question_list()
                self.reader = reader()
            # The list and the filters that the page has: the server keeps nothing of a visitor.
            self.drawn = gr.Textbox(visible="hidden", elem_classes="hidden-field")

    @property
    def outputs(self) -> list[Any]:
        """Every component that `shown` changes."""
        return [self.view, self.head, *self.filters.outputs, self.list, self.reader, self.drawn]

    def hidden(self) -> dict[Any, Any]:
        """Nothing of it."""
        return {self.view: gr.update(visible=False), self.drawn: ""}

    def shown(
        self, content: ListContent, query: str, drawn: str, *, typed: bool = False
    ) -> dict[Any, Any]:
        """What the `query` of an address shows where the page has `drawn` already, "" for nothing.

        Only what is new is sent. What is being `typed` into the search is left as it is.
        """
        filters = _digest(repr((content.offered, content.find, content.clear)))
        shown = self.renewed(content, query, drawn, filters)
        if not drawn:
            shown[self.view] = gr.update(visible=True)
        if filters != drawn.rpartition(" ")[2]:
            shown |= self.filters.shown(content.offered, content.find, content.clear, typed=typed)
        return shown

    def renewed(
        self, content: ListContent, query: str, drawn: str, filters: str = ""
    ) -> dict[Any, Any]:
        """The same without the filters, which do not change by themselves."""
        before, _, there = drawn.rpartition(" ")
        digest = _digest(content.lines)
        steps = content.steps.json(query, digest)
        lines = (
            gr.update(steps=steps)
            if digest == before
            else gr.update(value=content.lines, digest=digest, steps=steps)
        )
        now = f"{digest} {filters or there}"
        return {
            self.head: content.head,
            self.reader: content.reader,
            self.list: lines,
            # Said with the list alone: answers may come in another order.
            self.drawn: now if now != drawn else gr.skip(),
        }


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
