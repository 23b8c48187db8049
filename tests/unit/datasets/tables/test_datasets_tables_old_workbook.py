"""Old Excel workbooks: one that xlwt wrote, and what an attacker makes of it."""

import struct
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evalui.datasets.base import Layout, Limits
from evalui.datasets.files.archive import SourceFile
from evalui.datasets.reading import open_file, role_of
from evalui.datasets.tables import old_workbook
from evalui.datasets.tables.old_workbook import read_old_workbook
from evalui.datasets.tables.sheets import CellBudget
from evalui.errors import DataError

OLD = (Path(__file__).parents[3] / "golden" / "containers" / "old.xls").read_bytes()


def test_cells_are_what_the_sheet_shows():
    (grid,) = read_old_workbook(OLD, "old.xls", sheet="", limits=Limits()).grids
    assert grid.title == "题库"
    assert grid.lines[3][2:6] == ["1949年10月1日", "1950年10月1日", "1951年1月1日", "1952年1月1日"]
    assert grid.lines[4][2:6] == ["50%", "25%", "75%", "100%"]
    assert grid.lines[5][2:6] == ["￥1,200", "￥3,500", "￥4,000", "￥5,000"]
    assert grid.lines[6][2:4] == ["TRUE", "FALSE"]
    assert grid.lines[9][2:4] == ["9:30", "10:00"]


def test_what_a_person_sees_is_known():
    book = read_old_workbook(OLD, "old.xls", sheet="", limits=Limits())
    (grid,) = book.grids
    assert (book.visible, book.hidden) == (("题库",), ("答案备份",))
    assert [tuple(region) for region in grid.merged] == [(1, 1, 0, 6)]
    assert (grid.hidden, grid.pictures) == ({8}, {7: 1})


def test_the_whole_file_is_one_table():
    member = SourceFile(PurePosixPath("old.xls"), OLD, explicit=True)
    (file,) = open_file(member, role_of(member.path), Layout(), Limits())
    assert [note.rule for note in file.notes] == [
        "rows-above",
        "rows-below",
        "hidden-rows",
        "hidden-sheets",
    ]
    assert file.source.table is not None
    assert [row.line for row in file.source.table.rows] == [3, 4, 5, 6, 8, 9]
    assert [(fault.line, fault.column) for fault in file.source.table.faults] == [(7, "题目")]


def record(kind: int, content: bytes = b"") -> bytes:
    return struct.pack("<HH", kind, len(content)) + content


def stream(*sheets: bytes) -> bytes:
    """A workbook's stream with these records as its sheets."""
    begin = record(0x809, struct.pack("<HH", 0x0600, 5) + bytes(12))
    size = len(begin) + sum(4 + 8 for _ in sheets) + 4
    offsets: list[bytes] = []
    for sheet in sheets:
        offsets.append(record(0x85, struct.pack("<IBBBB", size, 0, 0, 0, 0)))
        size += len(sheet)
    return begin + b"".join(offsets) + record(0x0A) + b"".join(sheets)


def count(content: bytes, limits: Limits) -> None:
    old_workbook._count_records(content, "x.xls", CellBudget("x.xls", limits))


SHEET = record(0x809, struct.pack("<HH", 0x0600, 0x10) + bytes(12))
FAR = SHEET + record(0x203, struct.pack("<HHH", 65535, 255, 0) + bytes(8)) + record(0x0A)
BLANKS = SHEET + record(0xBE, struct.pack("<HH", 0, 0) + struct.pack("<H", 65535)) + record(0x0A)


@pytest.mark.parametrize("sheets", [[FAR] * 3, [BLANKS] * 3, [FAR, BLANKS]])
def test_cells_far_apart_are_counted_before_they_are_made(sheets: list[bytes]):
    count(stream(*sheets), Limits(cells=1_000_000))
    with pytest.raises(DataError, match="has more than 1,000,000 rows or 100,000 cells"):
        count(stream(*sheets), Limits(cells=100_000))


def test_a_sheet_that_many_entries_point_at_is_counted_for_each():
    start = len(stream())
    begin = record(0x809, struct.pack("<HH", 0x0600, 5) + bytes(12))
    entry = record(0x85, struct.pack("<IBBBB", start + 12 * 200, 0, 0, 0, 0))
    with pytest.raises(DataError, match="has more than"):
        count(begin + entry * 200 + record(0x0A) + FAR, Limits())


def test_a_locked_or_too_old_workbook_is_refused():
    begin = record(0x809, struct.pack("<HH", 0x0600, 5) + bytes(12))
    with pytest.raises(DataError, match="is locked with a password"):
        count(begin + record(0x2F, bytes(6)), Limits())
    with pytest.raises(old_workbook.XmlDamage, match="older than Excel 5"):
        count(record(0x809, struct.pack("<HH", 0x0400, 5) + bytes(2)), Limits())


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(place=st.integers(0, len(OLD) - 1), value=st.integers(0, 255), cut=st.integers(0, 4000))
def test_a_damaged_workbook_is_read_or_refused(place: int, value: int, cut: int):
    data = bytearray(OLD)
    data[place] = value
    try:
        read_old_workbook(
            bytes(data[: len(data) - (cut if cut % 3 == 0 else 0)]),
            "x.xls",
            sheet="",
            limits=Limits(),
        )
    except DataError:
        return  # every other error is a bug
