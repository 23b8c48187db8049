"""Rows of a DataFrame that say what was chosen, as trials in columns."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evalui.errors import DataError
from evalui.scoring.choice.options import pattern_of
from evalui.scoring.trial_columns import (
    FIXED_REASONS,
    NO_CHOICE,
    Ragged,
    ReadingColumns,
    TrialColumns,
    TrialText,
)
from evalui.types import LETTERS, MAX_REPEATS, Cell, CellResult, Sample, Variant

_READING = "given"  # the one reading that rows have
_MAX_PERMUTED = 8  # options: with 9 a question has 362,880 orders
_SUBJECT = ("subject", "category")
_SHARED = ("question", "options", "cluster")  # by which questions are known to be the same
_SLOT_OF = {letter: slot for slot, letter in enumerate(LETTERS)}


def require_columns(frame: pd.DataFrame, *names: str) -> None:
    """Raises `DataError` with the columns that are missing, and those that are there."""
    if missing := [name for name in names if name not in frame.columns]:
        known = ", ".join(map(str, frame.columns))
        raise DataError("frame-columns", missing=", ".join(missing), known=known)


def choice_result(frame: pd.DataFrame, *, options: int | None, name: str = "") -> CellResult:
    """The rows as one cell of the model `name`; `options` where no row says how many it has.

    Raises:
        DataError: a column is missing, or the first row that does not fit, by its index.
    """
    require_columns(frame, "id", "choice", "answer")
    if frame.empty:
        raise DataError("frame-empty")
    orders, order = _orders(frame, options)
    sizes = np.array([len(one.permutation) for one in orders])[order]
    codes, ids = pd.factorize(frame["id"].astype("str"))
    target = _slots(frame, "answer", sizes)
    choice = _slots(frame, "choice", sizes)
    if (target < 0).any():
        raise _row_error(frame, int(np.argmax(target < 0)), "answer", sizes)
    columns = TrialColumns(
        ids=tuple(ids),
        orders=orders,
        headlines=(_READING,),
        rules=(_READING,),
        sample=codes.astype(np.int32),
        order=order,
        headline=np.zeros(len(frame), dtype=np.int32),
        target=target.astype(np.int32),
        readings={_READING: _reading(frame, choice, target)},
        probabilities=_probabilities(frame, sizes),
        mass=_numbers(frame, "label_mass", 0.0),
        has_mass=~np.isnan(_numbers(frame, "label_mass", np.nan)),
        scores={},
        merged=np.zeros(len(frame), dtype=np.int32),
        truncated=np.zeros(len(frame), dtype=np.bool_),
        fixed=_fixed(frame),
        number=np.arange(len(frame), dtype=np.int64),
        texts=_no_texts,
    )
    _check_questions(frame, columns)
    pattern, most = pattern_of(orders), int(sizes.max())
    if pattern == "all_possible" and most > _MAX_PERMUTED:
        raise DataError("frame-orders", n=most, most=_MAX_PERMUTED)
    cell = Cell("", name, _READING, _READING, pattern, "")
    return CellResult(cell, _samples(frame, list(ids)), columns, len(columns))


def _orders(
    frame: pd.DataFrame, options: int | None
) -> tuple[tuple[Variant, ...], NDArray[np.int32]]:
    """The distinct orders of the options, and the place of that of each row."""
    if "permutation" in frame.columns:
        given = [tuple(each) for each in frame["permutation"]]
    elif "order" in frame.columns:
        given = [_permutation_of_label(str(each)) for each in frame["order"]]
    elif options is not None:
        given = [tuple(range(options))] * len(frame)
    else:
        raise DataError("frame-options")
    known: dict[tuple[tuple[Any, ...], int], int] = {}
    repeats = read_repeats(frame)
    places = [known.setdefault(each, len(known)) for each in zip(given, repeats, strict=True)]
    for (permutation, _), first in zip(known, _firsts(places), strict=True):
        if sorted(permutation) != list(range(len(permutation))) or len(permutation) < 2:
            row = str(frame.index[first])
            raise DataError("frame-permutation", row=row, value=str(permutation)[:60])
    return tuple(Variant(*each) for each in known), np.array(places, dtype=np.int32)


def read_repeats(frame: pd.DataFrame) -> list[int]:
    """Which repeat of its order each row is, from 0; the column counts from 1.

    Raises:
        DataError: the first row whose `repeat` is no whole number from 1, by its index.
    """
    if "repeat" not in frame.columns:
        return [0] * len(frame)
    values = pd.to_numeric(frame["repeat"], errors="coerce").astype("float64")
    given = values.where(frame["repeat"].notna(), 1.0).to_numpy()
    wrong = ~np.isin(given, np.arange(1, MAX_REPEATS + 1))
    if wrong.any():
        row = int(np.argmax(wrong))
        value = str(frame["repeat"].iloc[row])[:60]
        raise DataError("frame-repeat", row=str(frame.index[row]), value=value, last=MAX_REPEATS)
    return [int(each) - 1 for each in given.tolist()]


def _firsts(places: Sequence[int]) -> list[int]:
    """Where each place comes first; they come in their order."""
    return np.unique(np.array(places), return_index=True)[1].tolist()


def _permutation_of_label(label: str) -> tuple[int, ...]:
    """The inverse of `variant_label`; what is no label is no permutation either."""
    slots = [_SLOT_OF.get(letter, NO_CHOICE) for letter in label]
    if NO_CHOICE in slots:
        return ()
    return tuple(sorted(range(len(slots)), key=slots.__getitem__))


def _slots(frame: pd.DataFrame, name: str, sizes: NDArray[np.intp]) -> NDArray[np.int16]:
    """Letters as slots; NO_CHOICE where one is missing."""
    codes, letters = pd.factorize(frame[name])
    table = np.array([_SLOT_OF.get(str(letter), NO_CHOICE) for letter in letters])
    missing = codes < 0
    slots = np.where(missing, NO_CHOICE, np.append(table, NO_CHOICE)[codes].astype(np.intp))
    wrong = ~missing & ((slots < 0) | (slots >= sizes))
    if wrong.any():
        raise _row_error(frame, int(np.argmax(wrong)), name, sizes)
    return slots.astype(np.int16)


def _row_error(frame: pd.DataFrame, place: int, name: str, sizes: NDArray[np.intp]) -> DataError:
    return DataError(
        "frame-letter",
        row=str(frame.index[place]),
        column=name,
        value=str(frame[name].iloc[place]),
        last=LETTERS[int(sizes[place]) - 1],
    )


def _reading(
    frame: pd.DataFrame, choice: NDArray[np.int16], target: NDArray[np.int16]
) -> ReadingColumns:
    tied = _marks(frame, "tied") & (choice < 0)
    credit = (choice == target).astype(np.float64)
    if tied.any():
        require_columns(frame, "credit")
        credit = np.where(tied, _numbers(frame, "credit", 0.0), credit)
    return ReadingColumns(choice, credit, np.zeros(len(frame), dtype=np.int32), tied)


def _marks(frame: pd.DataFrame, name: str) -> NDArray[np.bool_]:
    if name not in frame.columns:
        return np.zeros(len(frame), dtype=np.bool_)
    return frame[name].astype("boolean").fillna(value=False).to_numpy(dtype=np.bool_)


def _numbers(frame: pd.DataFrame, name: str, missing: float) -> NDArray[np.float64]:
    if name not in frame.columns:
        return np.full(len(frame), missing)
    values = np.asarray(frame[name].astype("float64"), dtype=np.float64)
    return np.where(np.isnan(values), missing, values)


def _probabilities(frame: pd.DataFrame, sizes: NDArray[np.intp]) -> Ragged:
    """Those of p_A, p_B, … by slot; of a row that lacks one of its slots none."""
    names = [f"p_{letter}" for letter in LETTERS[: int(sizes.max())]]
    table = np.column_stack([_numbers(frame, name, np.nan) for name in names])
    wanted = np.arange(len(names)) < sizes[:, None]
    whole = np.asarray(~(np.isnan(table) & wanted).any(axis=1), dtype=np.bool_)
    lengths = np.where(whole, sizes, 0).astype(np.int32)
    return Ragged(table[wanted & whole[:, None]], lengths)


def _fixed(frame: pd.DataFrame) -> NDArray[np.int8]:
    if "fixed_order" not in frame.columns:
        return np.zeros(len(frame), dtype=np.int8)
    reasons = frame["fixed_order"].astype("str").fillna("")
    for reason in reasons.unique():
        if reason not in FIXED_REASONS:
            known = ", ".join(filter(None, FIXED_REASONS))
            raise DataError("frame-fixed", value=str(reason), known=known)
    return np.array([FIXED_REASONS.index(each) for each in reasons], dtype=np.int8)


def _check_questions(frame: pd.DataFrame, columns: TrialColumns) -> None:
    """Raises `DataError` where a question has one order twice, or different right options."""
    n_orders = len(columns.orders)
    keys = columns.sample.astype(np.int64) * n_orders + columns.order
    again = pd.Series(keys).duplicated().to_numpy()
    if again.any():
        place = int(np.argmax(again))
        raise DataError(
            "frame-again", row=str(frame.index[place]), id=columns.ids[int(columns.sample[place])]
        )
    width = max(len(one.permutation) for one in columns.orders)
    shown = np.full((n_orders, width), -1)
    for place, one in enumerate(columns.orders):
        shown[place, : len(one.permutation)] = one.permutation
    content = shown[columns.order, columns.target]
    first = np.zeros(len(columns.ids), dtype=np.intp)
    _, starts = np.unique(columns.sample, return_index=True)
    first[:] = content[starts]
    other = content != first[columns.sample]
    if other.any():
        place = int(np.argmax(other))
        raise DataError(
            "frame-other-answer",
            row=str(frame.index[place]),
            id=columns.ids[int(columns.sample[place])],
        )


def _samples(frame: pd.DataFrame, ids: Sequence[str]) -> Mapping[str, Sample]:
    """The questions with what the rows say of them; the first row of each counts."""
    named = [name for name in (*_SUBJECT, *_SHARED) if name in frame.columns]
    if not named:
        return {name: Sample(name, "") for name in ids}
    first = frame.assign(id=frame["id"].astype("str")).drop_duplicates("id")
    texts = {name: first[name].astype("str").fillna("").tolist() for name in named}
    return {
        sample_id: _sample(sample_id, {name: own[place] for name, own in texts.items()})
        for place, sample_id in enumerate(first["id"].tolist())
    }


def _sample(sample_id: str, texts: Mapping[str, str]) -> Sample:
    return Sample(
        sample_id,
        texts.get("question", ""),
        tuple(texts.get("options", "").splitlines()),
        metadata={name: texts[name] for name in _SUBJECT if texts.get(name)},
        cluster=texts.get("cluster", ""),
    )


def _no_texts(numbers: NDArray[np.int64]) -> list[TrialText]:
    return [(None, ())] * len(numbers)
