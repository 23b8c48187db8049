"""A run as one text for people: its blocks, and report.md."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from threading import RLock
from types import MappingProxyType

from evalui import __version__
from evalui.messages import localized, messages
from evalui.models.base import ModelUsage
from evalui.report.analyses.arena.figures import Arena, arenas
from evalui.report.analyses.calibration import calibration_blocks
from evalui.report.analyses.cost import cost_blocks
from evalui.report.analyses.open_answers.context import OpenContext
from evalui.report.analyses.open_answers.figures import ANSWERS, JUDGE, AnswerSummary, answers
from evalui.report.analyses.open_run import OpenRun, open_blocks
from evalui.report.analyses.overview.document import left_out_blocks, overview_blocks
from evalui.report.analyses.overview.narrative import names, with_question
from evalui.report.analyses.people.blocks import people_blocks
from evalui.report.analyses.people.figures import PeopleFigures, Votes, compare_people, human_arenas
from evalui.report.analyses.position_bias.document import bias_document
from evalui.report.analyses.statistics import comparisons
from evalui.report.analyses.statistics.blocks import statistics_blocks
from evalui.report.blocks import Block, Bullets, Heading, Headline, Paragraph
from evalui.report.render.markdown import as_markdown
from evalui.scoring.cell_summary import Summary, summarise
from evalui.types import CellResult, Language, LeftOut, Verdict

_EMPTY_VOTES: Mapping[str, Sequence[Verdict]] = MappingProxyType({})


class Figures:
    """What the analyses of a run come to, each worked out once, when it is first wanted.

    `votes` are those of people by dataset; `base` has the figures that do not depend on them.
    Safe to share between threads.
    """

    def __init__(
        self,
        results: Sequence[CellResult],
        votes: Votes = _EMPTY_VOTES,
        base: "Figures | None" = None,
        summary_of: Callable[[CellResult], Summary] = summarise,
    ) -> None:
        self._results = tuple(results)
        self._summary_of = summary_of
        self._votes = votes
        self._base = base
        self._lock = RLock()  # an analysis takes seconds, and is worked out by one thread only

    @cached_property
    def summaries(self) -> tuple[Summary, ...]:
        """Of the multiple-choice cells, in the order of the run."""
        if self._base:
            return self._base.summaries
        with self._lock:
            cached = self.__dict__.get("summaries")
            return cached or tuple(
                self._summary_of(result)
                for result in self._results
                if result.cell.mode not in (ANSWERS, JUDGE)
            )

    @cached_property
    def answers(self) -> tuple[AnswerSummary, ...]:
        """Of the written answers."""
        if self._base:
            return self._base.answers
        with self._lock:
            return self.__dict__.get("answers") or answers(self._results)

    @cached_property
    def arenas(self) -> tuple[Arena, ...]:
        """Of the judges who compared them."""
        if self._base:
            return self._base.arenas
        with self._lock:
            return self.__dict__.get("arenas") or arenas(self._results)

    @cached_property
    def people(self) -> tuple[PeopleFigures, ...]:
        """Of people beside each judge."""
        with self._lock:
            return self.__dict__.get("people") or compare_people(
                self.arenas, self._results, self._votes
            )

    def with_votes(self, votes: Votes) -> "Figures":
        """The same beside the votes of people."""
        return Figures(self._results, votes, self._base or self)


@dataclass(frozen=True)
class Report:
    """A run with its figures, each worked out when it is first read.

    `spec` is its specification as JSON, to run it again. `votes` are those of people by dataset.
    `expenses` are what the models took, at the prices of the day. `left_out` is what the run was
    given and does not evaluate. Reasons are in the `language` of the report, else in English.
    """

    name: str
    results: tuple[CellResult, ...]
    figures: Figures
    baselines: frozenset[str] = frozenset()
    spec: str = ""
    votes: Votes = field(default_factory=lambda: _EMPTY_VOTES)
    expenses: tuple[ModelUsage, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    language: Language = "en"

    @cached_property
    def summaries(self) -> tuple[Summary, ...]:
        """The figures of the multiple-choice cells."""
        return tuple(replace(each, error=self._say(each.error)) for each in self.figures.summaries)

    @cached_property
    def answers(self) -> tuple[AnswerSummary, ...]:
        """The figures of the written answers."""
        return tuple(replace(each, error=self._say(each.error)) for each in self.figures.answers)

    @cached_property
    def arenas(self) -> tuple[Arena, ...]:
        """The judges who compared them."""
        return tuple(replace(each, error=self._say(each.error)) for each in self.figures.arenas)

    @cached_property
    def people(self) -> tuple[PeopleFigures, ...]:
        """People beside each judge."""
        return self.figures.people

    @property
    def open_run(self) -> OpenRun:
        """What its written answers come to."""
        return OpenRun(self.answers, self.arenas, self.people, self.results)

    def open_context(self, language: Language) -> OpenContext:
        """How tables and charts of its written answers name the models."""
        # A scripted judge is a rule, as a scripted model is a baseline.
        models = self.open_run.models
        return OpenContext(language, models, self.baselines, rules=self.baselines)

    @property
    def signatures(self) -> tuple[str, ...]:
        """How the figures of each cell were made, then those of people's votes."""
        cells = (result.cell.signature for result in self.results)
        return (*cells, *(human.signature for human in human_arenas(self.people)))

    def in_language(self, language: Language) -> "Report":
        """The same with its reasons in a language."""
        t = messages(language)
        return replace(
            self,
            language=language,
            expenses=tuple(replace(each, why=t.translate(each.why)) for each in self.expenses),
            left_out=tuple(replace(each, why=t.translate(each.why)) for each in self.left_out),
        )

    def _say(self, text: str) -> str:
        return messages(self.language).translate(text)


