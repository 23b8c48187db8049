"""A report as files to take away. Every one carries the signatures of its figures."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any

import pandas as pd

from evalui.registry import Registry
from evalui.report.analyses.base import Report
from evalui.report.analyses.chosen_metrics import chosen_pairs
from evalui.report.analyses.cost import reply_objects, usage_objects, usage_rows
from evalui.report.analyses.imported import imported_objects
from evalui.report.compile import added_blocks, blocks, markdown
from evalui.report.export.frame_columns import METRIC_COLUMNS
from evalui.report.export.group_tables import group_objects, group_table
from evalui.report.export.json import cell_object, encode
from evalui.report.export.metric_rows import Row, metric_rows
from evalui.report.export.open_tables import open_tables, people_tables
from evalui.report.export.tables import overview, table_of, tables
from evalui.report.frames.base import FrameParts, frame
from evalui.report.frames.trials import ratings, replies, trials
from evalui.report.render.json import as_json
from evalui.report.render.latex import as_latex
from evalui.report.render.markdown import as_markdown
from evalui.report.render.page import as_page
from evalui.report.render.pictures import pictures
from evalui.report.write.archive import write_private, zip_parts
from evalui.report.write.csv import csv_parts, escape_formula
from evalui.report.write.every_eval_ever import eee_zip
from evalui.report.write.formats import TRIAL_FORMATS
from evalui.report.write.json import json_text
from evalui.report.write.lines import (
    battle_lines,
    duel_lines,
    encoded,
    rating_lines,
    trial_lines,
    vote_lines,
    vote_objects,
)
from evalui.report.write.opencompass import opencompass_files, opencompass_md
from evalui.report.write.trial_files import trial_file
from evalui.report.write.xlsx import xlsx_parts
from evalui.scoring.arena.people import Votes, human_arenas
from evalui.scoring.comparisons import comparisons
from evalui.scoring.pairs import AnswerPair
from evalui.types import Language
from evalui.version import __version__

# A fixed date: the same report gives the same archive, byte for byte.
_DATE = (1980, 1, 1, 0, 0, 0)
_EXPORTERS: Registry[Callable[[Report, Language], Iterable[bytes]]] = Registry("export format")
# The text figures in which models are compared two by two.
_COMPARED = ("rouge-1-f", "rouge-l-f", "rouge-l-r", "bleu-4", "exact_match", "token_f1")


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
    first = overview(report.summaries)
    return csv_parts(first if first.columns else next(tables_of(report), ("", first))[1])


def _chosen(report: Report) -> dict[str, object]:
    """The metrics that the specification chooses, with every pair of models in each of them."""
    if not report.metrics:
        return {}
    pairs = (
        {"dataset": dataset, "mode": label} | asdict(pair)
        for dataset, label, pair in chosen_pairs(report)
    )
    return {"chosen_metrics": {"metrics": [*report.metrics], "pairs": [*pairs]}}


def xlsx_file(report: Report, language: Language) -> Iterator[bytes]:
    """All tables, a sheet each."""
    return xlsx_parts(tables_of(report), report.signatures, language)


def write_json(report: Report, language: Language) -> bytes:
    """Everything but the trials, and the specification: beside its files it runs again.

    The names are technical in every language; what other packages say is in `language`.
    """
    whole = {
        "evalui": __version__,
        "name": report.name,
        "spec": portable_spec(report.spec) if report.spec else None,
        **_chosen(report),
        "cells": [cell_object(summary) for summary in report.summaries],
        "comparisons": encode(comparisons(report.summaries, baselines=report.baselines)),
        "answers": encode(report.answers),
        "answer_pairs": encode(_pairs(report)),
        "arenas": encode(report.arenas),
    }
    if report.groups:
        whole["summary_groups"] = group_objects(report.groups)
    if report.people:
        whole["people"] = encode(report.people)
    if report.left_out:
        whole["left_out"] = encode(report.left_out)
    if imported := imported_objects(report.results):
        whole["imported"] = imported
    if report.expenses:
        whole["expenses"] = usage_objects(report.expenses)
    if report.replies:
        whole["replies"] = reply_objects(report.replies)
    if report.changes:
        whole["changes"] = list(report.changes)
    if added := added_blocks(report, language):
        whole["analyses"] = {name: as_json(own) for name, own in added.items()}
    return (json_text(whole, indented=True) + "\n").encode()


def metrics_csv(report: Report, language: Language) -> bytes:
    """The metrics of `run.metrics()`, one in a row, as CSV by pandas.

    Texts that a spreadsheet would run are escaped, as in the other tables.
    """
    del language
    metrics = _metrics(report)
    texts = metrics.select_dtypes(exclude="number").columns
    metrics = metrics.astype(dict.fromkeys(texts, "object"))
    metrics[texts] = metrics[texts].map(_escaped, na_action="ignore")
    return metrics.to_csv(index=False).encode("utf-8-sig", errors="backslashreplace")


def metrics_json(report: Report, language: Language) -> bytes:
    """The same as a JSON array of objects; what is missing is null."""
    del language
    metrics = _metrics(report).astype(object)
    rows = metrics.where(metrics.notna(), None).to_dict("records")
    return (json_text(rows, indented=True) + "\n").encode()


def _escaped(text: object) -> str:
    return escape_formula(str(text))


def _metrics(report: Report) -> pd.DataFrame:
    return frame(_metric_rows(report), METRIC_COLUMNS)


def _metric_rows(report: Report) -> list[Row]:
    """The rows of `run.metrics()`, each with all of its columns."""
    figures = {
        "cells": [cell_object(summary) for summary in report.summaries],
        "answers": encode(report.answers),
        "arenas": encode(report.arenas),
        "summary_groups": group_objects(report.groups),
    }
    rows = metric_rows(json.loads(json_text(figures)))  # as a reader of report.json gets them
    return [{name: row.get(name) for name in METRIC_COLUMNS} for row in rows]


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
    yield from _documents(report, language, browser=True)
    yield from line_files(report)


def save(report: Report, folder: Path, language: Language) -> None:
    """Write all files into a folder, each readable by its owner alone.

    Raises:
        StoreError: one cannot be written.
    """
    for name, pieces in files(report, language):
        write_private(folder / name, pieces)


def vote_sheet(votes: Votes) -> Iterable[bytes]:
    """The readable votes as CSV, a row each."""
    return csv_parts(table_of(vote_objects(votes)))


def _pairs(report: Report) -> list[AnswerPair]:
    return [pair for figure in _COMPARED for pair in report.figures.pairs(figure)]


def tables_of(report: Report) -> Iterator[tuple[str, FrameParts]]:
    """Every table that has rows, in the order of a reader's interest, made when its turn comes."""
    return ((name, table) for name, table in _every_table(report) if table.columns)


