"""What to know before believing the figures of a run, each thing once, the most serious first."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from evalui.messages import localized, messages
from evalui.report.analyses.overview.places import Places
from evalui.report.analyses.overview.verdict import mode_word
from evalui.report.analyses.overview.warnings import (
    LEVELS,
    NOTE_KINDS,
    ReportNote,
    notes,
    severity,
)
from evalui.report.blocks import Block, Details, Link, Links, NoteLine, Notes
from evalui.report.words import join_names_shortened, join_sentences
from evalui.scoring.cell_summary import Summary, is_unfinished
from evalui.types import Cell, Language

GUESSING = ("chance", "below-chance")  # notes on models no better than guessing
_FILTERS: Mapping[str, str] = {"unreadable-many": "unreadable", "by-number": "", "ties": "tied"}


@dataclass(frozen=True, slots=True)
class _Known:
    """A note and the cells that have it, the gravest first."""

    note: ReportNote
    cells: tuple[Cell, ...]
    scripted: bool


def what_to_know(
    summaries: Sequence[Summary],
    language: Language,
    *,
    baselines: Collection[str],
    left_out: Sequence[str] = (),
    unless: Collection[str] = (),
    places: Places | None = None,
) -> Details | None:
    """The section; None before there is a figure, if nothing stands against the run.

    `left_out` are sentences on what was not evaluated, `unless` rules that stand elsewhere on the
    page.
    """
    known = _known(summaries, language, baselines, unless)
    lines = [_line(one, summaries, language, places) for one in known]
    run = localized("know.run", language)
    lines += [NoteLine("na", sentence, run) for sentence in left_out]
    blocks: list[Block] = [Notes(tuple(lines))] if lines else []
    if places:
        health = Link(localized("know.health", language), places.view("health"))
        blocks.append(Links((health,)))
    if not lines and not any(summary.done for summary in summaries):
        return None
    if not lines:
        well = localized("know.well", language)
        name = localized("know.name-none", language)
        return Details("what-to-know", name, well, tuple(blocks), kind="ok")
    first = lines[0]
    return Details(
        "what-to-know",
        localized("know.name", language, n=len(lines)),
        _finding(first, language),
        tuple(blocks),
        kind=first.kind if first.kind in ("bad", "warn") else None,
    )


def first_sentence(text: str) -> str:
    """A text up to the end of its first sentence."""
    for stop in ("。", ". ", "; ", "；"):
        head, ended, _ = text.partition(stop)
        text = head + ("。" if stop in "。；" else ".") if ended else text
    return text


def _finding(line: NoteLine, language: Language) -> str:
    finding = first_sentence(line.text)
    if not line.subject:
        return finding
    return localized("of-model", language, model=line.subject, said=finding)


def _known(
    summaries: Sequence[Summary],
    language: Language,
    baselines: Collection[str],
    unless: Collection[str],
) -> list[_Known]:
    by_rule: dict[tuple[str, str, bool], list[tuple[Summary, ReportNote]]] = {}
    for summary in summaries:
        scripted = summary.cell.model in baselines
        for note in notes(summary, language):
            # That a script guesses stands in its row, how far a cell is above all.
            elsewhere = GUESSING if scripted else unless
            waits = note.rule == "partial" and is_unfinished(summary)
            if note.rule not in elsewhere and not waits:
                # What a file gives is one thing, however many models were asked.
                key = (note.rule, summary.cell.dataset, scripted)
                if note.rule in _OF_FILE:
                    key = (note.rule, "", False)
                by_rule.setdefault(key, []).append((summary, note))
    made: list[tuple[_Known, float]] = []
    for (rule, _, scripted), noted in by_rule.items():
        noted.sort(key=lambda one: -severity(rule, one[0]))
        worst, note = noted[0]
        cells = tuple(summary.cell for summary, _ in noted)
        made.append((_Known(note, cells, scripted), severity(rule, worst)))
    made.sort(key=lambda one: (one[0].scripted, LEVELS.index(one[0].note.level), -one[1]))
    return [one for one, _ in made]


_OF_FILE = (
    "fewer-than-30",
    "fewer-than-100",
    "duplicates",
    "duplicates-text",
    "naming",
    "unbalanced",
    "unbalanced-origin",
)


def _line(
    one: _Known, summaries: Sequence[Summary], language: Language, places: Places | None
) -> NoteLine:
    names = list(dict.fromkeys(_name(cell, summaries, language) for cell in one.cells))
    text = one.note.text
    if one.note.rule in _OF_FILE:
        subject, *others = dict.fromkeys(cell.dataset for cell in one.cells)
        if others:
            also = messages(language).count("know.also-datasets", len(others))
            text = join_sentences(text, also)
    elif len(names) > 1:
        subject = names[0]
        also = join_names_shortened(names[1:], language)
        text = join_sentences(text, localized("know.also", language, names=also))
    else:
        subject = names[0]
    return NoteLine(NOTE_KINDS[one.note.level], text, subject, _link(one, language, places))


def _link(one: _Known, language: Language, places: Places | None) -> Link | None:
    outcome = _FILTERS.get(one.note.rule)
    if places is None or not outcome:
        return None
    href = places.samples(one.cells[0], outcome=outcome)
    return Link(localized("know.read", language), href)


def _name(cell: Cell, summaries: Sequence[Summary], language: Language) -> str:
    """A model, with its dataset and its mode where it has others."""
    own = [s.cell for s in summaries if s.cell.model == cell.model]
    parts = [cell.model]
    if len({each.dataset for each in own}) > 1:
        parts.append(cell.dataset)
    if len({each.label for each in own}) > 1:
        parts.append(mode_word(cell.label, cell.mode, language, capital=False))
    return " · ".join(parts)
