"""Answers collected elsewhere, one JSON object per line, turned into trials.

Nothing is guessed: a row that does not fit ends the reading with its line and what was expected.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, cast

from evalui.datasets.option_references import refers_to_other_options
from evalui.errors import DataError
from evalui.replies import CUT_REASONS, grade_reply, read_tolerant
from evalui.scoring.choice.options import reading_of_scores
from evalui.scoring.scorers import score_answers
from evalui.scoring.texts.metrics import mean_scores
from evalui.types import LETTERS, MAX_REPEATS, FixedOrderReason, Reading, Sample, Trial, Variant

_CHOICE_KEYS = {"id", "options", "answer", "permutation", "repeat", "reply", "probabilities"}
_ROUNDING = 0.02  # probabilities given to two decimals may sum to a little over 1


@dataclass(frozen=True, slots=True)
class JsonlRow:
    """One line of a file: where it stands and what it says."""

    location: str
    values: Mapping[str, Any]

    def field(self, key: str) -> Any:  # whatever JSON holds; the callers check it
        """The value of a key; raises `DataError` if it is missing."""
        if key not in self.values:
            raise DataError("row-missing", place=self.location, key=key)
        return self.values[key]

    def text(self, key: str) -> str:
        """The text of a key; raises `DataError` if it is missing or of another kind."""
        value = self.field(key)
        if not isinstance(value, str):
            raise DataError("row-text", place=self.location, key=key, value=abbreviated_json(value))
        return value

    def name(self, key: str) -> str:
        """The text or number of a key; raises `DataError` if it is missing, empty or another."""
        value = self.field(key)
        if not isinstance(value, str | int) or isinstance(value, bool) or value == "":
            raise DataError("row-name", place=self.location, key=key, value=abbreviated_json(value))
        return str(value)

    @property
    def finish_reason(self) -> str:
        """Why the reply ended: "length" if at the limit of tokens; "stop" if the row is silent."""
        return "stop" if self.values.get("finish_reason") is None else self.text("finish_reason")


def read_choices(path: Path) -> tuple[Trial, ...]:
    """The trials of `{"id", "options", "answer", "permutation", "reply" | "probabilities"}` rows.

    `options` are in the file's own order and `answer` is a letter in that order, unless a row has
    `file_options` and `file_answer` for them, as `trials.jsonl` has; `permutation[slot]` is the
    index of the option shown in that slot (the order of the file if absent). Letters in `reply`
    and the order of `probabilities` are those shown to the model. `repeat` counts the replies to
    one order of a question, from 1.

    Raises:
        DataError: the first row that does not fit, by file and line.
    """
    trials: list[Trial] = []
    seen: dict[tuple[str, Variant], str] = {}
    questions: dict[str, tuple[tuple[str, ...], str]] = {}
    for row in map(_in_file_order, read_rows(path)):
        options, answer = _options(row), _answer(row)
        trial = _trial(row, options, answer)
        first = seen.setdefault((trial.sample_id, trial.variant), row.location)
        if first != row.location:
            raise DataError(
                "row-permutation-again", place=row.location, id=trial.sample_id, first=first
            )
        if questions.setdefault(trial.sample_id, (options, answer)) != (options, answer):
            raise DataError("row-other-options", place=row.location, id=trial.sample_id)
        if trials and trial.headline != trials[0].headline:
            raise DataError("row-two-kinds", place=row.location)
        trials.append(trial)
    return tuple(trials)


def read_replies(path: Path) -> Iterator[dict[str, str | None]]:
    """Each `{"reply", "options"}` row as its chosen letter (None if unreadable) and the rule.

    `finish_reason` may be there, as servers give it: "length" for a reply that was cut.

    Raises:
        DataError: the first row that does not fit, before anything is yielded.
    """
    rows = [
        (row.text("reply"), _options(row), row.finish_reason in CUT_REASONS)
        for row in read_rows(path)
    ]
    for reply, options, is_cut in rows:
        reading = read_tolerant(reply, options, is_cut=is_cut)
        letter = None if reading.choice is None else LETTERS[reading.choice]
        yield {"choice": letter, "rule": reading.rule}


def read_rows(path: Path) -> Iterator[JsonlRow]:
    """The JSON objects of a file, one per line; blank lines are skipped.

    Raises:
        DataError: the file cannot be read, holds no row, or a line is no JSON object.
    """
    empty = True
    for number, line in enumerate(_lines(path), start=1):
        if line.strip():
            empty = False
            yield JsonlRow(
                f"{path.name} line {number}", _object(line, f"{path.name} line {number}")
            )
    if empty:
        raise DataError("rows-empty", file=path.name)


def abbreviated_json(value: Any) -> str:  # any JSON value
    """A value as an error quotes it: JSON, at most 60 characters."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "…"


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8-sig").split("\n")
    except OSError as error:
        raise DataError("file-unread", path=str(path), reason=str(error.strerror)) from error
    except UnicodeDecodeError as error:
        raise DataError("file-not-utf8", path=path.name, byte=error.start) from error


