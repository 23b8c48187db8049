"""Delimited text with heads that no one knows, titles above them and totals below."""

import pytest

from evalui.datasets.columns import is_known_name
from evalui.datasets.tables.delimited import detect_delimiter, read_delimited
from evalui.datasets.tables.rows import RowTable
from evalui.errors import DataError


def read(text: str, head_row: int = 0) -> RowTable:
    return read_delimited(text, "x.csv", is_known_name=is_known_name, head_row=head_row)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize(
    "lines",
    [
        ["stem_txt", "first", "second", "key"],
        ["Frage", "A", "B", "Lösung"],
        ["2024 title"],
        ["题目", "选项A", "选项B", "答案"],
    ],
)
def test_the_delimiter_is_that_under_which_rows_are_equally_wide(
    delimiter: str, lines: list[str]
) -> None:
    rows = [["Which, then; or not?", "a, b", "c; d", "A"], ["What, please?", "e", "f", "B"]]
    head = [lines] if len(lines) > 1 else [lines, ["question", "A", "B", "answer"]]
    text = "\n".join(
        delimiter.join(f'"{cell}"' if any(c in cell for c in ",;") else cell for cell in row)
        for row in [*head, *rows]
    )
    table = read(text).table
    assert (table.delimiter, len(table.header), len(table.rows)) == (delimiter, 4, 2)
    assert table.rows[0].cells == tuple(rows[0])


def test_one_column_is_no_table_of_commas() -> None:
    table = read("question\nWhy, me?\nHow; so?\n").table
    assert [row.cells for row in table.rows] == [("Why, me?",), ("How; so?",)]


def test_titles_above_and_totals_below_are_no_rows() -> None:
    result = read(
        "法律知识竞赛题库,,,,\n说明：每题一分,,,,\n"
        "序号,题目,选项A,选项B,答案\n1,甲？,一,二,A\n2,乙？,一,二,B\n合计,,,,2题\n制表人：张三\n"
    )
    table = result.table
    assert (table.header, table.header_line) == (("序号", "题目", "选项A", "选项B", "答案"), 3)
    assert [row.line for row in table.rows] == [4, 5]
    above, below = map(str, result.notes)
    assert above == (
        "x.csv: the names of the columns are in row 3; above them stands: "
        "1 “法律知识竞赛题库”; 2 “说明：每题一分”."
    )
    assert below == "x.csv: rows below the table were left out: 6 “合计 2题”; 7 “制表人：张三”."


def test_a_last_question_is_no_total() -> None:
    assert len(read("question,A,B,answer\nWhich?,a,b,A\nTotal of 2 and 3?,5,6,A\n").table.rows) == 2


def test_a_text_without_a_head_has_numbered_columns() -> None:
    table = read("Which?,a thing,b,A\nWhat?,c,d thing,B\nWho?,e,f,A\n").table
    assert (table.header, table.header_line) == (("#1", "#2", "#3", "#4"), 0)
    assert len(table.rows) == 3


def test_the_row_of_the_names_can_be_said() -> None:
    text = "a,b,c\n\nx,y,z\nWhich?,one,two\n"
    assert read(text, 3).table.header == ("x", "y", "z")
    assert [row.line for row in read(text, 3).table.rows] == [4]
    assert len(read(text, -1).table.rows) == 3
    for row in (2, 99):
        with pytest.raises(DataError, match=f"has nothing in row {row}"):
            read(text, row)


def test_rows_over_several_lines_keep_the_line_on_which_they_begin() -> None:
    table = read('question,A,answer\n"one\ntwo",a,A\nthree,b,A\n').table
    assert [row.line for row in table.rows] == [2, 4]


def test_a_line_without_end_costs_little() -> None:
    assert detect_delimiter(["a, b " * 1_000_000], is_known_name) == ","
    with pytest.raises(DataError, match=r"x\.csv has 1,000,001 columns"):
        read("a, b " * 1_000_000)
