"""Calibration as blocks: is a model right as often as it is sure, and was it naming letters?"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING

from evalui.messages import Messages, add_messages, messages
from evalui.report.analyses.base import Analysis, Report
from evalui.report.analyses.verdict import with_question
from evalui.report.blocks import (
    NONE,
    Block,
    Bullets,
    ChartBlock,
    Column,
    Details,
    NoteLine,
    Notes,
    Paragraph,
    StateCell,
    Table,
    TableCell,
    TextCell,
    ValueCell,
    text_table,
)
from evalui.report.figures.calibration import reliability
from evalui.report.figures.theme import series_styles
from evalui.report.frames import choices
from evalui.report.numbers import count, fixed, format_range, format_value, percent
from evalui.report.words import join_names, join_sentences, names
from evalui.scoring.bias import StratumBias
from evalui.scoring.bias.probabilities import Calibration, LabelMass
from evalui.scoring.cautions import HIDDEN_BELOW, MIN_DRAWN
from evalui.scoring.cell_summary import Summary
from evalui.types import Cell, Language

if TYPE_CHECKING:
    import plotly.graph_objects as go

add_messages(Path(__file__).with_suffix(".toml"))
_BAD_BELOW, _WARN_BELOW = 0.5, 0.9  # label mass under which the figures are about a part only
_KEY = "calibration"

Address = Callable[[Cell, int], str]  # of the page with the diagram of a cell, by its n_options


@dataclass(frozen=True, slots=True)
class CalibratedCell:
    """One cell and its questions with one number of options, as far as they have probabilities."""

    summary: Summary
    bias: StratumBias
    calibration: Calibration

    @property
    def mass(self) -> LabelMass | None:
        """What all letters hold together, over all trials of the cell."""
        return self.summary.bias.mass if self.summary.bias else None


def calibrated_cells(summaries: Sequence[Summary]) -> list[CalibratedCell]:
    """Every cell with probabilities, once for each number of options."""
    return [
        CalibratedCell(summary, stratum, stratum.calibration)
        for summary in summaries
        for stratum in (summary.bias.strata if summary.bias else ())
        if stratum.calibration
    ]


def calibration_blocks(
    summaries: Sequence[Summary],
    language: Language,
    *,
    baselines: Collection[str] = (),
    chosen: tuple[Cell, int] | None = None,
    address: Address | None = None,
) -> list[Block]:
    """The section on calibration, with the diagram of one cell; [] without any probability.

    `chosen` is that cell and its number of options, else the first. `address` leads to the page
    with the diagram of another; a file has none, and a diagram of each cell.
    """
    t, offered = messages(language), calibrated_cells(summaries)
    if not offered:
        return []
    shown = [each for each in offered if (each.summary.cell, each.bias.n_options) == chosen]
    drawn = offered if address is None else (shown or offered)[:1]
    colours = series_styles([summary.cell.model for summary in summaries], baselines)
    blocks: list[Block] = []
    for each in drawn:
        colour = colours[each.summary.cell.model].colour
        blocks += _diagram(each, offered.index(each), t, colour)
    blocks.append(_figures(offered, summaries, t, address))
    several = len({each.bias.n_options for each in offered}) > 1
    notes = ("figures", *["averages"] * several, "ece", "brier", "mass")
    blocks.append(Bullets(tuple(t(f"calibration.about-{each}") for each in notes)))
    blocks += _without(summaries, offered, t)
    finding = reliability_title(drawn[0].calibration, drawn[0].summary.cell.model, t)
    title, finding = t("calibration.title"), t("sentence", said=finding)
    return [Details(_KEY, title, finding, tuple(blocks), open=bool(shown))]


def reliability_title(calibration: Calibration, model: str, t: Messages) -> str:
    """Whether the model is surer than it is right, in one sentence."""
    if calibration.n < HIDDEN_BELOW:
        return t("calibration.few", n=count(calibration.n))
    known = [(e.accuracy, e.confidence) for e in calibration.bins if e.accuracy and e.confidence]
    apart = sum(a.n * (sure - a.value) for a, sure in known) / calibration.n
    # Within two standard errors of a share, sureness and rightness agree as far as one can see.
    right = sum(a.n * a.value for a, _ in known) / calibration.n
    if abs(apart) <= 2 * sqrt(max(right * (1 - right), 0.0) / calibration.n):
        return t("calibration.even", model=model)
    key = "calibration.over-sure" if apart > 0 else "calibration.under-sure"
    return t(key, model=model, gap=fixed(100 * abs(apart), 0))


def _diagram(each: CalibratedCell, number: int, t: Messages, colour: str) -> list[Block]:
    """Sureness against rightness, with its bins as a table."""
    fit, mean = each.calibration, each.mass.mean if each.mass else None
    about = t(
        "calibration.about",
        ece=fixed(100 * fit.ece, 1),
        brier=fixed(fit.brier, 2),
        mass=NONE if mean is None else percent(mean),
        n=count(fit.n),
    )
    title = reliability_title(fit, each.summary.cell.model, t)
    chart = partial(_reliability, each, t, colour)
    blocks: list[Block] = [
        ChartBlock(f"calibration-{number + 1}.png", title, chart, about)
        if fit.n >= MIN_DRAWN
        else Paragraph(join_sentences(t("sentence", said=title), about))
    ]
    if mean is not None and mean < _WARN_BELOW:
        blocks.append(Notes((NoteLine("warn", t("calibration.mass-low", value=percent(mean))),)))
    rows = [
        (
            f"{percent(bin_.low)}–{percent(bin_.high)} %",
            f"{percent(bin_.confidence)} %",
            ValueCell(format_value(bin_.accuracy), "%", format_range(bin_.accuracy)),
            count(bin_.accuracy.n),
        )
        for bin_ in fit.bins
        if bin_.accuracy and bin_.confidence is not None
    ]
    heads = [t(f"calibration.{key}") for key in ("bin", "mean", "accuracy", "n")]
    return [*blocks, text_table(heads, rows)]


def _reliability(each: CalibratedCell, t: Messages, colour: str) -> go.Figure:
    import pandas as pd

    bins = choices.calibration([each.summary])
    own = [row for row in bins if row["options"] == each.bias.n_options]
    return reliability(pd.DataFrame(own, dtype=object), t, colour=colour)


def _figures(
    offered: Sequence[CalibratedCell],
    summaries: Sequence[Summary],
    t: Messages,
    address: Address | None,
) -> Table:
    """Both errors and the letter mass of every cell; its name leads to its diagram."""
    called = names(summaries, t.language)
    several = len({each.bias.n_options for each in offered}) > 1
    rows: list[tuple[TableCell, ...]] = []
    for each in offered:
        cell, size = each.summary.cell, each.bias.n_options
        below = t("file.options", n=size) if several else ""
        href = address(cell, size) if address and len(offered) > 1 else ""
        name = " · ".join(filter(None, called[cell]))
        ece = fixed(100 * each.calibration.ece, 1)
        brier = fixed(each.calibration.brier, 3)
        rows.append(
            (
                TextCell(name, below, strong=True, href=href),
                count(each.calibration.n),
                ValueCell(ece, below=_over_all_orders(each.bias.ece, 100, 1, t)),
                ValueCell(brier, below=_over_all_orders(each.bias.brier, 1, 3, t)),
                _mass(each.mass, t),
            )
        )
    heads = [t(f"calibration.{key}") for key in ("cell", "n", "ece", "brier")]
    columns = [Column(head, right=place > 0) for place, head in enumerate(heads)]
    return Table((*columns, Column(t("calibration.mass"))), tuple(rows))


def _over_all_orders(value: float | None, scale: int, places: int, t: Messages) -> str:
    """The same figure over all orders; "" in one order only."""
    return "" if value is None else t("calibration.over", value=fixed(scale * value, places))


def _mass(mass: LabelMass | None, t: Messages) -> TableCell:
    if mass is None:
        return NONE
    least, low, _, high, _ = mass.quantiles
    fields = {"low": percent(low), "high": percent(high), "least": percent(least)}
    kind = "bad" if mass.mean < _BAD_BELOW else "warn" if mass.mean < _WARN_BELOW else "ok"
    return StateCell(kind, f"{percent(mass.mean)} %", t("calibration.quantiles", **fields))


def _without(
    summaries: Sequence[Summary], offered: Sequence[CalibratedCell], t: Messages
) -> list[Block]:
    """The cells without probabilities, with the reason."""
    able = {each.summary.cell for each in offered}
    called = names(summaries, t.language)
    missing = [
        " · ".join(filter(None, called[summary.cell]))
        for summary in summaries
        if summary.accuracy and summary.cell not in able
    ]
    if not missing:
        return []
    text = t("calibration.reason", cells=join_names(missing, t.language))
    return [Notes((NoteLine("na", text),))]


def _in_report(report: Report, language: Language) -> list[Block]:
    shown = [summary for summary in with_question(report.summaries) if summary.accuracy]
    return calibration_blocks(shown, language, baselines=report.baselines)


CALIBRATION = Analysis(lambda report: bool(report.summaries), _in_report)
