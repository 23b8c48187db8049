"""The files that hold the trials alone, none of which needs any figure."""

from collections.abc import Iterator, Sequence

from evalui.report.write.lines import encoded, trial_lines
from evalui.types import CellResult


def trial_file(extension: str, results: Sequence[CellResult]) -> Iterator[bytes]:
    """The trials as one of `formats.TRIAL_FORMATS`, piece by piece."""
    if extension == "trials.jsonl":
        return encoded(trial_lines(results))
    # They bring pandas, which lines need not wait for.
    from evalui.report.frames.trials import trials
    from evalui.report.write.csv import csv_parts
    from evalui.report.write.parquet import parquet_parts

    return (csv_parts if extension == "trials.csv" else parquet_parts)(trials(results))
