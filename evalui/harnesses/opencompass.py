"""OpenCompass: `predictions/MODEL/DATASET.json`, and `results/MODEL/DATASET.json` beside.

A prediction has its prompt, the reply and the right letter; ids are not in it. A set that is asked
in several orders (circular) has those of a question one after the other, as written first.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalui.datasets.model import as_list, as_object
from evalui.errors import DataError
from evalui.harnesses.base import (
    HARNESSES,
    Flaw,
    FlawedAnswer,
    LoggedAnswer,
    LogPart,
    read_logs,
)
from evalui.harnesses.files import (
    JsonObject,
    as_number,
    as_text,
    head_of,
    json_object,
)
from evalui.harnesses.options import options_of, question_of, slot_of
from evalui.types import PrintedFigure

NAME = "opencompass"
_PREDICTION = re.compile(rb'"origin_prompt"\s*:|"label: [^"]*"\s*:|"testing input"\s*:')
_PIECE = re.compile(r"(?P<dataset>.+)_\d+$")  # of predictions that several workers have made
_LABEL = "label: "
_ACCURACY = "accuracy"


def read_opencompass(files: Sequence[Path]) -> tuple[LogPart, ...]:
    """A part for each dataset and model among the files.

    Raises:
        DataError: there are results and no predictions.
    """
    predicted = [path for path in files if _has_predictions(path)]
    if not predicted:
        for path in files:
            if path.suffix == ".json" and path.parent.parent.name == "results":
                raise DataError("log-opencompass", file=path.name)
        return ()
    groups: dict[tuple[Path, str], list[Path]] = {}
    names = {(path.parent, path.stem) for path in predicted}
    for path in predicted:
        piece = _PIECE.match(path.stem)
        # "set_0" is a piece of "set" unless there is "set" itself, or results of "set_0".
        dataset = path.stem
        if piece and (path.parent, piece["dataset"]) not in names and not _results(path, dataset):
            dataset = piece["dataset"]
        groups.setdefault((path.parent, dataset), []).append(path)
    return read_logs(
        lambda dataset=dataset, paths=paths: [_part(dataset, paths)]
        for (_, dataset), paths in groups.items()
    )


@dataclass(frozen=True, slots=True)
class _Row:
    """One prediction; `details` are what the evaluator has said of it, {} if nothing."""

    place: str
    values: JsonObject
    details: JsonObject


def _has_predictions(path: Path) -> bool:
    return (
        path.suffix == ".json"
        and path.parent.parent.name != "results"
        and bool(_PREDICTION.search(head_of(path, 2**16)))
    )


def _results(path: Path, dataset: str) -> JsonObject:
    """What stands in the folder `results` beside `predictions`."""
    beside = path.parents[2] / "results" / path.parent.name / f"{dataset}.json"
    return (json_object(beside) or {}) if beside.is_file() else {}


def _part(dataset: str, paths: Sequence[Path]) -> LogPart:
    results = _results(paths[0], dataset)
    rows = list(_rows(paths, results))
    has_options = any(_options(row.values) for row in rows[:100])
    has_marks = any("correct" in row.details for row in rows)
    figures = tuple(_figures(results))
    return LogPart(
        harness=NAME,
        dataset=dataset,
        model=paths[0].parent.name,
        evidence="reply" if has_options else "written",
        files=tuple(path.name for path in paths),
        read=lambda: _answers(rows, has_options=has_options),
        figures=figures,
        readings={_ACCURACY: "tolerant"} if has_options else {},
        main_mark=_ACCURACY if has_options and has_marks else "",
        repeats=True,
        missing=(
            "ids",
            *(("probabilities",) if has_options else ()),
            *(() if has_marks else ("marks",)),
            *(() if results else ("results",)),
        ),
        named_after=paths[0].parent,
    )


def _figures(results: JsonObject) -> Iterator[PrintedFigure]:
    """Every number of the results; OpenCompass prints percent."""
    for name, value in results.items():
        if (number := as_number(value)) is not None and not isinstance(value, bool):
            yield PrintedFigure(name, number, full=100.0)


def _rows(paths: Sequence[Path], results: JsonObject) -> Iterator[_Row]:
    details: Any = results.get("details")
    listed, by_number = as_list(details), as_object(details)
    number = 0
    for path in sorted(paths, key=_piece_number):
        predicted = json_object(path)
        if predicted is None:
            raise DataError("log-damaged", file=path.name, reason="JSON?")
        for key in sorted(predicted, key=lambda key: (len(key), key)):
            own = listed[number] if number < len(listed) else by_number.get(str(number))
            yield _Row(f"{path.name}:{key}", as_object(predicted[key]), as_object(own))
            number += 1


def _piece_number(path: Path) -> tuple[int, str]:
    last = path.stem.rpartition("_")[2]
    return int(last) if last.isdecimal() else 0, path.stem


def _answers(rows: Sequence[_Row], *, has_options: bool) -> Iterator[LoggedAnswer | FlawedAnswer]:
    number, previous = 0, None
    for row in rows:
        prompt = _prompt(row.values)
        options = options_of(prompt)
        # The same question with the same options right before is this one in another order.
        key = question_of(prompt), tuple(sorted(options))
        number += key != previous or not has_options
        previous = key
        read = _answer(row, f"{number}", prompt, options, has_options=has_options)
        yield read if isinstance(read, LoggedAnswer) else FlawedAnswer(row.place, read)


def _answer(
    row: _Row, id_: str, prompt: str, options: tuple[str, ...], *, has_options: bool
) -> LoggedAnswer | Flaw:
    predicted = row.values.get("prediction")
    reply = as_text(as_list(predicted)[-1]) if as_list(predicted) else predicted
    if not isinstance(reply, str):
        return "no-answer"
    marks = _marks(row.details)
    gold: Any = row.values.get("gold")
    if not has_options:
        references = tuple(map(as_text, as_list(gold))) or (as_text(gold),)
        return LoggedAnswer(
            id_,
            question_of(prompt) or id_,
            references=tuple(filter(None, references)),
            reply=reply,
            marks=marks,
        )
    if len(options) < 2:
        return "options"
    if len(as_list(gold)) > 1:
        return "several"
    slot = slot_of(as_list(gold)[0] if as_list(gold) else gold, len(options))
    if slot is None:
        return "gold"
    return LoggedAnswer(
        id_,
        question_of(prompt) or id_,
        options,
        slot,
        reply=reply,
        extracted=slot_of(_extracted(row.details), len(options)),
        marks=marks,
    )


def _marks(details: JsonObject) -> Mapping[str, float]:
    correct: Any = details.get("correct")
    mark = as_number(as_list(correct)[0] if as_list(correct) else correct)
    return {} if mark is None else {_ACCURACY: mark}


def _extracted(details: JsonObject) -> Any:
    read: Any = details.get("pred", details.get("predictions"))
    return as_list(read)[0] if as_list(read) else read


def _options(values: JsonObject) -> bool:
    options = options_of(_prompt(values))
    gold: Any = values.get("gold")
    first = as_list(gold)[0] if as_list(gold) else gold
    return len(options) > 1 and slot_of(first, len(options)) is not None


def _prompt(values: JsonObject) -> str:
    """The prompt as a text; scored labels have one each, which differ in their end."""
    sent: Any = values.get("origin_prompt")
    if sent is None:
        labels = (as_object(each) for key, each in values.items() if key.startswith(_LABEL))
        sent = next((each.get("testing input") for each in labels), "")
    turns = [as_text(as_object(turn).get("prompt")) for turn in as_list(sent)]
    return "\n".join(turns) if turns else as_text(sent)


HARNESSES.register(NAME)(read_opencompass)
