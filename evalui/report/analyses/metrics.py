"""Figures of cells in tables: every metric under its name, and the position bias in a word."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from evalui.messages import add_messages, localized, messages
from evalui.report.analyses.verdict import DatasetStanding
from evalui.report.blocks import (
    NONE,
    Block,
    Bullets,
    Details,
    Kind,
    Link,
    Links,
    Paragraph,
    Places,
    StateCell,
    Table,
    TableCell,
    TextCell,
    ValueCell,
    text_table,
)
from evalui.report.numbers import count, fixed, format_figure, format_range, format_value, percent
from evalui.report.words import band_text, mode_name
from evalui.scoring.answer_summary import AnswerSummary
from evalui.scoring.bias import BiasLevel, StratumBias
from evalui.scoring.bias.counts import PositionTable
from evalui.scoring.cautions import HIDDEN_BELOW
from evalui.scoring.cell_summary import Summary
from evalui.scoring.metrics import Figure, Metric, is_added, metrics_having, metrics_in
from evalui.types import LETTERS, Interval, Language

add_messages(Path(__file__).with_suffix(".toml"))

_BIAS_KINDS: Mapping[BiasLevel, Kind] = {
    "green": "ok",
    "amber": "warn",
    "red": "bad",
    "mass": "na",
    "few": "na",
    "na": "na",
}
_FILES = {"csv": "CSV", "xlsx": "XLSX", "tex": "LaTeX"}
_NAMES: Mapping[str, Callable[[Summary], str]] = {
    "model": lambda s: s.cell.model,
    "dataset": lambda s: s.cell.dataset,
    "mode": lambda s: s.cell.label,
}


def every_figure(
    summaries: Sequence[Summary],
    standings: Sequence[DatasetStanding],
    language: Language,
    *,
    places: Places | None = None,
    sort: str = "",
) -> Details:
    """The section; `sort` is the key of a column, with "-" before it for the highest first."""
    table = figures_table(_sorted(summaries, sort), standings, language)
    metrics, hidden = _shown_and_hidden(summaries)
    blocks: list[Block] = [_sortable(table, metrics, places, sort) if places else table]
    blocks.append(Paragraph(localized("metrics.ranges", language), small=True))
    if docs := (*metric_notes(metrics, language), *hidden_notes(hidden, language)):
        blocks.append(Bullets(docs))
    if places:
        files = (
            Link(name, places.file(extension, language), download=True)
            for extension, name in _FILES.items()
        )
        blocks.append(Links(tuple(files)))
    finding = localized(
        "metrics.every.finding" if places else "metrics.every.finding-file", language
    )
    return Details("every-figure", localized("every.name", language), finding, tuple(blocks))


def signatures(summaries: Sequence[Summary]) -> Bullets:
    """How the figures of cells were made, as a page shows it."""
    lines = (summary.cell.signature.replace("|", " · ") for summary in summaries)
    return Bullets(tuple(lines), signatures=True)


def figures_table(
    summaries: Sequence[Summary], standings: Sequence[DatasetStanding], language: Language
) -> Table:
    """A row per cell: its names, its figures, its rank and its position bias."""
    before, after = _split_at_bias(_shown_and_hidden(summaries)[0])
    heads = (
        *(localized(f"head-{key}", language) for key in _NAMES),
        *(metric_head(metric, language) for metric in before),
        localized("metrics.rank", language),
        localized("metrics.bias", language),
        *(metric_head(metric, language) for metric in after),
    )
    rows = [
        (
            summary.cell.model,
            summary.cell.dataset,
            mode_name(summary.cell, language),
            *(_figure(metric, summary) for metric in before),
            _rank(summary, standings, language),
            bias_cell(summary, language),
            *(_figure(metric, summary) for metric in after),
        )
        for summary in summaries
    ]
    return text_table(heads, rows)


def metric_head(metric: Metric, language: Language) -> str:
    """The head of a metric's column, and what it is called elsewhere."""
    if is_added(metric) or not metric.key:
        return metric.own_label(language)
    return localized(f"head-{metric.key}", language)


def metric_notes(metrics: Sequence[Metric], language: Language) -> tuple[str, ...]:
    """What other packages say of their metrics, a line each."""
    return tuple(
        localized("of-model", language, model=metric.own_label(language), said=docs)
        for metric in metrics
        if (docs := metric.own_docs(language))
    )


def hidden_notes(metrics: Sequence[Metric], language: Language) -> tuple[str, ...]:
    """Why metrics have no figure here, a line each."""
    t = messages(language)
    return tuple(
        t(
            "metrics.hidden",
            metric=metric.own_label(language),
            why=t(f"metrics.lacks-{_lack(metric)}", fields=", ".join(metric.metadata)),
        )
        for metric in metrics
    )


def _lack(metric: Metric) -> str:
    if metric.metadata:
        return "metadata"
    return metric.needs.replace(" ", "-") or "anything"


def _shown_and_hidden(summaries: Sequence[Summary]) -> tuple[list[Metric], list[Metric]]:
    """The metrics of the table, and those of other packages that have no figure of any cell."""
    metrics = metrics_in("report")
    having = metrics_having((summary.figures for summary in summaries), "report")
    hidden = [one for one in metrics if is_added(one) and not has_figure(one, summaries)]
    return [one for one in having if one not in hidden], hidden


def has_figure(metric: Metric, summaries: Sequence[Summary | AnswerSummary]) -> bool:
    """Whether any of the cells has a figure of a metric; before the first trial all may have."""
    known = [summary for summary in summaries if summary.figures]
    return not known or any(figure_of(one, metric.name) is not None for one in known)


