"""Answers that another harness has collected: its printed figures beside ours, and why they differ.

Three figures stand beside each other: what the harness has printed, the mean of the marks that its
log gives the answers, and what evalui makes of the same answers.
"""

from collections.abc import Iterator, Sequence
from math import isclose
from pathlib import Path

from evalui.messages import add_messages, localized, messages
from evalui.report.analyses.base import Analysis, Report
from evalui.report.blocks import (
    NONE,
    Block,
    Bullets,
    Column,
    Details,
    Paragraph,
    Table,
    TableCell,
    TextCell,
)
from evalui.report.numbers import count, fixed
from evalui.types import CellResult, Language, LogSource, PrintedFigure

add_messages(Path(__file__).with_suffix(".toml"))

_GROUPED = ("ece", "aurc")  # figures of many answers together, which no mark is of
_DECIMALS = 4  # as lm-eval and EvalScope print shares


def imported_blocks(
    results: Sequence[CellResult], metrics: Sequence[dict[str, float]], language: Language
) -> Iterator[Block]:
    """A section on all logs of a run; nothing if its answers are its own.

    `metrics` are OpenCompass's figures of each cell in percent, {} where there are none.
    """
    logged = [(one, one.log, own) for one, own in zip(results, metrics, strict=True) if one.log]
    if not logged:
        return
    t = messages(language)
    # Repeats have the figures of their harness in common, which are over all of them.
    first = [(one, log, own) for one, log, own in logged if log.repeat == 1]
    rows = [
        (one, log, each, _our_value(each, own)) for one, log, own in first for each in log.figures
    ]
    away = sum(ours is not None and not _same(each, ours) for _, _, each, ours in rows)
    finding = (
        t.count("imported.differ", away, total=count(len(rows))) if away else t("imported.same")
    )
    sources = dict.fromkeys(_source(log, language) for _, log, _ in first)
    blocks: list[Block] = [Paragraph(text) for text in sources]
    if rows:
        blocks += [_table(rows, language), Paragraph(t("imported.caption"), small=True)]
    missing = dict.fromkeys(key for _, log, _ in logged for key in log.missing)
    if any(log.repeat > 1 for _, log, _ in logged):
        blocks.append(Paragraph(t("imported.repeats")))
    if missing:
        blocks.append(Bullets(tuple(t(f"log.missing-{key}") for key in missing)))
    yield Details(
        "imported", t("imported.name"), finding if rows else t("imported.none"), tuple(blocks)
    )


def _source(log: LogSource, language: Language) -> str:
    """Whose log it is, of which version."""
    t = messages(language)
    version = f" {log.version}" if log.version else ""
    text = t("imported.source", harness=t(f"harness.{log.harness}"), version=version)
    return text if log.version else f"{text} {t('imported.no-version')}"


def _our_value(figure: PrintedFigure, metrics: dict[str, float]) -> float | None:
    """evalui's value in 0..1; OpenCompass's figures of several orders are known by their names."""
    if figure.ours is None and not figure.subject and figure.name in metrics:
        return metrics[figure.name] / 100
    return figure.ours


def _same(figure: PrintedFigure, ours: float) -> bool:
    """Whether ours is what was printed, to its last digit; without that, what the marks give."""
    known = figure.printed is not None
    return (figure if known else PrintedFigure("", figure.marked)).is_printed_as(ours)


def _table(
    rows: Sequence[tuple[CellResult, LogSource, PrintedFigure, float | None]], language: Language
) -> Table:
    keys = ("head-model", "head-dataset", "imported.figure")
    values = ("imported.printed", "imported.marked", "imported.ours")
    heads = (
        Column(localized(key, language), right=key in values)
        for key in (*keys, *values, "imported.why")
    )
    return Table(tuple(heads), tuple(_row(*row, language) for row in rows))


def _row(
    one: CellResult, log: LogSource, figure: PrintedFigure, ours: float | None, language: Language
) -> tuple[TableCell, ...]:
    reading = f"reading.{figure.reading}"
    t = messages(language)
    words = t(reading) if reading in t else figure.reading
    return (
        one.cell.model,
        TextCell(one.cell.dataset, figure.subject),
        figure.name,
        NONE if figure.printed is None else _as_printed(figure.printed),
        _scaled(figure.marked, figure),
        TextCell(_scaled(ours, figure), words if ours is not None else ""),
        " ".join(_reasons(figure, ours, log, language)),
    )


def _as_printed(value: float) -> str:
    """As many decimals as the harness has printed, of a file with all its digits the first four."""
    return f"{value:.{_DECIMALS}f}" if len(f"{value!r}") > _DECIMALS + 4 else f"{value!r}"


def _scaled(share: float | None, figure: PrintedFigure) -> str:
    return NONE if share is None else fixed(share * figure.full, _DECIMALS)


def _reasons(
    figure: PrintedFigure, ours: float | None, log: LogSource, language: Language
) -> Iterator[str]:
    t = messages(language)
    if figure.printed is None:
        yield t("imported.why-unprinted")
    elif figure.marked is not None and not figure.confirmed:
        yield t("imported.why-mean", n=count(figure.n))
    if log.left_out:
        yield t.count("imported.why-left-out", log.left_out)
    if ours is None:
        yield t("imported.why-no-counterpart")
    elif figure.differing:
        yield t.count("imported.why-reading", figure.differing, total=count(figure.n))
        if figure.tied:
            yield t.count("imported.why-tied", figure.tied)
        if figure.unread:
            yield t.count("imported.why-unread", figure.unread)
    elif _same(figure, ours):
        yield t("imported.why-equal")
    elif figure.marked is None:
        yield t(f"imported.why-{'grouped' if figure.reading in _GROUPED else 'unmarked'}")
    elif not isclose(figure.marked, ours):
        yield t("imported.why-orders")


def _in_report(report: Report, language: Language) -> Iterator[Block]:
    by_cell = {summary.cell: dict(summary.metrics) for summary in report.summaries}
    metrics = [by_cell.get(one.cell, {}) for one in report.results]
    yield from imported_blocks(report.results, metrics, language)


IMPORTED = Analysis(lambda report: any(one.log for one in report.results), _in_report)
