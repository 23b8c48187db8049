"""The metrics that a specification chooses, in its order: the first leads and ranks."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from evalui.messages import add_messages, localized
from evalui.report.analyses.base import Analysis, Report
from evalui.report.analyses.metrics import figure_of, has_figure, hidden_notes, metric_head
from evalui.report.blocks import (
    NONE,
    Block,
    Bullets,
    Card,
    Column,
    Details,
    Paragraph,
    Table,
    TableCell,
    TextCell,
    text_table,
)
from evalui.report.numbers import count, fixed, format_figure, p_column, signed, signed_range
from evalui.report.words import rank_bands
from evalui.scoring.answer_summary import AnswerSummary
from evalui.scoring.cell_summary import Summary
from evalui.scoring.metrics import Metric, metric_named
from evalui.scoring.pairs import MetricPair, compare_metric, decided_pairs
from evalui.types import Interval, Language, is_unfinished

add_messages(Path(__file__).with_suffix(".toml"))

_ACCURACIES = frozenset({"acc_origin", "robust", "mean_over_orders"})
_PLACES = 4
AnySummary = Summary | AnswerSummary
Groups = Mapping[tuple[str, str], Sequence[AnySummary]]


def chosen_blocks(
    report: Report, language: Language, datasets: Collection[str] | None = None
) -> Iterator[Block]:
    """A table for each dataset and mode with the chosen metrics, of some datasets or of all.

    Models stand by the first metric, the best first; the pairs of models in it fold below.
    """
    for (name, label), summaries in _groups(report).items():
        if datasets is None or name in datasets:
            yield from _group_blocks(report, summaries, f"{name}, {label}", language)
    if missing := [name for name in report.metrics if metric_named(name) is None]:
        yield Bullets(
            tuple(localized("metric-not-here", language, metric=name) for name in missing)
        )


def chosen_pairs(report: Report) -> Iterator[tuple[str, str, MetricPair]]:
    """Every pair of models in every chosen metric, behind its dataset and mode."""
    for (dataset, label), summaries in _groups(report).items():
        for metric in _shown(report, summaries):
            for pair in _pairs(report, summaries, metric):
                yield dataset, label, pair


def _groups(report: Report) -> Groups:
    groups: dict[tuple[str, str], list[AnySummary]] = {}
    for summary in (*report.summaries, *report.answers):
        if summary.state != "impossible":
            groups.setdefault((summary.cell.dataset, summary.cell.label), []).append(summary)
    return groups


def _fitting(report: Report, summaries: Sequence[AnySummary]) -> list[Metric]:
    of = "choices" if isinstance(summaries[0], Summary) else "texts"
    return [each for each in map(metric_named, report.metrics) if each and each.answers == of]


def _shown(report: Report, summaries: Sequence[AnySummary]) -> list[Metric]:
    return [metric for metric in _fitting(report, summaries) if has_figure(metric, summaries)]


def _group_blocks(
    report: Report, summaries: Sequence[AnySummary], name: str, language: Language
) -> Iterator[Block]:
    fitting, shown = _fitting(report, summaries), _shown(report, summaries)
    hidden = [metric for metric in fitting if not has_figure(metric, summaries)]
    notes = (Bullets(hidden_notes(hidden, language)),) if hidden else ()
    title = localized("chosen.metrics", language, name=name)
    if not shown:
        if notes:
            yield Card(notes, title=title)
        return
    first = shown[0]
    pairs = _pairs(report, summaries, first)
    yield Card((_table(report, summaries, shown, pairs, language), *notes), title=title)
    if pairs:
        metric = metric_head(first, language)
        told_apart = len([*decided_pairs(pairs, first)])
        yield Details(
            "chosen-pairs",
            localized("chosen.pairs", language, metric=metric),
            localized("chosen.told-apart", language, k=count(told_apart), n=count(len(pairs))),
            (_pair_table(pairs, language), Paragraph(localized("chosen.tests", language))),
        )


def _pairs(
    report: Report, summaries: Sequence[AnySummary], metric: Metric
) -> tuple[MetricPair, ...]:
    if any(map(is_unfinished, summaries)):
        return ()  # with every answer all would be tested again
    cells = {summary.cell for summary in summaries}
    return compare_metric([one for one in report.results if one.cell in cells], metric)


def _table(
    report: Report,
    summaries: Sequence[AnySummary],
    metrics: Sequence[Metric],
    pairs: Sequence[MetricPair],
    language: Language,
) -> Table:
    first = metrics[0]
    falling = -1 if first.direction != "lower" else 1
    ordered = sorted(summaries, key=lambda one: falling * _number(one, first, falling))
    bands = _bands(report, summaries, first, pairs)
    context = report.open_context(language)
    columns = (
        Column(localized("metrics.rank", language)),
        Column(localized("head-model", language)),
        *(
            Column(metric_head(metric, language), right=True, lead=metric is first)
            for metric in metrics
        ),
    )
    rows = tuple(
        (
            bands.get(one.cell.model, NONE),
            context.model(one.cell.model),
            *(_cell(one, metric, lead=metric is first) for metric in metrics),
        )
        for one in ordered
    )
    return Table(columns, rows)


def _number(summary: AnySummary, metric: Metric, falling: int) -> float:
    """The value by which a model stands; one without a value stands last."""
    figure = figure_of(summary, metric.name)
    value = figure.value if isinstance(figure, Interval) else figure
    return -falling * math.inf if value is None else value


def _cell(summary: AnySummary, metric: Metric, *, lead: bool) -> TableCell:
    text = format_figure(metric, figure_of(summary, metric.name)) or NONE
    return TextCell(text, strong=lead)


def _bands(
    report: Report, summaries: Sequence[AnySummary], metric: Metric, pairs: Sequence[MetricPair]
) -> dict[str, str]:
    """The places by the tests of pairs; none of a script, none where no value is better, and none
    by an accuracy of a model that is no better than guessing.
    """
    models = [
        one.cell.model
        for one in summaries
        if one.cell.model not in report.baselines
        and not (metric.name in _ACCURACIES and isinstance(one, Summary) and not one.above_chance)
    ]
    if metric.direction == "none" or not pairs:
        return {}
    decided = [each for each in decided_pairs(pairs, metric) if {*each} <= {*models}]
    return rank_bands(models, decided)


def _pair_table(pairs: Sequence[MetricPair], language: Language) -> Table:
    heads = ("pair", "difference", "range", "p", "n")
    return text_table(
        tuple(localized(f"head-{head}", language) for head in heads),
        tuple(
            (
                localized("versus", language, first=pair.first, second=pair.second),
                signed(pair.value, _PLACES),
                signed_range(pair.low, pair.high, _PLACES),
                p_column(pair.p) if pair.p < 1 else fixed(pair.p, 3),
                count(pair.n),
            )
            for pair in pairs
        ),
    )


CHOSEN_METRICS = Analysis(lambda report: bool(report.metrics), chosen_blocks)
