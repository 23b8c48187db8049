"""Workbooks as a reader finds them: sheets that go on in others, and what cells must keep."""

import io
import math
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pandas as pd
import pytest
from openpyxl.utils.escape import unescape

from evalui.errors import StoreError
from evalui.report.frames.base import FrameParts
from evalui.report.write.xlsx import xlsx_parts


def _table(rows: Sequence[Any], per_part: int = 4) -> FrameParts:
    def parts() -> Iterator[pd.DataFrame]:
        for start in range(0, len(rows), per_part):
            part = pd.Series(rows[start : start + per_part], dtype="object")
            signed = pd.Categorical(["signed"] * len(part))
            yield pd.DataFrame({"value": part, "signature": signed})

    return FrameParts(("value", "signature"), parts)


def _book(*tables: FrameParts) -> openpyxl.Workbook:
    named = {f"t{place}": table for place, table in enumerate(tables)}
    return openpyxl.load_workbook(io.BytesIO(b"".join(xlsx_parts(named, ()))))


def _values(sheet: Any) -> list[Any]:
    return [row[0].value for row in sheet.iter_rows(min_row=2)]


@pytest.mark.parametrize("per_part", [1, 4, 100])
def test_a_table_longer_than_a_sheet_goes_on_in_the_next(
    monkeypatch: pytest.MonkeyPatch, per_part: int
):
    monkeypatch.setattr("evalui.report.write.xlsx._ROW_LIMIT", 10)
    book = _book(_table(range(19), per_part), _table(range(8), per_part))
    assert book.sheetnames == ["t0", "t0-2", "t0-3", "t1"]
    assert _values(book["t0"]) == [*range(8), "More rows are in the sheet t0-2."]
    assert _values(book["t0-2"]) == [*range(8, 16), "More rows are in the sheet t0-3."]
    assert _values(book["t0-3"]) == [16, 17, 18]
    assert _values(book["t1"]) == [*range(8)]
    assert all(sheet.max_row <= 10 for sheet in book)
    assert all([cell.value for cell in sheet[1]] == ["value", "signature"] for sheet in book)


def test_a_sheet_states_in_the_language_of_the_reader_where_its_table_goes_on(
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.setattr("evalui.report.write.xlsx._ROW_LIMIT", 10)
    made = b"".join(xlsx_parts({"t": _table(range(9))}, ["s"], "zh"))
    assert _values(openpyxl.load_workbook(io.BytesIO(made))["t"])[-1] == "其余各行见工作表 t-2。"


def test_a_sheet_ends_before_it_is_too_large_for_its_archive(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("evalui.report.write.xlsx._SHEET_BYTES", 1000)
    book = _book(_table([f"{n:0100}" for n in range(20)], per_part=2))
    assert len(book.sheetnames) > 2
    rows = [value for sheet in book for value in _values(sheet) if not value.startswith("More")]
    assert rows == [f"{n:0100}" for n in range(20)]


def test_each_kind_of_value_is_read_back_as_it_was():
    values = [
        *(" kept ", "two\nlines", "a\rb", '<&>"', "#N/A", "", None, math.nan),
        *(True, np.bool_(False), 3, -1.5, np.float64(0.1), np.int64(7), 1e-300, math.inf),
    ]
    assert _values(_book(_table(values))["t0"]) == [
        *(" kept ", "two\nlines", "a\nb", '<&>"', "#N/A", None, None, None),
        *(True, False, 3, -1.5, 0.1, 7, 1e-300, None),
    ]


@pytest.mark.parametrize("value", ["ab", "&" * 50, "<>" * 30, "_x0041_" * 9, 1 / 3, -1e-300, True])
def test_the_marks_around_cells_count_for_the_size_of_a_sheet(
    monkeypatch: pytest.MonkeyPatch, value: object
):
    limit = 20_000
    monkeypatch.setattr("evalui.report.write.xlsx._SHEET_BYTES", limit)
    made = b"".join(xlsx_parts({"t": _table([value] * 2000, 500)}, ()))
    with zipfile.ZipFile(io.BytesIO(made)) as archive:
        sheets = [one for one in archive.infolist() if "worksheets/sheet" in one.filename]
    assert len(sheets) > 1
    assert max(one.file_size for one in sheets) < limit + 2000  # what frames the rows


def test_the_markup_of_the_writer_is_text_where_a_model_wrote_it():
    values = ["<r><t>bold</t></r>", "_x0041_", "<r>open", "http://example.com", "mailto:a@b"]
    read = _values(_book(_table(values))["t0"])
    # As the format has it; openpyxl leaves that to who reads.
    assert [unescape(text) for text in read] == [
        "'<r><t>bold</t></r>",
        "_x0041_",
        "'<r>open",
        *values[3:],
    ]


def test_the_same_tables_make_the_same_workbook():
    first, second = (b"".join(xlsx_parts({"t": _table([1, "a"])}, ["s"])) for _ in range(2))
    assert first == second


def test_nothing_is_left_of_a_workbook_that_could_not_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    def parts() -> Iterator[pd.DataFrame]:
        yield pd.DataFrame({"value": [1]})
        raise StoreError("trials-gone", cell=1)

    with pytest.raises(StoreError):
        b"".join(xlsx_parts({"t": FrameParts(("value",), parts)}, ["s"]))
    assert [*tmp_path.iterdir()] == []
