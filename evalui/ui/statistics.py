"""Results, Statistics: how sure each figure is, every two models, and what could be seen at all."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Any, get_args

import gradio as gr

from evalui.report.numbers import count, fixed
from evalui.report.numbers import span as spread
from evalui.report.pair_narrative import refusal_sentence
from evalui.report.pairs import Comparison, comparisons
from evalui.report.summary import Measure, Summary
from evalui.types import Cell
from evalui.ui.desk import Desk
from evalui.ui.draft import one
from evalui.ui.figures import ranged
from evalui.ui.html import Child, Html, div, el
from evalui.ui.matrix import model_name
from evalui.ui.pane import SKIP, Form, on, pane, read_act
from evalui.ui.standings import cell_names, model_places
from evalui.ui.statistics_pairs import (
    bands_card,
    pairs_chart,
    pairs_table,
    pairs_title,
    power_chart,
    power_table,
)
from evalui.ui.text import Text
from evalui.ui.view import Shown
from evalui.ui.widgets import card, field, note, select, signature_line, table, titled


class Statistics:
    """The view in one language. The fields of the tab are its state."""

    def __init__(self, desk: Desk, t: Text) -> None:
        self.desk = desk
        self.t = t
        self.outputs: list[Any] = []

    def build(self, run_id: gr.Textbox) -> None:
        """Lay out errors, differences with the ranks beside them, and what could be seen."""
        top = pane("statistics-top")
        with gr.Row(visible=False, equal_height=True, elem_classes="charts") as charts:
            with gr.Column(elem_classes=["chart-card", "wide-plot"], scale=2, min_width=320):
                title = pane("statistics-pairs-title")
                differences = gr.Plot(show_label=False, container=False)
            with gr.Column(elem_classes="chart-card", scale=1, min_width=320):
                bands = pane("statistics-bands")
        tests = pane("statistics-tests")
        with gr.Column(elem_classes=["chart-card", "wide-plot"], visible=False) as frame:
            power = pane("statistics-power")
            needed = gr.Plot(show_label=False, container=False)
        last = pane("statistics-below")
        self.outputs = [top, charts, title, differences, bands, tests, frame, power, needed, last]
        on(top, self.changed, inputs=[run_id], outputs=self.outputs)
        on(power, self.resized, inputs=[run_id], outputs=[power, needed])

    def show(self, run_id: str, form: Form | None = None) -> tuple[Any, ...]:
        """Everything the view shows of a run."""
        shown, t, form = Shown(self.desk, self.t, run_id), self.t, form or {}
        summaries = [summary for summary in shown.asked.values() if summary.accuracy]
        signatures = div(*(signature_line(summary.cell.signature) for summary in summaries))
        hidden, frame = gr.Row(visible=False), gr.Column(visible=False)
        if not summaries:
            words = el("p", t("statistics.none_about"), cls="dim")
            none = card(div(el("h2", t("statistics.none")), words, cls="empty"))
            return none, hidden, SKIP, None, SKIP, Html(""), frame, SKIP, None, Html("")
        wish = wished(shown, form)
        found = wish.found
        if found is None or not found.pairs:
            told = div(errors_card(t, shown), lonely(t, wish), cls="stack")
            return told, hidden, SKIP, None, SKIP, Html(""), frame, SKIP, None, signatures
        size = one(form, "size")
        return (
            div(errors_card(t, shown), pickers(t, wish), cls="stack"),
            gr.Row(visible=True),
            pairs_title(t, shown, found),
            pairs_chart(shown, found),
            bands_card(t, shown, found),
            pairs_table(t, found),
            gr.Column(visible=True),
            power_table(t, found, size),
            power_chart(found, size, t.language),
            signatures,
        )

    def changed(self, run_id: str, event: gr.EventData) -> tuple[Any, ...]:
        """Another comparison or another measure."""
        return self.show(run_id, read_act(event).form)

    def resized(self, run_id: str, event: gr.EventData) -> tuple[Any, ...]:
        """Another number of questions."""
        form = read_act(event).form
        found = wished(Shown(self.desk, self.t, run_id), form).found
        if found is None:
            return SKIP, SKIP
        size = one(form, "size")
        return power_table(self.t, found, size), power_chart(found, size, self.t.language)


@dataclass(frozen=True, slots=True)
class Wish:
    """What the pickers are set to: one comparison.

    `offered` are the keys of all comparisons with their words, `measures` those that every cell
    of the chosen one has.
    """

    offered: Mapping[str, str]
    key: str
    measures: tuple[Measure, ...]
    found: Comparison | None


def wished(shown: Shown, form: Form) -> Wish:
    """The comparison that the form asks for, else the first."""
    offered = {_key(each): shown.heading(each) for each in shown.pairs()}
    wish = one(form, "compared")
    key = wish if wish in offered else next(iter(offered), "")
    cells = [s for s in shown.asked.values() if s.accuracy and _key(s.cell) == key]
    measures = tuple(m for m in get_args(Measure) if all(m in s.outcomes for s in cells))
    measure = next((name for name in measures if name == one(form, "measure")), None)
    found = next(iter(comparisons(cells, measure, baselines=shown.baselines)), None)
    return Wish(offered, key, measures, found)


def _key(kind: Comparison | Cell) -> str:
    return f"{kind.dataset}|{kind.label}"


def pickers(t: Text, wish: Wish) -> Html:
    """Which cells are compared, and by which figure."""
    assert wish.found is not None, "there is something to pick"
    measures: dict[str, str] = {name: t(f"measure.{name}") for name in wish.measures}
    compared = select("compared", wish.offered, wish.key)
    measure = select("measure", measures, wish.found.measure)
    return div(
        div(field(t("statistics.compared"), compared), cls="bias-pick")
        if len(wish.offered) > 1
        else None,
        div(field(t("statistics.measure"), measure), cls="bias-pick") if measures else None,
        cls="row end",
    )


def lonely(t: Text, wish: Wish) -> Html:
    """Why nothing is compared."""
    refused = wish.found.refused if wish.found else ()
    lines = [note("na", refusal_sentence(each, t.language)) for each in refused]
    return card(*(lines or [el("p", t("statistics.no_pair"), cls="dim")]))


def errors_card(t: Text, shown: Shown) -> Html:
    """The figure of each cell over its orders with its clustered error and design effect."""
    summaries = [summary for summary in shown.asked.values() if summary.accuracy]
    # A model without answers keeps its place, and with it the colours of those that follow.
    places = model_places(list(shown.asked.values()), shown.baselines)
    names = cell_names(t, summaries)
    keys = ("cell", "kind", "figure", "se", "t", "deff", "n", "trials", "effective")
    rows: list[list[Child]] = [
        [
            model_name(names[s.cell], places[s.cell.model], s.cell.model in shown.baselines),
            *_error(t, s),
        ]
        for s in summaries
    ]
    most = max(summaries, key=_inflation)
    told = t("statistics.inflated", model=names[most.cell], times=fixed(_inflation(most), 1))
    return titled(
        t("statistics.errors"),
        table([t(f"statistics.{key}") for key in keys], rows, right=range(2, len(keys))),
        el("p", told, cls="meta gap-s") if _inflation(most) >= 1.05 else None,
        aside=t("statistics.errors_about"),
    )


def _error(t: Text, s: Summary) -> list[Child]:
    assert s.accuracy is not None, "only cells with answers are listed"
    found, n = s.clustered, count(s.n)
    if found is None:
        return [t("measure.accuracy"), ranged(s.accuracy), "–", "–", "–", n, n, n]
    return [
        t("measure.mean_over_orders"),
        ranged(found.interval),
        "–" if found.se is None else t("statistics.points", value=fixed(100 * found.se, 2)),
        "–" if found.se is None else spread(found.t_interval),
        "–" if found.design_effect is None else fixed(found.design_effect, 2),
        count(found.interval.n),
        count(found.n_trials),
        count(round(found.n_effective)),
    ]


def _inflation(s: Summary) -> float:
    """How many times too narrow the range is if every answer counts as a question."""
    found = s.clustered
    return sqrt(max(1.0, found.design_effect)) if found and found.design_effect else 1.0
