"""Old Excel workbooks: one that xlwt wrote, and what an attacker makes of it."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from opened_tables import faults_of, only_table, opened

from evalui.errors import DataError

OLD = (Path(__file__).parents[3] / "golden" / "containers" / "old.xls").read_bytes()


def test_cells_are_what_the_sheet_shows():
    cells = {row.line: row.cells for row in only_table("old.xls", OLD).rows}
    assert cells[3][2:6] == ("1949年10月1日", "1950年10月1日", "1951年1月1日", "1952年1月1日")
    assert cells[4][2:6] == ("50%", "25%", "75%", "100%")
    assert cells[5][2:6] == ("￥1,200", "￥3,500", "￥4,000", "￥5,000")
    assert cells[6][2:4] == ("TRUE", "FALSE")
    assert cells[9][2:4] == ("9:30", "10:00")


def test_what_a_person_sees_is_known():
    read = opened("old.xls", OLD)
    (table,) = read.tables
    assert (table.title, read.titles) == ("题库", ("题库",))
    assert [row.line for row in table.rows] == [3, 4, 5, 6, 8, 9]
    assert faults_of(table) == [(7, "题目", "picture")]
    rules = [note.rule for note in (*table.notes, *read.notes)]
    assert rules == ["rows-above", "rows-below", "hidden-rows", "hidden-sheets"]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (OLD[:512] + "EncryptedPackage".encode("utf-16-le"), "is locked with a password"),
        (OLD[:600], "cannot be opened as a workbook"),
    ],
)
def test_what_is_locked_or_damaged_is_refused(data: bytes, reason: str):
    with pytest.raises(DataError, match=reason):
        opened("old.xls", data)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(place=st.integers(0, len(OLD) - 1), value=st.integers(0, 255), cut=st.integers(0, 4000))
def test_a_damaged_workbook_is_read_or_refused(place: int, value: int, cut: int):
    data = bytearray(OLD)
    data[place] = value
    try:
        opened("x.xls", bytes(data[: len(data) - (cut if cut % 3 == 0 else 0)]))
    except DataError:
        return  # every other error is a bug
