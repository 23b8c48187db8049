"""The same answers read by each rule, mode by mode."""

import math
from collections.abc import Sequence
from functools import partial

from evalui.messages import localized, messages
from evalui.report.analyses.metrics import share_cell
from evalui.report.analyses.verdict import DatasetStanding
from evalui.report.blocks import NONE, Block, Column, Paragraph, Table, TableCell, TextCell
from evalui.report.numbers import fixed, format_value, percent
from evalui.report.words import mode_name, of_real_models
from evalui.scoring.cell_summary import Summary
from evalui.scoring.choice.answer_format import FormatMetrics, ReadingMetrics
from evalui.scoring.statistics.intervals import beats_guessing
from evalui.types import Language

_ROUNDING = 1e-9  # below a point that is one only by the last digit of a difference


def every_rule(standing: DatasetStanding, language: Language) -> tuple[str, list[Block]] | None:
    """The same answers read by each rule, mode by mode."""
    blocks: list[Block] = []
    read: list[Summary] = []
    for label in sorted(standing.modes, key=lambda label: label != standing.lead):
        cells = [
            summary
            for model in standing.models
            if (summary := standing.cells.get((label, model))) and len(summary.readings) > 1
        ]
        if not cells:
            continue
        mode = mode_name(cells[0].cell, language)
        caption = localized("rules.caption", language, mode=mode[:1].upper() + mode[1:])
        blocks += [_rules_table(standing.listed(cells), language), Paragraph(caption, small=True)]
        read += cells
    if not blocks:
        return None
    say = partial(_rules_finding, guessing=standing.guessing, language=language)
    finding = of_real_models(read, lambda s: s.cell.model in standing.baselines, say, language)
    return finding, blocks


def _rules_table(cells: Sequence[Summary], language: Language) -> Table:
    rules = list(cells[0].readings)
    heads = [localized("rules.head", language), *(s.cell.model for s in cells)]
    heads.append(localized("rules.unreadable", language))
    rows: list[tuple[TableCell, ...]] = []
    for place, rule in enumerate(rules):
        name = localized(f"reading.{rule}", language)
        parts = [s.readings.get(rule) for s in cells]
        text = localized("rules.headline", language, rule=name) if place == 0 else name
        rows.append(
            (
                TextCell(text, strong=place == 0),
                *(_accuracy(reading, language) for reading in parts),
                _unreadable(parts, language),
            )
        )
    if any(s.format for s in cells):
        form = TextCell(localized("rules.form", language))
        rows.append((form, *(_form(s.format, language) for s in cells), NONE))
    columns = tuple(Column(head, right=0 < place <= len(cells)) for place, head in enumerate(heads))
    return Table(columns, tuple(rows))


def _accuracy(reading: ReadingMetrics | None, language: Language) -> TableCell:
    if reading is None:
        return NONE
    tied = messages(language).count("rules.ties", reading.tied) if reading.tied else ""
    return share_cell(reading.accuracy, tied)


def _form(form: FormatMetrics | None, language: Language) -> TableCell:
    """What is lost to the form of a reply, and how much of the probability letters hold."""
    if form is None:
        return NONE
    gap, mass = form.format_gap, form.mass
    lost = localized("rules.gap", language, points=format_value(gap)) if gap else ""
    held = localized("rules.mass", language, value=percent(mass)) if mass is not None else ""
    return TextCell(lost or held or NONE, held if lost else "")


def _unreadable(readings: Sequence[ReadingMetrics | None], language: Language) -> str:
    """The least and the most that a rule cannot read, in per cent."""
    parts = sorted(100 * reading.unreadable.value for reading in readings if reading)
    if not parts or parts[-1] == 0:
        return localized("rules.none", language)
    low, high = fixed(parts[0], 1), fixed(parts[-1], 1)
    return f"{high} %" if low == high else f"{low} – {high} %"


def _rules_finding(cells: Sequence[Summary], *, guessing: bool, language: Language) -> str:
    """What the rules change, in whichever mode they change most."""
    if guessing:
        return _lifting(cells, language)
    modes: dict[str, list[Summary]] = {}
    for summary in cells:
        modes.setdefault(summary.cell.label, []).append(summary)
    moved, other = 0.0, ""
    for own in modes.values():
        first, *others = (rule for rule in own[0].readings if all(rule in s.readings for s in own))
        headline = [s.readings[first].accuracy.value for s in own]
        for rule in others:
            values = [s.readings[rule].accuracy.value for s in own]
            gaps = (abs(one - head) for head, one in zip(headline, values, strict=True))
            moved = max(moved, *gaps)
            if not other and _order(values) != _order(headline):
                other = rule
    points = math.ceil(100 * moved - _ROUNDING)
    t = messages(language)
    if max(map(len, modes.values())) == 1:
        return t.count("rules.alone", points) if points else t("rules.alone-none")
    if other:
        return t.count("rules.other", points, rule=t(f"reading.{other}"))
    if len(modes) > 1:
        key = "same-modes" if points else "same-modes-none"
        return t.count(f"rules.{key}", points, m=len(modes))
    k = len(cells[0].readings)
    return t.count(f"rules.{'same' if points else 'same-none'}", points, k=k)


def _lifting(cells: Sequence[Summary], language: Language) -> str:
    for summary in cells:
        for rule, reading in summary.readings.items():
            if beats_guessing(reading.accuracy, summary.chance or 0.0):
                name = localized(f"reading.{rule}", language)
                return localized("rules.lifts", language, rule=name, model=summary.cell.model)
    return localized("rules.guessing", language)


def _order(values: Sequence[float]) -> list[int]:
    return sorted(range(len(values)), key=lambda place: -values[place])
