"""A run as one text for people: report.md."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from evalui import __version__
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
from evalui.report.summary import Summary, readable_share, summarise
from evalui.scoring.position import PositionTable
from evalui.types import CellResult, Interval, Language

_NONE = "–"


@dataclass(frozen=True, slots=True)
class Report:
    """A run with its figures. `spec` is its specification as JSON, to run it again."""

    name: str
    results: tuple[CellResult, ...]
    summaries: tuple[Summary, ...]
    baselines: frozenset[str] = frozenset()
    spec: str = ""

    @property
    def signatures(self) -> tuple[str, ...]:
        """How the figures of each cell were made."""
        return tuple(summary.cell.signature for summary in self.summaries)


def compile_report(
    name: str,
    results: Sequence[CellResult],
    *,
    baselines: frozenset[str] = frozenset(),
    spec: str = "",
) -> Report:
    """The report of a run, or of as much of it as is done; `baselines` are scripted models."""
    summaries = tuple(summarise(result) for result in results)
    return Report(name, tuple(results), summaries, baselines, spec)


def markdown(report: Report, language: Language) -> str:
    """The whole report as Markdown: a sentence, the figures, each cell, how all was made."""
    parts = [
        f"# {escaped(report.name) or say('report', language)}",
        f"**{_title(report, language)}**",
        _figures(report.summaries, language),
        say("ranges-are", language),
        f"## {say('each', language)}",
        *(_cell(report, summary, language) for summary in report.summaries),
        f"## {say('made', language)}",
        "\n".join(f"- `{signature.replace('`', '')}`" for signature in report.signatures),
        say("by-evalui", language, version=__version__),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def escaped(text: str) -> str:
    """Foreign text that stays text in Markdown and in HTML, on one line."""
    flat = re.sub(r"\s+", " ", text).strip()
    marked = re.sub(r"([\\`*_\[\]|~#!])", r"\\\1", flat)
    return marked.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def _title(report: Report, language: Language) -> str:
    title = overview_title(report.summaries, language, baselines=report.baselines)
    return escaped(title)


def _figures(summaries: Sequence[Summary], language: Language) -> str:
    keys = ("model", "dataset", "mode", "n", "accuracy", "robust", "sensitivity", "position")
    rows = [[say(f"head-{key}", language) for key in (*keys, "readable")]]
    for summary in summaries:
        cell = summary.cell
        rows.append(
            [
                escaped(cell.model),
                escaped(cell.dataset),
                escaped(mode_name(cell, language)),
                count(summary.n),
                _share(summary.accuracy),
                _share(summary.robust),
                _share(summary.order_sensitivity),
                picks_title(table, language) if (table := summary.main_positions) else _NONE,
                _share(summary.readable),
            ]
        )
    return _table(rows)


def _cell(report: Report, summary: Summary, language: Language) -> str:
    parts = names(report.summaries, language)[summary.cell]
    title = " · ".join(escaped(part) for part in parts if part)
    blocks = [
        f"### {title}",
        takeaway(summary, language) if summary.accuracy else "",
        "\n".join(f"- {escaped(note.text)}" for note in notes(summary, language)),
        _readings(summary, language) if len(summary.readings) > 1 else "",
        *(_position(table, summary, language) for table in summary.positions),
        _groups(summary.groups, language) if summary.groups else "",
    ]
    return "\n\n".join(block for block in blocks if block)


def _position(table: PositionTable, summary: Summary, language: Language) -> str:
    said = f"{picks_title(table, language)} · {recall_title(table, language)}"
    if len(summary.positions) == 1:
        return said
    return say("with-options", language, k=table.n_options, said=said)


def _readings(summary: Summary, language: Language) -> str:
    heads = ("rule", "accuracy", "readable")
    rows = [[say(f"head-{head}", language) for head in heads]]
    for name, found in summary.readings.items():
        readable = readable_share(found.unreadable)
        rows.append([name, _share(found.accuracy), _share(readable)])
    return _table(rows)


def _groups(groups: Sequence[Group], language: Language) -> str:
    heads = ("subject", "n", "by-question", "by-subject")
    rows = [[say(f"head-{head}", language) for head in heads]]
    rows += [
        [
            escaped(_group_name(group, language)),
            count(group.n),
            _share(group.accuracy),
            _mean(group),
        ]
        for group in groups
    ]
    return _table(rows)


def _group_name(group: Group, language: Language) -> str:
    key = f"{group.kind}-{group.name}" if group.kind == "category" else f"group-{group.kind}"
    if key in SENTENCES:
        return SENTENCES[key][language]
    return (group.name_zh if language == "zh" else "") or group.name or _NONE


def _mean(group: Group) -> str:
    value = group.macro.get("acc_origin")
    return _NONE if group.kind == "subject" or value is None else fixed(value, 1)


def _share(interval: Interval | None) -> str:
    return f"{figure(interval)} ({span(interval)})" if interval else _NONE


def _table(rows: Sequence[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], "|" + " --- |" * len(rows[0]), *lines[1:]])
