"""Results, Statistics: how sure each figure is, every two models, and what could be seen at all."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import get_args
from urllib.parse import urlencode

from evalui.messages import Messages
from evalui.report.analyses.overview.every import signatures
from evalui.report.analyses.statistics import (
    ComparisonSet,
    comparable_cells,
    comparisons,
    refusal_sentence,
)
from evalui.report.analyses.statistics.blocks import (
    SIZES,
    errors_section,
    planned_size,
    statistics_blocks,
    statistics_headline,
)
from evalui.report.blocks import Block, Headline
from evalui.report.html import Html, div, el
from evalui.report.numbers import count
from evalui.report.render.page import render_blocks
from evalui.report.words import join_sentences
from evalui.scoring.cell_summary import Measure
from evalui.types import Cell
from evalui.ui.components.form import Form, field_value, parse_whole_number
from evalui.ui.components.widgets import card, field, select
from evalui.ui.tabs.results.calibration import calibration_section
from evalui.ui.tabs.results.run_view import RunView


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


def render(view: RunView, form: Form) -> Html:
    """The tests of one comparison: `compared` and `measure` of the form select it, `size` is the
    number of questions to plan with.
    """
    t = view.t
    summaries = [summary for summary in view.with_question.values() if summary.accuracy]
    if not summaries:
        words = el("p", t("statistics.none_about"), cls="dim")
        return card(div(el("h1", t("statistics.none")), words, cls="empty"))
    made = signatures(summaries)
    calibration = calibration_section(view, form, sub="statistics")
    selection = select_comparison(view, form)
    comparison = selection.comparison
    if comparison is None or not comparison.pairs:
        refused = comparison.incomparable if comparison else ()
        sentences = [refusal_sentence(each, t.language) for each in refused]
        missing = "statistics.waits" if view.is_live else "statistics.no_pair"
        blocks: list[Block] = [
            Headline(join_sentences(*sentences) or t(missing)),
            errors_section(summaries, t.language, baselines=view.baselines),
        ]
        return render_blocks([*blocks, *calibration, made])
    size = parse_whole_number(field_value(form, "size"))
    size = size if size in SIZES else planned_size(comparison)
    shown, grey = list(view.with_question.values()), view.baselines
    first = statistics_headline(shown, comparison, t.language, baselines=grey)
    blocks = statistics_blocks(shown, comparison, t.language, baselines=grey, size=size)
    address = {"run": view.run.id, "tab": "results", "sub": "statistics"}
    chosen = {"compared": selection.key, "measure": comparison.measure, "size": str(size)}
    diagram = {"calibration": cell} if (cell := field_value(form, "calibration")) else {}
    return div(
        render_blocks([first]),
        pickers(t, selection, size),
        render_blocks([*blocks, *calibration, made]),
        data_address=urlencode(address | (chosen if _chose(form) else {}) | diagram),
    )


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


def pickers(t: Messages, selection: ComparisonSelection, size: int) -> Html:
    """Which cells are compared, by which figure, and with how many questions to plan."""
    assert selection.comparison is not None, "there is something to pick"
    measures: dict[str, str] = {name: t(f"measure.{name}") for name in selection.measures}
    compared = select("compared", selection.options, selection.key)
    sizes = {str(each): t("statistics.chosen", n=count(each)) for each in SIZES}
    return div(
        field(t("statistics.compared"), compared) if len(selection.options) > 1 else None,
        field(t("statistics.measure"), select("measure", measures, selection.comparison.measure)),
        field(t("statistics.size"), select("size", sizes, str(size))),
        cls="fields pickers",
    )


def _chose(form: Form) -> bool:
    return any(field_value(form, name) for name in ("compared", "measure", "size"))


def _key(kind: Cell) -> str:
    return f"{kind.dataset}|{kind.label}"
