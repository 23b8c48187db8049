"""Calibration as blocks: from which probability on one can act, and what is more than chance.

A figure is set beside what the same probabilities would give if they were perfectly calibrated; of
one that lies within nothing is claimed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from math import sqrt
from pathlib import Path
from typing import TYPE_CHECKING, Literal

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
    Kind,
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
from evalui.report.figures import calibration as charts
from evalui.report.figures.theme import series_styles
from evalui.report.frames import calibration as frames
from evalui.report.frames.base import Row
from evalui.report.numbers import count, fixed, format_range, format_value, percent, probability
from evalui.report.words import join_names, join_sentences, names
from evalui.scoring.bias import StratumBias
from evalui.scoring.bias.probabilities import LabelMass
from evalui.scoring.calibration import ActAbove, Calibration, Floored, RiskCoverage
from evalui.scoring.cautions import HIDDEN_BELOW, MIN_DRAWN
from evalui.scoring.cell_summary import Summary, is_decided
from evalui.types import Cell, Interval, Language

if TYPE_CHECKING:
    import plotly.graph_objects as go

add_messages(Path(__file__).with_suffix(".toml"))
_BAD_BELOW, _WARN_BELOW = 0.5, 0.9  # label mass under which the figures are about a part only
_KEY, _ACT = "calibration", "act"
_GOALS = (0.95, 0.90, 0.99)  # which of them is spoken of, if there is a threshold for several
# What is counted of decisions, in the order of the table.
_DECIDED = ("n", "refused", "missing", "no_sum", "tied", "disagreeing", "truncated", "rounded")
_PLACES: Mapping[str, int] = {"ece": 1, "brier": 3, "nll": 3, "aurc": 1}

Address = Callable[[Cell, int], str]  # of the page with the diagram of a cell, by its n_options


@dataclass(frozen=True, slots=True)
class CalibratedCell:
    """One cell and its questions with one number of options, as far as they have probabilities."""

    summary: Summary
    bias: StratumBias
    calibration: Calibration

    @property
    def model(self) -> str:
        """Whose probabilities they are."""
        return self.summary.cell.model

    @property
    def mass(self) -> LabelMass | None:
        """What all letters hold together, over all trials of the cell; None of decisions."""
        if is_decided(self.summary.cell) or self.summary.bias is None:
            return None
        return self.summary.bias.mass

    @property
    def risk(self) -> RiskCoverage | None:
        """What is gained by acting on the sure ones."""
        return self.bias.risk

    @property
    def act(self) -> ActAbove | None:
        """The threshold that is spoken of, one with many questions above it if there is one.

        What the check has found does not choose it. None of few questions.
        """
        if self.risk is None or self.calibration.n < HIDDEN_BELOW:
            return None
        known = {each.goal: each for each in self.risk.act}
        chosen = [known[goal] for goal in _GOALS if goal in known and known[goal].right]
        return min(chosen, key=_is_few, default=None)


def calibrated_cells(summaries: Sequence[Summary]) -> list[CalibratedCell]:
    """Every cell with probabilities, once for each number of options."""
    return [
        CalibratedCell(summary, stratum, stratum.calibration)
        for summary in summaries
        for stratum in (summary.bias.strata if summary.bias else ())
        if stratum.calibration
    ]


def _is_missed(act: ActAbove) -> bool:
    """Whether the check shows less than the threshold was chosen for."""
    return act.right is not None and act.right.high < act.goal


def _is_few(act: ActAbove) -> bool:
    return act.right is None or act.right.n < HIDDEN_BELOW


def calibration_blocks(
    summaries: Sequence[Summary],
    language: Language,
    *,
    baselines: Collection[str] = (),
    chosen: tuple[Cell, int] | None = None,
    address: Address | None = None,
) -> list[Details]:
    """When to act and how far probabilities fit, with the charts of one cell; [] without any.

    `chosen` is that cell and its number of options, else the first. `address` leads to the page
    with the charts of another; a file has none, and the charts of each cell.
    """
    t, offered = messages(language), calibrated_cells(summaries)
    if not offered:
        return []
    shown = [each for each in offered if (each.summary.cell, each.bias.n_options) == chosen]
    drawn = offered if address is None else (shown or offered)[:1]
    colours = series_styles([summary.cell.model for summary in summaries], baselines)
    named = partial(_names, offered, summaries, t, address)
    acting: list[Block] = []
    fitting: list[Block] = []
    for each in drawn:
        number, colour = offered.index(each) + 1, colours[each.model].colour
        acting += _when_to_act(each, number, t, colour, named=len(offered) > 1)
        fitting += _diagram(each, number, t, colour, named=len(offered) > 1)
    if len(offered) > 1:
        acting.append(_every_act(offered, t, named))
    fitting.append(_figures(offered, t, named))
    several = len({each.bias.n_options for each in offered}) > 1
    notes = ("figures", *["averages"] * several, "floor", "four", "ece", "brier", "nll", "aurc")
    notes += ("mass",) if any(each.mass for each in offered) else ()
    fitting.append(Bullets(tuple(t(f"calibration.about-{each}") for each in notes)))
    fitting += _without(summaries, offered, t)
    first, is_open = drawn[0], bool(shown)
    return [
        Details(
            _ACT,
            t("calibration.act-title"),
            t("sentence", said=act_finding(first, t, named=len(offered) > 1)),
            (*acting, Bullets(tuple(t(f"calibration.about-{each}") for each in ("act", "gates")))),
            open=is_open,
        ),
        Details(
            _KEY,
            t("calibration.title"),
            t("sentence", said=fit_finding(first, t, named=len(offered) > 1)),
            tuple(fitting),
            open=is_open,
        ),
        *_decided(summaries, t),
    ]


# ---------------------------------------------------------------- in one sentence


def act_finding(each: CalibratedCell, t: Messages, *, named: bool = False) -> str:
    """From which probability on one can act, in at most 25 words; what the check refutes, so too.

    `named` says whose probabilities they are.
    """
    if each.calibration.n < HIDDEN_BELOW:
        return _of(each.model, t("calibration.few", n=count(each.calibration.n)), t, named=named)
    act = each.act
    if act is None or act.right is None or act.coverage is None or act.threshold is None:
        return _of(each.model, _no_threshold(each, t), t, named=named)
    threshold = probability(act.threshold)
    fields = {"threshold": threshold, "value": format_value(act.right)}
    fields |= {"span": format_range(act.right), "goal": percent(act.goal)}
    if _is_few(act):
        k = count(round(act.right.value * act.right.n))
        text = t("calibration.act-few", k=k, n=count(act.right.n), **fields)
    elif _is_missed(act):
        text = t("calibration.act-missed", **fields)
    else:
        fields["coverage"] = format_value(act.coverage)
        if named:
            return t("calibration.act-of", model=each.model, **fields)
        text = t("calibration.act", **fields)
    return _of(each.model, text, t, named=named)


def _no_threshold(each: CalibratedCell, t: Messages) -> str:
    goals = [act.goal for act in each.risk.act] if each.risk else []
    if not goals:
        return fit_finding(each, t)
    ece = each.calibration.ece
    key = "alone" if ece.floor_high is None else "outside" if ece.shows_something else "within"
    upper = "" if ece.floor_high is None else fixed(100 * ece.floor_high, 1)
    fields = {"goal": percent(min(goals)), "ece": fixed(100 * ece.value, 1), "upper": upper}
    return t(f"calibration.act-none-{key}", **fields)


def fit_finding(each: CalibratedCell, t: Messages, *, named: bool = False) -> str:
    """Whether the probabilities fit, in one sentence; that of a figure within its band, no more."""
    fit, model = each.calibration, each.model
    if fit.n < HIDDEN_BELOW:
        return _of(model, t("calibration.few", n=count(fit.n)), t, named=named)
    if not fit.ece.shows_something:
        return _of(model, _beside_chance(fit.ece, t), t, named=named)
    known = [(e.accuracy, e.confidence) for e in fit.bins if e.accuracy and e.confidence]
    apart = sum(a.n * (sure - a.value) for a, sure in known) / fit.n
    # Within two standard errors of a share, sureness and rightness agree as far as one can see.
    right = sum(a.n * a.value for a, _ in known) / fit.n
    if abs(apart) <= 2 * sqrt(max(right * (1 - right), 0.0) / fit.n):
        return _of(model, _beside_chance(fit.ece, t), t, named=named)
    key = "calibration.over-sure" if apart > 0 else "calibration.under-sure"
    return t(key, model=model, gap=fixed(100 * abs(apart), 0))


def _beside_chance(ece: Floored, t: Messages) -> str:
    """The error beside the most that chance gives."""
    if ece.floor_high is None:
        return t("calibration.ece-alone", ece=fixed(100 * ece.value, 1))
    key = "calibration.ece-outside" if ece.shows_something else "calibration.ece-within"
    return t(key, ece=fixed(100 * ece.value, 1), upper=fixed(100 * ece.floor_high, 1))


def _of(model: str, text: str, t: Messages, *, named: bool) -> str:
    if not named:
        return text
    # "ECE" and a name in capitals stay as they are.
    said = text[:1].lower() + text[1:] if text[1:2].islower() else text
    return t("of-model", model=model, said=said)


# ---------------------------------------------------------------- when to act


def _when_to_act(
    each: CalibratedCell, number: int, t: Messages, colour: str, *, named: bool
) -> Iterator[Block]:
    """Risk and coverage, the thresholds with their check, and what survives another order."""
    risk, title = each.risk, act_finding(each, t, named=named)
    if risk is None:
        yield Paragraph(t("sentence", said=title))
        return
    about = t("calibration.risk-about", n=count(each.calibration.n))
    if each.calibration.n >= MIN_DRAWN:
        chart = partial(_risk, each, t, colour)
        yield ChartBlock(f"risk-coverage-{number}.png", title, chart, about)
    else:
        yield Paragraph(t("sentence", said=title))
    yield _thresholds(risk, t)
    if risk.gates:
        yield Paragraph(t("calibration.gates-title"), strong=True)
        yield _gates(risk, t)


def _risk(each: CalibratedCell, t: Messages, colour: str) -> go.Figure:
    import pandas as pd

    made = {
        name: pd.DataFrame(_own(rows([each.summary]), each), dtype=object)
        for name, rows in (
            ("risk_coverage", frames.risk_coverage),
            ("thresholds", frames.thresholds),
        )
    }
    return charts.risk(charts.risk_points(made.__getitem__), t, colour=colour)


def _own(rows: Iterator[Row], each: CalibratedCell) -> list[Row]:
    return [row for row in rows if row["options"] == each.bias.n_options]


def act_cells(
    act: ActAbove | None, t: Messages, size: Literal["lead", "large", "row"] = "row"
) -> tuple[TableCell, TableCell, TableCell]:
    """A threshold, what is right from there on, and on how many questions; of few ones counts."""
    if act is None or act.threshold is None:
        return NONE, NONE, NONE
    right, coverage = act.right, act.coverage
    wanted = t("calibration.for-goal", goal=percent(act.goal)) if size == "lead" else ""
    return (
        ValueCell(probability(act.threshold), below=wanted, size=size),
        _right(right, t, size="large" if size == "lead" else size),
        ValueCell(
            format_value(coverage),
            "%",
            format_range(coverage),
            size="large" if size == "lead" else size,
        )
        if coverage
        else NONE,
    )


def _right(
    share: Interval | None,
    t: Messages,
    *,
    size: Literal["large", "row"] = "row",
    counted: bool = True,
) -> TableCell:
    """A share; of few questions their number, and below it of how many if that is `counted`."""
    if share is None:
        return NONE
    n = count(share.n)
    if share.n < HIDDEN_BELOW:
        k = count(round(share.value * share.n))
        return ValueCell(k, t("calibration.of", n=n), f"{format_range(share)} %", size=size)
    below = t("calibration.acted-n", n=n) if counted else ""
    return ValueCell(format_value(share), "%", format_range(share), below, size=size)


def _thresholds(risk: RiskCoverage, t: Messages) -> Table:
    """A row for each goal: the threshold of one half, and what it gives on the other."""
    keys = ("goal", "threshold", "act-right", "act-coverage", "met")
    columns = (Column(t(f"calibration.{key}"), right=key not in ("goal", "met")) for key in keys)
    rows = ((f"{percent(act.goal)} %", *act_cells(act, t), met(act, t)) for act in risk.act)
    return Table(tuple(columns), tuple(rows))


def _gates(risk: RiskCoverage, t: Messages) -> Table:
    """What is left of the questions acted on as written when their options are reordered."""
    keys = ("gate", "acted", "gate-right", "same", "passed", "passed-right")
    columns = (Column(t(f"calibration.{key}"), right=key != "gate") for key in keys)
    rows = (
        (
            fixed(each.gate, 1),
            count(each.acted),
            _right(each.right, t, counted=False),
            _right(each.same, t, counted=False),
            _right(each.passed, t, counted=False),
            _right(each.passed_right, t),
        )
        for each in risk.gates
    )
    return Table(tuple(columns), tuple(rows))


def met(act: ActAbove | None, t: Messages) -> StateCell:
    """Whether what was wanted is reached on the other half."""
    if act is None or act.right is None:
        return StateCell("na", t("calibration.met-none"))
    if _is_missed(act):
        return StateCell("warn", t("calibration.met-no"))
    is_sure = act.right.low >= act.goal
    return StateCell(
        "ok" if is_sure else "na", t(f"calibration.met-{'yes' if is_sure else 'open'}")
    )


def _every_act(
    offered: Sequence[CalibratedCell], t: Messages, named: Callable[[CalibratedCell], TextCell]
) -> Table:
    """The threshold of every cell that is spoken of."""
    keys = ("cell", "goal", "threshold", "act-right", "act-coverage", "met")
    columns = (Column(t(f"calibration.{key}"), right=key not in ("cell", "met")) for key in keys)
    rows = (
        (
            named(each),
            f"{percent(each.act.goal)} %" if each.act else NONE,
            *act_cells(each.act, t),
            met(each.act, t),
        )
        for each in offered
    )
    return Table(tuple(columns), tuple(rows))


# ---------------------------------------------------------------- how far probabilities fit


def _diagram(
    each: CalibratedCell, number: int, t: Messages, colour: str, *, named: bool
) -> Iterator[Block]:
    """Sureness against rightness, with its bins as a table, and each figure beside chance."""
    fit, mean = each.calibration, each.mass.mean if each.mass else None
    about = t("calibration.about", n=count(fit.n))
    if mean is not None:
        about = join_sentences(about, t("calibration.about-mean-mass", mass=percent(mean)))
    title = fit_finding(each, t, named=named)
    if fit.n >= MIN_DRAWN:
        chart = partial(_reliability, each, t, colour)
        yield ChartBlock(f"calibration-{number}.png", title, chart, about)
    else:
        yield Paragraph(join_sentences(t("sentence", said=title), about))
    if mean is not None and mean < _WARN_BELOW:
        yield Notes((NoteLine("warn", t("calibration.mass-low", value=percent(mean))),))
    yield _beside_floors(fit, t)
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
    finding = t("calibration.bins-finding", n=count(len(rows)))
    yield Details("", t("calibration.bins"), finding, (text_table(heads, rows),))


def _reliability(each: CalibratedCell, t: Messages, colour: str) -> go.Figure:
    import pandas as pd

    own = _own(frames.calibration([each.summary]), each)
    return charts.reliability(pd.DataFrame(own, dtype=object), t, colour=colour)


def _beside_floors(fit: Calibration, t: Messages) -> Table:
    """Each figure with its range, beside what the same probabilities give if they are right."""
    rows = [
        (
            TextCell(t(f"calibration.{name}"), strong=True),
            _figure(name, of),
            _floor(name, of),
            _state(fit.n, name, of, t),
        )
        for name in frames.FIGURES
        if (of := figure_of(fit, name))
    ]
    keys = ("figure", "value", "floor", "shows")
    columns = (Column(t(f"calibration.{key}"), right=key in ("value", "floor")) for key in keys)
    return Table(tuple(columns), tuple(rows))


def figure_of(fit: Calibration, name: str) -> Floored:
    """A figure by its name in frames."""
    figures = {"ece": fit.ece, "brier": fit.brier, "nll": fit.nll, "aurc": fit.aurc}
    return figures[name]


def _figure(name: str, of: Floored, below: str = "") -> ValueCell:
    return ValueCell(_number(name, of.value), "", _ends(name, of.low, of.high), below)


def _floor(name: str, of: Floored) -> TableCell:
    if of.floor is None:
        return NONE
    ends = _ends(name, of.floor_low, of.floor_high)
    return ValueCell(_number(name, of.floor), "", ends, strong=False)


def _number(name: str, value: float) -> str:
    return fixed(frames.FIGURES[name] * value, _PLACES[name])


def _ends(name: str, low: float | None, high: float | None) -> str:
    return "" if low is None or high is None else f"{_number(name, low)}–{_number(name, high)}"


def _state(n: int, name: str, of: Floored, t: Messages) -> StateCell:
    """What a figure shows, if anything; an error of calibration has no side."""
    if n < HIDDEN_BELOW:
        return StateCell("na", t("calibration.shows-few"))
    if of.floor_high is None:
        return StateCell("na", NONE)
    if not of.shows_something:
        return StateCell("na", t("calibration.shows-nothing"))
    if of.value < of.floor_high:
        return StateCell("ok", t(f"calibration.shows-{'less' if name == 'ece' else 'better'}"))
    return StateCell("warn", t(f"calibration.shows-{'more' if name == 'ece' else 'worse'}"))


def _figures(
    offered: Sequence[CalibratedCell], t: Messages, named: Callable[[CalibratedCell], TextCell]
) -> Table:
    """The calibration error beside chance, and the letter mass, of every cell."""
    rows: list[tuple[TableCell, ...]] = []
    masses = any(each.mass for each in offered)
    for each in offered:
        fit = each.calibration
        row: list[TableCell] = [
            named(each),
            count(fit.n),
            _figure("ece", fit.ece, _over_all_orders(each.bias.ece, 100, 1, t)),
            _floor("ece", fit.ece),
            _state(fit.n, "ece", fit.ece, t),
        ]
        rows.append((*row, *([_mass(each.mass, t)] if masses else [])))
    heads = [t(f"calibration.{key}") for key in ("cell", "n", "ece", "floor", "shows")]
    columns = [Column(head, right=place in (1, 2, 3)) for place, head in enumerate(heads)]
    columns += [Column(t("calibration.mass"))] if masses else []
    return Table(tuple(columns), tuple(rows))


# ---------------------------------------------------------------- what servers gave


def _decided(summaries: Sequence[Summary], t: Messages) -> Iterator[Details]:
    """What the decisions of each cell hold, as they came; nothing without any."""
    called = names(summaries, t.language)
    counted = [(called[each.cell], each.decided) for each in summaries if each.decided]
    if not counted:
        return
    total = sum(of.n for _, of in counted)
    unusable = sum(of.refused + of.missing + of.no_sum for _, of in counted)
    key = "decided-some" if unusable else "decided-all"
    finding = t(f"calibration.{key}", k=count(unusable), n=count(total))
    heads = [t("calibration.cell"), *(t(f"calibration.decided-{name}") for name in _DECIDED)]
    rows = [
        (
            TextCell(" · ".join(filter(None, name)), strong=True),
            *(count(getattr(of, counts)) for counts in _DECIDED[:-1]),
            t("calibration.exact") if of.rounded is None else count(of.rounded),
        )
        for name, of in counted
    ]
    columns = tuple(Column(head, right=place > 0) for place, head in enumerate(heads))
    about = Bullets((t("calibration.about-decided"),))
    kind: Kind | None = "warn" if unusable else None
    title = t("calibration.decided-title")
    yield Details("decisions", title, finding, (Table(columns, tuple(rows)), about), kind)


def _names(
    offered: Sequence[CalibratedCell],
    summaries: Sequence[Summary],
    t: Messages,
    address: Address | None,
    each: CalibratedCell,
) -> TextCell:
    """The name of a cell, which leads to its charts."""
    called, several = names(summaries, t.language), len({o.bias.n_options for o in offered}) > 1
    cell, size = each.summary.cell, each.bias.n_options
    below = t("file.options", n=size) if several else ""
    href = address(cell, size) if address and len(offered) > 1 else ""
    return TextCell(" · ".join(filter(None, called[cell])), below, strong=True, href=href)


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


def _in_report(report: Report, language: Language) -> list[Details]:
    shown = [summary for summary in with_question(report.summaries) if summary.accuracy]
    return calibration_blocks(shown, language, baselines=report.baselines)


CALIBRATION = Analysis(lambda report: bool(report.summaries), _in_report)
