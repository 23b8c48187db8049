"""A report as files to take away. Every one carries the signatures of its figures."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from evalui.registry import Registry
from evalui.report.analyses.base import Report
from evalui.report.blocks import Block
from evalui.report.compile import blocks, markdown
from evalui.report.frames.base import FrameColumn, FrameParts, frame, records
from evalui.report.frames.people import VOTES, votes
from evalui.report.frames.trials import ratings, replies, trials
from evalui.report.render.latex import as_latex
from evalui.report.render.markdown import as_markdown
from evalui.report.render.page import as_page
from evalui.report.render.pictures import pictures
from evalui.report.write.archive import write_private, zip_parts
from evalui.report.write.csv import csv_parts, escape_formula
from evalui.report.write.every_eval_ever import eee_zip
from evalui.report.write.formats import TRIAL_FORMATS
from evalui.report.write.json import json_text
from evalui.report.write.lead_sheets import lead_sheets
from evalui.report.write.lines import (
    battle_lines,
    duel_lines,
    encoded,
    rating_lines,
    trial_lines,
    vote_lines,
)
from evalui.report.write.opencompass import opencompass_files, opencompass_md
from evalui.report.write.records import write_json
from evalui.report.write.trial_files import trial_file
from evalui.report.write.xlsx import SIGNATURES, xlsx_parts
from evalui.scoring.arena.people import Votes
from evalui.types import Language

# A fixed date: the same report gives the same archive, byte for byte.
_DATE = (1980, 1, 1, 0, 0, 0)
_EXPORTERS: Registry[Callable[[Report, Language], Iterable[bytes]]] = Registry("export format")


def parts(report: Report, extension: str, language: Language) -> Iterable[bytes]:
    """The report as a file, piece by piece as it is made.

    Raises:
        UnknownName: `extension` is none of `formats.FORMATS`, or the run has nothing for it.
    """
    return _EXPORTERS[extension](report, language)


def write(report: Report, extension: str, language: Language) -> bytes:
    """The report as a whole file; raises as `parts` does."""
    return b"".join(parts(report, extension, language))


def csv_file(report: Report, language: Language) -> Iterator[bytes]:
    """The table of main figures; its names are technical in every language."""
    del language
    return csv_parts(next(iter(tables_of(report).values()), FrameParts((), lambda: iter(()))))


def xlsx_file(report: Report, language: Language) -> Iterator[bytes]:
    """What the report leads with, then all tables, a sheet each."""
    return _workbook(report, blocks(report, language), tables_of(report), language)


def _workbook(
    report: Report,
    shown: Iterable[Block],
    named: Mapping[str, FrameParts],
    language: Language,
) -> Iterator[bytes]:
    leads = lead_sheets(shown, language, others=(*named, SIGNATURES))
    return xlsx_parts(named, report.signatures, language, leads=leads)


def metrics_csv(report: Report, language: Language) -> bytes:
    """The metrics of `run.metrics()`, one in a row, as CSV by pandas.

    Texts that a spreadsheet would run are escaped, as in the other tables.
    """
    del language
    metrics = report.frames["metrics"]
    texts = metrics.select_dtypes(exclude="number").columns
    metrics = metrics.astype(dict.fromkeys(texts, "object"))
    metrics[texts] = metrics[texts].map(_escaped, na_action="ignore")
    return metrics.to_csv(index=False).encode("utf-8-sig", errors="backslashreplace")


def metrics_json(report: Report, language: Language) -> bytes:
    """The same as a JSON array of objects; what is missing is null."""
    del language
    return (json_text([*records(report.frames["metrics"])], indented=True) + "\n").encode()


def _escaped(text: object) -> str:
    return escape_formula(str(text))


def write_markdown(report: Report, language: Language) -> bytes:
    """The report for people."""
    return markdown(report, language).encode()


def write_tex(report: Report, language: Language) -> bytes:
    """The lead tables, groups, and every figure, for a paper."""
    text = as_latex(
        tuple(blocks(report, language)), ("summary-groups", "every-figure", "all-figures")
    )
    signed = "".join(f"% {line}\n" for line in report.signatures)
    return (signed + text).encode(errors="backslashreplace")


def write_html(report: Report, language: Language) -> bytes:
    """The report as one page with its pictures inside."""
    return as_page(tuple(blocks(report, language)), language)


def zip_file(report: Report, language: Language) -> Iterator[bytes]:
    """All of it, and each table as CSV of its own; what is quick to make first."""
    return zip_parts(_archived(report, language))


def files(report: Report, language: Language) -> Iterator[tuple[str, Iterable[bytes]]]:
    """What a run leaves in a folder, in pieces: the report with its pictures, what it rests on."""
    made = tuple(blocks(report, language))
    yield from _documents(report, made, dict(pictures(made, browser=True)), language)
    yield from line_files(report)


def save(report: Report, folder: Path, language: Language) -> None:
    """Write all files into a folder, each readable by its owner alone.

    Raises:
        StoreError: one cannot be written.
    """
    for name, pieces in files(report, language):
        write_private(folder / name, pieces)


def vote_sheet(cast: Votes) -> Iterable[bytes]:
    """The readable votes as CSV, a row each."""
    written = {**VOTES, "created": FrameColumn("str", "when, in UTC")}
    return csv_parts(FrameParts.of(frame(votes(cast), written)))


def tables_of(report: Report) -> dict[str, FrameParts]:
    """Every table that has rows, by name in the order of a reader's interest."""
    return {name: table for name, table in _every_table(report) if table.columns}


