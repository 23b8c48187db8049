"""Results, Bias: does a model prefer a position? Its figures lead to their questions."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from evalui.messages import Messages
from evalui.report.analyses.overview.summary import Summary
from evalui.report.analyses.position_bias.blocks import (
    BiasChoice,
    BiasLinks,
    BiasSubject,
    Parameters,
    bias_page,
)
from evalui.report.analyses.position_bias.figures import GridCell, questions_in
from evalui.report.analyses.position_bias.maps import model_maps
from evalui.report.html import Html, div, el
from evalui.report.render.page import render_blocks
from evalui.scoring.position_bias.summary import StratumBias
from evalui.types import Cell
from evalui.ui.components.form import Form, field_value, parse_whole_number
from evalui.ui.components.widgets import card, field, select
from evalui.ui.services.service import AppService
from evalui.ui.tabs.results.run_view import RunView


@dataclass(frozen=True, slots=True)
class BiasSelection:
    """One cell of a run and its questions with one number of options."""

    cell_id: int
    summary: Summary
    bias: StratumBias

    @property
    def address(self) -> Parameters:
        """What names it in an address: the cell, and the number of options if there are several."""
        several = self.summary.bias is not None and len(self.summary.bias.strata) > 1
        size = {"bias_k": self.bias.n_options} if several else {}
        return {"cell": self.cell_id, **size}


class BiasView:
    """The view in one language."""

    def __init__(self, service: AppService, t: Messages) -> None:
        self.service = service
        self.t = t

    def render(self, view: RunView, form: Form) -> Html:
        """Pickers, verdict, chart and table, sections, for what an address or the form selects.

        `cell` and `bias_k` select the cell and its number of options, `slots` and `options` a cell
        of the grid, `gap_of` the category whose subjects are shown.
        """
        chosen = select_bias(view.with_question, form)
        if chosen is None:
            return self._none(view)
        model = chosen.summary.cell.model
        subject = BiasSubject(
            chosen.summary,
            chosen.bias,
            view.marker_places[model],
            model in view.baselines,
        )
        choice, language = self._choice(view, chosen, form), self.t.language
        links = _links(view, chosen)
        summaries = list(view.with_question.values())
        maps = model_maps(
            subject,
            summaries,
            language,
            baselines=view.baselines,
            links=links,
            group=choice.group,
        )
        blocks = bias_page(subject, language, links, choice=choice, maps=maps)
        grid = choice.grid_cell
        opened: Parameters = {"slots": grid.slots, "options": grid.options} if grid else {}
        if choice.group:
            opened = {**opened, "gap_of": choice.group}
        return div(
            self._pickers(view, chosen),
            render_blocks(blocks),
            data_address=_query(view, {**chosen.address, **opened}),
        )

    def _pickers(self, view: RunView, chosen: BiasSelection) -> Html | None:
        """Which cell and which number of options, where there are several."""
        t = self.t
        able = [id_ for id_, s in view.with_question.items() if s.bias and s.bias.strata]
        strata = chosen.summary.bias.strata if chosen.summary.bias else ()
        sizes = {str(each.n_options): t("file.options", n=each.n_options) for each in strata}
        pickers = [
            field(t("bias.cell"), select("cell", view.choices(able), str(chosen.cell_id)))
            if len(able) > 1
            else None,
            field(t("maps.options"), select("bias_k", sizes, str(chosen.bias.n_options)))
            if len(sizes) > 1
            else None,
        ]
        return div(*pickers, cls="fields") if any(pickers) else None

    def _choice(self, view: RunView, chosen: BiasSelection, form: Form) -> BiasChoice:
        """What the address opens; the trials are read only for a cell of the grid."""
        group, grid_cell = field_value(form, "gap_of"), read_grid_cell(form)
        if grid_cell is None:
            return BiasChoice(group=group)
        row = next(cell for cell in view.cells if cell.id == chosen.cell_id)
        questions = questions_in(self.service.result(row), chosen.bias, grid_cell)
        return BiasChoice(grid_cell, questions, group)

    def _none(self, view: RunView) -> Html:
        t = self.t
        waits = any(s.state in ("waiting", "running") for s in view.with_question.values())
        about = t("front.no_order_done") if waits else t("bias.none_about")
        return card(div(el("h1", t("bias.none")), el("p", about, cls="dim"), cls="empty"))


def select_bias(summaries: Mapping[int, Summary], form: Form) -> BiasSelection | None:
    """The cell and the number of options that a form selects, else the first with any."""
    able = {id_: s for id_, s in summaries.items() if s.bias and s.bias.strata}
    if not able:
        return None
    requested = parse_whole_number(field_value(form, "cell"))
    cell_id = requested if requested is not None and requested in able else next(iter(able))
    summary = able[cell_id]
    size = parse_whole_number(field_value(form, "bias_k"))
    stratum = (summary.bias_of(size) if size is not None else None) or summary.main_bias
    assert stratum is not None, "a cell with strata has a largest one"
    return BiasSelection(cell_id, summary, stratum)


def read_grid_cell(form: Form) -> GridCell | None:
    """The cell of the grid that an address selects, None if it selects none."""
    slots, options = (parse_whole_number(field_value(form, name)) for name in ("slots", "options"))
    return None if slots is None or options is None else GridCell(slots, options)


def _links(view: RunView, chosen: BiasSelection) -> BiasLinks:
    ids = {summary.cell: id_ for id_, summary in view.summaries.items()}

    def samples(cell: Cell, filters: Parameters) -> str:
        address = {"run": view.run.id, "tab": "results", "sub": "samples", "cell": ids[cell]}
        return "?" + urlencode({**address, **filters})

    def here(parameters: Parameters, section: str) -> str:
        return f"?{_query(view, {**chosen.address, **parameters})}#{section}"

    return BiasLinks(samples, here)


def _query(view: RunView, parameters: Parameters) -> str:
    return urlencode({"run": view.run.id, "tab": "results", "sub": "bias", **parameters})
