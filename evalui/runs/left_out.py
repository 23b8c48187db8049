"""What a run was given and does not evaluate: found where it is planned, and kept with it."""

from collections.abc import Iterator, Mapping, Sequence

from evalui.datasets.base import LoadResult
from evalui.modes import MODES
from evalui.runs.cells import CellPlan
from evalui.runs.contest import CollectedAnswers
from evalui.runs.signature import labels
from evalui.runs.spec import RunSpec
from evalui.types import Dataset, LeftOut

# The notes on files that say that something is not read, with their values for `what` and `why`.
_NOTE_PARAMETERS: Mapping[str, tuple[str, str]] = {
    "other-kind": ("file", "kind"),
    "folder-missing": ("name", ""),
    "test-without-answers": ("file", ""),
    "no-scored-file": ("file", "subject"),
    "ignored-files": ("files", ""),
    "other-sheets": ("file", "others"),
    "hidden-sheets": ("file", "sheets"),
    "pictures": ("file", "column"),
    "train-unused": ("file", ""),
    "duplicate-options-left-out": ("file", "where"),
}


def left_out(
    spec: RunSpec,
    loaded: Mapping[str, LoadResult],
    plans: Sequence[CellPlan],
    collected: Sequence[CollectedAnswers] = (),
) -> tuple[LeftOut, ...]:
    """What the plan leaves out, but for cells that cannot run: their state says so."""
    found: list[LeftOut] = []
    for source in spec.datasets:
        upload = loaded[source.key]
        found += [*_of_files(upload), *_of_rows(upload)]
        found += _of_modes(spec, upload.dataset, any(p.source == source.key for p in plans))
    found += [
        LeftOut("answers", loaded[each.source].dataset.name, each.model, rows=each.unknown)
        for each in collected
        if each.unknown
    ]
    return tuple(dict.fromkeys(found))


def _of_files(upload: LoadResult) -> Iterator[LeftOut]:
    for note in upload.notes:
        if note.rule in _NOTE_PARAMETERS:
            what, why = (note.params.get(name, "") for name in _NOTE_PARAMETERS[note.rule])
            rows = int(note.params.get("n", 0))
            yield LeftOut(note.rule, upload.dataset.name, what, why=why, rows=rows)


def _of_rows(upload: LoadResult) -> Iterator[LeftOut]:
    scored = upload.n_rows - len(upload.dataset.samples) - upload.skipped
    for rule, rows in (("rows", scored), ("shot-rows", upload.n_unusable_rows - scored)):
        if rows > 0:
            yield LeftOut(rule, upload.dataset.name, rows=rows)


def _of_modes(spec: RunSpec, dataset: Dataset, planned: bool) -> Iterator[LeftOut]:
    named = list(zip(spec.modes, labels(spec.modes), strict=True))
    unfit = [label for mode, label in named if dataset.kind not in MODES[mode.mode].kinds]
    choice = dataset.kind == "multiple_choice"
    if len(unfit) == len(named):
        yield LeftOut("no-choice-mode" if choice else "no-open-mode", dataset.name)
    elif not planned:
        yield LeftOut("nobody", dataset.name)
    elif unfit and spec.models:
        rule = "open-modes" if choice else "choice-modes"
        yield LeftOut(rule, dataset.name, mode=", ".join(unfit))
