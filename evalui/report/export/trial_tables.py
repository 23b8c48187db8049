"""Tables of single trials, made from their columns as they are read; names as in `tables`.

The names of the columns are known before the first row: a look at the columns of a cell states
which readings, slots and text figures its trials have.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from evalui.report.export.choice_names import CELL, OPTIONS, ORDER, REPEAT, SIGNATURE, metadata
from evalui.report.export.encoder import Fields, Property, letter, same, within
from evalui.report.export.json import ENCODER, answer_lines, trial_lines
from evalui.report.export.open_names import MARKS
from evalui.report.export.spreadsheets import csv_parts, parquet_parts
from evalui.report.export.trial_cells import (
    ExportColumn,
    ExportTable,
    TrialChunk,
    chunks_of,
    column_reader,
    same_for_all,
)
from evalui.scoring.arena.verdicts import rating_cells
from evalui.scoring.trial_columns import ABSENT, TrialColumns, columns_of
from evalui.types import LETTERS, CellResult, Gives

SEPARATOR = "\n\n"  # between the turns of one answer, and between references
_LETTER: Callable[[Any], Any] = letter("").of

TRIAL: Fields = {
    **within("cell", CELL),
    "id": "trial.sample_id",
    "subject": "sample.subject",
    "file": metadata("file"),
    "line": metadata("line"),
    "order": ORDER,
    "question": "sample.question",
    "options": OPTIONS,
    "answer": letter("trial.target"),
    "choice": letter("trial.choice"),
    "correct": "trial.correct",
    "credit": "trial.reading.credit",
    "tied": "trial.reading.tied",
    "rule": "trial.reading.rule",
    "reply": "trial.reply",
    "label_mass": "trial.mass",
    "truncated": "trial.truncated",
    "merged_seams": "trial.merged_boundaries",
}
_RATING: Fields = {
    "dataset": "cell.dataset",
    "judge": "cell.model",
    "model": "rated_model",
    "id": "trial.sample_id",
    "question": "sample.question",
    **MARKS,
    "rule": "trial.reading.rule",
    "reply": "trial.reply",
}
REPLY: Fields = {
    **within("cell", CELL),
    **within("sample", same("id", "subject")),
    **{name: metadata(name) for name in ("language", "capability", "file", "line")},
    "question": Property("sample", lambda of: SEPARATOR.join((of.question, *of.follow_ups))),
    "references": Property("sample.references", SEPARATOR.join),
    "reply": Property("trial.answers", lambda answers: SEPARATOR.join(answers)),
    "rule": "trial.reading.rule",
}
# What no file has, but for the repeat where there are several.
ON_REQUEST: Fields = {"fixed_order": "trial.fixed_reason", **REPEAT}
# What stands in the columns that hold no texts.
KINDS: Mapping[str, type] = {
    "correct": bool,
    "credit": float,
    "tied": bool,
    "label_mass": float,
    "truncated": bool,
    "merged_seams": int,
    "repeat": int,
    "rating": float,
}
_TRUNCATED: Fields = {"truncated": "trial.truncated"}


@dataclass(frozen=True, slots=True)
class _Layout:
    """How the trials of some cells are read: `names` from the columns, then the columns.

    `fields` are the same for every trial, those of `ON_REQUEST` among them; `more` has what depends
    on the mode, made when it is wanted.
    """

    names: Callable[[TrialColumns], dict[str, type]]
    fields: Fields
    more: Callable[[TrialChunk], Mapping[str, Callable[[], ExportColumn]]] = lambda _: {}


def jsonl_parts(results: Iterable[CellResult]) -> Iterator[bytes]:
    """The trials of multiple-choice cells and the written answers, one JSON object per line."""
    for result in results:
        if result.cell.gives != "verdicts":
            lines = answer_lines if result.cell.gives == "answers" else trial_lines
            yield from (part.encode(errors="backslashreplace") for part in lines(result))


def trials(results: Iterable[CellResult]) -> ExportTable:
    """A row per trial with its question, what was shown, and what was read under each rule."""
    return _table(results, lambda _: _CHOICE)


def ratings(results: Sequence[CellResult]) -> ExportTable:
    """A row per answer that a judge rated alone, the mark on the judge's own scale."""
    return _table(rating_cells(results), lambda _: _MARKED)


def replies(results: Sequence[CellResult]) -> ExportTable:
    """A row per written answer with its question, its references and its text figures."""
    written = [result for result in results if result.cell.gives == "answers"]
    return _table(written, lambda _: _WRITTEN)


def every_trial(results: Iterable[CellResult], columns: Sequence[str] | None = None) -> ExportTable:
    """The rows of `trials` and of `replies` in one table; `results` are read twice.

    With `columns` those alone, in that order, `ON_REQUEST` too: nothing else of a trial is read.
    What no trial has is no column.
    """
    return _table(
        results,
        lambda result: _LAYOUTS[result.cell.gives],
        columns,
    )


