"""Arena, Overall: standings, the judge's reliability, ratings, and who beats whom."""

from typing import Any

import gradio as gr

from evalui.messages import Messages
from evalui.report.analyses.arena.narrative import (
    matrix_subtitle,
    matrix_title,
    standings_subtitle,
    standings_title,
)
from evalui.report.charts.arena import elo_chart, win_matrix
from evalui.ui.components.fragment import SKIP, Form, pane
from evalui.ui.components.html import Html, div, el
from evalui.ui.components.widgets import card
from evalui.ui.tabs.arena.arena_view import ShownArena, chart_head, signed_off, waiting
from evalui.ui.tabs.arena.head import further, warnings
from evalui.ui.tabs.arena.judge_reliability import trust
from evalui.ui.tabs.arena.standings import pairs, ratings, standings


class Overall:
    """The view in one language."""

    def __init__(self, t: Messages) -> None:
        self.t = t
        self.outputs: list[Any] = []

    def build(self, seen: gr.Textbox) -> None:
        """Lay out the tables, the two charts, and what follows them."""
        del seen  # nothing here is an act
        top = pane("arena-top")
        with gr.Row(visible=False, equal_height=True, elem_classes="charts") as charts:
            with gr.Column(elem_classes="chart-card", scale=3, min_width=320):
                elo_title = pane("arena-elo-title")
                elo = gr.Plot(show_label=False, container=False)
                elo_table = pane("arena-elo-table")
            with gr.Column(elem_classes=["chart-card", "crossed"], scale=2, min_width=320):
                matrix_head = pane("arena-matrix-title")
                matrix = gr.Plot(show_label=False, container=False)
                matrix_table = pane("arena-matrix-table")
        last = pane("arena-below")
        self.outputs = [
            top,
            charts,
            elo_title,
            elo,
            elo_table,
            matrix_head,
            matrix,
            matrix_table,
            last,
        ]

    def show(self, shown: ShownArena, form: Form) -> tuple[Any, ...]:
        """Everything the view shows of an arena."""
        del form  # there is nothing to choose
        arena, language = shown.arena, self.t.language
        if not arena.standings:
            nothing = (SKIP,) * (len(self.outputs) - 3)
            return (_waiting(shown), gr.Row(visible=False), *nothing, signed_off(shown, "overall"))
        about = standings_subtitle(arena, language, rule_based=shown.rule_based)
        return (
            _top(shown),
            gr.Row(visible=True),
            chart_head(standings_title(arena, language), about),
            elo_chart(arena, language, baselines=shown.baselines),
            ratings(shown),
            chart_head(matrix_title(arena, language), matrix_subtitle(arena, language)),
            win_matrix(arena, language),
            pairs(shown),
            signed_off(shown, "overall"),
        )


def _top(shown: ShownArena) -> Html:
    return div(
        *warnings(shown),
        div(div(standings(shown), further(shown), cls="f2"), trust(shown), cls="row arena-row"),
        cls="stack",
    )


def _waiting(shown: ShownArena) -> Html:
    t = shown.t
    verdicts = shown.arena.verdicts
    unjudged = bool(verdicts) and all(verdict.unreferenced for verdict in verdicts)
    key = "arena.unread" if verdicts else waiting(shown)
    key = "arena.unreferenced" if unjudged else key
    words = div(el("h2", t(key)), el("p", t(f"{key}_about"), cls="dim"), cls="empty")
    return div(*warnings(shown), card(words), cls="stack")
