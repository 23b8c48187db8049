"""What a frame is: declared columns, and the rows that fill them.

A missing value is NaN, `pandas.NA` or NaT, by the dtype of its column. Columns are declared without
pandas, which takes half a second to import.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from evalui.types import Interval

if TYPE_CHECKING:
    import pandas as pd

Dtype = Literal["str", "category", "float64", "Int64", "boolean", "object", "datetime64[ms, UTC]"]
Row = dict[str, Any]  # numbers and texts by column
_LAST = ("error", "signature")
SEPARATOR = "\n\n"  # between the turns of one answer, and between references


@dataclass(frozen=True, slots=True)
class FrameColumn:
    """One column of a frame: the dtype of its values, and what they mean."""

    dtype: Dtype
    meaning: str


Columns = Mapping[str, FrameColumn]


@dataclass(frozen=True, slots=True)
class FrameParts:
    """Rows that are made as they are read: `parts` are frames of these `columns`, below each other.

    A million trials are never held at once. Of no trials there are no columns.
    """

    columns: tuple[str, ...]
    parts: Callable[[], "Iterator[pd.DataFrame]"]

    @classmethod
    def of(cls, whole: "pd.DataFrame") -> "FrameParts":
        """A frame that is held already."""
        return cls(tuple(whole.columns), lambda: iter([whole]))


def frame(rows: Iterable[Row], columns: Columns, *, more: bool = False) -> "pd.DataFrame":
    """The rows as a frame of exactly these columns; what a row lacks is missing.

    With `more`, what else the rows have stands behind the declared columns: whole numbers as such,
    other numbers as float64; `error` and `signature` stay the last.
    """
    import pandas as pd

    every = list(rows)
    names = dict.fromkeys([*columns, *(name for row in every for name in row if more)])
    ordered = [name for name in names if name not in _LAST or not more]
    ordered += [name for name in _LAST if name in names and more]
    values = {name: [row.get(name) for row in every] for name in ordered}
    return pd.DataFrame(
        {
            name: series(own, columns[name].dtype if name in columns else _dtype(own))
            for name, own in values.items()
        }
    )


def records(whole: "pd.DataFrame") -> Iterator[Row]:
    """The rows of a frame, with None for what is missing: what `frame` makes the frame of."""
    columns = [
        [None if missing else value for value, missing in zip(of.tolist(), of.isna(), strict=True)]
        for of in (whole[name] for name in whole)
    ]
    names = [str(name) for name in whole]
    return (dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True))


def series(values: Any, dtype: Dtype) -> "pd.Series":
    """The values, of which any may be None, as a column."""
    import pandas as pd

    if dtype == "category":
        known = dict[Any, int]()
        texts = storable(values)
        codes = [-1 if each is None else known.setdefault(each, len(known)) for each in texts]
        return pd.Series(pd.Categorical.from_codes(codes, pd.Index(list(known), dtype="str")))
    if dtype == "datetime64[ms, UTC]":
        return pd.Series(pd.to_datetime(pd.Series(values, dtype="str"), utc=True)).astype(dtype)
    return pd.Series(storable(values) if dtype == "str" else values, dtype=dtype)


def storable(texts: Iterable[Any]) -> list[Any]:
    """The texts with halves of characters written out: models write them, Arrow has none."""
    return [
        each.encode(errors="backslashreplace").decode()
        if isinstance(each, str) and not each.isascii()
        else each
        for each in texts
    ]


def _dtype(values: Iterable[object]) -> Dtype:
    there = [each for each in values if each is not None]
    if any(isinstance(each, str) for each in there):
        return "str"
    return "Int64" if there and all(isinstance(each, int) for each in there) else "float64"


LOW = FrameColumn("float64", "lower end of its 95 % interval")
HIGH = FrameColumn("float64", "upper end of its 95 % interval")


def ranged(name: str, meaning: str) -> Columns:
    """The columns of a value with its range: `name`, `name_low`, `name_high`."""
    return {name: FrameColumn("float64", meaning), f"{name}_low": LOW, f"{name}_high": HIGH}


def interval(name: str, of: Interval | None, *, scale: float = 100) -> Row:
    """The values of those columns; by default of a share, in per cent."""
    ends = (None, None, None) if of is None else (of.value, of.low, of.high)
    names = (name, f"{name}_low", f"{name}_high")
    return {key: None if end is None else scale * end for key, end in zip(names, ends, strict=True)}


def percent(share: float | None) -> float | None:
    """A share in per cent."""
    return None if share is None else 100 * share
