"""Rows of numbers of different lengths as two arrays."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_NO_VALUE = -1  # the length of a row that is not there
Rows = NDArray[np.bool_] | NDArray[np.intp] | slice


@dataclass(frozen=True, slots=True, eq=False)
class Ragged:
    """Rows of numbers of different lengths: all `values` in one array, `lengths` of shape (n,).

    A length of -1 marks a row that is not there at all.
    """

    values: NDArray[np.float64]
    lengths: NDArray[np.int32]

    @classmethod
    def of(cls, rows: Sequence[Sequence[float] | None]) -> "Ragged":
        """The same numbers; None is a row that is not there."""
        lengths = [_NO_VALUE if row is None else len(row) for row in rows]
        values = [value for row in rows if row for value in row]
        return cls(np.array(values, dtype=np.float64), np.array(lengths, dtype=np.int32))

    @classmethod
    def absent(cls, n: int) -> "Ragged":
        """`n` rows that are not there."""
        return cls(np.zeros(0), np.full(n, _NO_VALUE, dtype=np.int32))

    @property
    def starts(self) -> NDArray[np.intp]:
        """Where each row begins in `values`."""
        ends = np.cumsum(np.maximum(self.lengths, 0), dtype=np.intp)
        return ends - np.maximum(self.lengths, 0)

    @property
    def present(self) -> NDArray[np.bool_]:
        """Which rows hold any number."""
        return self.lengths > 0

    def matrix(self) -> NDArray[np.float64]:
        """The rows that hold numbers, shape (rows, k), where all of them have k.

        Raises:
            ValueError: they differ in length.
        """
        own = self.lengths[self.present]
        if not len(own):
            return np.zeros((0, 0))
        return self.values.reshape(len(own), int(own[0]))

    def by_length(self) -> Iterator[tuple[NDArray[np.intp], NDArray[np.float64]]]:
        """For each length above 0: the rows that have it, and their numbers as a matrix."""
        for length in np.unique(self.lengths[self.present]).tolist():
            rows = np.flatnonzero(self.lengths == length)
            yield rows, self.values[self.starts[rows][:, None] + np.arange(length)]

    def take(self, rows: Rows) -> "Ragged":
        """Some of the rows, in this order."""
        lengths, starts = self.lengths[rows], self.starts[rows]
        sizes = np.maximum(lengths, 0)
        before = np.cumsum(sizes, dtype=np.intp) - sizes
        within = np.arange(int(sizes.sum())) - np.repeat(before, sizes)
        return Ragged(self.values[np.repeat(starts, sizes) + within], lengths)

    def tuples(self) -> list[tuple[float, ...] | None]:
        """Every row; None for one that is not there."""
        values, ends = self.values.tolist(), self.starts + self.lengths
        return [
            None if length < 0 else tuple(values[end - length : end])
            for end, length in zip(ends.tolist(), self.lengths.tolist(), strict=True)
        ]


def join_ragged(parts: Sequence[Ragged]) -> Ragged:
    """The rows of all parts, one after the other."""
    return Ragged(
        np.concatenate([part.values for part in parts]),
        np.concatenate([part.lengths for part in parts]),
    )
