"""What others have published of the sets of a run, with how and by whom, beside its own figures.

A set that is taken by its name keeps that name among the datasets of the run.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from evalui.benchmarks.published import PublishedFigure, figures_of
from evalui.messages import add_messages, localized, messages
from evalui.report.analyses.base import Analysis, Report
from evalui.report.blocks import Block, Column, Details, Paragraph, Table
from evalui.report.numbers import count, fixed
from evalui.types import Language

add_messages(Path(__file__).with_suffix(".toml"))


def published_blocks(datasets: Iterable[str], language: Language) -> Iterator[Block]:
    """A section with the figures of those datasets that are published sets; nothing without any."""
    figures = [each for name in dict.fromkeys(datasets) for each in figures_of(name)]
    if not figures:
        return
    sets = dict.fromkeys(each.benchmark for each in figures)
    finding = localized(
        "published.figures-finding", language, n=count(len(figures)), sets=", ".join(sets)
    )
    blocks = (
        _table(figures, language),
        Paragraph(localized("published.caption", language), small=True),
    )
    yield Details("published", localized("published.figures", language), finding, blocks)


def _table(figures: Iterable[PublishedFigure], language: Language) -> Table:
    t = messages(language)
    keys = ("dataset", "model", "value", "setting", "source")
    heads = tuple(Column(t(f"published.figures-{key}"), right=key == "value") for key in keys)
    rows = ((f.benchmark, f.model, fixed(f.value, 1), f.setting, f.source) for f in figures)
    return Table(heads, tuple(rows))


def _datasets(report: Report) -> Iterator[str]:
    return (result.cell.dataset for result in report.results)


PUBLISHED = Analysis(
    lambda report: any(map(figures_of, _datasets(report))),
    lambda report, language: published_blocks(_datasets(report), language),
)
