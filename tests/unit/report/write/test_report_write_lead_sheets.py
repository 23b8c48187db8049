"""The tables that a report leads with, in the words of the report and with numbers as numbers."""

import io
from dataclasses import replace

import openpyxl
import pytest

from evalui.report.axes import Axis
from evalui.report.blocks import (
    Block,
    Card,
    Column,
    Details,
    Heading,
    ModelCell,
    StateCell,
    Table,
    TableCell,
    TextCell,
    ValueCell,
)
from evalui.report.write.lead_sheets import LeadSheet, ShownNumber, lead_sheets
from evalui.report.write.xlsx import xlsx_parts

COLUMNS = (
    Column("Model"),
    Column("Marks", axis=Axis(0, 1, (), ())),
    Column("As written", group="Cloze"),
    Column("Bias"),
)
STATE = StateCell("bad", "Clear", "picks A 66 %")


def _row(name: str, value: TableCell) -> tuple[TableCell, ...]:
    return (ModelCell(name), "", value, STATE)


TABLE = Table(COLUMNS, (_row("a", ValueCell("66.5", "%", "60–72")), _row("b", "–")), lead=True)


def _only(table: Table) -> LeadSheet:
    (sheet,) = lead_sheets([Card((table,), title="law")], "en")
    return sheet


def test_figures_are_numbers_with_their_unit_above_and_their_range_beside():
    sheet = _only(TABLE)
    heads = ["Model", "Cloze · As written, %", "Cloze · As written, 95 % range", "Bias"]
    assert sheet.heads == heads
    assert sheet.rows == [
        ("a", ShownNumber(66.5, "0.0"), "60–72", "Clear: picks A 66 %"),
        ("b", "", "", "Clear: picks A 66 %"),
    ]


def test_units_that_differ_are_shown_with_each_number():
    rows = (_row("a", ValueCell("5", "of 12")), _row("b", ValueCell("40", "%")))
    sheet = _only(replace(TABLE, rows=rows))
    assert sheet.heads[1] == "Cloze · As written"
    assert [row[1] for row in sheet.rows] == [ShownNumber(5, '0" of 12"'), ShownNumber(40, '0" %"')]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1,213", ShownNumber(1213, "#,##0")),
        ("−0.25", ShownNumber(-0.25, "0.00")),
        ("+3.0", ShownNumber(3, "+0.0;-0.0;0.0")),
        (".031", ShownNumber(0.031, "0.000")),
        ("-22", ShownNumber(-22, "0")),
        ("1–2", "1–2"),
        ("< .001", "< .001"),
        ("30 : 0", "30 : 0"),
        ("1,2", "1,2"),
        ("", ""),
        ("–", ""),
    ],
)
def test_a_text_is_a_number_if_it_reads_as_one(text: str, expected: ShownNumber | str):
    assert _only(replace(TABLE, rows=(_row("a", text),))).rows[0][1] == expected


def test_what_a_table_is_about_stands_below_it():
    card = Card((TABLE,), "Ratings", "Band: 95 %", "of 12")
    (sheet,) = lead_sheets([Heading(1, "Run"), Heading(2, "Judge: one"), card], "en")
    assert sheet.notes == ["Judge: one", "Ratings", "Band: 95 %", "of 12"]
    book = openpyxl.load_workbook(io.BytesIO(b"".join(xlsx_parts({}, ["s"], leads=[sheet]))))
    shown = book["Results"]
    assert [cell.value for cell in shown[1]] == sheet.heads
    assert (shown["B2"].value, shown["B2"].number_format) == (66.5, "0.0")
    assert [shown.cell(row, 1).value for row in (4, 5, 6)] == [None, "Judge: one", "Ratings"]


def test_tables_of_pairs_and_of_positions_are_no_sheets_for_people():
    pairs = replace(TABLE, rows=((TextCell("a − b"), "", ValueCell("3"), ""),))
    inside = Details("by-subject", "By subject", "", (Card((TABLE,)),))
    assert [*lead_sheets([Card((pairs,)), inside, replace(TABLE, lead=False)], "en")] == []


@pytest.mark.parametrize(
    ("titles", "names"),
    [
        (["law"], ["Results"]),
        (["law", "math"], ["law", "math"]),
        (["law [1]: a/b?", "'math'"], ["law  1   a b", "math"]),
        (["law", "LAW"], ["Results", "Results 2"]),
        (["law", "x" * 32], ["Results", "Results 2"]),
        (["law", ""], ["Results", "Results 2"]),
        (["law", "History"], ["Results", "Results 2"]),
        (["law", "Trials"], ["Results", "Results 2"]),
    ],
)
def test_sheets_of_several_datasets_are_named_as_excel_takes_it(
    titles: list[str], names: list[str]
):
    blocks: list[Block] = [Card((TABLE,), title=title) for title in titles]
    sheets = [*lead_sheets(blocks, "en", others=["trials"])]
    assert [sheet.name for sheet in sheets] == names
    book = b"".join(xlsx_parts({}, ["s"], leads=sheets))
    assert openpyxl.load_workbook(io.BytesIO(book)).sheetnames == [*names, "signatures"]