def compile_report(
    name: str,
    results: Sequence[CellResult],
    *,
    baselines: frozenset[str] = frozenset(),
    spec: str = "",
    votes: Votes = _EMPTY_VOTES,
    expenses: Sequence[ModelUsage] = (),
    left_out: Sequence[LeftOut] = (),
    summary_of: Callable[[CellResult], Summary] = summarise,
) -> Report:
    """The report of a run, or of as much of it as is done; `baselines` are scripted models.

    `votes` are those of people on each dataset, by its name; `expenses` are what the models took,
    `left_out` is what the run does not evaluate. `summary_of` may know what is kept of a cell.
    """
    return Report(
        name,
        tuple(results),
        Figures(results, votes, summary_of=summary_of),
        baselines,
        spec,
        votes,
        tuple(expenses),
        tuple(left_out),
    )


def with_votes(report: Report, votes: Votes) -> Report:
    """The report with the votes of people on each dataset, by its name; nothing else changes."""
    return replace(report, figures=report.figures.with_votes(votes), votes=votes)


def markdown(report: Report, language: Language) -> str:
    """The whole report as Markdown."""
    return as_markdown(tuple(blocks(report, language)))


def first_sentence(report: Report, language: Language) -> str:
    """What the report says before all else; "" of a run without any figures."""
    sentences = (
        block.text
        for block in blocks(report, language)
        if isinstance(block, Headline) or (isinstance(block, Paragraph) and block.strong)
    )
    return next(sentences, "")


def blocks(report: Report, language: Language) -> Iterator[Block]:
    """The whole report: what came of it, then the appendix with all that it rests on."""
    report = report.in_language(language)
    yield Heading(1, report.name or localized("report", language))
    choices = bool(report.summaries) or not (report.answers or report.arenas)
    if choices:
        yield from overview_blocks(
            report.summaries,
            language,
            baselines=report.baselines,
            left_out=report.left_out,
        )
    yield from open_blocks(report.open_run, report.open_context(language))
    yield from people_blocks(report.people, language, rule_based=report.baselines)
    if not choices:
        yield from left_out_blocks(report.left_out, language)
    yield from _choice_appendix(report, language)
    for card in cost_blocks(report.expenses, language):
        yield Heading(2, card.title)
        yield from card.blocks
    yield Heading(2, localized("made", language))
    yield Bullets(report.signatures, signatures=True)
    yield Paragraph(localized("by-evalui", language, version=__version__))


def _choice_appendix(report: Report, language: Language) -> Iterator[Block]:
    """Every pair, then the position bias of each cell, then calibration."""
    shown = [summary for summary in with_question(report.summaries) if summary.accuracy]
    made = comparisons(shown, baselines=report.baselines)
    called = names(report.summaries, language)
    for number, comparison in enumerate(made, start=1):
        parts = [localized("pairs-title", language)]
        if len(made) > 1:
            cell = (comparison.pairs or comparison.incomparable)[0].first
            parts.append(called[cell][1])
        yield Heading(2, " · ".join(parts))
        suffix = f"-{number}" if len(made) > 1 else ""
        own = [
            s
            for s in shown
            if (s.cell.dataset, s.cell.label) == (comparison.dataset, comparison.label)
        ]
        yield from statistics_blocks(
            own, comparison, language, baselines=report.baselines, suffix=suffix
        )
    yield from bias_document(report.summaries, language, baselines=report.baselines)
    yield from calibration_blocks(shown, language, baselines=report.baselines)
