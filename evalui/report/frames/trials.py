"""Single trials and their questions as frames, made from the columns of a cell a part at a time.

In a part, texts are categorical: a question has up to 24 trials, a cell one name and one
signature, and whoever writes them makes, escapes and encodes each distinct text once.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evalui.errors import SpecError
from evalui.report.frames.base import (
    SEPARATOR,
    Columns,
    Dtype,
    FrameColumn,
    FrameParts,
    Row,
    frame,
    series,
    storable,
)
from evalui.scoring.arena.verdicts import rating_cells
from evalui.scoring.choice.options import shown_options, variant_label
from evalui.scoring.trial_columns import ABSENT, FIXED_REASONS, Ragged, TrialColumns, columns_of
from evalui.types import LETTERS, CellResult, Sample

PART = 16_384  # rows of a part, at most
_DATASET = FrameColumn("category", "name of the dataset")
_REPLY = FrameColumn("str", "what the model wrote")
_RULE = FrameColumn("category", "the rule that read the answer")
_SIGNATURE = FrameColumn("category", "how the figures of the cell are made")

# Those of readings, probabilities and text figures depend on the run: see `trial_frame`.
TRIAL_COLUMNS: Columns = {
    "dataset": _DATASET,
    "model": FrameColumn("category", "name of the model"),
    "mode": FrameColumn("category", "mode, with what tells it from others of that mode"),
    "id": FrameColumn("str", "id of the question"),
    "subject": FrameColumn("category", "its subject"),
    "language": FrameColumn("category", "its language, of written answers"),
    "capability": FrameColumn("category", "its capability, of written answers"),
    "file": FrameColumn("category", "the file it stands in"),
    "line": FrameColumn("str", "its line in that file"),
    "order": FrameColumn(
        "category",
        "order of the options: the k-th letter is the slot that shows option k of the file",
    ),
    "question": FrameColumn("str", "the question"),
    "options": FrameColumn("str", "the options as they were shown, a line each"),
    "references": FrameColumn("str", "the reference texts, an empty line between them"),
    "answer": FrameColumn("category", "the right letter, as shown"),
    "choice": FrameColumn("category", "the chosen letter, as shown; missing if unreadable or tied"),
    "correct": FrameColumn("boolean", "whether it is the right one; missing without a choice"),
    "credit": FrameColumn("float64", "1 right, 0 wrong or unreadable, 1/t for t tied options"),
    "tied": FrameColumn("boolean", "whether several options tie at the top"),
    "rule": _RULE,
    "reply": _REPLY,
    "label_mass": FrameColumn("float64", "probability of all labels together, 0 to 1"),
    "truncated": FrameColumn("boolean", "whether the prompt was cut to fit the model"),
    "merged_seams": FrameColumn(
        "Int64", "options whose first token also holds the end of the prompt"
    ),
    "repeat": FrameColumn(
        "Int64", "which reply to the question, from 1; missing where each was asked once"
    ),
    "fixed_order": FrameColumn(
        "category", "why another order changes the question: naming, duplicates; else empty"
    ),
    "signature": _SIGNATURE,
}
MARK_COLUMNS: Columns = {
    "dataset": _DATASET,
    "judge": FrameColumn("category", "the judge"),
    "model": FrameColumn("category", "whose answer was shown"),
    "id": TRIAL_COLUMNS["id"],
    "question": TRIAL_COLUMNS["question"],
    "rating": FrameColumn("float64", "the mark on the judge's own scale; missing if unreadable"),
    "correct": FrameColumn("float64", "1 correct, 0 not, of a judge who says that alone"),
    "rule": FrameColumn("category", "the rule that read the mark"),
    "reply": FrameColumn("str", "what the judge wrote"),
    "signature": _SIGNATURE,
}
QUESTION_COLUMNS: Columns = {
    **{name: TRIAL_COLUMNS[name] for name in ("dataset", "id", "subject")},
    "category": FrameColumn("category", "the category of its subject"),
    **{name: TRIAL_COLUMNS[name] for name in ("language", "capability", "file", "line")},
    "question": TRIAL_COLUMNS["question"],
    "options": FrameColumn("object", "the options in the order of the file, a tuple"),
    "answer": FrameColumn("category", "the letter of the right option in that order"),
    "references": FrameColumn("object", "the reference texts, a tuple"),
    "fixed_order": TRIAL_COLUMNS["fixed_order"],
}
Column = Any  # an array of a dtype of pandas or numpy
Makers = Mapping[str, Callable[[], Column]]  # of each column by its name


def trials(results: Sequence[CellResult]) -> FrameParts:
    """A row per trial of options and per written answer, the cells one after the other.

    The columns are those that any of the cells has, `signature` last; where a cell lacks one, it
    is missing. `fixed_order`, why an order may not move, is there on request alone, and `repeat`
    is left out where questions were asked once.
    """
    names: dict[str, None] = {}
    for result in results:
        if result.cell.gives != "verdicts" and result.trials:
            whole = columns_of(result.trials)
            left_out = {"fixed_order"} if whole.n_repeats > 1 else {"fixed_order", "repeat"}
            names |= {name: None for name in _of_trials(result, whole) if name not in left_out}
    if names:
        names |= {"signature": names.pop("signature")}
    return FrameParts(tuple(names), lambda: _parts(results, names))


def replies(results: Sequence[CellResult]) -> FrameParts:
    """The written answers alone."""
    return trials([result for result in results if result.cell.gives == "answers"])


def ratings(results: Sequence[CellResult]) -> FrameParts:
    """A row per answer that a judge rated alone."""

    def parts() -> Iterator[pd.DataFrame]:
        for result in rating_cells(results):
            for part in columns_of(result.trials).parts(PART):
                made = _of_ratings(result, part)
                yield pd.DataFrame({name: made[name]() for name in MARK_COLUMNS})

    any_rated = any(result.trials for result in rating_cells(results))
    return FrameParts(tuple(MARK_COLUMNS) if any_rated else (), parts)


def trial_frame(
    results: Iterable[CellResult], columns: Sequence[str] | None = None
) -> pd.DataFrame:
    """The same rows in one frame, with the declared dtypes.

    `columns` None gives all of `TRIAL_COLUMNS`, then the choice and the rule of each reading
    (`strict_choice`), the probability of each slot (`p_A`, 0 to 1) and each text metric in per
    cent. Of some columns nothing else is read: no text where no text is wanted.

    Raises:
        SpecError: there is no such column; the message lists those there are.
    """
    known = dict[str, None].fromkeys(TRIAL_COLUMNS)
    parts: list[tuple[int, Mapping[str, Any]]] = []
    for result in results:
        if result.cell.gives == "verdicts" or not result.trials:
            continue
        whole = columns_of(result.trials)  # decoded once
        known |= dict.fromkeys(_of_trials(result, whole))
        for part in whole.parts(PART):
            made = _of_trials(result, part)
            wanted = made if columns is None else [name for name in columns if name in made]
            parts.append((len(part), {name: made[name]() for name in wanted}))
    if unknown := [name for name in columns or () if name not in known]:
        raise SpecError("no-column", name=unknown[0], known=", ".join(known))
    return pd.DataFrame(
        {
            name: _joined(
                [made.get(name, _missing(name, n)) for n, made in parts], _dtype_of_trial(name)
            )
            for name in (known if columns is None else columns)
        }
    )


def questions(results: Iterable[CellResult]) -> pd.DataFrame:
    """A row per question of each dataset, in the order of its file."""
    samples = {
        (result.cell.dataset, sample.id): sample
        for result in results
        for sample in result.samples.values()
    }
    rows = (_question_row(dataset, sample) for (dataset, _), sample in samples.items())
    return frame(rows, QUESTION_COLUMNS)


# ---------------------------------------------------------------- what makes each column


def _parts(results: Iterable[CellResult], names: Iterable[str]) -> Iterator[pd.DataFrame]:
    for result in results:
        if result.cell.gives != "verdicts":
            for part in columns_of(result.trials).parts(PART):
                made = _of_trials(result, part)
                yield pd.DataFrame(
                    {n: made[n]() if n in made else _missing(n, len(part)) for n in names}
                )


def _of_trials(result: CellResult, trials: TrialColumns) -> Makers:
    """What makes each column of trials of a cell, in the order of files."""
    cell, samples, ids = result.cell, result.samples, trials.ids

    def of_question(text: Callable[[Sample], str]) -> Callable[[], Column]:
        return lambda: _coded(trials.sample, lambda code: text(samples[ids[code]]))

    def metadata(key: str) -> Callable[[], Column]:
        return of_question(lambda sample: sample.metadata.get(key, ""))

    shared: Makers = {
        **_of_cell({"dataset": cell.dataset, "model": cell.model, "mode": cell.label}, trials),
        "id": lambda: _coded(trials.sample, ids.__getitem__),
        "subject": metadata("subject"),
    }
    truncated: Makers = {"truncated": lambda: pd.array(trials.truncated, dtype="boolean")}
    last: Makers = {
        "fixed_order": lambda: _coded(trials.fixed, FIXED_REASONS.__getitem__),
        **_of_cell({"signature": cell.signature}, trials),
    }
    repeat: Makers = {"repeat": lambda: _repeat(trials)}
    if cell.gives == "answers":
        return {
            **shared,
            **{name: metadata(name) for name in ("language", "capability", "file", "line")},
            "question": of_question(lambda one: SEPARATOR.join((one.question, *one.follow_ups))),
            "references": of_question(lambda one: SEPARATOR.join(one.references)),
            "reply": lambda: _texts(
                [SEPARATOR.join(turns or (reply or "",)) for reply, turns in _replies(trials)]
            ),
            "rule": partial(_rules, trials),
            **repeat,
            **{
                name: partial(_first_score, trials, name, scale=100)
                for name, own in trials.scores.items()
                if own.present.any()
            },
            **truncated,
            **last,
        }
    return {
        **shared,
        **{name: metadata(name) for name in ("file", "line")},
        "order": lambda: _coded(trials.order, lambda code: variant_label(trials.orders[code])),
        "question": of_question(lambda sample: sample.question),
        "options": lambda: _options(result, trials),
        "answer": lambda: _letters(trials.target),
        "choice": lambda: _letters(trials.reading.choice),
        "correct": lambda: pd.arrays.BooleanArray(
            trials.reading.choice == trials.target, trials.reading.choice < 0
        ),
        "credit": lambda: trials.reading.credit,
        "tied": lambda: pd.array(trials.reading.tied, dtype="boolean"),
        "rule": partial(_rules, trials),
        "reply": lambda: _texts([reply for reply, _ in _replies(trials)]),
        "label_mass": lambda: np.where(trials.has_mass, trials.mass, np.nan),
        **truncated,
        "merged_seams": lambda: pd.array(trials.merged, dtype="Int64"),
        **repeat,
        **_of_readings(trials),
        **{
            f"p_{LETTERS[slot]}": partial(_at, trials.probabilities, slot)
            for slot in range(int(trials.probabilities.lengths.max(initial=0)))
        },
        **last,
    }


def _of_readings(trials: TrialColumns) -> Makers:
    made: dict[str, Callable[[], Column]] = {}
    for name, own in trials.readings.items():
        if (own.choice != ABSENT).any():
            made[f"{name}_choice"] = partial(_letters, own.choice)
            rules = np.where(own.choice == ABSENT, -1, own.rule)
            made[f"{name}_rule"] = partial(_coded, rules, trials.rules.__getitem__)
    return made


def _of_ratings(result: CellResult, trials: TrialColumns) -> Makers:
    cell, names = result.cell, [one.name for one in result.contestants]
    return {
        **_of_cell({"dataset": cell.dataset, "judge": cell.model}, trials),
        "model": lambda: _coded(
            trials.order, lambda code: names[trials.orders[code].permutation[0]]
        ),
        "id": lambda: _coded(trials.sample, trials.ids.__getitem__),
        "question": lambda: _coded(
            trials.sample, lambda code: result.samples[trials.ids[code]].question
        ),
        "rating": partial(_first_score, trials, "rating"),
        "correct": partial(_first_score, trials, "correct"),
        "rule": partial(_rules, trials),
        "reply": lambda: _texts([reply for reply, _ in _replies(trials)]),
        **_of_cell({"signature": cell.signature}, trials),
    }


def _of_cell(texts: Mapping[str, str], trials: TrialColumns) -> Makers:
    """Columns with one text in every row."""
    return {
        name: partial(_coded, np.zeros(len(trials), np.int8), (text,).__getitem__)
        for name, text in texts.items()
    }


# ---------------------------------------------------------------- columns


def _coded(codes: NDArray[Any], text: Callable[[int], str]) -> Column:
    """The text of each code, made once for each; of a code below 0 it is missing."""
    used, places = np.unique(codes, return_inverse=True)
    known: dict[str, int] = {}
    at = [-1 if code < 0 else known.setdefault(text(code), len(known)) for code in used.tolist()]
    return _categorical(np.array(at, dtype=np.int32)[places], known)


def _texts(texts: Sequence[str | None]) -> Column:
    """Texts of which few are the same."""
    known: dict[str, int] = {}
    at = [-1 if text is None else known.setdefault(text, len(known)) for text in texts]
    return _categorical(np.array(at, dtype=np.int32), known)


def _categorical(codes: NDArray[Any], texts: Iterable[str]) -> Column:
    # As objects: Arrow, which holds "str", has no halves of characters.
    categories: Any = pd.Index(list(texts), dtype="object")
    return pd.Categorical.from_codes(codes, categories)


def _letters(slots: NDArray[Any]) -> Column:
    return _coded(slots, LETTERS.__getitem__)


def _rules(trials: TrialColumns) -> Column:
    return _coded(trials.reading.rule, trials.rules.__getitem__)


def _replies(trials: TrialColumns) -> Sequence[tuple[str | None, tuple[str, ...]]]:
    return trials.texts(trials.number)


def _options(result: CellResult, trials: TrialColumns) -> Column:
    """The options of each question in each order, a line each behind their letters."""
    n = len(trials.orders)

    def text(pair: int) -> str:
        sample = result.samples[trials.ids[pair // n]]
        shown = shown_options(sample.choices, trials.orders[pair % n])
        return "\n".join(
            [f"{letter}. {each}" for letter, each in zip(LETTERS, shown, strict=False)]
        )

    return _coded(trials.sample.astype(np.int64) * n + trials.order, text)


def _repeat(trials: TrialColumns) -> Any:
    """From 1, as of logs; missing where questions were asked once."""
    once = np.full(len(trials), trials.n_repeats == 1)
    return pd.arrays.IntegerArray(trials.repeat.astype(np.int64) + 1, once)


def _first_score(trials: TrialColumns, name: str, *, scale: float = 1) -> NDArray[np.float64]:
    own = trials.scores.get(name)
    return np.full(len(trials), np.nan) if own is None else scale * _at(own, 0)


def _at(ragged: Ragged, place: int) -> NDArray[np.float64]:
    """The number at a place of each row; NaN where a row is shorter."""
    values = np.full(len(ragged.lengths), np.nan)
    there = ragged.lengths > place
    values[there] = ragged.values[ragged.starts[there] + place]
    return values


def _question_row(dataset: str, sample: Sample) -> Row:
    named = ("subject", "category", "language", "capability", "file", "line")
    return {
        "dataset": dataset,
        "id": sample.id,
        **{name: sample.metadata.get(name, "") for name in named},
        "question": sample.question,
        "options": sample.choices,
        "answer": LETTERS[sample.target] if isinstance(sample.target, int) else None,
        "references": sample.references,
        "fixed_order": sample.fixed_reason,
    }


# ---------------------------------------------------------------- parts below each other


def _dtype_of_trial(name: str) -> Dtype:
    """That of a fixed column, of a reading's choice and rule, of a probability or text metric."""
    if name in TRIAL_COLUMNS:
        return TRIAL_COLUMNS[name].dtype
    return "category" if name.endswith(("_choice", "_rule")) else "float64"


def _missing(name: str, n: int) -> Any:
    """A column of which a part has nothing, as a part has it."""
    dtype = _dtype_of_trial(name)
    if dtype in ("str", "category"):
        return _categorical(np.full(n, -1), ())
    return series([None] * n, dtype)


def _joined(parts: Sequence[Any], dtype: Dtype) -> pd.Series:
    """The parts of a column below each other; each distinct text is converted once."""
    if not parts:
        return series([], dtype)
    if dtype == "category":
        joined: Any = pd.api.types.union_categoricals([*parts])
        return pd.Series(_whole(joined))
    if dtype == "str":
        parts = [_whole(part) for part in parts]
    return pd.concat([pd.Series(part).astype(dtype) for part in parts], ignore_index=True)


def _whole(texts: Any) -> Any:
    """A categorical whose texts Arrow takes; two of them may become the same one."""
    places, known = pd.factorize(np.array(storable(texts.categories), dtype="object"))
    codes = np.where(texts.codes < 0, -1, np.append(places, -1)[texts.codes])
    return pd.Categorical.from_codes(codes, pd.Index(known, dtype="str"))