def _object(line: str, place: str) -> Mapping[str, Any]:
    try:
        values = json.loads(line)
    except json.JSONDecodeError as error:
        raise DataError(
            "row-not-json", place=place, column=error.colno, reason=error.msg
        ) from error
    except (ValueError, RecursionError) as error:  # a number of thousands of digits, deep nesting
        raise DataError("row-too-large", place=place) from error
    if not isinstance(values, dict):
        raise DataError("row-no-object", place=place)
    return cast("dict[str, Any]", values)


def _in_file_order(row: JsonlRow) -> JsonlRow:
    """A row of `trials.jsonl`, whose options stand as shown, with those of the file in their place.

    Earlier versions wrote the file's under the plain names.
    """
    if not {"file_options", "file_answer"} <= row.values.keys():
        return row
    own = {"options": row.values["file_options"], "answer": row.values["file_answer"]}
    return replace(row, values={**row.values, **own})


def _options(row: JsonlRow) -> tuple[str, ...]:
    value = row.field("options")
    options = tuple(option for option in _list(value) if isinstance(option, str) and option.strip())
    if not options or len(options) < len(value):
        raise DataError("row-options", place=row.location, value=abbreviated_json(value))
    if not 2 <= len(options) <= len(LETTERS):
        raise DataError("row-option-count", place=row.location, n=len(options), most=len(LETTERS))
    return options


def _answer(row: JsonlRow) -> str:
    answer, last = row.text("answer"), len(_options(row)) - 1
    if len(answer) != 1 or answer not in LETTERS[: last + 1]:
        raise DataError("row-answer", place=row.location, answer=answer, last=LETTERS[last])
    return answer


def _permutation(row: JsonlRow, size: int) -> tuple[int, ...]:
    value = row.values.get("permutation", list(range(size)))
    # A bool is an int to Python and a slip of the hand in a file.
    slots = tuple(slot for slot in _list(value) if type(slot) is int)
    if sorted(slots) != list(range(size)) or len(value) != size:
        raise DataError(
            "row-permutation", place=row.location, value=abbreviated_json(value), last=size - 1
        )
    return slots


def _repeat(row: JsonlRow) -> int:
    """Which reply to the question it is, from 0; rows count from 1."""
    value = row.values.get("repeat", 1)
    if type(value) is not int or not 1 <= value <= MAX_REPEATS:
        raise DataError(
            "row-repeat", place=row.location, value=abbreviated_json(value), last=MAX_REPEATS
        )
    return value - 1


def _trial(row: JsonlRow, options: tuple[str, ...], answer: str) -> Trial:
    for key in row.values.keys() - _CHOICE_KEYS:
        # Other keys may be there, but a misspelt permutation must not pass for a missing one.
        for meant in get_close_matches(key.casefold(), _CHOICE_KEYS - row.values.keys(), 1, 0.8):
            raise DataError("row-unknown-key", place=row.location, key=key, meant=meant)
    if ("reply" in row.values) == ("probabilities" in row.values):
        raise DataError("row-reply-or-probabilities", place=row.location)
    variant = Variant(_permutation(row, len(options)), _repeat(row))
    read = _from_reply if "reply" in row.values else _from_probabilities
    return read(row, variant, options, answer)