# The frames that are tables of files; single trials stand between them.
_OF_CHOICES = (
    *("overview", "readings", "groups", "positions", "confusion", "bias"),
    "summary_groups",
)
_OF_ANSWERS = (
    *("standings", "dimensions", "win_matrix", "reliability", "answers"),
    *("pairs", "duels", "verdicts"),
)
_OF_PEOPLE = ("people", "agreement", "powered", "disagreements")


def _every_table(report: Report) -> Iterator[tuple[str, FrameParts]]:
    yield from ((name, _table(report, name)) for name in _OF_CHOICES)
    yield "trials", trials([one for one in report.results if one.cell.gives == "choices"])
    yield from ((name, _table(report, name)) for name in _OF_ANSWERS)
    yield "ratings", ratings(report.results)
    yield "replies", replies(report.results)
    yield from ((name, _table(report, name)) for name in (*_OF_PEOPLE, "metrics"))
    expenses = report.frames["expenses"]
    yield "expenses", FrameParts.of(expenses[expenses["input_tokens"].notna()])


def _table(report: Report, name: str) -> FrameParts:
    """A frame without columns of objects: a cell of a table is a number or a text."""
    whole = report.frames[name]
    return FrameParts.of(whole[[each for each in whole if whole[each].dtype != "object"]])


def _documents(
    report: Report, made: Sequence[Block], drawn: Mapping[str, bytes], language: Language
) -> Iterator[tuple[str, Iterable[bytes]]]:
    yield "report.html", (as_page(made, language),)
    yield from ((name, (picture,)) for name, picture in drawn.items())
    yield "report.md", (as_markdown(made, drawn).encode(),)
    yield "report.json", (write_json(report, language),)


def line_files(report: Report) -> Iterator[tuple[str, Iterable[bytes]]]:
    """The files of JSON Lines; but for the trials, which every run has, those that hold any."""
    yield "trials.jsonl", encoded(trial_lines(report.results))
    for name, lines in (
        ("duels", lambda: duel_lines(report.arenas)),
        ("battles", lambda: battle_lines(report.arenas)),
        ("ratings", lambda: rating_lines(report.results)),
        ("votes", lambda: vote_lines(report.votes)),
    ):
        pieces = encoded(lines())
        first = next(pieces, None)
        if first is not None:
            yield f"{name}.jsonl", chain([first], pieces)


def _archived(report: Report, language: Language) -> Iterator[tuple[str, Iterable[bytes]]]:
    """Each file of the archive in pieces; lines first, for most need no figures."""
    yield from line_files(report)
    made = tuple(blocks(report, language))
    drawn = dict(pictures(made))
    yield from _documents(report, made, drawn, language)
    yield from opencompass_files(report, drawn, language)
    named = tables_of(report)
    for name, table in named.items():
        yield f"{name}.csv", csv_parts(table)
    yield "report.xlsx", _workbook(report, made, named, language)
    yield "signatures.txt", ("".join(f"{line}\n" for line in report.signatures).encode(),)


def _whole(
    make: Callable[[Report, Language], bytes],
) -> Callable[[Report, Language], Iterable[bytes]]:
    return lambda report, language: (make(report, language),)


def _of_trials(extension: str) -> Callable[[Report, Language], Iterable[bytes]]:
    return lambda report, _: trial_file(extension, report.results)


_EXPORTERS.register("csv")(csv_file)
_EXPORTERS.register("xlsx")(xlsx_file)
_EXPORTERS.register("json")(_whole(write_json))
_EXPORTERS.register("md")(_whole(write_markdown))
_EXPORTERS.register("tex")(_whole(write_tex))
_EXPORTERS.register("html")(_whole(write_html))
_EXPORTERS.register("zip")(zip_file)
_EXPORTERS.register("metrics.csv")(_whole(metrics_csv))
_EXPORTERS.register("metrics.json")(_whole(metrics_json))
_EXPORTERS.register("opencompass.md")(opencompass_md)
_EXPORTERS.register("eee.zip")(eee_zip)
for _name in TRIAL_FORMATS:
    _EXPORTERS.register(_name)(_of_trials(_name))
