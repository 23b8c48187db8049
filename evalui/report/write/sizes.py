"""About how many bytes each file of a run will have: some trials of each cell stand for all."""

import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain

from evalui.report.analyses.base import Report
from evalui.report.frames.base import FrameParts
from evalui.report.frames.trials import ratings, trials
from evalui.report.write.csv import csv_parts
from evalui.report.write.files import line_files, tables_of, write
from evalui.report.write.formats import TRIAL_FORMATS, is_installed
from evalui.report.write.lines import encoded, rating_lines, trial_lines
from evalui.report.write.trial_files import trial_file
from evalui.report.write.xlsx import xlsx_parts
from evalui.types import CellResult, Language

_WITHOUT_TRIALS = ("csv", "json", "md", "tex", "html")
# Bytes of a picture in an archive, which has those that report.md names; its marks are of models.
_PICTURE, _MARK = 40_000, 5_000

_Sample = Sequence[CellResult]
_Parts = Callable[[_Sample], Iterable[bytes]]


def about_sizes(
    report: Report, sample: _Sample, totals: Sequence[int], language: Language
) -> Mapping[str, int]:
    """The bytes of each format; `sample` are the cells of a report with some of their trials.

    `totals` counts all trials of each. Files without trials are written, so their sizes are exact.
    """

    def about(parts: _Parts, measure: Callable[[Iterable[bytes]], int] = _length) -> int:
        return measure(parts(sample)) + more(parts, measure)

    def more(parts: _Parts, measure: Callable[[Iterable[bytes]], int]) -> int:
        return _more(lambda cells: measure(parts(cells)), sample, totals)

    written = {name: write(report, name, language) for name in _WITHOUT_TRIALS}
    tables = tables_of(report, sample)
    book = b"".join(xlsx_parts(tables, report.signatures))
    trial_files = {
        name: about(partial(trial_file, name)) for name in TRIAL_FORMATS if is_installed(name)
    }
    entries = [pieces for _, pieces in line_files(replace(report, results=tuple(sample)))]
    entries += [csv_parts(table) for table in tables.values()]
    entries += [(written[name],) for name in ("md", "html", "json")]
    packed = sum(map(_packed, entries)) + more(_lines, _packed) + more(_rows, _packed)
    pictures = written["md"].count(b".png") * (_PICTURE + _MARK * len(sample))
    sizes = {name: len(content) for name, content in written.items()}
    # A workbook with much the same in its rows is packed once more in an archive.
    packed += _packed([book]) + more(_workbook, _packed)
    workbook = len(book) + more(_workbook, _length)
    return sizes | trial_files | {"xlsx": workbook, "zip": packed + pictures}


def _more(measure: Callable[[_Sample], int], sample: _Sample, totals: Sequence[int]) -> int:
    """The bytes that the trials outside of the sample add to a file.

    The second half of the sample of a cell states how many a trial of it adds: what packs the first
    has nothing before it to compare it with.
    """
    return sum(
        round(
            (measure([cell]) - measure([replace(cell, trials=cell.trials[: n // 2])]))
            / (n - n // 2)
            * (total - n)
        )
        for cell, total in zip(sample, totals, strict=True)
        if (n := len(cell.trials)) < total and n
    )


def _tables(cells: _Sample) -> dict[str, FrameParts]:
    """Those with a row for each trial."""
    made = {"trials": trials(cells), "ratings": ratings(cells)}
    return {name: table for name, table in made.items() if table.columns}


def _workbook(cells: _Sample) -> Iterable[bytes]:
    return xlsx_parts(_tables(cells), ())


def _rows(cells: _Sample) -> Iterable[bytes]:
    return (piece for table in _tables(cells).values() for piece in csv_parts(table))


def _lines(cells: _Sample) -> Iterable[bytes]:
    return chain(encoded(trial_lines(cells)), encoded(rating_lines(cells)))


def _length(parts: Iterable[bytes]) -> int:
    return sum(map(len, parts))


def _packed(parts: Iterable[bytes]) -> int:
    """The bytes of an entry of an archive."""
    return len(zlib.compress(b"".join(parts)))