def _from_reply(row: JsonlRow, variant: Variant, options: tuple[str, ...], answer: str) -> Trial:
    reply = row.text("reply")
    target = variant.permutation.index(LETTERS.index(answer))
    shown = tuple(options[content] for content in variant.permutation)
    return Trial(
        sample_id=row.name("id"),
        variant=variant,
        target=target,
        headline="tolerant",
        readings=grade_reply(reply, shown, target, is_cut=row.finish_reason in CUT_REASONS),
        reply=reply,
        fixed_reason=_fixed(options),
    )


def _from_probabilities(
    row: JsonlRow, variant: Variant, options: tuple[str, ...], answer: str
) -> Trial:
    shares = _shares(row, len(options))
    target, mass = variant.permutation.index(LETTERS.index(answer)), sum(shares)
    reading = reading_of_scores(shares, target, "forced") if mass else _zero_mass_reading()
    return Trial(
        sample_id=row.name("id"),
        variant=variant,
        target=target,
        headline="forced",
        readings={"forced": reading},
        probabilities=tuple(share / mass for share in shares) if mass else (),
        mass=min(mass, 1.0),
        fixed_reason=_fixed(options),
    )


def _fixed(options: tuple[str, ...]) -> FixedOrderReason:
    return Sample(
        "", "", options, refers_to_other_options=refers_to_other_options(options)
    ).fixed_reason


def _zero_mass_reading() -> Reading:
    return Reading(None, 0.0, "no-probability")


def _shares(row: JsonlRow, size: int) -> tuple[float, ...]:
    value = row.field("probabilities")
    # The comparison also refuses NaN.
    shares = tuple(
        float(share)
        for share in _list(value)
        if type(share) in (int, float) and 0 <= share <= 1 + _ROUNDING
    )
    if not len(shares) == len(_list(value)) == size or sum(shares) > 1 + _ROUNDING:
        raise DataError(
            "row-probabilities", place=row.location, value=abbreviated_json(value), n=size
        )
    return shares


def _list(value: Any) -> list[Any]:  # any JSON value; what is no list has no members
    return cast("list[Any]", value) if isinstance(value, list) else []


# ---------------------------------------------------------------- answers and references


@dataclass(frozen=True, slots=True)
class PredictionPair:
    """A written answer and the texts it is compared with, at least one."""

    prediction: str
    references: tuple[str, ...]


def read_pairs(path: Path) -> tuple[PredictionPair, ...]:
    """The pairs of `{"prediction", "reference"}` rows; `reference` is a text or a list of texts.

    Raises:
        DataError: the first row that does not fit, by file and line.
    """
    return tuple(
        PredictionPair(row.text("prediction"), _references(row)) for row in read_rows(path)
    )


def score_texts(path: Path, *, samples: bool) -> list[str]:
    """The lines to print: the means of all figures, and with `samples` a line for each pair.

    `empty` counts the blank predictions; they score 0 in every figure and in the means. With
    `samples` every line is one JSON object, the means first, then the pairs in file order.

    Raises:
        DataError: the first row that does not fit, by file and line.
    """
    pairs = read_pairs(path)
    scores = [
        score_answers(Sample("", "", target=tuple(pair.references)), (pair.prediction,))
        for pair in pairs
    ]
    empty = [not pair.prediction.strip() for pair in pairs]
    totals = {"n": len(pairs), "empty": sum(empty), **mean_scores(scores)}
    if not samples:
        return [json.dumps(totals, indent=2)]
    each = zip(empty, scores, strict=True)
    return [
        json.dumps(totals),
        *(
            json.dumps({"pair": number, "empty": blank} | dict(figures))
            for number, (blank, figures) in enumerate(each, start=1)
        ),
    ]


def _references(row: JsonlRow) -> tuple[str, ...]:
    value = row.field("reference")
    references = cast("list[Any]", value) if isinstance(value, list) else [value]
    if not references:
        raise DataError("row-no-reference", place=row.location)
    wrong = [each for each in references if not isinstance(each, str)]
    if wrong:
        raise DataError("row-reference", place=row.location, value=abbreviated_json(wrong[0]))
    return tuple(references)
