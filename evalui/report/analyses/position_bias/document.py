"""The part of a written report on position bias: each cell, then all models together."""

from collections.abc import Collection, Iterator, Sequence

from evalui.messages import localized
from evalui.report.analyses.base import Analysis
from evalui.report.analyses.position_bias.blocks import BiasSubject, bias_blocks
from evalui.report.analyses.position_bias.maps import model_maps
from evalui.report.analyses.position_bias.verdict import verdict
from evalui.report.analyses.verdict import with_question
from evalui.report.blocks import Block, Heading, Markers, Paragraph
from evalui.report.words import join_sentences, names
from evalui.scoring.cell_summary import Summary
from evalui.types import Language


def bias_document(
    summaries: Sequence[Summary], language: Language, *, baselines: Collection[str] = ()
) -> Iterator[Block]:
    """A heading and the blocks of each cell that showed its options; nothing without any."""
    subjects = list(_subjects(summaries, baselines))
    if not subjects:
        return
    called = names(summaries, language)
    yield Heading(2, localized("head-bias", language))
    for subject in subjects:
        cell, several = subject.summary.cell, _has_several_sizes(subject.summary)
        options = localized("file.options", language, n=subject.bias.n_options) if several else ""
        yield Heading(3, " · ".join(filter(None, (*called[cell], options))))
        headline = verdict(cell.model, subject.bias, language)
        yield Paragraph(headline.text, strong=True)
        yield Paragraph(join_sentences(headline.lead, headline.support))
        yield from bias_blocks(subject, language)
    yield from _maps(subjects, summaries, language, baselines)


def _subjects(summaries: Sequence[Summary], baselines: Collection[str]) -> Iterator[BiasSubject]:
    markers = Markers(tuple(dict.fromkeys(s.cell.model for s in summaries)), baselines)
    for number, summary in enumerate(with_question(summaries), start=1):
        model = summary.cell.model
        for bias in summary.bias.strata if summary.bias else ():
            options = f"-{bias.n_options}" if _has_several_sizes(summary) else ""
            is_baseline = model in baselines
            place = markers.place(model)
            yield BiasSubject(summary, bias, place, is_baseline, f"-{number}{options}")


def _has_several_sizes(summary: Summary) -> bool:
    return summary.bias is not None and len(summary.bias.strata) > 1


def _maps(
    subjects: Sequence[BiasSubject],
    summaries: Sequence[Summary],
    language: Language,
    baselines: Collection[str],
) -> Iterator[Block]:
    """The maps over all models, once for each dataset, mode and number of options."""
    done: set[tuple[str, str, int]] = set()
    for subject in subjects:
        cell = subject.summary.cell
        kind = (cell.dataset, cell.label, subject.bias.n_options)
        if kind not in done:
            done.add(kind)
            yield from model_maps(subject, with_question(summaries), language, baselines=baselines)


POSITION_BIAS = Analysis(
    lambda report: bool(report.summaries),
    lambda report, language: bias_document(report.summaries, language, baselines=report.baselines),
)
