"""The part of a written report that tells of multiple-choice cells."""

from collections.abc import Collection, Iterator, Sequence

from evalui.report.blocks import NONE, Block, Bullets, Heading, Paragraph, Table
from evalui.report.groups import Group
from evalui.report.narrative import (
    mode_name,
    names,
    overview_title,
    picks_title,
    recall_title,
    takeaway,
)
from evalui.report.notes import notes
from evalui.report.numbers import count, figure, fixed, span
from evalui.report.sentences import SENTENCES, say
from evalui.report.summary import Summary, readable_share
from evalui.scoring.position import PositionTable
from evalui.types import Interval, Language


def choice_blocks(
    summaries: Sequence[Summary], language: Language, *, baselines: Collection[str]
) -> Iterator[Block]:
    """A sentence, the table of figures, and each cell."""
    yield Paragraph(overview_title(summaries, language, baselines=baselines), strong=True)
    yield _figures(summaries, language)
    yield Paragraph(say("ranges-are", language))
    yield Heading(2, say("each", language))
    titles = names(summaries, language)
    for summary in summaries:
        yield Heading(3, " · ".join(filter(None, titles[summary.cell])))
        yield from _cell(summary, language)


def _figures(summaries: Sequence[Summary], language: Language) -> Table:
    keys = ("model", "dataset", "mode", "n", "accuracy", "robust", "sensitivity", "position")
    rows = tuple(
        (
            summary.cell.model,
            summary.cell.dataset,
            mode_name(summary.cell, language),
            count(summary.n),
            _share(summary.accuracy),
            _share(summary.robust),
            _share(summary.order_sensitivity),
            picks_title(table, language) if (table := summary.main_positions) else NONE,
            _share(summary.readable),
        )
        for summary in summaries
    )
    return Table(_heads((*keys, "readable"), language), rows)


def _cell(summary: Summary, language: Language) -> Iterator[Block]:
    if summary.accuracy:
        yield Paragraph(takeaway(summary, language))
    yield Bullets(tuple(note.text for note in notes(summary, language)))
    if len(summary.readings) > 1:
        yield _readings(summary, language)
    for table in summary.positions:
        yield Paragraph(_position(table, summary, language))
    if summary.groups:
        yield _groups(summary.groups, language)


def _position(table: PositionTable, summary: Summary, language: Language) -> str:
    said = f"{picks_title(table, language)} · {recall_title(table, language)}"
    if len(summary.positions) == 1:
        return said
    return say("with-options", language, k=table.n_options, said=said)


def _readings(summary: Summary, language: Language) -> Table:
    rows = tuple(
        (name, _share(found.accuracy), _share(readable_share(found.unreadable)))
        for name, found in summary.readings.items()
    )
    return Table(_heads(("rule", "accuracy", "readable"), language), rows)


def _groups(groups: Sequence[Group], language: Language) -> Table:
    rows = tuple(
        (_group_name(group, language), count(group.n), _share(group.accuracy), _mean(group))
        for group in groups
    )
    return Table(_heads(("subject", "n", "by-question", "by-subject"), language), rows)


def _heads(keys: Sequence[str], language: Language) -> tuple[str, ...]:
    return tuple(say(f"head-{key}", language) for key in keys)


def _group_name(group: Group, language: Language) -> str:
    key = f"{group.kind}-{group.name}" if group.kind == "category" else f"group-{group.kind}"
    if key in SENTENCES:
        return SENTENCES[key][language]
    return (group.name_zh if language == "zh" else "") or group.name or NONE


def _mean(group: Group) -> str:
    value = group.macro.get("acc_origin")
    return NONE if group.kind == "subject" or value is None else fixed(value, 1)


def _share(interval: Interval | None) -> str:
    return f"{figure(interval)} ({span(interval)})" if interval else NONE
