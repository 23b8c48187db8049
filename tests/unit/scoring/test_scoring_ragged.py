"""Rows of numbers of different lengths."""

import pytest

from evalui.scoring.ragged import Ragged


def test_rows_of_one_length_are_a_matrix_and_others_are_not() -> None:
    ragged = Ragged.of([(1.0, 2.0), None, (), (3.0, 4.0)])
    assert ragged.matrix().tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert ragged.present.tolist() == [True, False, False, True]
    with pytest.raises(ValueError, match="reshape"):
        Ragged.of([(1.0, 2.0), (3.0,)]).matrix()
    assert [
        (rows.tolist(), values.tolist())
        for rows, values in Ragged.of([(1.0,), (2.0, 3.0), (4.0,)]).by_length()
    ] == [([0, 2], [[1.0], [4.0]]), ([1], [[2.0, 3.0]])]
