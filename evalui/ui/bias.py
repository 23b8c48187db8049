"""Results, Bias: what was picked where, and where right answers are found, for one cell."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import gradio as gr

from evalui.report.narrative import picks_subtitle, picks_title, recall_subtitle, recall_title
from evalui.report.numbers import figure, fixed, percent
from evalui.report.numbers import span as spread
from evalui.report.position_charts import confusion, recall
from evalui.report.summary import Summary
from evalui.scoring.position import PositionTable
from evalui.types import LETTERS
from evalui.ui.desk import Desk
from evalui.ui.html import Child, Html, div, el, join, span
from evalui.ui.pane import SKIP, on, pane, read_act
from evalui.ui.text import Text
from evalui.ui.view import Shown
from evalui.ui.widgets import card, field, note, select, signature_line, table


class Bias:
    """The view in one language."""

    def __init__(self, desk: Desk, t: Text) -> None:
        self.desk = desk
        self.t = t
        self.outputs: list[Any] = []

    def build(self, run_id: gr.Textbox) -> None:
        """Lay out the picker, two charts and their tables."""
        top = pane("bias-top")
        with gr.Row(visible=False, equal_height=True) as charts:
            with gr.Column(elem_classes="chart-card", min_width=320):
                heat_title = pane("bias-heat")
                heat = gr.Plot(show_label=False, container=False)
            with gr.Column(elem_classes="chart-card", min_width=320):
                bars_title = pane("bias-recall")
                bars = gr.Plot(show_label=False, container=False)
        last = pane("bias-tables")
        self.outputs = [top, charts, heat_title, heat, bars_title, bars, last]
        on(top, self.picked, inputs=[run_id], outputs=self.outputs)

    def show(self, run_id: str, wish: str = "") -> tuple[Any, ...]:
        """Everything the view shows of a run; `wish` is a key of the picker."""
        shown, t = Shown(self.desk, self.t, run_id), self.t
        offered = choices(shown.summaries)
        chosen = next((one for one in offered if one.key == wish), next(iter(offered), None))
        words = {cell.id: shown.words(cell) for cell in shown.cells}
        head = picker(t, offered, chosen, words)
        if chosen is None:
            return head, gr.Row(visible=False), SKIP, None, SKIP, None, div()
        return (
            head,
            gr.Row(visible=True),
            heatmap_title(t, chosen),
            confusion(chosen.table, t.language),
            recall_head(t, chosen),
            recall(chosen.table, t.language),
            tables(t, chosen, run_id),
        )

    def picked(self, run_id: str, event: gr.EventData) -> tuple[Any, ...]:
        """Another cell of the run."""
        return self.show(run_id, read_act(event).one("bias_cell"))


@dataclass(frozen=True, slots=True)
class Picked:
    """One cell of a run and one of its tables: its questions with one number of options."""

    cell_id: int
    summary: Summary
    table: PositionTable

    @property
    def key(self) -> str:
        """Its value in the picker."""
        return f"{self.cell_id}.{self.table.n_options}"


def choices(summaries: Mapping[int, Summary]) -> list[Picked]:
    """Everything the picker offers, in the order of the run."""
    return [
        Picked(cell_id, summary, found)
        for cell_id, summary in summaries.items()
        for found in summary.positions
    ]


def picker(
    t: Text, offered: Sequence[Picked], chosen: Picked | None, words: Mapping[int, str]
) -> Html:
    """The drop-down and the sentence beside it; an empty state if nothing was reordered."""
    if chosen is None:
        return card(
            div(el("h2", t("bias.none")), el("p", t("bias.none_about"), cls="dim"), cls="empty")
        )
    several = len({picked.table.n_options for picked in offered}) > 1
    names = {
        picked.key: words[picked.cell_id]
        + (f" · {t('file.options', n=picked.table.n_options)}" if several else "")
        for picked in offered
    }
    sentence = picks_title(chosen.table, t.language)
    once = t("bias.once") if chosen.summary.cell.pattern == "origin" else t("bias.untested")
    return div(
        div(field(t("bias.cell"), select("bias_cell", names, chosen.key)), cls="bias-pick"),
        div(note("na", el("b", sentence), " ", span(once, cls="dim")), cls="f2"),
        cls="row end",
    )


def heatmap_title(t: Text, chosen: Picked) -> Html:
    """What the heat map shows."""
    return join(
        el("h2", picks_title(chosen.table, t.language)),
        el("p", picks_subtitle(chosen.table, t.language), cls="meta"),
    )


def recall_head(t: Text, chosen: Picked) -> Html:
    """What the bars show."""
    reordered = chosen.summary.cell.pattern != "origin"
    return join(
        el("h2", recall_title(chosen.table, t.language)),
        el("p", recall_subtitle(chosen.table, t.language, reordered=reordered), cls="meta"),
    )


def tables(t: Text, chosen: Picked, run_id: str) -> Html:
    """Both pictures as tables; each count leads to its questions."""
    return div(
        el(
            "details",
            el("summary", t("bias.tables")),
            div(
                card(el("h3", t("bias.counts")), _counts(t, chosen, run_id)),
                card(el("h3", t("bias.by_position")), _positions(t, chosen.table)),
                cls="row",
            ),
        ),
        signature_line(chosen.summary.cell.signature),
        cls="stack",
    )


def _counts(t: Text, chosen: Picked, run_id: str) -> Html:
    found = chosen.table
    letters = LETTERS[: found.n_options]
    heads = [t("bias.gold"), *letters, t("bias.unreadable"), t("bias.tied")]
    rows: list[list[Child]] = []
    for gold, counts in enumerate(found.counts):
        links: list[Child] = [
            _questions(
                count,
                f"?run={run_id}&sub=samples&cell={chosen.cell_id}&gold={gold}&picked={picked}",
            )
            for picked, count in enumerate(counts)
        ]
        rows.append([el("b", letters[gold]), *links, found.unreadable[gold], found.tied[gold]])
    every = range(1, len(heads))
    return table(heads, rows, right=every, cls="grid-table")


def _questions(count: int, address: str) -> Child:
    return el("a", f"{count:,}", href=address) if count else "0"


def _positions(t: Text, found: PositionTable) -> Html:
    heads = [t(f"bias.{name}") for name in ("position", "share", "fair", "recall")]
    rows: list[list[Child]] = [
        [
            el("b", LETTERS[slot]),
            join(f"{figure(share)} % ", span(f"{spread(share)}", cls="meta")) if share else "–",
            f"{percent(found.chance)} %",
            join(f"{figure(recall)} % ", span(f"{spread(recall)} · n {recall.n:,}", cls="meta"))
            if recall
            else "–",
        ]
        for slot, (share, recall) in enumerate(zip(found.shares, found.recalls, strict=True))
    ]
    spread_words = t("bias.rstd", points=fixed(found.rstd, 1)) if found.rstd is not None else ""
    return join(table(heads, rows), el("p", spread_words, cls="meta gap-s"))
