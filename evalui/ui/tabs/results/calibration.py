"""Results, Calibration: is a model right as often as it is sure?"""

from urllib.parse import urlencode

from evalui.messages import Messages
from evalui.report.analyses.calibration import calibration_blocks
from evalui.report.html import Html, div, el
from evalui.report.render.page import render_blocks
from evalui.types import Cell
from evalui.ui.components.form import Form, field_value, parse_whole_number
from evalui.ui.components.widgets import card
from evalui.ui.tabs.results.run_view import RunView


def render_calibration(t: Messages, view: RunView, form: Form, *, sub: str) -> Html:
    """The section of a run; `sub` is the view it stands in.

    `calibration` of the form is the cell and the number of options of the diagram, "12.4".
    """
    ids = {summary.cell: id_ for id_, summary in view.summaries.items()}

    def address(cell: Cell, n_options: int) -> str:
        where = {"run": view.run.id, "tab": "results", "sub": sub}
        return f"?{urlencode({**where, 'calibration': f'{ids[cell]}.{n_options}'})}#calibration"

    parts = map(parse_whole_number, field_value(form, "calibration").split("."))
    id_, n_options = (*parts, None)[:2]
    cells = [cell for cell, own in ids.items() if own == id_ and n_options is not None]
    blocks = calibration_blocks(
        list(view.with_question.values()),
        t.language,
        baselines=view.baselines,
        chosen=(cells[0], n_options) if cells and n_options is not None else None,
        address=address,
    )
    if blocks:
        return render_blocks(blocks)
    words = el("p", t("calibration.none_about"), cls="dim")
    return card(div(el("h2", t("calibration.none")), words, cls="empty unavailable"))
