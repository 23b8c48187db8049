"""ANALYSES: every part of the report of a run, and the report as one text for people.

An analysis of another package stands in the files of a report, behind those of this module, and on
the page of the run, below the sections of its overview:

    ANALYSES.register("hardest")(Analysis(lambda report: report.has_choices, hardest_questions))

A mode declares those that speak of its own cells, see `HasAnalyses`.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from evalui.benchmarks.groups import SummaryGroup, check_groups, groups_of_spec
from evalui.messages import localized
from evalui.models.base import ModelUsage, ReplyCount
from evalui.modes import MODES
from evalui.registry import Registry
from evalui.report.analyses.base import (
    NO_VOTES,
    Analysis,
    Figures,
    HasAnalyses,
    Report,
    SmallPictures,
    no_pictures,
)
from evalui.report.analyses.calibration import CALIBRATION
from evalui.report.analyses.chosen_metrics import CHOSEN_METRICS
from evalui.report.analyses.cost import COST, REPLIES
from evalui.report.analyses.groups import SUMMARY_GROUPS
from evalui.report.analyses.imported import IMPORTED
from evalui.report.analyses.left_out import LEFT_OUT
from evalui.report.analyses.open_answers import OPEN_ANSWERS
from evalui.report.analyses.overview import OVERVIEW
from evalui.report.analyses.people import PEOPLE
from evalui.report.analyses.position_bias import POSITION_BIAS
from evalui.report.analyses.published import PUBLISHED
from evalui.report.analyses.statistics import STATISTICS
from evalui.report.blocks import Block, Bullets, Heading, Headline, Paragraph
from evalui.report.render.markdown import as_markdown
from evalui.scoring.arena.people import Votes
from evalui.scoring.cell_summary import SummarySource
from evalui.types import CellResult, Language, LeftOut
from evalui.version import __version__

ANALYSES: Registry[Analysis] = Registry("analysis")

# What came of a run, then the appendix with all that it rests on.
_BUILT_IN: Mapping[str, Analysis] = {
    "chosen_metrics": CHOSEN_METRICS,
    "overview": OVERVIEW,
    "open_answers": OPEN_ANSWERS,
    "summary_groups": SUMMARY_GROUPS,
    "people": PEOPLE,
    "left_out": LEFT_OUT,
    "replies": REPLIES,
    "imported": IMPORTED,
    "published": PUBLISHED,
    "statistics": STATISTICS,
    "position_bias": POSITION_BIAS,
    "calibration": CALIBRATION,
    "cost": COST,
}
for _name, _analysis in _BUILT_IN.items():
    ANALYSES.register(_name)(_analysis)


def compile_report(
    name: str,
    results: Sequence[CellResult],
    *,
    baselines: frozenset[str] = frozenset(),
    spec: str = "",
    votes: Votes = NO_VOTES,
    expenses: Sequence[ModelUsage] = (),
    replies: Sequence[ReplyCount] = (),
    changes: Sequence[str] = (),
    left_out: Sequence[LeftOut] = (),
    source: SummarySource | None = None,
    small_pictures: SmallPictures = no_pictures,
) -> Report:
    """The report of a run, or of as much of it as is done; `baselines` are scripted models.

    `votes` are those of people on each dataset, by its name; `expenses` are what the models took,
    `replies` whose replies it rests on, `changes` what servers said of their models that was not so
    all the time, `left_out` is what the run does not evaluate. `source` may
    know what is kept of a cell, `small_pictures` those of the questions.
    """
    imported = any(result.log for result in results)
    declared: Mapping[str, Any] = json.loads(spec) if spec else {}
    return Report(
        name,
        tuple(results),
        Figures(results, votes, source=source),
        baselines,
        "" if imported else spec,  # which answers nothing again
        votes,
        tuple(expenses),
        tuple(left_out),
        replies=tuple(replies),
        changes=tuple(changes),
        metrics=tuple(declared.get("metrics", ())),
        declared_groups=groups_of_spec(declared.get("summary_groups", ())),
        small_pictures=small_pictures,
    )


def with_metrics(report: Report, metrics: Sequence[str]) -> Report:
    """The report led by other metrics, which its specification states too."""
    spec = json.dumps(json.loads(report.spec) | {"metrics": [*metrics]}) if report.spec else ""
    return replace(report, spec=spec, metrics=tuple(metrics))


def with_groups(report: Report, groups: Sequence[SummaryGroup]) -> Report:
    """The report with other groups, which its specification states too.

    Raises:
        SpecError: a group has members that are none of the run.
    """
    subjects: dict[str, set[str]] = {}
    for result in report.results:
        own = subjects.setdefault(result.cell.dataset, set())
        own |= {sample.subject for sample in result.samples.values()}
    check_groups(groups, subjects)
    stated = [group.model_dump(exclude_defaults=True) for group in groups]
    spec = json.dumps(json.loads(report.spec) | {"summary_groups": stated}) if report.spec else ""
    return replace(report, spec=spec, declared_groups=groups_of_spec(stated))


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
    """The whole report: every analysis that speaks of the run, then how its figures were made."""
    report = report.in_language(language)
    yield Heading(1, report.name or localized("report", language))
    for analysis in _BUILT_IN.values():
        if analysis.speaks(report):
            yield from analysis.blocks(report, language)
    for added in added_blocks(report, language).values():
        yield from added
    yield Heading(2, localized("made", language))
    yield Bullets(report.signatures, signatures=True)
    yield Paragraph(localized("by-evalui", language, version=__version__))


def frozen_blocks(report: Report, language: Language) -> tuple[Block, ...]:
    """What the pages of a run open with, for one page that is read without them."""
    report = report.in_language(language)
    parts = (CHOSEN_METRICS, OVERVIEW, OPEN_ANSWERS, SUMMARY_GROUPS, PEOPLE, REPLIES)
    parts += (IMPORTED, PUBLISHED)
    return tuple(
        block for part in parts if part.speaks(report) for block in part.blocks(report, language)
    )


def meanings(report: Report) -> tuple[str, ...]:
    """Which kinds of figures a report has, by the keys of sentences on what they mean."""
    moved = any(summary.robust for summary in report.summaries)
    judged = bool(report.arenas) or any(one.cell.gives == "verdicts" for one in report.results)
    kinds = {
        "orders": moved,
        "accuracy": bool(report.summaries) and not moved,
        "judged": judged,
        "texts": any(one.means for one in report.answers),
    }
    return tuple(name for name, has in kinds.items() if has)


def added_blocks(report: Report, language: Language) -> dict[str, tuple[Block, ...]]:
    """What the analyses of other packages say of the run, by their names, then those of its modes.

    An analysis that a mode declares goes by both names, as in "one_line.lengths".
    """
    added = {name: (ANALYSES[name], report) for name in ANALYSES if name not in _BUILT_IN}
    for mode in dict.fromkeys(result.cell.mode for result in report.results):
        if mode in MODES and isinstance(declared := MODES[mode], HasAnalyses):
            own = report.of_mode(mode)
            added |= {f"{mode}.{name}": (one, own) for name, one in declared.analyses().items()}
    return {
        name: tuple(analysis.blocks(of, language))
        for name, (analysis, of) in added.items()
        if analysis.speaks(of)
    }