def _every_table(report: Report) -> Iterator[tuple[str, FrameParts]]:
    yield from tables(report.summaries).items()
    yield "summary_groups", group_table(report.groups)
    choices = [one for one in report.results if one.cell.gives == "choices"]
    yield "trials", trials(choices)
    people = human_arenas(report.people)
    yield from open_tables(report.answers, _pairs(report), report.arenas, people=people).items()
    yield "ratings", ratings(report.results)
    yield "replies", replies(report.results)
    yield from people_tables(report.people).items()
    yield "metrics", table_of(_metric_rows(report))
    yield "expenses", table_of(usage_rows(report.expenses))


def portable_spec(spec: str) -> dict[str, Any]:
    """The specification with bare file names: folders of this server do not leave it.

    Only files that are called alike keep the folders that tell them apart.
    """
    whole: dict[str, Any] = json.loads(spec)
    datasets, answers = whole["datasets"], whole.get("answers", ())
    files = {Path(path) for source in (*datasets, *answers) for path in _paths(source)}
    keys: dict[str, str] = {}
    for source in (*datasets, *answers):
        short = [_shortest_unique_name(Path(path), files) for path in _paths(source)]
        # Answers name a dataset without a name by its files.
        keys[", ".join(_paths(source))] = ", ".join(short)
        if short:
            source["path"] = short[0] if isinstance(source["path"], str) else short
    for source in answers:
        if named := source.get("dataset"):
            source["dataset"] = keys.get(named, named)
    return whole


def _paths(source: Mapping[str, Any]) -> list[str]:
    paths: str | list[str] = source.get("path") or []
    return [paths] if isinstance(paths, str) else paths


def _shortest_unique_name(path: Path, files: Collection[Path]) -> str:
    """The name of a file, after as many of its folders as no other of the files has before it."""
    others = [other.parts for other in files if other != path]
    parts = path.relative_to(path.anchor).parts
    ends = (parts[-n:] for n in range(1, len(parts) + 1))
    apart = (end for end in ends if not any(other[-len(end) :] == end for other in others))
    return "/".join(next(apart, parts))


def _documents(
    report: Report, language: Language, *, browser: bool = False
) -> Iterator[tuple[str, Iterable[bytes]]]:
    made = tuple(blocks(report, language))
    yield "report.html", (as_page(made, language),)
    drawn: set[str] = set()
    for name, picture in pictures(made, browser=browser):
        drawn.add(name)
        yield name, (picture,)
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
    yield from _documents(report, language)
    yield from opencompass_files(report, language)
    made = [*tables_of(report)]
    for name, table in made:
        yield f"{name}.csv", csv_parts(table)
    yield "report.xlsx", xlsx_parts(made, report.signatures, language)
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
