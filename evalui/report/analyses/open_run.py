"""The written answers of a run in parts: one for each dataset and who judged it.

A judge comes before the text figures of the same answers, which stand second on its page; a
dataset without a judge has its text figures alone.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evalui.messages import localized
from evalui.report.analyses.arena.document import judged_blocks
from evalui.report.analyses.arena.narrative import judge_name, judged_by
from evalui.report.analyses.base import Analysis, OpenContext, Report
from evalui.report.analyses.open_answers.document import (
    figures_finding,
    text_blocks,
    text_card,
    text_figures,
)
from evalui.report.analyses.open_answers.notes import know_details
from evalui.report.analyses.open_answers.ratings import rated_blocks
from evalui.report.blocks import Block, Details, Heading, NoteLine, Notes
from evalui.report.charts.arena import picture_problem
from evalui.scoring.answer_summary import AnswerSummary, ranking_metric
from evalui.scoring.arena.figures import PEOPLE, Arena
from evalui.scoring.arena.verdicts import PANEL_NAME, rating_cells
from evalui.scoring.pairs import AnswerPair
from evalui.types import CellResult, Language


@dataclass(frozen=True, slots=True)
class OpenPart:
    """A dataset as one judge compared its answers, or marked them, or without either."""

    dataset: str
    arena: Arena | None = None
    rated: CellResult | None = None

    @property
    def judge(self) -> str:
        """The judge, "panel" or "people"; "" where there is none."""
        if self.arena:
            return self.arena.by
        return self.rated.cell.model if self.rated else ""

    def label(self, language: Language, rules: frozenset[str]) -> str:
        """Who judged, as a heading and a switch name it."""
        if self.judge in (PANEL_NAME, PEOPLE):
            return localized(f"part-{self.judge}", language)
        return judge_name(self.judge, language, rule_based=rules)


def open_parts(report: Report, arenas: Sequence[Arena] | None = None) -> tuple[OpenPart, ...]:
    """The parts in the order of the run, a panel before its judges; `arenas` if not the run's."""
    shown = report.arenas if arenas is None else arenas
    written = (one.cell.dataset for one in report.results if one.cell.gives != "choices")
    datasets = dict.fromkeys((*written, *(one.dataset for one in shown)))
    rated = rating_cells(report.results)
    parts: list[OpenPart] = []
    for dataset in datasets:
        judged = [OpenPart(dataset, arena=one) for one in shown if one.dataset == dataset]
        judged += [OpenPart(dataset, rated=one) for one in rated if one.cell.dataset == dataset]
        parts += judged or [OpenPart(dataset)]
    return tuple(parts)


def part_blocks(
    report: Report, part: OpenPart, context: OpenContext, *, suffix: str = ""
) -> Iterator[Block]:
    """The blocks of one part; `suffix` tells the names of its pictures from those of others."""
    answers = [one for one in report.answers if one.cell.dataset == part.dataset]
    measured = any(summary.means for summary in answers)
    figure = ranking_metric(answers).figure
    pairs = report.figures.pairs(figure, part.dataset) if measured else ()
    if part.arena:
        people = next(
            (p.agreement for p in report.people if p.judged.signature == part.arena.signature), None
        )
        yield from judged_blocks(
            part.arena, context, answers=answers, pairs=pairs, people=people, suffix=suffix
        )
    elif part.rated:
        yield from _rated(part.rated, answers, pairs, context, suffix)
    elif answers:
        file = context.file(f"answers{suffix}.png")
        yield from text_blocks(answers, pairs, context, file=file)


def _rated(
    rated: CellResult,
    answers: Sequence[AnswerSummary],
    pairs: Sequence[AnswerPair],
    context: OpenContext,
    suffix: str,
) -> Iterator[Block]:
    language = context.language
    yield from rated_blocks(rated, context, file=context.file(f"marks{suffix}.png"))
    measured = any(summary.means for summary in answers)
    if measured:
        yield text_card(answers, pairs, context)
    if answers:
        yield Details(
            "every-figure",
            localized("every.name", language),
            figures_finding(answers, language),
            tuple(text_figures(answers, pairs, context)),
        )
    yield from know_details((), answers, context)


def open_blocks(report: Report, context: OpenContext) -> Iterator[Block]:
    """All parts for a file, each under a heading that names dataset and judge."""
    language = context.language
    problem = picture_problem(report.arenas, language)
    if problem:
        context = context.without_pictures()
    for place, part in enumerate(open_parts(report), start=1):
        key = "judged-part" if part.judge else "answers-part"
        if part.arena:
            judge = judged_by(part.arena, language, rule_based=context.rules)
        else:
            judge = part.label(language, context.rules)
        yield Heading(2, localized(key, language, dataset=part.dataset, judge=judge))
        yield from part_blocks(report, part, context, suffix="" if place == 1 else f"-{place}")
    if problem:
        yield Notes((NoteLine("na", localized(problem, language)),))


OPEN_ANSWERS = Analysis(
    lambda report: bool(report.answers or report.arenas),
    lambda report, language: open_blocks(report, report.open_context(language)),
)
