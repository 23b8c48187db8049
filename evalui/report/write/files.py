"""A report as files to take away. Every one carries the signatures of its figures."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path

from evalui.registry import Registry
from evalui.report.analyses.base import Report
from evalui.report.blocks import Block
from evalui.report.compile import blocks, markdown
from evalui.report.frames.base import FrameParts, frame, records
from evalui.report.frames.people import VOTES, votes
from evalui.report.frames.trials import ratings, replies, trials
from evalui.report.render.latex import as_latex
from evalui.report.render.markdown import as_markdown
from evalui.report.render.page import as_page
from evalui.report.render.pictures import pictures
from evalui.report.write.archive import write_private, zip_parts
from evalui.report.write.csv import csv_parts
from evalui.report.write.every_eval_ever import eee_zip
from evalui.report.write.formats import TRIAL_FORMATS
from evalui.report.write.json import write_json
from evalui.report.write.json_text import json_text, utf8
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
from evalui.report.write.trial_files import trial_file
from evalui.report.write.xlsx import SIGNATURES, xlsx_parts
from evalui.scoring.arena.people import Votes
from evalui.types import CellResult, Language

_EXPORTERS: Registry[Callable[[Report, Language], Iterable[bytes]]] = Registry("export format")


def parts(report: Report, extension: str, language: Language) -> Iterable[bytes]:
    """The report as a file, piece by piece as it is made.

    Raises:
        UnknownName: `extension` is none of `formats.FORMATS`, or `formats.BUNDLE`, which stores
            write; or the run has nothing for it.
    """
    return _EXPORTERS[extension](report, language)


def write(report: Report, extension: str, language: Language) -> bytes:
    """The report as a whole file; raises as `parts` does."""
    return b"".join(parts(report, extension, language))


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
    return csv_parts(FrameParts.of(frame(votes(cast), VOTES)))


def tables_of(report: Report, results: Sequence[CellResult] | None = None) -> dict[str, FrameParts]:
    """Every frame that has rows, and single trials, by name in the order of a reader's interest.

    The trials are those of `results`, by default of all cells.
    """
    results = report.results if results is None else results
    choices = [one for one in results if one.cell.gives == "choices"]
    behind = {
        "summary_groups": {"trials": trials(choices)},
        "verdicts": {"ratings": ratings(results), "replies": replies(results)},
    }
    names = [*report.frames]
    if not choices:  # then pairs are of written answers
        names.remove("pairs")
        names.insert(names.index("duels"), "pairs")
    tables: dict[str, FrameParts] = {}
    for name in names:
        whole = report.frames[name]
        # A cell is a number or a text.
        plain = whole[[each for each in whole if whole[each].dtype != "object"]]
        tables |= {name: FrameParts.of(plain)} if len(plain) else {}
        tables |= {name: own for name, own in behind.get(name, {}).items() if own.columns}
    return tables


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


# ---------------------------------------------------------------- formats


@_EXPORTERS.register("csv")
def _csv(report: Report, _: Language) -> Iterator[bytes]:
    """The table of main figures; its names are technical in every language."""
    main = [report.frames[name] for name in ("overview", "standings", "answers")]
    return csv_parts(FrameParts.of(next((each for each in main if len(each)), main[0])))


@_EXPORTERS.register("metrics.csv")
def _metrics_csv(report: Report, _: Language) -> Iterator[bytes]:
    return csv_parts(FrameParts.of(report.frames["metrics"]))


@_EXPORTERS.register("metrics.json")
def _metrics_json(report: Report, _: Language) -> Iterator[bytes]:
    yield (json_text([*records(report.frames["metrics"])], indented=True) + "\n").encode()


@_EXPORTERS.register("xlsx")
def _xlsx(report: Report, language: Language) -> Iterator[bytes]:
    return _workbook(report, blocks(report, language), tables_of(report), language)


@_EXPORTERS.register("json")
def _json(report: Report, language: Language) -> Iterator[bytes]:
    yield write_json(report, language)


@_EXPORTERS.register("md")
def _markdown(report: Report, language: Language) -> Iterator[bytes]:
    yield utf8(markdown(report, language))


@_EXPORTERS.register("tex")
def _tex(report: Report, language: Language) -> Iterator[bytes]:
    """The lead tables, groups, and every figure, for a paper."""
    shown = tuple(blocks(report, language))
    signed = "".join(f"% {line}\n" for line in report.signatures)
    text = signed + as_latex(shown, ("summary-groups", "every-rule", "every-figure", "all-figures"))
    yield utf8(text)


@_EXPORTERS.register("html")
def _html(report: Report, language: Language) -> Iterator[bytes]:
    """The report as one page with its pictures inside."""
    yield as_page(tuple(blocks(report, language)), language)


@_EXPORTERS.register("zip")
def _zip(report: Report, language: Language) -> Iterator[bytes]:
    """All of it, and each table as CSV of its own; what is quick to make first."""
    return zip_parts(_archived(report, language))


_EXPORTERS.register("opencompass.md")(opencompass_md)
_EXPORTERS.register("eee.zip")(eee_zip)
for _name in TRIAL_FORMATS:
    _EXPORTERS.register(_name)(lambda report, _, name=_name: trial_file(name, report.results))


def _workbook(
    report: Report,
    shown: Iterable[Block],
    named: Mapping[str, FrameParts],
    language: Language,
) -> Iterator[bytes]:
    leads = lead_sheets(shown, language, others=(*named, SIGNATURES))
    return xlsx_parts(named, report.signatures, language, leads=leads)


def _documents(
    report: Report, made: Sequence[Block], drawn: Mapping[str, bytes], language: Language
) -> Iterator[tuple[str, Iterable[bytes]]]:
    yield "report.html", (as_page(made, language),)
    yield from ((name, (picture,)) for name, picture in drawn.items())
    yield "report.md", (utf8(as_markdown(made, drawn)),)
    yield "report.json", (write_json(report, language),)


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
    yield "signatures.txt", (utf8("".join(f"{line}\n" for line in report.signatures)),)
