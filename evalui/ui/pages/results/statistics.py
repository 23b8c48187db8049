"""Results, Statistics: how sure each figure is, every two models, and what could be seen at all."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import get_args
from urllib.parse import urlencode

import gradio as gr

from evalui.app.comparisons import MAX_CELLS
from evalui.app.run_view import RunView
from evalui.report.analyses.metrics import signatures
from evalui.report.analyses.statistics import (
    errors_section,
    planned_size,
    statistics_blocks,
    statistics_headline,
)
from evalui.report.analyses.verdict import refusal_sentence
from evalui.report.blocks import Block, Headline
from evalui.report.figures.statistics import SIZES
from evalui.report.numbers import count
from evalui.report.words import join_sentences
from evalui.scoring.cell_summary import Measure
from evalui.scoring.comparisons import ComparisonSet, comparable_cells, comparisons
from evalui.types import Cell
from evalui.ui.blocks import show
from evalui.ui.components.form import Form, field_value, parse_whole_number
from evalui.ui.pages.results.calibration import calibration_section
from evalui.ui.pages.results.empty import show_empty
from evalui.ui.screen import Screen


@dataclass(frozen=True, slots=True)
class ComparisonSelection:
    """What the pickers are set to: one comparison.

    `options` are the keys of all comparisons with their words, `measures` those that every cell
    of the chosen one has.
    """

    options: Mapping[str, str]
    key: str
    measures: tuple[Measure, ...]
    comparison: ComparisonSet | None


def draw(screen: Screen, view: RunView) -> None:
    """The tests of one comparison: `compared` and `measure` of the address select it, `size` is the
    number of questions to plan with.
    """
    t, form = screen.t, screen.form
    selection = select_comparison(view, form)
    blocks = statistics_document(view, form, selection.comparison)
    if not blocks:
        show_empty(t("statistics.none"), t("statistics.none_about"))
        return
    show(t, blocks[:1], scope="statistics-verdict")
    comparison = selection.comparison
    if comparison and comparison.pairs:
        measures: dict[str, str] = {name: t(f"measure.{name}") for name in selection.measures}
        sizes = {str(each): t("statistics.chosen", n=count(each)) for each in SIZES}
        with gr.Row(elem_classes="fields pickers"):
            if len(selection.options) > 1:
                word = t("statistics.compared")
                screen.picker("compared", word, selection.options, selection.key)
            screen.picker("measure", t("statistics.measure"), measures, comparison.measure)
            screen.picker("size", t("statistics.size"), sizes, str(_size(form, comparison)))
    show(t, blocks[1:], scope="statistics")


def statistics_document(view: RunView, form: Form, comparison: ComparisonSet | None) -> list[Block]:
    """The blocks with the verdict, or the reason why there is none, first; none without answers."""
    t = view.t
    summaries = [summary for summary in view.with_question.values() if summary.accuracy]
    if not summaries:
        return []
    end = [*calibration_section(view, form, sub="statistics"), signatures(summaries)]
    grey = view.baselines
    if comparison is None or not comparison.pairs:
        refused = comparison.incomparable if comparison else ()
        sentences = [refusal_sentence(each, t.language) for each in refused]
        missing = "statistics.waits" if view.is_live else "statistics.no_pair"
        errors = errors_section(summaries, t.language, baselines=grey)
        return [Headline(join_sentences(*sentences) or t(missing)), errors, *end]
    shown = list(view.with_question.values())
    size, at = _size(form, comparison), _compared_at(view, comparison)
    return [
        statistics_headline(shown, comparison, t.language, baselines=grey),
        *statistics_blocks(
            shown, comparison, t.language, baselines=grey, size=size, compared_at=at
        ),
        *end,
    ]


def select_comparison(view: RunView, form: Form) -> ComparisonSelection:
    """The comparison that the form selects, else the first."""
    groups = comparable_cells(list(view.with_question.values()))
    offered = {_key(group[0].cell): view.heading(group[0].cell) for group in groups}
    requested = field_value(form, "compared")
    key = requested if requested in offered else next(iter(offered), "")
    cells = [s for group in groups for s in group if _key(s.cell) == key]
    measures = tuple(m for m in get_args(Measure) if all(m in s.outcomes for s in cells))
    measure = next((name for name in measures if name == field_value(form, "measure")), None)
    comparison = next(iter(comparisons(cells, measure, baselines=view.baselines)), None)
    return ComparisonSelection(offered, key, measures, comparison)


def _compared_at(view: RunView, comparison: ComparisonSet) -> str:
    """The address that compares the same cells, "" where there are more than it takes."""
    compared = {cell for pair in comparison.pairs for cell in (pair.first, pair.second)}
    ids = [id_ for id_, summary in view.with_question.items() if summary.cell in compared]
    if len(ids) > MAX_CELLS:
        return ""
    named = {"cells": ",".join(map(str, ids)), "measure": comparison.measure}
    return f"compare?{urlencode(named, safe=',')}"


def _size(form: Form, comparison: ComparisonSet) -> int:
    size = parse_whole_number(field_value(form, "size"))
    return size if size in SIZES else planned_size(comparison)


def _key(kind: Cell) -> str:
    return f"{kind.dataset}|{kind.label}"
