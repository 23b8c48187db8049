import csv
import io
import math
from typing import Any

import openpyxl
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evalui.report.frames.base import FrameParts
from evalui.report.write.csv import csv_parts, escape_formula
from evalui.report.write.xlsx import xlsx_parts

_NASTY = ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "＝1", "＋1", "－1", "＠x"]


def _table(columns: dict[str, list[Any]]) -> FrameParts:
    return FrameParts.of(pd.DataFrame(columns, dtype="object"))


def csv_bytes(frame: dict[str, list[Any]]) -> bytes:
    return b"".join(csv_parts(_table(frame)))


def xlsx_bytes(frames: dict[str, dict[str, list[Any]]], signatures: list[str]) -> bytes:
    tables = {name: _table(frame) for name, frame in frames.items()}
    return b"".join(xlsx_parts(tables, signatures))


def _read_csv(data: bytes) -> list[list[str]]:
    return list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))


def _sheet(data: bytes, name: str):
    return openpyxl.load_workbook(io.BytesIO(data))[name]


@pytest.mark.parametrize("text", _NASTY)
def test_a_text_that_looks_like_a_formula_gets_an_apostrophe(text: str):
    assert escape_formula(text) == "'" + text


@pytest.mark.parametrize("text", ["", "A", "1-1", " =1", "答案：A"])
def test_other_texts_stay_as_they_are(text: str):
    assert escape_formula(text) == text


@pytest.mark.parametrize("text", _NASTY)
def test_csv_cells_cannot_start_a_formula(text: str):
    frame = {"reply": [text]}
    assert _read_csv(csv_bytes(frame))[1] == ["'" + text]


class _Counted:
    """A value that counts how often it is written."""

    def __init__(self) -> None:
        self.written = 0

    def __str__(self) -> str:
        self.written += 1
        return 'two\nlines, "quoted"'


def test_a_value_of_many_csv_rows_is_written_once():
    value = _Counted()
    texts = pd.Categorical.from_codes([0] * 50, pd.Index([value]))
    table = pd.DataFrame({"text": texts, "place": range(50)})
    rows = _read_csv(b"".join(csv_parts(FrameParts.of(table))))
    assert rows[1:] == [['two\nlines, "quoted"', f"{place}"] for place in range(50)]
    assert value.written == 1


_CELLS = st.none() | st.booleans() | st.integers() | st.floats() | st.text('a",\r\n= 中')


@given(st.lists(st.tuples(_CELLS, _CELLS), min_size=1))
def test_csv_is_quoted_as_the_standard_library_does(rows: list[tuple[Any, Any]]):
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\r\n")
    escaped = [[escape_formula(x) if isinstance(x, str) else x for x in row] for row in rows]
    empty = [[None if x != x or x in (math.inf, -math.inf) else x for x in row] for row in escaped]
    writer.writerows([["a", "b"], *empty])
    (first, second) = zip(*rows, strict=True)
    assert csv_bytes({"a": [*first], "b": [*second]}).decode("utf-8-sig") == stream.getvalue()


def test_csv_headers_cannot_start_a_formula():
    assert _read_csv(csv_bytes({"=cmd": ["A"]}))[0] == ["'=cmd"]


def test_negative_numbers_stay_numbers():
    frame = {"score": [-1.5]}
    assert _read_csv(csv_bytes(frame))[1] == ["-1.5"]
    assert _sheet(xlsx_bytes({"t": frame}, ["s"]), "t")["A2"].value == -1.5


def test_csv_begins_with_a_byte_order_mark():
    assert csv_bytes({"a": ["中文"]}).startswith(b"\xef\xbb\xbf")


@pytest.mark.parametrize("text", _NASTY)
def test_xlsx_cells_are_texts_and_never_formulas(text: str):
    cell = _sheet(xlsx_bytes({"t": {"reply": [text]}}, ["s"]), "t")["A2"]
    assert cell.data_type == "s"
    assert str(cell.value).startswith("'")


def test_xlsx_error_words_stay_texts():
    cell = _sheet(xlsx_bytes({"t": {"reply": ["#N/A"]}}, ["s"]), "t")["A2"]
    assert (cell.data_type, cell.value) == ("s", "#N/A")


def test_xlsx_has_a_sheet_per_table_with_a_frozen_header_and_one_of_signatures():
    frame = {"model": ["m"], "acc_origin": [50.0]}
    data = xlsx_bytes({"overview": frame, "groups": frame}, ["d@1|model:m", "d@1|model:n"])
    names = ["overview", "groups", "signatures"]
    assert openpyxl.load_workbook(io.BytesIO(data)).sheetnames == names
    sheet = _sheet(data, "overview")
    assert [cell.value for cell in sheet[1]] == ["model", "acc_origin"]
    assert sheet.freeze_panes == "A2"
    signed = [row[0].value for row in _sheet(data, "signatures").iter_rows()]
    assert signed == ["signature", "d@1|model:m", "d@1|model:n"]


def test_a_missing_value_is_an_empty_cell():
    frame = {"perf": [None, 1.5], "rule": ["x", None]}
    data = xlsx_bytes({"t": frame}, ["s"])
    assert _sheet(data, "t")["A2"].value is None
    assert _sheet(data, "t")["B3"].value is None
    assert _read_csv(csv_bytes(frame))[1] == ["", "x"]


def test_control_characters_do_not_break_the_workbook():
    frame = {"reply": ["a\x00b\ud800"]}
    assert _sheet(xlsx_bytes({"t": frame}, ["s"]), "t")["A2"].value == "a\ufffdb\ufffd"
    assert "\\ud800" in csv_bytes(frame).decode("utf-8-sig")


def test_a_cell_longer_than_excel_allows_says_that_it_was_cut():
    value = _sheet(xlsx_bytes({"t": {"reply": ["x" * 40000]}}, ["s"]), "t")["A2"].value
    assert len(value) == 32767
    assert value.endswith("40000 characters, all of them in the CSV file]")


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_no_csv_cell_ever_begins_with_a_formula_sign(text: str):
    (_, row) = _read_csv(csv_bytes({"x": ["."], "reply": [text]}))
    assert not row[1].startswith(tuple("=+-@\t\r＝＋－＠"))
