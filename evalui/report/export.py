"""A report as files to take away. Every one carries the signatures of its figures."""

import io
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from evalui import __version__
from evalui.registry import Registry
from evalui.report.document import Report, markdown
from evalui.report.objects import cell_object, trial_objects
from evalui.report.sheets import csv_bytes, xlsx_bytes
from evalui.report.tables import overview, tables
from evalui.types import Language

# A fixed date: the same report gives the same archive, byte for byte.
_DATE = (1980, 1, 1, 0, 0, 0)
_WRITERS: Registry[Callable[[Report, Language], bytes]] = Registry("export format")


# The media type of each kind of file.
FORMATS: Mapping[str, str] = {
    "csv": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "json": "application/json",
    "md": "text/markdown; charset=utf-8",
    "zip": "application/zip",
}


def write(report: Report, extension: str, language: Language) -> bytes:
    """The report as a file; raises `UnknownName` if `extension` is none of `FORMATS`."""
    return _WRITERS[extension](report, language)


def write_csv(report: Report, language: Language) -> bytes:
    """The table of main figures; its names are technical in every language."""
    del language
    return csv_bytes(overview(report.summaries))


def write_xlsx(report: Report, language: Language) -> bytes:
    """All tables, a sheet each."""
    del language
    return xlsx_bytes(_tables(report), report.signatures)


def write_json(report: Report, language: Language) -> bytes:
    """Everything but the trials, and the specification: beside its files it runs again."""
    del language
    whole = {
        "evalui": __version__,
        "name": report.name,
        "spec": _portable(report.spec) if report.spec else None,
        "cells": [cell_object(summary) for summary in report.summaries],
    }
    return (json.dumps(whole, ensure_ascii=False, indent=2) + "\n").encode()


def write_markdown(report: Report, language: Language) -> bytes:
    """The report for people."""
    return markdown(report, language).encode()


def write_zip(report: Report, language: Language) -> bytes:
    """All of it, and each table as CSV of its own."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in _files(report, language):
            info = zipfile.ZipInfo(name, _DATE)
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, data)
    return stream.getvalue()


def trial_lines(report: Report) -> Iterator[str]:
    """The trials of all cells, one JSON object per line."""
    for result in report.results:
        for trial in trial_objects(result):
            yield json.dumps(trial, ensure_ascii=False) + "\n"


def _tables(report: Report) -> dict[str, pd.DataFrame]:
    frames = tables(report.summaries, report.results)
    return {name: frame for name, frame in frames.items() if len(frame)}


def _portable(spec: str) -> dict[str, Any]:
    """The specification with bare file names: folders of this server are nobody's business."""
    whole: dict[str, Any] = json.loads(spec)
    for source in whole["datasets"]:
        paths = source["path"]
        source["path"] = (
            Path(paths).name if isinstance(paths, str) else [Path(path).name for path in paths]
        )
    return whole


def _files(report: Report, language: Language) -> Iterator[tuple[str, bytes]]:
    yield "report.md", write_markdown(report, language)
    yield "report.json", write_json(report, language)
    frames = _tables(report)
    yield "report.xlsx", xlsx_bytes(frames, report.signatures)
    for name, frame in frames.items():
        yield f"{name}.csv", csv_bytes(frame)
    yield "trials.jsonl", "".join(trial_lines(report)).encode(errors="backslashreplace")
    yield "signatures.txt", "".join(f"{line}\n" for line in report.signatures).encode()


_WRITERS.register("csv")(write_csv)
_WRITERS.register("xlsx")(write_xlsx)
_WRITERS.register("json")(write_json)
_WRITERS.register("md")(write_markdown)
_WRITERS.register("zip")(write_zip)
