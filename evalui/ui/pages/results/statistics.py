"""Results, Statistics: how sure each figure is, every two models, and what could be seen at all."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import get_args
from urllib.parse import urlencode

from evalui.app.comparisons import MAX_CELLS
from evalui.app.run_view import RunView
from evalui.messages import Messages
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
from evalui.report.html import Html
from evalui.report.numbers import count
from evalui.report.render.page import render_headline
from evalui.report.words import join_sentences
from evalui.scoring.cell_summary import Measure
from evalui.scoring.comparisons import ComparisonSet, comparable_cells, comparisons
from evalui.types import Cell
from evalui.ui.blocks import show
from evalui.ui.components.form import Form, field_value, parse_whole_number
from evalui.ui.components.pickers import Pickers, Words
from evalui.ui.pages.results.calibration import calibration_section
from evalui.ui.pages.results.empty import show_empty


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


def statistics_pickers(t: Messages) -> Pickers:
    """Which cells are compared, by which figure, and with how many questions to plan."""
    return Pickers(
        {
            "compared": t("statistics.compared"),
            "measure": t("statistics.measure"),
            "size": t("statistics.size"),
        }
    )


def offered(view: RunView, form: Form) -> dict[str, Words]:
    """What can be picked, nothing where nothing is compared."""
    selection, t = select_comparison(view, form), view.t
    comparison = selection.comparison
    if comparison is None or not comparison.pairs:
        return {}
    measures: dict[str, str] = {name: t(f"measure.{name}") for name in selection.measures}
    sizes = {str(each): t("statistics.chosen", n=count(each)) for each in SIZES}
    words = {
        "measure": Words(measures, comparison.measure),
        "size": Words(sizes, str(_size(form, comparison))),
    }
    several = len(selection.options) > 1
    return ({"compared": Words(selection.options, selection.key)} if several else {}) | words


def top(view: RunView, form: Form) -> Html | None:
    """The verdict above the pickers; None where there is nothing to compare."""
    comparison = select_comparison(view, form).comparison
    if comparison is None or not comparison.pairs:
        return None
    shown = list(view.with_question.values())
    return render_headline(
        statistics_headline(shown, comparison, view.language, baselines=view.baselines)
    )


def draw(view: RunView, form: Form) -> None:
    """The tests of one comparison: `compared` and `measure` of the form select it, `size` is the
    number of questions to plan with.
    """
    if blocks := statistics_document(view, form):
        show(view.t, blocks, scope="statistics")
    else:
        show_empty(view.t("statistics.none"), view.t("statistics.none_about"))


def statistics_document(view: RunView, form: Form) -> list[Block]:
    """The blocks below the verdict, or with the reason why there is none; none without answers."""
    t = view.t
    summaries = [summary for summary in view.with_question.values() if summary.accuracy]
    if not summaries:
        return []
    calibration = calibration_section(view, form, sub="statistics")
    comparison = select_comparison(view, form).comparison
    if comparison is None or not comparison.pairs:
        refused = comparison.incomparable if comparison else ()
        sentences = [refusal_sentence(each, t.language) for each in refused]
        missing = "statistics.waits" if view.is_live else "statistics.no_pair"
        errors = errors_section(summaries, t.language, baselines=view.baselines)
        headline = Headline(join_sentences(*sentences) or t(missing))
        return [headline, errors, *calibration, signatures(summaries)]
    shown, size = list(view.with_question.values()), _size(form, comparison)
    grey = view.baselines
    at = _compared_at(view, comparison)
    blocks = statistics_blocks(
        shown, comparison, t.language, baselines=grey, size=size, compared_at=at
    )
    return [*blocks, *calibration, signatures(summaries)]


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
