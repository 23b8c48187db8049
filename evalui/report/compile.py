"""A run as one text for people: its blocks, and report.md."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType

from evalui import __version__
from evalui.messages import localized
from evalui.models.base import ModelUsage
from evalui.report.analyses.arena.document import arena_blocks
from evalui.report.analyses.arena.figures import Arena, arenas
from evalui.report.analyses.cost import usage_blocks
from evalui.report.analyses.open_answers.document import answers_blocks
from evalui.report.analyses.open_answers.figures import ANSWERS, JUDGE, AnswerSummary, answers
from evalui.report.analyses.overview.document import left_out_blocks, overview_blocks
from evalui.report.analyses.overview.summary import Summary, summarise
from evalui.report.analyses.people.blocks import people_blocks
from evalui.report.analyses.people.figures import PeopleFigures, Votes, compare_people, human_arenas
from evalui.report.blocks import Block, Bullets, Heading, Headline, Paragraph, Picture
from evalui.report.render.markdown import as_markdown
from evalui.types import CellResult, Language, LeftOut, Verdict

_EMPTY_VOTES: Mapping[str, Sequence[Verdict]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Report:
    """A run with its figures. `spec` is its specification as JSON, to run it again.

    `summaries` are of the multiple-choice cells, `answers` of the written answers, `arenas` of
    the judges who compared them. `votes` are those of people by dataset, `people` the figures of
    that beside each judge. `expenses` are what the models took, at the prices of the day.
    `left_out` is what the run was given and does not evaluate.
    """

    name: str
    results: tuple[CellResult, ...]
    summaries: tuple[Summary, ...]
    baselines: frozenset[str] = frozenset()
    spec: str = ""
    answers: tuple[AnswerSummary, ...] = ()
    arenas: tuple[Arena, ...] = ()
    people: tuple[PeopleFigures, ...] = ()
    votes: Votes = field(default_factory=lambda: _EMPTY_VOTES)
    expenses: tuple[ModelUsage, ...] = ()
    left_out: tuple[LeftOut, ...] = ()

    @property
    def signatures(self) -> tuple[str, ...]:
        """How the figures of each cell were made, then those of people's votes."""
        cells = (result.cell.signature for result in self.results)
        return (*cells, *(human.signature for human in human_arenas(self.people)))


def compile_report(
    name: str,
    results: Sequence[CellResult],
    *,
    baselines: frozenset[str] = frozenset(),
    spec: str = "",
    votes: Votes = _EMPTY_VOTES,
    expenses: Sequence[ModelUsage] = (),
    left_out: Sequence[LeftOut] = (),
) -> Report:
    """The report of a run, or of as much of it as is done; `baselines` are scripted models.

    `votes` are those of people on each dataset, by its name; `expenses` are what the models took,
    `left_out` is what the run does not evaluate.
    """
    summaries = tuple(
        summarise(result) for result in results if result.cell.mode not in (ANSWERS, JUDGE)
    )
    report = Report(
        name,
        tuple(results),
        summaries,
        baselines,
        spec,
        answers=answers(results),
        arenas=arenas(results),
        expenses=tuple(expenses),
        left_out=tuple(left_out),
    )
    return with_votes(report, votes)


def with_votes(report: Report, votes: Votes) -> Report:
    """The report with the votes of people on each dataset, by its name; nothing else changes."""
    people = compare_people(report.arenas, report.results, votes)
    return replace(report, people=people, votes=votes)


def markdown(report: Report, language: Language) -> str:
    """The whole report as Markdown."""
    return as_markdown(tuple(blocks(report, language)))


def preview(report: Report, language: Language) -> str:
    """The report as Markdown for a page that has no pictures beside it."""
    kept = (block for block in blocks(report, language) if not isinstance(block, Picture))
    return as_markdown(tuple(kept))


def first_sentence(report: Report, language: Language) -> str:
    """What the report says before all else; "" of a run without any figures."""
    said = (
        block.text
        for block in blocks(report, language)
        if isinstance(block, Headline) or (isinstance(block, Paragraph) and block.strong)
    )
    return next(said, "")


def blocks(report: Report, language: Language) -> Iterator[Block]:
    """The whole report: figures of choices, of judges, of texts, what lacks, cost, signatures."""
    yield Heading(1, report.name or localized("report", language))
    if report.summaries or not (report.answers or report.arenas):
        yield from overview_blocks(
            report.summaries,
            language,
            baselines=report.baselines,
            left_out=report.left_out,
        )
    # A scripted judge is a rule, as a scripted model is a baseline.
    rules = report.baselines
    answered = answers_blocks(report.answers, report.results, language, rule_based=rules)
    judged = arena_blocks(report.arenas, language, rule_based=rules)
    # What a judge says of the answers comes before how their words agree with the references.
    judged_first = any(arena.battles for arena in report.arenas)
    for part in (judged, answered) if judged_first else (answered, judged):
        yield from part
    yield from people_blocks(report.people, language, rule_based=rules)
    yield from left_out_blocks(report.left_out, language)
    yield from usage_blocks(report.expenses, language)
    yield Heading(2, localized("made", language))
    yield Bullets(report.signatures, signatures=True)
    yield Paragraph(localized("by-evalui", language, version=__version__))
