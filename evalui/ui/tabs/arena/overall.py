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
from evalui.ui.components.form import Form
from evalui.ui.components.fragment import SKIP, html_fragment
from evalui.ui.components.html import Html, div, el
from evalui.ui.components.widgets import card
from evalui.ui.tabs.arena.arena_view import ArenaView, chart_head, signature_footer, waiting_key
from evalui.ui.tabs.arena.head import further_warnings, warnings
from evalui.ui.tabs.arena.judge_reliability import judge_reliability_card
from evalui.ui.tabs.arena.standings import pairs, ratings, standings


class ArenaOverallView:
    """The view in one language."""

    def __init__(self, t: Messages) -> None:
        self.t = t
        self.outputs: list[Any] = []

    def build(self, state: gr.Textbox) -> None:
        """Lay out the tables, the two charts, and what follows them."""
        del state  # nothing here is an act
        top = html_fragment("arena-top")
        with gr.Row(visible=False, equal_height=True, elem_classes="charts") as charts:
            with gr.Column(elem_classes="chart-card", scale=3, min_width=320):
                elo_title = html_fragment("arena-elo-title")
                elo = gr.Plot(show_label=False, container=False)
                elo_table = html_fragment("arena-elo-table")
            with gr.Column(elem_classes=["chart-card", "crossed"], scale=2, min_width=320):
                matrix_head = html_fragment("arena-matrix-title")
                matrix = gr.Plot(show_label=False, container=False)
                matrix_table = html_fragment("arena-matrix-table")
        last = html_fragment("arena-below")
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

    def show(self, view: ArenaView, form: Form) -> tuple[Any, ...]:
        """Everything the view shows of an arena."""
        del form  # there is nothing to choose
        arena, language = view.arena, self.t.language
        if not arena.standings:
            nothing = (SKIP,) * (len(self.outputs) - 3)
            return (
                _waiting(view),
                gr.Row(visible=False),
                *nothing,
                signature_footer(view, "overall"),
            )
        about = standings_subtitle(arena, language, rule_based=view.rule_based)
        return (
            _top(view),
            gr.Row(visible=True),
            chart_head(standings_title(arena, language), about),
            elo_chart(arena, language, baselines=view.baselines),
            ratings(view),
            chart_head(matrix_title(arena, language), matrix_subtitle(arena, language)),
            win_matrix(arena, language),
            pairs(view),
            signature_footer(view, "overall"),
        )


def _top(view: ArenaView) -> Html:
    return div(
        *warnings(view),
        div(
            div(standings(view), further_warnings(view), cls="f2"),
            judge_reliability_card(view),
            cls="row arena-row",
        ),
        cls="stack",
    )


def _waiting(view: ArenaView) -> Html:
    t = view.t
    verdicts = view.arena.verdicts
    unjudged = bool(verdicts) and all(verdict.unreferenced for verdict in verdicts)
    key = "arena.unread" if verdicts else waiting_key(view)
    key = "arena.unreferenced" if unjudged else key
    words = div(el("h2", t(key)), el("p", t(f"{key}_about"), cls="dim"), cls="empty")
    return div(*warnings(view), card(words), cls="stack")
