import pytest

from evalui.datasets.model import Source
from evalui.datasets.tables.table import read_header, read_table
from evalui.errors import DataError

KNOWN = ("id", "question", "A", "B", "answer")


def table(text: str):
    return read_table(Source("x.csv", text), KNOWN)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_header_tells_the_delimiter(delimiter: str) -> None:
    read = table(delimiter.join(["question", "A", "answer\n" + '"1, 2; 3"', "x", "A\n"]))
    assert read.delimiter == delimiter
    assert read.rows[0].cells == ("1, 2; 3", "x", "A")


def test_the_header_alone_is_read_without_the_rows() -> None:
    assert read_header(Source("x.csv", '\n"question" ,A\n"broken'), KNOWN) == ()
    assert read_header(Source("x.csv", '\n"question",A\n"broken'), KNOWN) == ("question", "A")


def test_blanks_after_a_delimiter_do_not_hide_a_quote() -> None:
    assert table('question, A, B\n1, "a, b", c\n').rows[0].cells == ("1", "a, b", "c")


def test_doubled_quotes_are_one_quote() -> None:
    assert table('question,A\n"say ""hi""",b\n').rows[0].cells[0] == 'say "hi"'


def test_quotes_within_a_cell_that_does_not_begin_with_one_are_text() -> None:
    assert table('question,A\nthe "sun" is,b\n').rows[0].cells[0] == 'the "sun" is'


def test_text_after_a_closing_quote_is_a_fault_of_its_row_alone() -> None:
    read = table('question,A\n"sun" is,b\nmoon,c\n')
    assert [(fault.rule, fault.line) for fault in read.faults] == [("broken-quotes", 2)]
    assert [row.cells for row in read.rows] == [("moon", "c")]


def test_a_quote_that_is_never_closed_swallows_no_other_row() -> None:
    read = table('question,A\n1,"a\n2,b\n3,c\n')
    assert [(fault.rule, fault.line) for fault in read.faults] == [("broken-quotes", 2)]
    assert [(row.line, row.cells[0]) for row in read.rows] == [(3, "2"), (4, "3")]


def test_a_cell_beyond_the_limit_is_a_fault() -> None:
    read = table("question,A\n1," + "x" * 131_073 + "\n2,b\n")
    assert [(fault.rule, fault.line) for fault in read.faults] == [("cell-too-long", 2)]
    assert [row.line for row in read.rows] == [3]


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
    fault = table(f"question,A\n{cell}\n2,b\n").faults[0]
    assert (fault.rule, fault.line, fault.column) == ("cell-too-long", 2, column)
    assert (fault.actual, fault.expected) == (found, expected)


def test_a_long_cell_whose_quote_is_never_closed_is_told_as_such() -> None:
    fault = table('question,A\n1,"' + "x\n" * 100_000).faults[0]
    assert (fault.rule, fault.line) == ("broken-quotes", 2)


def test_a_file_full_of_broken_quotes_is_given_up_aloud() -> None:
    read = table("question,A\n" + '"a" b,c\n' * 1000)
    assert len(read.faults) == 20
    assert "the rest of the file was not read" in read.faults[-1].actual


@pytest.mark.parametrize(
    "text", [",".join("abc" * 400), "\n".join(f'{{"k{n}": 1}}' for n in range(1001))]
)
def test_more_columns_than_a_table_of_questions_has_are_refused(text: str) -> None:
    with pytest.raises(DataError, match=r"x\.csv has 1,\d+ columns; at most 1,000 are read"):
        table(text)


def test_a_header_with_broken_quotes_leaves_no_rows() -> None:
    read = table('"question,A\n1,b\n')
    assert (read.header, read.rows, len(read.faults)) == ((), (), 1)


def test_blank_rows_are_passed_over_and_counted_as_lines() -> None:
    read = table("\n \nquestion,A\n\n,,\n1,b\n")
    assert (read.header, read.header_line) == (("question", "A"), 3)
    assert [row.line for row in read.rows] == [6]


def test_json_lines_have_a_cell_for_each_key_of_the_file() -> None:
    read = table('{"question": "q", "A": 1}\n\n{"question": null, "B": [1, "x"], "A": true}\n')
    assert read.header == ("question", "A", "B")
    assert [row.cells for row in read.rows] == [("q", "1", ""), ("", "true", "1, x")]
    assert [row.line for row in read.rows] == [1, 3]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ('{"question": "q",}', "no JSON ("),
        ("[1, 2]", "JSON that is no object"),
        ('{"question": "\\ud800"}', "half of a \\u pair"),
        ('{"question": ' + "[" * 100_000, "JSON nested too deeply"),
    ],
)
def test_a_line_that_is_no_object_is_a_fault(line: str, found: str) -> None:
    (fault,) = table('{"question": "q"}\n' + line).faults
    assert (fault.rule, fault.line) == ("invalid-json", 2)
    assert fault.actual.startswith(found)


@pytest.mark.parametrize("depth", [10, 200, 400, 450, 480, 600, 900, 950, 990, 5000])
def test_json_of_any_depth_is_a_cell_or_a_fault(depth: int) -> None:
    nested = '{"question": ' + "[" * depth + '"x"' + "]" * depth + "}"
    read = table(nested)
    assert len(read.rows) + len(read.faults) == 1
    assert all(fault.actual == "JSON nested too deeply" for fault in read.faults)
