"""Results, Bias: does a model prefer a position? Its figures lead to their questions."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

import gradio as gr

from evalui.app.results import cell_result
from evalui.app.run_view import RunView
from evalui.app.service import AppService
from evalui.report.analyses.position_bias import (
    BiasChoice,
    BiasLinks,
    BiasSubject,
    GridCell,
    bias_page,
    grid_places,
    model_maps,
    questions_in,
)
from evalui.report.blocks import Block
from evalui.report.words import names
from evalui.scoring.bias import StratumBias
from evalui.scoring.cell_summary import Summary
from evalui.store.runs import CellRow
from evalui.types import is_unfinished
from evalui.ui.blocks import show
from evalui.ui.components.form import Form, field_value, parse_whole_number
from evalui.ui.pages.results.empty import show_empty
from evalui.ui.screen import Screen


@dataclass(frozen=True, slots=True)
class BiasSelection:
    """One cell of a run and its questions with one number of options."""

    cell_id: int
    summary: Summary
    bias: StratumBias

    @property
    def sizes(self) -> tuple[int, ...]:
        """The numbers of options that questions of the cell have."""
        strata = self.summary.bias.strata if self.summary.bias else ()
        return tuple(each.n_options for each in strata)

    @property
    def address(self) -> Mapping[str, str]:
        """What names it in an address: the cell, and the number of options if there are several."""
        size = {"bias_k": str(self.bias.n_options)} if len(self.sizes) > 1 else {}
        return {"cell": str(self.cell_id), **size}


def draw(screen: Screen, view: RunView) -> None:
    """Verdict, chart and table, sections, for what the address selects."""
    t = screen.t
    chosen = select_bias(view.with_question, screen.form, view.baselines)
    if chosen is None:
        waits = any(map(is_unfinished, view.with_question.values()))
        show_empty(t("bias.none"), t("front.no_order_done") if waits else t("bias.none_about"))
        return
    _pickers(screen, view, chosen)
    show(t, bias_document(view, screen.form, chosen), scope="bias")


def _pickers(screen: Screen, view: RunView, chosen: BiasSelection) -> None:
    """Which cell and which number of options, where there are several."""
    t = screen.t
    able = {id_: s for id_, s in view.with_question.items() if s.bias and s.bias.strata}
    called = names(list(able.values()), view.language)
    if len(able) < 2 and len(chosen.sizes) < 2:
        return
    with gr.Row(elem_classes="fields pickers"):
        if len(able) > 1:
            several = any(distinct for _, distinct in called.values())
            cells = {str(id_): " · ".join(filter(None, called[s.cell])) for id_, s in able.items()}
            word = t("bias.cell" if several else "bias.model")
            screen.picker("cell", word, cells, str(chosen.cell_id))
        if len(chosen.sizes) > 1:
            sizes = {str(each): t("file.options", n=each) for each in chosen.sizes}
            screen.picker("bias_k", t("maps.options"), sizes, str(chosen.bias.n_options))


def bias_document(view: RunView, form: Form, chosen: BiasSelection) -> list[Block]:
    """The blocks of what is chosen.

    Of the form `slots` and `options` select a cell of the grid, `gap_of` the category whose
    subjects are shown.
    """
    model = chosen.summary.cell.model
    is_baseline = model in view.baselines
    subject = BiasSubject(chosen.summary, chosen.bias, view.markers.place(model), is_baseline)
    links, choice = BiasLinks(view.places, chosen.address), _choice(view, chosen, form)
    maps = model_maps(
        subject,
        list(view.with_question.values()),
        view.language,
        baselines=view.baselines,
        links=links,
        group=choice.group,
    )
    return bias_page(subject, view.language, links, choice=choice, maps=maps)


def select_bias(
    summaries: Mapping[int, Summary], form: Form, baselines: Collection[str]
) -> BiasSelection | None:
    """The cell and the number of options that `cell` and `bias_k` of a form select, else the most
    biased; None if the run has no orders.

    That is one of a real model if there is one; of models that are alike, the first.
    """
    able = {id_: s for id_, s in summaries.items() if s.bias and s.bias.strata}
    if not able:
        return None
    requested = parse_whole_number(field_value(form, "cell"))
    cell_id = requested if requested in able else _most_biased(able, baselines)
    summary = able[cell_id]
    size = parse_whole_number(field_value(form, "bias_k"))
    stratum = (summary.bias_of(size) if size is not None else None) or summary.main_bias
    assert stratum is not None, "a cell with strata has a largest one"
    return BiasSelection(cell_id, summary, stratum)


def _most_biased(able: Mapping[int, Summary], baselines: Collection[str]) -> int:
    real = [id_ for id_, summary in able.items() if summary.cell.model not in baselines]
    biases = {id_: able[id_].main_bias for id_ in real or able}
    strengths = {id_: bias.strength for id_, bias in biases.items() if bias}
    return max(strengths, key=strengths.__getitem__)


def read_grid_cell(form: Form) -> GridCell | None:
    """The cell of the grid that an address selects, None if it selects none."""
    slots, options = (parse_whole_number(field_value(form, name)) for name in ("slots", "options"))
    return None if slots is None or options is None else GridCell(slots, options)


def _choice(view: RunView, chosen: BiasSelection, form: Form) -> BiasChoice:
    """What the address opens; the trials are read once, for the first cell of a grid."""
    group, grid_cell = field_value(form, "gap_of"), read_grid_cell(form)
    if grid_cell is None:
        return BiasChoice(group=group)
    row = next(cell for cell in view.cells if cell.id == chosen.cell_id)
    places = view.service.cache.memoize(_read_places)(view.service, row, chosen.bias.n_options)
    questions = questions_in(cell_result(view.service, row).samples, places, grid_cell)
    return BiasChoice(grid_cell, questions, group)


def _read_places(service: AppService, row: CellRow, n_options: int) -> Mapping[str, GridCell]:
    return grid_places(cell_result(service, row), n_options)
