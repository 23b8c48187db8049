"""The same answers read by each rule: every reading of every mode side by side."""

import math
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from evalui.messages import add_messages, localized, messages
from evalui.report.analyses.metrics import share_cell
from evalui.report.analyses.verdict import DatasetStanding
from evalui.report.blocks import NONE, Block, Column, Paragraph, Table, TableCell, TextCell
from evalui.report.numbers import fixed, format_value, percent
from evalui.report.words import join_names, mode_name, of_real_models
from evalui.scoring.cell_summary import Summary, is_decided
from evalui.scoring.choice.answer_format import ReadingMetrics
from evalui.scoring.statistics.intervals import beats_guessing
from evalui.types import Language

add_messages(Path(__file__).with_suffix(".toml"))

_ROUNDING = 1e-9  # below a point that is one only by the last digit of a difference


def every_rule(standing: DatasetStanding, language: Language) -> tuple[str, list[Block]] | None:
    """Every reading of every mode side by side, a row for each model; what the rules change.

    None where no mode reads its answers by several rules.
    """
    modes = sorted(standing.modes, key=lambda label: label != standing.lead)
    cells = {
        label: [
            summary
            for model in standing.models
            if (summary := standing.cells.get((label, model))) and summary.readings
        ]
        for label in modes
    }
    read = [summary for own in cells.values() for summary in own if len(_readings(summary)) > 1]
    if not read:
        return None
    say = partial(_rules_finding, guessing=standing.guessing, language=language)
    finding = of_real_models(read, lambda s: s.cell.model in standing.baselines, say, language)
    caption = Paragraph(localized("readings.caption", language), small=True)
    return finding, [_rules_table(standing, cells, language), caption]


def _rules_table(
    standing: DatasetStanding, cells: Mapping[str, Sequence[Summary]], language: Language
) -> Table:
    columns = [Column(localized("head-model", language))]
    models = [model for model in standing.shown if any(_of(model, own) for own in cells.values())]
    rows: list[list[TableCell]] = [[standing.model_cell(model)] for model in models]
    for own in filter(None, cells.values()):
        mode = mode_name(own[0].cell, language)
        group = mode[:1].upper() + mode[1:]
        summaries = [_of(model, own) for model in models]
        for place, rule in enumerate(dict.fromkeys(rule for s in own for rule in _readings(s))):
            name = _rule_name(rule, own, language)
            head = localized("readings.headline", language, rule=name) if place == 0 else name
            columns.append(Column(head, group, right=True))
            for row, summary in zip(rows, summaries, strict=True):
                row.append(_accuracy(summary.readings.get(rule) if summary else None, language))
        forms = [_form(summary, language) for summary in summaries]
        if any(form != NONE for form in forms):
            columns.append(Column(localized("readings.form", language), group))
            for row, form in zip(rows, forms, strict=True):
                row.append(form)
    return Table(tuple(columns), tuple(map(tuple, rows)))


def _of(model: str, cells: Sequence[Summary]) -> Summary | None:
    return next((summary for summary in cells if summary.cell.model == model), None)


def _accuracy(reading: ReadingMetrics | None, language: Language) -> TableCell:
    """The share of right answers by a rule; below it what the rule leaves open."""
    if reading is None:
        return NONE
    t = messages(language)
    left = [t.count("readings.ties", reading.tied)] if reading.tied else []
    if reading.unreadable.value:
        left.append(t("readings.unreadable", value=fixed(100 * reading.unreadable.value, 1)))
    return share_cell(reading.accuracy, join_names(left, language))


def _readings(summary: Summary) -> Mapping[str, ReadingMetrics]:
    """What a cell is read by; of a decision the strict rule reads what the tolerant one does."""
    if not is_decided(summary.cell):
        return summary.readings
    return {rule: each for rule, each in summary.readings.items() if rule != "strict"}


def _rule_name(rule: str, cells: Sequence[Summary], language: Language) -> str:
    decided = all(is_decided(summary.cell) for summary in cells)
    return localized(f"reading.decided-{rule}" if decided else f"reading.{rule}", language)


def _form(summary: Summary | None, language: Language) -> TableCell:
    """What is lost to the form of a reply, and how much of the probability letters hold."""
    if summary is None or summary.format is None or is_decided(summary.cell):
        return NONE
    gap, mass = summary.format.format_gap, summary.format.mass
    lost = localized("readings.gap", language, points=format_value(gap)) if gap else ""
    held = localized("readings.mass", language, value=percent(mass)) if mass is not None else ""
    return TextCell(lost, held) if lost and held else lost or held or NONE


def _rules_finding(cells: Sequence[Summary], *, guessing: bool, language: Language) -> str:
    """What the rules change, in whichever mode they change most."""
    if guessing:
        return _lifting(cells, language)
    modes: dict[str, list[Summary]] = {}
    for summary in cells:
        modes.setdefault(summary.cell.label, []).append(summary)
    moved, other = 0.0, ""
    for own in modes.values():
        first, *others = (
            rule for rule in _readings(own[0]) if all(rule in s.readings for s in own)
        )
        headline = [s.readings[first].accuracy.value for s in own]
        for rule in others:
            values = [s.readings[rule].accuracy.value for s in own]
            gaps = (abs(one - head) for head, one in zip(headline, values, strict=True))
            moved = max(moved, *gaps)
            if not other and _order(values) != _order(headline):
                other = _rule_name(rule, own, language)
    points = math.ceil(100 * moved - _ROUNDING)
    t = messages(language)
    if max(map(len, modes.values())) == 1:
        return t.count("readings.alone", points) if points else t("readings.alone-none")
    if other:
        return t.count("readings.other", points, rule=other)
    if len(modes) > 1:
        key = "same-modes" if points else "same-modes-none"
        return t.count(f"readings.{key}", points, m=len(modes))
    k = len(_readings(cells[0]))
    return t.count(f"readings.{'same' if points else 'same-none'}", points, k=k)


def _lifting(cells: Sequence[Summary], language: Language) -> str:
    for summary in cells:
        for rule, reading in _readings(summary).items():
            if beats_guessing(reading.accuracy, summary.chance or 0.0):
                name = _rule_name(rule, [summary], language)
                return localized("readings.lifts", language, rule=name, model=summary.cell.model)
    return localized("readings.guessing", language)


def _order(values: Sequence[float]) -> list[int]:
    return sorted(range(len(values)), key=lambda place: -values[place])
