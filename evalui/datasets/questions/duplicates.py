"""Rows of which several options have the same text: kept with a note, or left out by choice.

Real benchmarks have such rows, and published figures count them.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from evalui.datasets.base import Layout, Note
from evalui.datasets.files.reading import File
from evalui.types import LETTERS, Sample

KEPT, LEFT_OUT = "duplicate-options", "duplicate-options-left-out"
_SHOWN = 10  # rows named in a note


def equal_letters(choices: Sequence[str]) -> tuple[str, ...]:
    """The letters of the options that share a text, a group for each such text: ("AC", "BD")."""
    letters: defaultdict[str, str] = defaultdict(str)
    for letter, text in zip(LETTERS, choices, strict=False):
        letters[text] += letter
    return tuple(group for group in letters.values() if len(group) > 1)


def settled(files: Sequence[File], layout: Layout) -> tuple[list[File], tuple[Note, ...]]:
    """The files with or without such rows, as the layout says, and what became of them."""
    if layout.duplicate_options == "keep":
        return list(files), tuple(_notes(files, KEPT))
    return [_without(file) for file in files], tuple(_notes(files, LEFT_OUT))


def _without(file: File) -> File:
    samples = tuple(sample for sample in file.part.samples if not sample.duplicate_options)
    skipped = len(file.part.samples) - len(samples)
    return replace(file, part=replace(file.part, samples=samples, skipped=skipped))


def _notes(files: Sequence[File], rule: str) -> Iterator[Note]:
    """A note for each file that has such rows: how many, their lines and which options."""
    for file in files:
        found = [sample for sample in file.part.samples if sample.duplicate_options]
        if found:
            more = f" (+{len(found) - _SHOWN})" if len(found) > _SHOWN else ""
            where = ", ".join(map(_place, found[:_SHOWN])) + more
            yield Note(rule, {"file": file.source.name, "n": str(len(found)), "where": where})


def _place(sample: Sample) -> str:
    groups = ", ".join(" = ".join(group) for group in equal_letters(sample.choices))
    return f"{sample.metadata['line']} ({groups})"
