"""Rows of which several options have the same text: kept with a note, or left out by choice.

Real benchmarks have such rows, and published figures count them.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from evalui.datasets.base import Layout, UploadNote
from evalui.datasets.files.reading import ParsedFile
from evalui.types import LETTERS, Sample

KEPT_RULE, LEFT_OUT_RULE = "duplicate-options", "duplicate-options-left-out"
_MAX_ROWS_SHOWN = 10  # rows named in a note


def equal_letters(choices: Sequence[str]) -> tuple[str, ...]:
    """The letters of the options that share a text, a group for each such text: ("AC", "BD")."""
    letters: defaultdict[str, str] = defaultdict(str)
    for letter, text in zip(LETTERS, choices, strict=False):
        letters[text] += letter
    return tuple(group for group in letters.values() if len(group) > 1)


def apply_duplicate_policy(
    files: Sequence[ParsedFile], layout: Layout
) -> tuple[list[ParsedFile], tuple[UploadNote, ...]]:
    """The files with or without such rows, as the layout says, and what became of them."""
    if layout.duplicate_options == "keep":
        return list(files), tuple(_duplicate_notes(files, KEPT_RULE))
    return [_drop_duplicates(file) for file in files], tuple(_duplicate_notes(files, LEFT_OUT_RULE))


def _drop_duplicates(file: ParsedFile) -> ParsedFile:
    samples = tuple(sample for sample in file.parsed.samples if not sample.duplicate_options)
    skipped = len(file.parsed.samples) - len(samples)
    return replace(file, parsed=replace(file.parsed, samples=samples, skipped=skipped))


def _duplicate_notes(files: Sequence[ParsedFile], rule: str) -> Iterator[UploadNote]:
    """A note for each file that has such rows: how many, their lines and which options."""
    for file in files:
        found = [sample for sample in file.parsed.samples if sample.duplicate_options]
        if found:
            more = f" (+{len(found) - _MAX_ROWS_SHOWN})" if len(found) > _MAX_ROWS_SHOWN else ""
            where = ", ".join(map(_describe_row, found[:_MAX_ROWS_SHOWN])) + more
            yield UploadNote(rule, {"file": file.source.name, "n": str(len(found)), "where": where})


def _describe_row(sample: Sample) -> str:
    groups = ", ".join(" = ".join(group) for group in equal_letters(sample.choices))
    return f"{sample.metadata['line']} ({groups})"