def _table(
    results: Iterable[CellResult],
    layout_of: Callable[[CellResult], _Layout | None],
    columns: Sequence[str] | None = None,
) -> ExportTable:
    kinds: dict[str, type] = {}
    for result in results:
        if (layout := layout_of(result)) and result.trials:
            for name, kind in layout.names(columns_of(result.trials)).items():
                kinds.setdefault(name, kind)
    if kinds:
        kinds |= {"signature": kinds.pop("signature")}  # the last, as in every table
    if columns is not None and kinds:
        kinds |= _kinds_of(ON_REQUEST)
        kinds = {name: kinds[name] for name in columns if name in kinds}
    return ExportTable(kinds, lambda: _chunks(results, layout_of, tuple(kinds)))


def _chunks(
    results: Iterable[CellResult],
    layout_of: Callable[[CellResult], _Layout | None],
    names: Sequence[str],
) -> Iterator[Sequence[ExportColumn]]:
    for result in results:
        if layout := layout_of(result):
            fields = {name: layout.fields[name] for name in names if name in layout.fields}
            read = column_reader(ENCODER, fields)
            for chunk in chunks_of(result):
                columns, nothing = read(chunk), same_for_all(None, len(chunk))
                more = layout.more(chunk)
                columns |= {name: more[name]() for name in names if name in more}
                yield [columns.get(name, nothing) for name in names]


def _kinds_of(fields: Fields) -> dict[str, type]:
    return {name: KINDS.get(name, str) for name in fields}


def _repeat_kind(trials: TrialColumns) -> dict[str, type]:
    return _kinds_of(REPEAT) if trials.n_repeats > 1 else {}


def _choice_names(trials: TrialColumns) -> dict[str, type]:
    names = _kinds_of(TRIAL) | _repeat_kind(trials)
    for name, readings in trials.readings.items():
        if (readings.choice != ABSENT).any():
            names |= {f"{name}_choice": str, f"{name}_rule": str}
    slots = int(trials.probabilities.lengths.max(initial=0))
    return names | {f"p_{slot}": float for slot in LETTERS[:slots]} | _kinds_of(SIGNATURE)


def _choice_columns(chunk: TrialChunk) -> Mapping[str, Callable[[], ExportColumn]]:
    columns: dict[str, Callable[[], ExportColumn]] = {}
    for name in chunk.trials.readings:
        columns[f"{name}_choice"] = partial(_reading_letter, chunk, name)
        columns[f"{name}_rule"] = partial(_reading_rule, chunk, name)
    slots = int(chunk.trials.probabilities.lengths.max(initial=0))
    return columns | {
        f"p_{LETTERS[slot]}": partial(chunk.share_of_slot, slot) for slot in range(slots)
    }


def _reading_letter(chunk: TrialChunk, name: str) -> ExportColumn:
    return chunk.reading_columns(name)[0].map(_LETTER)


def _reading_rule(chunk: TrialChunk, name: str) -> ExportColumn:
    return chunk.reading_columns(name)[1]


def _reply_names(trials: TrialColumns) -> dict[str, type]:
    scores = [name for name, own in trials.scores.items() if own.present.any()]
    figures: dict[str, type] = dict.fromkeys(scores, float)
    return (
        _kinds_of(REPLY) | _repeat_kind(trials) | figures | _kinds_of({**_TRUNCATED, **SIGNATURE})
    )


def _reply_columns(chunk: TrialChunk) -> Mapping[str, Callable[[], ExportColumn]]:
    return {name: partial(_figure, chunk, name) for name in chunk.trials.scores}


def _figure(chunk: TrialChunk, name: str) -> ExportColumn:
    return chunk.score(name).map(lambda value: None if value is None else 100 * value)


_CHOICE = _Layout(_choice_names, {**TRIAL, **ON_REQUEST, **SIGNATURE}, _choice_columns)
_MARKED = _Layout(lambda _: _kinds_of({**_RATING, **SIGNATURE}), {**_RATING, **SIGNATURE})
_WRITTEN = _Layout(_reply_names, {**REPLY, **_TRUNCATED, **ON_REQUEST, **SIGNATURE}, _reply_columns)
_LAYOUTS: Mapping[Gives, _Layout | None] = {
    "choices": _CHOICE,
    "answers": _WRITTEN,
    "verdicts": None,
}

# The files that hold the trials alone, by the names of `formats.FORMATS`; none needs any figure.
TRIAL_FILES: Mapping[str, Callable[[Iterable[CellResult]], Iterator[bytes]]] = {
    "trials.jsonl": jsonl_parts,
    "trials.csv": lambda results: csv_parts(every_trial(results)),
    "trials.parquet": lambda results: parquet_parts(every_trial(results)),
}
