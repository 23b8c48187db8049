"""The cells of a run from its lines of `trials.jsonl`: what `export.json` wrote, read again.

What a line does not hold is missing: the file and the line of a question, and trials of judges.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from evalui.datasets.option_references import refers_to_other_options
from evalui.errors import DataError
from evalui.modes import traits_of
from evalui.report.imports.predictions import JsonlRow
from evalui.scoring.choice.options import pattern_of
from evalui.types import LETTERS, Cell, CellResult, Gives, Reading, Sample, Trial, Variant

_CELL = ("dataset", "model", "mode", "signature")


def read_results(rows: Iterable[JsonlRow]) -> tuple[CellResult, ...]:
    """The cells in the order of their first lines, each with its questions and trials.

    Raises:
        DataError: a line lacks a field, or holds another kind of value, by file and line.
    """
    by_cell = groupby(rows, key=lambda row: tuple(row.text(name) for name in _CELL))
    return tuple(_read_cell(*cell, rows=list(own)) for cell, own in by_cell)


def _read_cell(
    dataset: str, model: str, label: str, signature: str, *, rows: Sequence[JsonlRow]
) -> CellResult:
    written = "references" in rows[0].values
    samples: dict[str, Sample] = {}
    trials: list[Trial] = []
    for row in rows:
        try:
            read = _read_answer if written else _read_choice
            sample, trial = read(row, samples.get(row.text("id")))
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            raise DataError("row-unlike-trial", place=row.location, reason=str(error)) from error
        samples[sample.id] = sample
        trials.append(trial)
    mode = _mode_of(label)
    gives: Gives = "answers" if written else "choices"
    pattern = pattern_of(trial.variant for trial in trials)
    cell = Cell(dataset, model, mode, label, pattern, signature, gives)
    return CellResult(cell, samples, trials, len(trials))


def _read_choice(row: JsonlRow, known: Sample | None) -> tuple[Sample, Trial]:
    values = row.values
    order = tuple(row.field("permutation"))
    sample = known or _choice_sample(row)
    assert isinstance(sample.target, int), "a question with options"
    scores: Mapping[str, Sequence[float]] = values.get("scores", {})
    return sample, Trial(
        sample_id=sample.id,
        variant=Variant(order, _repeat(row)),
        target=order.index(sample.target),
        headline=row.text("headline"),
        readings={name: _reading(own) for name, own in row.field("readings").items()},
        probabilities=tuple(values.get("probabilities", ())),
        mass=values.get("label_mass"),
        reply=values.get("reply", values.get("top_token")),
        scores={name: tuple(own) for name, own in scores.items()},
        merged_boundaries=values.get("merged_seams", 0),
        truncated=row.field("truncated"),
        fixed_reason=sample.fixed_reason,
    )


def _repeat(row: JsonlRow) -> int:
    """Which repeat a line is of, from 0; lines count from 1."""
    return max(0, int(row.values.get("repeat", 1)) - 1)


def _choice_sample(row: JsonlRow) -> Sample:
    # Earlier versions wrote the options of the file under the plain names.
    options = tuple(row.values.get("file_options") or row.field("options"))
    answer = row.values.get("file_answer") or row.text("answer")
    return Sample(
        row.text("id"),
        row.text("question"),
        options,
        LETTERS.index(answer),
        {"subject": row.values.get("subject", "")},
        refers_to_other_options=refers_to_other_options(options),
    )


def _reading(own: Mapping[str, Any]) -> Reading:
    choice = own["choice"]
    slot = None if choice is None else LETTERS.index(choice)
    return Reading(slot, own["credit"], own["rule"], own["tied"])


def _read_answer(row: JsonlRow, known: Sample | None) -> tuple[Sample, Trial]:
    references = tuple(row.field("references"))
    sample = known or Sample(row.text("id"), row.text("question"), target=references)
    figures: Mapping[str, float] = row.field("figures")
    rule, reply = row.text("rule"), row.field("reply")
    choice = None if rule == "empty" else 0
    credit = figures.get(_credit_score(row), float(choice == 0))
    return sample, Trial(
        sample_id=sample.id,
        variant=Variant((), _repeat(row)),
        target=0,
        headline="answer",
        readings={"answer": Reading(choice, credit, rule)},
        reply=reply,
        scores={name: (value,) for name, value in figures.items()},
        truncated=row.field("truncated"),
        turns=tuple(row.field("turns")),
    )


def _credit_score(row: JsonlRow) -> str:
    """The score that stands for an answer in its mode."""
    return traits_of(_mode_of(row.text("mode"))).credit


def _mode_of(label: str) -> str:
    return label.partition(" ")[0]


def rows_of(place: str, objects: Iterable[Mapping[str, Any]]) -> Iterator[JsonlRow]:
    """Objects that are parsed already as rows, by their number; `place` is where they are from."""
    return (JsonlRow(f"{place} trial {n}", values) for n, values in enumerate(objects, start=1))
