"""Calibration as blocks: is a model right as often as it is sure, and was it naming letters?"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from evalui.messages import localized
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
    StateCell,
    Table,
    TableCell,
    TextCell,
    ValueCell,
    text_table,
)
from evalui.report.charts.calibration import reliability, reliability_subtitle, reliability_title
from evalui.report.charts.theme import series_styles
from evalui.report.numbers import count, fixed, format_range, format_value, percent
from evalui.report.words import names
from evalui.scoring.bias import StratumBias
from evalui.scoring.bias.probabilities import Calibration, LabelMass
from evalui.scoring.cell_summary import Summary
from evalui.types import Cell, Language

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
    offered = calibrated_cells(summaries)
    if not offered:
        return []
    shown = [each for each in offered if (each.summary.cell, each.bias.n_options) == chosen]
    drawn = offered if address is None else (shown or offered)[:1]
    colours = series_styles([summary.cell.model for summary in summaries], baselines)
    blocks: list[Block] = []
    for each in drawn:
        colour = colours[each.summary.cell.model].colour
        blocks += _diagram(each, offered.index(each), language, colour)
    blocks.append(_figures(offered, summaries, language, address))
    sizes = {each.bias.n_options for each in offered}
    notes = [
        "figures_about",
        *["averages"] * (len(sizes) > 1),
        "ece_about",
        "brier_about",
        "mass_about",
    ]
    blocks.append(Bullets(tuple(localized(f"calibration.{each}", language) for each in notes)))
    blocks += _without(summaries, offered, language)
    title = localized("calibration.title", language)
    finding = reliability_title(drawn[0].calibration, drawn[0].summary.cell.model, language)
    finding = localized("sentence", language, said=finding)
    return [Details(_KEY, title, finding, tuple(blocks), open=bool(shown))]


def _diagram(each: CalibratedCell, number: int, language: Language, colour: str) -> list[Block]:
    """Sureness against rightness, with its bins as a table."""
    mean = each.mass.mean if each.mass else None
    chart = ChartBlock(
        f"calibration-{number + 1}.png",
        reliability_title(each.calibration, each.summary.cell.model, language),
        reliability(each.calibration, language, colour=colour),
        reliability_subtitle(each.calibration, mean, language),
    )
    blocks: list[Block] = [chart]
    if mean is not None and mean < _WARN_BELOW:
        text = localized("calibration.mass_low", language, value=percent(mean))
        blocks.append(Notes((NoteLine("warn", text),)))
    rows = [
        (
            f"{percent(bin_.low)}–{percent(bin_.high)} %",
            f"{percent(bin_.confidence)} %",
            ValueCell(format_value(bin_.accuracy), "%", format_range(bin_.accuracy)),
            count(bin_.accuracy.n),
        )
        for bin_ in each.calibration.bins
        if bin_.accuracy and bin_.confidence is not None
    ]
    keys = ("bin", "mean", "accuracy", "n")
    blocks.append(text_table([localized(f"calibration.{key}", language) for key in keys], rows))
    return blocks


def _figures(
    offered: Sequence[CalibratedCell],
    summaries: Sequence[Summary],
    language: Language,
    address: Address | None,
) -> Table:
    """Both errors and the letter mass of every cell; its name leads to its diagram."""
    called = names(summaries, language)
    several = len({each.bias.n_options for each in offered}) > 1
    rows: list[tuple[TableCell, ...]] = []
    for each in offered:
        cell, size = each.summary.cell, each.bias.n_options
        below = localized("file.options", language, n=size) if several else ""
        href = address(cell, size) if address and len(offered) > 1 else ""
        name = " · ".join(filter(None, called[cell]))
        ece = fixed(100 * each.calibration.ece, 1)
        brier = fixed(each.calibration.brier, 3)
        rows.append(
            (
                TextCell(name, below, strong=True, href=href),
                count(each.calibration.n),
                ValueCell(ece, below=_over(each.bias.ece, 100, 1, language)),
                ValueCell(brier, below=_over(each.bias.brier, 1, 3, language)),
                _mass(each.mass, language),
            )
        )
    heads = [localized(f"calibration.{key}", language) for key in ("cell", "n", "ece", "brier")]
    columns = [Column(head, right=place > 0) for place, head in enumerate(heads)]
    return Table((*columns, Column(localized("calibration.mass", language))), tuple(rows))


def _over(value: float | None, scale: int, places: int, language: Language) -> str:
    """The same figure over all orders; "" in one order only."""
    if value is None:
        return ""
    return localized("calibration.over", language, value=fixed(scale * value, places))


def _mass(mass: LabelMass | None, language: Language) -> TableCell:
    if mass is None:
        return NONE
    least, low, _, high, _ = mass.quantiles
    fields = {"low": percent(low), "high": percent(high), "least": percent(least)}
    below = localized("calibration.quantiles", language, **fields)
    kind = "bad" if mass.mean < _BAD_BELOW else "warn" if mass.mean < _WARN_BELOW else "ok"
    return StateCell(kind, f"{percent(mass.mean)} %", below)


def _without(
    summaries: Sequence[Summary], offered: Sequence[CalibratedCell], language: Language
) -> list[Block]:
    """The cells without probabilities, with the reason."""
    able = {each.summary.cell for each in offered}
    called = names(summaries, language)
    missing = [
        " · ".join(filter(None, called[summary.cell]))
        for summary in summaries
        if summary.accuracy and summary.cell not in able
    ]
    if not missing:
        return []
    cells = localized("list.comma", language).join(missing)
    text = localized("calibration.reason", language, cells=cells)
    return [Notes((NoteLine("na", text),))]


def _in_report(report: Report, language: Language) -> list[Block]:
    shown = [summary for summary in with_question(report.summaries) if summary.accuracy]
    return calibration_blocks(shown, language, baselines=report.baselines)


CALIBRATION = Analysis(lambda report: bool(report.summaries), _in_report)
