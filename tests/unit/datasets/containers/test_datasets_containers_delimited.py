"""Delimited text with heads that no one knows, titles above them and totals below."""

import pytest
from opened_tables import note_texts, only_table

from evalui.datasets.model import FileTable
from evalui.errors import DataError


def read(text: str, head_row: int = 0) -> FileTable:
    return only_table("x.csv", text, head_row=head_row)


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
    table = read(text)
    assert (table.delimiter, len(table.heads), len(table.rows)) == (delimiter, 4, 2)
    assert table.rows[0].cells == tuple(rows[0])


def test_one_column_is_no_table_of_commas() -> None:
    table = read("question\nWhy, me?\nHow; so?\n")
    assert [row.cells for row in table.rows] == [("Why, me?",), ("How; so?",)]


def test_titles_above_and_totals_below_are_no_rows() -> None:
    table = read(
        "法律知识竞赛题库,,,,\n说明：每题一分,,,,\n"
        "序号,题目,选项A,选项B,答案\n1,甲？,一,二,A\n2,乙？,一,二,B\n合计,,,,2题\n制表人：张三\n"
    )
    assert (table.heads, table.head_line) == (("序号", "题目", "选项A", "选项B", "答案"), 3)
    assert [row.line for row in table.rows] == [4, 5]
    above, below = note_texts(table)
    assert above == (
        "x.csv: the names of the columns are in row 3; above them stands: "
        "1 “法律知识竞赛题库”; 2 “说明：每题一分”."
    )
    assert below == "x.csv: rows below the table were left out: 6 “合计 2题”; 7 “制表人：张三”."


def test_a_last_question_is_no_total() -> None:
    assert len(read("question,A,B,answer\nWhich?,a,b,A\nTotal of 2 and 3?,5,6,A\n").rows) == 2


def test_a_text_without_a_head_has_numbered_columns() -> None:
    table = read("Which?,a thing,b,A\nWhat?,c,d thing,B\nWho?,e,f,A\n")
    assert (table.heads, table.head_line) == (("#1", "#2", "#3", "#4"), 0)
    assert len(table.rows) == 3


def test_the_row_of_the_names_can_be_said() -> None:
    text = "a,b,c\n\nx,y,z\nWhich?,one,two\n"
    assert read(text, 3).heads == ("x", "y", "z")
    assert [row.line for row in read(text, 3).rows] == [4]
    assert len(read(text, -1).rows) == 3
    for row in (2, 99):
        with pytest.raises(DataError, match=f"row {row}, stated as that of the headers, is empty"):
            read(text, row)


def test_rows_over_several_lines_keep_the_line_on_which_they_begin() -> None:
    table = read('question,A,answer\n"one\ntwo",a,A\nthree,b,A\n')
    assert [row.line for row in table.rows] == [2, 4]


def test_a_line_without_end_is_refused() -> None:
    with pytest.raises(DataError, match=r"x\.csv has 1,000,001 columns"):
        read("a, b " * 1_000_000)


def test_a_comma_before_a_blank_may_be_text() -> None:
    text = "question,A,answer\nWho, then?,a,A\n"
    table = only_table("x.csv", text, commas_in_text=True)
    assert [row.cells for row in table.rows] == [("Who, then?", "a", "A")]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_header_tells_the_delimiter(delimiter: str) -> None:
    table = read(delimiter.join(["question", "A", "answer\n" + '"1, 2; 3"', "x", "A\n"]))
    assert table.delimiter == delimiter
    assert table.rows[0].cells == ("1, 2; 3", "x", "A")


def test_blanks_after_a_delimiter_do_not_hide_a_quote() -> None:
    assert read('question, A, B\n1, "a, b", c\n').rows[0].cells == ("1", "a, b", "c")


def test_doubled_quotes_are_one_quote() -> None:
    assert read('question,A\n"say ""hi""",b\n').rows[0].cells[0] == 'say "hi"'


def test_quotes_within_a_cell_that_does_not_begin_with_one_are_text() -> None:
    assert read('question,A\nthe "sun" is,b\n').rows[0].cells[0] == 'the "sun" is'


def test_text_after_a_closing_quote_is_a_fault_of_its_row_alone() -> None:
    table = read('question,A\n"sun" is,b\nmoon,c\n')
    assert [(fault.rule, fault.line) for fault in table.faults] == [("broken-quotes", 2)]
    assert [row.cells for row in table.rows] == [("moon", "c")]


def test_a_quote_that_is_never_closed_swallows_no_other_row() -> None:
    table = read('question,A\n1,"a\n2,b\n3,c\n')
    assert [(fault.rule, fault.line) for fault in table.faults] == [("broken-quotes", 2)]
    assert [(row.line, row.cells[0]) for row in table.rows] == [(3, "2"), (4, "3")]


def test_a_cell_beyond_the_limit_is_a_fault() -> None:
    table = read("question,A\n1," + "x" * 131_073 + "\n2,b\n")
    assert [(fault.rule, fault.line) for fault in table.faults] == [("cell-too-long", 2)]
    assert [row.line for row in table.rows] == [3]


@pytest.mark.parametrize(
    ("cell", "column", "found", "expected"),
    [
        ("1," + "x" * 131_073, "A", "a cell of 131,073 characters", "at most 131,072"),
        ('1,"' + "x" * 1_000_000 + '"', "A", "a cell of 1,000,000 characters", "at most 131,072"),
        (
            '"' + '5"" pipe, ' * 20_000 + '",b',
            "question",
            "a cell of 180,000 characters",
            "at most 131,072",
        ),
        (
            '1,"' + "x\n" * 100_000 + '"',
            "A",
            "a cell of 200,000 characters",
            "at most 131,072; is a closing quote missing?",
        ),
    ],
)
def test_a_cell_beyond_the_limit_is_told_with_its_length(
    cell: str, column: str, found: str, expected: str
) -> None:
    fault = read(f"question,A\n{cell}\n2,b\n").faults[0]
    assert (fault.rule, fault.line, fault.column) == ("cell-too-long", 2, column)
    assert (fault.actual, fault.expected) == (found, expected)


def test_a_long_cell_whose_quote_is_never_closed_is_told_as_such() -> None:
    fault = read('question,A\n1,"' + "x\n" * 100_000).faults[0]
    assert (fault.rule, fault.line) == ("broken-quotes", 2)


def test_a_file_full_of_broken_quotes_is_given_up_aloud() -> None:
    table = read("question,A\n" + '"a" b,c\n' * 1000)
    assert len(table.faults) == 20
    assert "the rest of the file was not read" in table.faults[-1].actual


@pytest.mark.parametrize(
    "text", [",".join("abc" * 400), "\n".join(f'{{"k{n}": 1}}' for n in range(1001))]
)
def test_more_columns_than_a_table_of_questions_has_are_refused(text: str) -> None:
    with pytest.raises(DataError, match=r"x\.csv has 1,\d+ columns; at most 1,000 are read"):
        read(text)


def test_a_header_with_broken_quotes_leaves_no_rows() -> None:
    table = read('"question,A\n1,b\n')
    assert (table.heads, table.rows, len(table.faults)) == ((), (), 1)


def test_blank_rows_are_passed_over_and_counted_as_lines() -> None:
    table = read("\n \nquestion,A\n\n,,\n1,b\n")
    assert (table.heads, table.head_line) == (("question", "A"), 3)
    assert [row.line for row in table.rows] == [6]