def figure_of(summary: Summary | AnswerSummary, name: str) -> Figure:
    """A figure of a cell by the name that tables show: a metric's, a reading's, OpenCompass's."""
    if name in summary.figures or isinstance(summary, AnswerSummary):
        return summary.figures.get(name)
    if reading := summary.readings.get(name):
        return reading.accuracy
    percent = summary.metrics.get(name)
    return None if percent is None else percent / 100


def _sortable(table: Table, metrics: Sequence[Metric], places: Places, sort: str) -> Table:
    """The same with heads that lead to its rows in their order, the highest first."""
    before, after = _split_at_bias(metrics)
    keys = (*_NAMES, *map(_key, before), "", "", *map(_key, after))
    columns = (
        replace(
            column,
            href=places.view("overview", sort=key if sort == f"-{key}" else f"-{key}")
            + "#every-figure",
            order={key: "ascending", f"-{key}": "descending"}.get(sort, ""),
        )
        if key
        else column
        for column, key in zip(table.columns, keys, strict=True)
    )
    return replace(table, columns=tuple(columns))


def _key(metric: Metric) -> str:
    return metric.key or metric.name


def _sorted(summaries: Sequence[Summary], sort: str) -> list[Summary]:
    wish, falling = sort.removeprefix("-"), sort.startswith("-")
    metrics = {_key(metric): metric for metric in metrics_in("report")}
    rows = list(summaries)
    if wish in _NAMES:
        rows.sort(key=_NAMES[wish], reverse=falling)
    elif wish in metrics:
        rows.sort(key=lambda s: _value(s, metrics[wish]), reverse=falling)
    return rows


def _value(summary: Summary, metric: Metric) -> float:
    figure = summary.figures.get(metric.name)
    value = figure.value if isinstance(figure, Interval) else figure
    return -math.inf if value is None else value


def _split_at_bias(metrics: Sequence[Metric]) -> tuple[list[Metric], list[Metric]]:
    """The metrics before the rank and the position bias, and those after them."""
    after = [one for one in metrics if one.name == "readable" or is_added(one)]
    return [one for one in metrics if one not in after], after


def _figure(metric: Metric, summary: Summary) -> TableCell:
    figure = summary.figures.get(metric.name)
    if isinstance(figure, Interval) and metric.unit == "share":
        # That it rests on fewer questions than the row says must be seen.
        n = f" · n {count(figure.n)}" if figure.n != summary.n else ""
        return ValueCell(format_value(figure), "%", format_range(figure) + n)
    return format_figure(metric, figure) or NONE


def _rank(summary: Summary, standings: Sequence[DatasetStanding], language: Language) -> TableCell:
    """The places that a cell may have in its own mode, or why it has none."""
    for standing in standings:
        compared = standing.compared.get(summary.cell.label)
        if standing.dataset != summary.cell.dataset or compared is None:
            continue
        if why := compared.unranked.get(summary.cell):
            return TextCell(NONE, localized(f"verdict.unranked-{why}", language))
        if place := compared.rank_of(summary.cell.model):
            return band_text(place.low, place.high)
    return NONE


def share_cell(share: Interval, below: str = "") -> ValueCell:
    """A share in a row of a plain table."""
    return ValueCell(format_value(share), "%", format_range(share), below)


# ---------------------------------------------------------------- position bias


def bias_cell(summary: Summary | None, language: Language) -> TableCell:
    """The position bias of a cell: its level, and which position is picked most."""
    bias = summary.main_bias if summary else None
    return StateCell(*bias_state(bias, language), picks(bias, language)) if bias else NONE


def bias_state(bias: StratumBias, language: Language) -> tuple[Kind, str]:
    """The level of the position bias as an icon and a word."""
    slots = bias.position.slot_counts
    alone = bias.level == "red" and max(slots) == sum(slots) > 0
    return _BIAS_KINDS[bias.level], localized(
        f"metrics.bias-{'one' if alone else bias.level}", language
    )


def moved_by_key(bias: StratumBias) -> bool:
    """Whether the keys of decisions, dealt apart from places, are seen to move choices."""
    mover = bias.keys.mover if bias.keys and bias.n >= HIDDEN_BELOW else ""
    return mover in ("key", "both")


def picks(bias: StratumBias, language: Language) -> str:
    """Which position is picked most, or that keys alone move choices, in up to six words."""
    if bias.level == "green" and moved_by_key(bias):
        return localized("metrics.picks-key", language)
    if bias.level == "mass":
        return localized("metrics.picks-mass", language, value=percent(bias.mass or 0.0))
    table: PositionTable = bias.position
    total, best = sum(table.slot_counts), max(table.slot_counts)
    if total == 0:
        return ""
    if table.slot_counts.count(best) > 1:
        return localized("metrics.picks-tied", language)
    slot = table.slot_counts.index(best)
    letter = LETTERS[slot]
    if best == total:
        return localized("metrics.picks-only", language, letter=letter)
    if bias.n < HIDDEN_BELOW:
        return localized(
            "metrics.picks-count", language, letter=letter, k=count(best), n=count(total)
        )
    fields = {"letter": letter, "value": fixed(100 * best / total, 0)}
    golds = [table.answers_at(gold) for gold in range(table.n_options)]
    if len(set(golds)) == 1:
        return localized("metrics.picks", language, **fields, fair=percent(table.chance))
    gold = fixed(100 * golds[slot] / sum(golds), 0)
    return localized("metrics.picks-uneven", language, **fields, gold=gold)
