"""What `evalui check` shows of files: how they are read, and whether another reading cures them."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evalui.datasets.model import Layout, LoadResult
from evalui.datasets.plain_data import encode
from evalui.datasets.preview import (
    Preview,
    is_misread,
    layout_fields,
    pin,
    preview,
    with_detected_key,
)
from evalui.datasets.reader import load, read_columns
from evalui.errors import DataError
from evalui.types import Dataset


@dataclass(frozen=True, slots=True)
class Examination:
    """How files are read; `loaded` has no samples, and is None where `problem` says why.

    `n_repeated` questions are there already, further up. `cure` is what is read with the columns
    that the content shows, where nothing is read without; `pinned` are the fields of a
    specification that read the files so whatever will be guessed, None where they would change it.
    """

    shown: Preview
    loaded: LoadResult | None
    problem: str
    n_repeated: int
    is_misread: bool
    cure: Preview | None
    pinned: dict[str, Any] | None

    @property
    def is_refused(self) -> bool:
        """Whether a run would refuse the files."""
        return self.loaded is None or bool(self.loaded.faults) or not self.shown.total


def examine(paths: Sequence[Path], layout: Layout, *, start: int, size: int) -> Examination:
    """How files are read by a layout, with `size` questions from `start` on.

    With the `answer_key` "" that which the columns show is taken. Raises `DataError` where nothing
    can be read of them.
    """
    table = read_columns(paths, layout=layout)
    if table:
        layout = with_detected_key(layout, table)
    elif not layout.answer_key:
        layout = replace(layout, answer_key="letter")
    loaded = _load(paths, layout)
    if isinstance(loaded, DataError) and table is None:
        raise loaded
    shown = preview(_result(loaded), table, layout, start=start, size=size)
    pinned = pin(shown.reading, layout) if shown.reading else layout
    if isinstance(loaded, DataError):
        misread, repeated, about, problem = False, 0, None, loaded.sentence
    else:
        samples = loaded.dataset.samples
        misread = is_misread(loaded)
        # Hashes, since the contents of a million questions take as much as these.
        repeated = len(samples) - len({hash(sample.content) for sample in samples})
        about, problem = _without_samples(loaded), ""
        del samples
    digest = _digest(loaded)
    del loaded  # a million questions are there once at a time
    again = _load(paths, pinned)
    cured = not shown.total and not isinstance(again, DataError) and bool(again.dataset.samples)
    cure = preview(_result(again), table, pinned, start=start, size=size) if cured else None
    holds = cured or (shown.total and digest == _digest(again))
    fields = layout_fields(pinned) if holds else None
    return Examination(shown, about, problem, repeated, misread, cure, fields)


def _load(paths: Sequence[Path], layout: Layout) -> LoadResult | DataError:
    try:
        return load(paths, layout=layout)
    except DataError as error:
        return error


def _result(loaded: LoadResult | DataError) -> LoadResult | str:
    return loaded.sentence if isinstance(loaded, DataError) else loaded


def _without_samples(loaded: LoadResult) -> LoadResult:
    dataset: Dataset = replace(loaded.dataset, samples=(), shots=())
    return replace(loaded, dataset=dataset)


def _digest(loaded: LoadResult | DataError) -> str:
    """What two readings share that have the same questions."""
    digest = hashlib.sha256()
    for sample in () if isinstance(loaded, DataError) else loaded.dataset.samples:
        digest.update(encode(sample))
    return digest.hexdigest()
