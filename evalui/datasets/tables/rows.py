"""A table as every format sees it: a header, and rows that know their line numbers."""

from dataclasses import dataclass

from evalui.types import Fault


@dataclass(frozen=True, slots=True)
class RawRow:
    """The cells of one row and the physical line on which it begins, counted from 1."""

    line: int
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RawTable:
    """A header and its rows; `faults` are the rows that could not even be cut into cells.

    `delimiter` is "" for JSON Lines, where each row has a cell for each key of the file, and for
    a sheet of a workbook, where lines are the sheet's row numbers. The header is empty if it
    could not be read, and then there are no rows. `header_line` is 0 where the file has none.
    `unlisted` more faults are only counted.
    """

    header: tuple[str, ...]
    rows: tuple[RawRow, ...]
    delimiter: str
    faults: tuple[Fault, ...] = ()
    header_line: int = 1
    unlisted: int = 0
