"""A document's blocks as Gradio components, made while a page is drawn.

    def page(screen: Screen) -> None:
        show(screen.t, blocks, scope="bias")

What holds no others is a `gr.HTML` each, a card a `gr.Column`, a section a `gr.Accordion`. A lead
table, and every table with a plot, is one HTML table. Of the others those with more than eight rows
are a `gr.Dataframe`, which sorts, searches and copies; shorter ones are read at a glance, and its
bar of tools would be higher than some of them. Nothing made here has listeners: what can be pressed
is a link.

The key of each component is its kind and its number among those of a `scope`, so what is drawn anew
by the same page takes its place: nothing flashes, and what is unfolded stays so.
"""

from collections import Counter
from collections.abc import Iterable
from itertools import groupby
from typing import Any

import gradio as gr

from evalui.messages import Messages
from evalui.report.blocks import Block, Card, ChartBlock, Details, Headline, Table
from evalui.report.render.page import render_block, render_card_head, render_headline
from evalui.ui.components.data_table import data_table
from evalui.ui.components.fold import fold
from evalui.ui.components.lead_table import html_table, lead_table
from evalui.ui.components.listing import markup
from evalui.ui.components.plotly_chart import plotly_chart

_LONG = 8  # rows of a table that is read at a glance
_MANY = 8  # columns of a table whose first one stays while the others scroll


def show(
    t: Messages,
    blocks: Iterable[Block],
    *,
    scope: str,
    suffix: str = "",
    titled: bool = False,
) -> None:
    """Make the components of the blocks, below each other.

    `scope` names the part of the page, `suffix` ends the ids of sections where a page shows two
    documents; on a page that is `titled` no headline is its title.
    """
    _Document(t, scope, suffix, "h2" if titled else "h1").show(blocks)


class _Document:
    def __init__(self, t: Messages, scope: str, suffix: str, headline: str) -> None:
        self.t = t
        self.scope = scope
        self.suffix = suffix
        self.headline = headline
        self._made: Counter[str] = Counter()
        self._names: Counter[str] = Counter()
        self._section = ""  # the name of the card or section that is being filled

    def show(self, blocks: Iterable[Block]) -> None:
        for folded, run in groupby(blocks, lambda block: isinstance(block, Details)):
            if not folded:
                for block in run:
                    self._show(block)
                continue
            with gr.Column(elem_classes="folds", **self._kept("folds")):
                for block in run:
                    self._show(block)

    def _show(self, block: Block) -> None:
        kept = self._kept(type(block).__name__)
        match block:
            case Details():
                self._section = block.name
                with fold(block, self._name(block.key), **kept):
                    self.show(block.blocks)
            case Card():
                self._section = block.title or self._section
                with gr.Column(elem_classes="card", **kept):
                    if head := render_card_head(block):
                        markup(head, elem_classes="ev head-of-card", **self._kept("head"))
                    self.show(block.blocks)
            case Headline():
                markup(render_headline(block, self.headline), elem_classes="ev", **kept)
            case Table():
                self._table(block)
            case ChartBlock():
                plotly_chart(block, **kept)
            case _:
                if content := render_block(block):
                    markup(content, elem_classes="ev", **kept)

    def _table(self, table: Table) -> None:
        if table.lead or any(column.axis for column in table.columns):
            lead_table(self.t, table, **self._kept("lead"))
            return
        if len(table.rows) > _LONG:
            data_table(table, self._section, **self._kept("data"))
        else:
            html_table(table, is_wide=len(table.columns) > _MANY, **self._kept("table"))

    def _kept(self, kind: str) -> dict[str, Any]:
        """The key of a component; of what a visitor changes only what is unfolded is kept."""
        self._made[kind] += 1
        kept = ["open"] if kind == "Details" else []
        return {"key": (self.scope, kind, self._made[kind]), "preserved_by_key": kept}

    def _name(self, key: str) -> str:
        """The place of a section in the address: its key, numbered where it comes again."""
        if not key:
            return ""
        self._names[key] += 1
        number = self._names[key]
        return key + self.suffix + (f"-{number}" if number > 1 else "")
