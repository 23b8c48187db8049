"""What to know of written answers and of who judged them, as one folded section."""

import re
from collections.abc import Iterator, Mapping, Sequence

from evalui.messages import localized
from evalui.report.analyses.arena.narrative import answer_notes
from evalui.report.analyses.base import OpenContext
from evalui.report.analyses.overview.warnings import (
    LEVELS,
    NOTE_KINDS,
    ReportNote,
    first_sentence,
)
from evalui.report.analyses.statistics import other_settings
from evalui.report.blocks import Details, Kind, NoteLine, Notes
from evalui.report.numbers import count
from evalui.report.words import join_names_shortened
from evalui.scoring.answer_summary import AnswerSummary
from evalui.types import Cell, Language

# The filter of the list of duels that shows what a note is about.
_DUEL_FILTERS: Mapping[str, str] = {
    "fair": "changed",
    "swayed": "unreadable",
    "unsteady": "changed",
    "judge-unreadable": "unreadable",
    "no-majority": "unreadable",
    "no-reference": "unreferenced",
    "injected": "injected",
}
# What the headline says already is not stated again on the folded section.
_STATED_ABOVE = frozenset({"fair", "unsteady", "rule-judge"})
_ORDER: Sequence[Kind] = [NOTE_KINDS[level] for level in LEVELS]
_BEFORE_COLON = re.compile(r"[^:：]+")
_MAX_WORDS = 13  # of a sentence beside a folded section, beyond which its figures are left out


def know_details(
    judged: Sequence[ReportNote], answers: Sequence[AnswerSummary], context: OpenContext
) -> Iterator[Details]:
    """Every note on the judge and on the answers, the most serious first; nothing without any."""
    language = context.language
    stated = [_judge_line(note, context) for note in judged if note.rule in _STATED_ABOVE]
    lines = [_judge_line(note, context) for note in judged if note.rule not in _STATED_ABOVE]
    lines += _answer_lines(answers, context)
    if not stated and not lines:
        return
    first = min(lines or stated, key=_seriousness)
    yield Details(
        "what-to-know",
        localized("know", language, n=count(len(stated) + len(lines))),
        _first_sentence(first, language),
        (Notes(tuple(sorted([*stated, *lines], key=_seriousness))),),
        kind=first.kind if first.kind == "bad" else None,
    )


def _seriousness(line: NoteLine) -> int:
    return _ORDER.index(line.kind)


def _judge_line(note: ReportNote, context: OpenContext) -> NoteLine:
    link = None
    if note.rule in _DUEL_FILTERS:
        text = localized("see-duels", context.language)
        link = context.duel_link(text, duel_outcome=_DUEL_FILTERS[note.rule])
    return NoteLine(NOTE_KINDS[note.level], note.text, link=link)


def _answer_lines(answers: Sequence[AnswerSummary], context: OpenContext) -> list[NoteLine]:
    """What holds of several models is told once, what holds of all without their names."""
    models: dict[ReportNote, list[str]] = {}
    for summary in answers:
        for note in answer_notes(summary, context.language, rule_based=context.rules):
            models.setdefault(note, []).append(summary.cell.model)
    by_dataset: dict[tuple[str, str], list[Cell]] = {}
    for summary in answers:
        by_dataset.setdefault((summary.cell.dataset, summary.cell.label), []).append(summary.cell)
    for cells in by_dataset.values():
        for text, who in other_settings(cells, context.language).items():
            models[ReportNote("info", "settings", text)] = who
    return [
        NoteLine(
            NOTE_KINDS[note.level],
            note.text,
            ""
            if len(named) == len(answers) > 1
            else join_names_shortened(list(dict.fromkeys(named)), context.language),
        )
        for note, named in models.items()
    ]


def _first_sentence(line: NoteLine, language: Language) -> str:
    first = first_sentence(line.text)
    if len(first.split()) > _MAX_WORDS and (name := _BEFORE_COLON.match(first)):
        first = name[0]
    if not line.subject:
        return first
    return localized("of-model", language, model=line.subject, said=first)
