"""About how many bytes each file of a run will have: some trials of each cell stand for all."""

import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from evalui.report.analyses.base import Report
from evalui.report.export.files import tables_of, write
from evalui.report.export.spreadsheets import csv_parts
from evalui.report.export.trial_tables import TRIAL_FILES, every_trial
from evalui.report.export.workbook import xlsx_parts
from evalui.types import CellResult, Language

_WITHOUT_TRIALS = ("csv", "json", "md", "tex", "html")
_PICTURE = 25_000  # bytes of one in an archive, which has those that report.md names


def about_sizes(
    report: Report, sample: Sequence[CellResult], total: int, language: Language
) -> Mapping[str, int]:
    """The bytes of each format; `sample` are the cells of a report with some of their trials.

    `total` counts the trials of all of them. Files without trials are written, so their sizes are
    exact. Parquet packs a column together: it is taken to be as long as the packed rows.
    """
    written = {name: write(report, name, language) for name in _WITHOUT_TRIALS}
    tables = tables_of(replace(report, results=tuple(sample)))
    lines, rows = TRIAL_FILES["trials.jsonl"], TRIAL_FILES["trials.csv"]

    def more(measure: Callable[[Iterable[bytes]], int], parts: _Parts) -> int:
        return _more(lambda cells: measure(parts(cells)), sample, total)

    packed_rows = more(_packed, rows)
    workbook = _length(xlsx_parts(tables, report.signatures)) + more(_length, _sheet)
    archive = [*written.values(), *(b"".join(csv_parts(table)) for table in tables.values())]
    pictures = _PICTURE * written["md"].count(b".png")
    return {name: len(content) for name, content in written.items()} | {
        "trials.jsonl": _length(lines(sample)) + more(_length, lines),
        "trials.csv": _length(rows(sample)) + more(_length, rows),
        "trials.parquet": _packed(rows(sample)) + packed_rows,
        "xlsx": workbook,
        "zip": workbook + pictures + packed_rows + more(_packed, lines) + _packed(archive),
    }


_Parts = Callable[[Iterable[CellResult]], Iterable[bytes]]


def _more(
    measure: Callable[[Sequence[CellResult]], int], sample: Sequence[CellResult], total: int
) -> int:
    """The bytes that the trials outside of the sample add to a file.

    The second half of the sample states how many a trial adds: what packs the first has nothing
    before it to compare it with.
    """
    half = [replace(cell, trials=cell.trials[: len(cell.trials) // 2]) for cell in sample]
    trials, before = (sum(len(cell.trials) for cell in cells) for cells in (sample, half))
    if trials == before:
        return 0
    return round((measure(sample) - measure(half)) / (trials - before) * (total - trials))


def _sheet(cells: Iterable[CellResult]) -> Iterable[bytes]:
    return xlsx_parts({"trials": every_trial(cells)}, ())


def _length(parts: Iterable[bytes]) -> int:
    return sum(map(len, parts))


def _packed(parts: Iterable[bytes]) -> int:
    """The bytes of an entry of an archive."""
    return len(zlib.compress(b"".join(parts)))
