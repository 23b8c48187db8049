"""Calibration: a section of Results, Statistics, and at an address of its own."""

from dataclasses import replace

from evalui.app.run_view import RunView
from evalui.report.analyses.calibration import calibration_blocks
from evalui.report.blocks import Details
from evalui.types import Cell
from evalui.ui.blocks import show
from evalui.ui.components.form import Form, field_value, parse_whole_number
from evalui.ui.pages.results.empty import show_empty
from evalui.ui.screen import Screen


def calibration_section(view: RunView, form: Form, *, sub: str) -> list[Details]:
    """The section in the view `sub`, [] without probabilities.

    `calibration` of the form is the cell of the diagram and its number of options, "12.4".
    """

    def address(cell: Cell, n_options: int) -> str:
        shown = f"{view.places.cells[cell]}.{n_options}"
        return view.address(sub, calibration=shown) + "#calibration"

    parts = map(parse_whole_number, field_value(form, "calibration").split("."))
    id_, n_options = (*parts, None)[:2]
    cells = [cell for cell, own in view.places.cells.items() if own == id_]
    return calibration_blocks(
        list(view.with_question.values()),
        view.language,
        baselines=view.baselines,
        chosen=(cells[0], n_options) if cells and n_options is not None else None,
        address=address,
    )


def draw(screen: Screen, view: RunView) -> None:
    """The section alone, or what a run would need to have one."""
    if blocks := calibration_section(view, screen.form, sub="calibration"):
        opened = [replace(each, open=True) for each in blocks]
        show(view.t, opened, scope="calibration")
    else:
        show_empty(view.t("calibration.none"), view.t("calibration.none_about"))
