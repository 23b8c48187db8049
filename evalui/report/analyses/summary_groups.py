"""The groups of subjects or datasets that a specification declares, as blocks."""

from collections.abc import Iterator, Sequence

from evalui.messages import localized, messages
from evalui.report.analyses.base import Analysis, Report
from evalui.report.analyses.overview.every import metric_head
from evalui.report.blocks import (
    NONE,
    Block,
    Bullets,
    Column,
    Details,
    Heading,
    Paragraph,
    Table,
    TableCell,
    TextCell,
    ValueCell,
)
from evalui.report.numbers import count, format_figure, format_range, format_value
from evalui.scoring.groups import GroupFigure, GroupSummary
from evalui.scoring.metrics import Metric
from evalui.types import Interval, Language

_OF_CHOICES = ("acc_origin", "robust")  # where the specification chooses no metric
_OF_DRAWN = ("acc_origin", "mean_over_orders")  # the same of replies above temperature 0
_OF_TEXTS = ("exact_match", "rouge-l-f", "bleu-4")
_MOST = 3  # metrics of a table, of those that nobody chose


def group_blocks(report: Report, language: Language) -> Iterator[Block]:
    """A table for each mode with the groups of each model, and the members that are missing."""
    tables: dict[str, list[GroupSummary]] = {}
    for group in report.groups:
        tables.setdefault(group.label, []).append(group)
    blocks: list[Block] = []
    for label, groups in tables.items():
        metrics = _metrics(report, groups)
        if len(tables) > 1:
            blocks.append(Heading(3, label))
        blocks.append(_table(report, groups, metrics, language))
        if lines := _missing(groups, metrics, language):
            blocks.append(Bullets(lines))
    if blocks:
        blocks.append(Paragraph(localized("groups-are", language), small=True))
        name, finding = localized("groups-title", language), _finding(report.groups, language)
        yield Details("summary-groups", name, finding, tuple(blocks), open=True)


def _finding(groups: Sequence[GroupSummary], language: Language) -> str:
    names = {group.group.name for group in groups}
    lacking = {group.group.name for group in groups if group.missing}
    key = "groups-lacking" if lacking else "groups-whole"
    return localized(key, language, n=count(len(names)), k=count(len(lacking)))


def _metrics(report: Report, groups: Sequence[GroupSummary]) -> list[Metric]:
    """The metrics that the specification chooses, else those that lead a report."""
    known = {name: each.metric for group in groups for name, each in group.figures.items()}
    if chosen := [known[name] for name in report.metrics if name in known]:
        return chosen
    drawn = any(summary.sampled for summary in report.summaries)
    of_choices = _OF_DRAWN if drawn else _OF_CHOICES
    usual = of_choices if groups[0].answers == "choices" else _OF_TEXTS
    return [known[name] for name in usual if name in known] or list(known.values())[:_MOST]


def _table(
    report: Report, groups: Sequence[GroupSummary], metrics: Sequence[Metric], language: Language
) -> Table:
    context = report.open_context(language)
    counted = any(metric.name == "n" for metric in metrics)
    several = len({group.dataset for group in groups}) > 1
    columns = (
        Column(localized("groups-head", language)),
        *([Column(localized("head-dataset", language))] if several else []),
        Column(localized("head-model", language)),
        *(Column(_head(metric, language), right=True) for metric in metrics),
        *([] if counted else [Column(localized("head-n", language), right=True)]),
    )
    rows = tuple(
        (
            TextCell(group.group.name, _kind(group, language)),
            *([group.dataset or NONE] if several else []),
            context.model(group.model),
            *(_cell(metric, group.figures.get(metric.name), language) for metric in metrics),
            *([] if counted else [_questions(group, metrics)]),
        )
        for group in groups
    )
    return Table(columns, rows)


def _head(metric: Metric, language: Language) -> str:
    return metric_head(metric, language) if metric.key else metric.own_label(language)


def _kind(group: GroupSummary, language: Language) -> str:
    declared = group.group
    return localized(
        f"groups-{'weighted' if declared.weights else declared.mean}-{declared.of}",
        language,
        n=count(len(declared.members) - len(group.missing)),
        of=count(len(declared.members)),
    )


def _cell(metric: Metric, figure: GroupFigure | None, language: Language) -> TableCell:
    if figure is None:
        return NONE
    if isinstance(figure.figure, Interval) and metric.unit == "share":
        missing = localized("groups-lacks", language, n=count(len(figure.missing)))
        below = missing if figure.missing else ""
        return ValueCell(format_value(figure.figure), "%", format_range(figure.figure), below)
    return format_figure(metric, figure.figure)


def _questions(group: GroupSummary, metrics: Sequence[Metric]) -> str:
    first = next((group.figures[one.name] for one in metrics if one.name in group.figures), None)
    return count(first.n) if first else NONE


def _missing(
    groups: Sequence[GroupSummary], metrics: Sequence[Metric], language: Language
) -> tuple[str, ...]:
    """Which members a group lacks, of which models, a line each."""
    comma = messages(language)("list.comma")
    lacking: dict[tuple[str, str, tuple[str, ...]], list[str]] = {}
    for group in groups:
        absent = dict.fromkeys(group.missing)
        for metric in metrics:
            if figure := group.figures.get(metric.name):
                absent |= dict.fromkeys(figure.missing)
        if absent:
            key = (group.group.name, group.dataset, tuple(absent))
            lacking.setdefault(key, []).append(group.model)
    return tuple(
        localized(
            "groups-missing",
            language,
            group=comma.join(part for part in (name, dataset) if part),
            models=comma.join(models),
            members=comma.join(members),
        )
        for (name, dataset, members), models in lacking.items()
    )


SUMMARY_GROUPS = Analysis(lambda report: bool(report.declared_groups), group_blocks)
