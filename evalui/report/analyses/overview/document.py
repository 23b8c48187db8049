"""The overview of a run's multiple-choice cells as blocks, for the screen and for files alike."""

from collections.abc import Collection, Iterator, Sequence
from functools import partial

from evalui.messages import localized, messages
from evalui.report.analyses.base import Analysis
from evalui.report.analyses.overview.every import every_figure, signatures
from evalui.report.analyses.overview.lead import lead_card
from evalui.report.analyses.overview.sections import (
    by_subject,
    every_rule,
    how_sure,
    section,
    why_guessing,
)
from evalui.report.analyses.overview.standing import MOST_MODES, DatasetStanding, standings
from evalui.report.analyses.overview.verdict import headline
from evalui.report.analyses.overview.warnings import GUESSING, what_to_know
from evalui.report.blocks import (
    Block,
    Bullets,
    Details,
    Heading,
    Link,
    Links,
    Places,
)
from evalui.report.numbers import count
from evalui.report.words import mode_word
from evalui.scoring.cell_summary import Summary
from evalui.types import Language, LeftOut

_MOST_ROWS = 8  # of a page, before one wants to see all


def overview_blocks(
    summaries: Sequence[Summary],
    language: Language,
    *,
    baselines: Collection[str] = (),
    left_out: Sequence[LeftOut] = (),
    changes: Sequence[str] = (),
    places: Places | None = None,
    mode: str = "",
    all_models: bool = False,
    sort: str = "",
) -> tuple[Block, ...]:
    """Headline, one lead table per dataset, what folds below it, and the signature.

    `places` gives the blocks their links; without it they are those of a file, with every model.
    `mode` is the label of the mode that ranks, `sort` the column of "Every figure".
    """
    most = (len(summaries) if all_models else _MOST_ROWS) if places else 0
    datasets = standings(summaries, baselines=baselines, mode=mode, most=most)
    shown = [s for s in summaries if s.state != "impossible"] or list(summaries)
    return (
        headline(datasets, language),
        *_switch(datasets, language, places),
        *_tables(datasets, language, places),
        *_sections(summaries, datasets, language, baselines, left_out, changes, places, sort),
        *([signatures(shown)] if places else []),
    )


def _switch(
    datasets: Sequence[DatasetStanding], language: Language, places: Places | None
) -> Iterator[Block]:
    """The modes as links, where there are too many to stand beside each other."""
    most = max(datasets, key=lambda standing: len(standing.modes), default=None)
    if places is None or most is None or len(most.modes) <= MOST_MODES:
        return
    kinds = {label: summary.cell.mode for (label, _), summary in most.cells.items()}
    yield Links(
        tuple(
            Link(
                mode_word(label, kinds[label], language),
                places.view("overview", mode=label),
                current=label == most.lead,
            )
            for label in most.modes
        )
    )


def _tables(
    datasets: Sequence[DatasetStanding],
    language: Language,
    places: Places | None,
) -> Iterator[Block]:
    answered = [s for s in datasets if any(cell.accuracy or cell.done for cell in s.leading)]
    for number, standing in enumerate(answered, start=1):
        named = standing.dataset if len(datasets) > 1 else ""
        file = "accuracy.png" if number == 1 else f"accuracy-{number}.png"
        yield lead_card(standing, language, named=named, file=file)
        yield from _way_to_all(standing, language, places)


def _way_to_all(
    standing: DatasetStanding, language: Language, places: Places | None, section: str = ""
) -> Iterator[Block]:
    """A link to the same with every model, opened at a section, where some are left out."""
    if places and len(standing.shown) < len(standing.models):
        word = localized("lead.show-all", language, n=count(len(standing.models)))
        address = places.view("overview", mode=standing.lead, all="1")
        yield Links((Link(word, f"{address}#{section}" if section else address),))


def _sections(
    summaries: Sequence[Summary],
    datasets: Sequence[DatasetStanding],
    language: Language,
    baselines: Collection[str],
    left_out: Sequence[LeftOut],
    changes: Sequence[str],
    places: Places | None,
    sort: str,
) -> Iterator[Details]:
    guessing = bool(datasets) and all(standing.guessing for standing in datasets)
    if guessing:
        yield why_guessing(datasets[0], language, places)
    for name, kind, part in (
        ("how-sure", "sure", how_sure),
        ("by-subject", "subjects", by_subject),
        ("every-rule", "rules", every_rule),
    ):
        more = partial(_way_to_all, language=language, places=places, section=name)
        if made := section(name, part, datasets, language, kind=kind, more=more):
            yield made
    # That a model could not run is said by its cells, where there are any.
    noted = any(summary.state == "impossible" for summary in summaries)
    beside = [each for each in left_out if not (noted and each.rule == "model")]
    known = what_to_know(
        summaries,
        language,
        baselines=baselines,
        left_out=left_out_sentences(beside, language),
        changes=changes,
        unless=GUESSING if guessing else (),
        places=places,
    )
    if known:
        yield known
    if any(summary.done for summary in summaries):
        yield every_figure(summaries, datasets, language, places=places, sort=sort)


# ---------------------------------------------------------------- what was left out


def left_out_sentences(left_out: Sequence[LeftOut], language: Language) -> tuple[str, ...]:
    """A sentence for each thing left out, in the order of the run; none twice."""
    t = messages(language)
    sentences = (
        t(
            f"left-{each.rule}",
            dataset=each.dataset,
            what=each.what,
            mode=_modes(each.mode, language),
            why=t.translate(each.why),
            rows=count(each.rows),
        )
        for each in left_out
    )
    return tuple(dict.fromkeys(sentences))


def _modes(names: str, language: Language) -> str:
    """Modes in words, not by the names under which they are registered."""
    t = messages(language)
    words = (t(key) if (key := f"mode.{name}_short") in t else name for name in names.split(", "))
    return t("list.comma").join(words) if names else ""


def left_out_blocks(left_out: Sequence[LeftOut], language: Language) -> Iterator[Block]:
    """The part of a report that lists what was left out; nothing if all was evaluated."""
    if sentences := left_out_sentences(left_out, language):
        yield Heading(2, localized("left-title", language))
        yield Bullets(sentences)


OVERVIEW = Analysis(
    lambda report: report.has_choices,
    lambda report, language: overview_blocks(
        report.summaries,
        language,
        baselines=report.baselines,
        left_out=report.left_out,
        changes=report.changes,
    ),
)
LEFT_OUT = Analysis(
    lambda report: not report.has_choices,  # else the overview states it
    lambda report, language: left_out_blocks(report.left_out, language),
)
