"""What a file is decides how it is opened, whatever it is called."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from opened_tables import faults_of, named_rows, only_table, opened
from openpyxl import Workbook
from pyarrow import parquet

from evalui.datasets import Limits, load
from evalui.errors import DataError
from evalui.pictures import ids

SHAPES = Path(__file__).parents[3] / "golden" / "shapes"
EXPECTED: dict[str, dict[str, Any]] = json.loads((SHAPES / "expected.json").read_text("utf-8"))
CSV = "question,A,B,answer\nWhich?,a,b,A\nWhat?,c,d,B\n"
ROWS = [
    {"question": "Which?", "A": "a", "B": "b", "answer": "A"},
    {"question": "What?", "A": "c", "B": "d", "answer": "B"},
]
AIKEN = "Which?\nA. a\nB. b\nANSWER: A\n"
GIFT = "Which? {=a ~b}\n\nWhy? {=because}\n"
MARKDOWN = "| question | A | B | answer |\n|---|---|---|---|\n| Which? | a | b | A |\n"
XML = "<quiz><question type='truefalse'><questiontext><text>Is it?</text></questiontext>"
XML += "<answer fraction='100'><text>true</text></answer></question></quiz>"


def xlsx(*rows: list[Any]) -> bytes:
    made, stream = Workbook(), io.BytesIO()
    sheet: Any = made.active
    for row in rows:
        sheet.append(row)
    made.save(stream)
    return stream.getvalue()


def parquet_file() -> bytes:
    stream = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_pylist(ROWS), stream)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.csv", CSV),
        ("x.txt", CSV.replace(",", "\t").encode("utf-16")),
        ("x.csv", CSV.replace(",", ";").replace("Which", "哪个").encode("gb18030")),
        ("x.json", json.dumps(ROWS)),
        ("x.json", "\n".join(map(json.dumps, ROWS))),
        ("x.txt", "\n".join(map(json.dumps, ROWS))),
        ("x.csv", "\n".join(map(json.dumps, ROWS))),
        ("x.jsonl", json.dumps(ROWS)),
        ("x.ndjson", json.dumps({"data": ROWS}, indent=2)),
        ("x.parquet", parquet_file()),
        ("x.xlsx", xlsx(list(ROWS[0]), *[list(row.values()) for row in ROWS])),
        ("x.xlsm", xlsx(list(ROWS[0]), *[list(row.values()) for row in ROWS])),
        ("x.xls", xlsx(list(ROWS[0]), *[list(row.values()) for row in ROWS])),
        ("x.xls", CSV.replace(",", "\t")),
    ],
)
def test_the_same_rows_come_from_every_container(name: str, content: str | bytes):
    rows = named_rows(only_table(name, content))
    assert [row["answer"] for row in rows] == ["A", "B"]
    assert [(row["A"], row["B"]) for row in rows] == [("a", "b"), ("c", "d")]


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("x.txt", AIKEN, "a quiz as text"),
        ("x.gift", GIFT, "a quiz as text"),
        ("x.md", MARKDOWN, "a table in Markdown"),
        ("x.xml", XML, "a web page or XML"),
    ],
)
def test_what_a_plugin_reads_is_refused_with_where_there_is_one(name: str, content: str, what: str):
    with pytest.raises(DataError, match=rf"is {what}.*install examples/quizzes"):
        opened(name, content)


def test_one_of_several_tables_can_be_chosen():
    document = json.dumps({"law": ROWS, "art": ROWS[:1]})
    read = opened("x.json", document)
    assert [(table.title, table.name, len(table.rows)) for table in read.tables] == [
        ("law", "x.json", 2),
        ("art", "x.json", 1),
    ]
    assert only_table("x.json", document, sheet="art").title == "art"
    with pytest.raises(DataError, match=r"no visible sheet “math”\. Known: law, art"):
        opened("x.json", document, sheet="math")


def test_the_splits_of_one_document_are_its_splits(tmp_path: Path):
    (tmp_path / "law.json").write_text(json.dumps({"dev": ROWS[:1], "test": ROWS[1:]}))
    loaded = load([tmp_path / "law.json"])
    assert [sample.question for sample in loaded.dataset.samples] == ["What?"]
    assert [sample.question for sample in loaded.dataset.shots] == ["Which?"]


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("x.json", "question,A\n", "not valid JSON"),
        ("x.jsonl", "question,A\n", "not valid JSON"),
        ("x.xls", "<html><table></table></html>", "a web page or XML under the name of a workbook"),
        ("x.xlsx", CSV, "cannot be opened as a workbook"),
        ("x.xlsx", b"", "is empty"),
        ("x.csv", b"PK\x03\x04", "not text"),
    ],
)
def test_what_cannot_be_opened_is_refused_with_a_reason(
    name: str, content: str | bytes, reason: str
):
    with pytest.raises(DataError, match=reason):
        opened(name, content)


def test_a_first_line_that_is_broken_is_a_fault_of_json_lines():
    table = only_table("x.jsonl", '{"question": \n{"question": "q"}\n')
    assert faults_of(table) == [(1, "", "invalid-json")]
    assert len(table.rows) == 1


@pytest.mark.parametrize("name", ["README.md", "package.json", "notes.txt", "pom.xml"])
def test_what_lies_beside_questions_is_named_and_not_read(tmp_path: Path, name: str):
    (tmp_path / "law.csv").write_text(CSV)
    (tmp_path / name).write_text('{"name": "x"}' if name.endswith("json") else "<a>Read me.</a>")
    loaded = load([tmp_path])
    assert loaded.files == ("law.csv",)
    assert [str(note) for note in loaded.notes] == [
        f"Ignored, since they hold no table of questions: {name}."
    ]


def test_an_archive_may_hold_every_container(tmp_path: Path):
    path = tmp_path / "all.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("law.csv", CSV)
        archive.writestr("art.json", json.dumps(ROWS))
        archive.writestr("math.parquet", parquet_file())
    assert load([path]).files == ("art.json", "law.csv", "math.parquet")


def test_rows_of_all_files_together_are_limited(tmp_path: Path):
    for name in "abc":
        (tmp_path / f"{name}.json").write_text(json.dumps(ROWS))
    with pytest.raises(DataError, match="6 lines; at most 5 are read"):
        load([tmp_path], limits=Limits(lines=5))


# The shapes that people have their files in


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_every_row_of_the_shapes_arrives(name: str):
    tables = opened(name, (SHAPES / name).read_bytes()).tables
    expected = EXPECTED[name]["questions"]
    assert sum(len(table.rows) for table in tables) == (9 if expected is None else expected)
    cells = [str(cell) for table in tables for row in table.rows for cell in row.cells]
    for right in EXPECTED[name]["right"]:
        assert any(right in cell for cell in cells), right


@pytest.mark.parametrize(
    ("name", "rules"),
    [
        ("m01_title_row.xlsx", ["rows-above"]),
        ("m08_two_sheets_hidden_rows.xlsx", ["hidden-rows"]),
        ("m10_trailing.xlsx", ["rows-below"]),
        ("m11_gbk_semicolon.csv", []),
        ("m12_utf16.txt", []),
    ],
)
def test_what_stands_around_the_rows_is_said(name: str, rules: list[str]):
    tables = opened(name, (SHAPES / name).read_bytes()).tables
    assert [note.rule for table in tables for note in table.notes] == rules


def test_the_picture_of_a_shape_belongs_to_its_row():
    table = only_table("m07_image.xlsx", (SHAPES / "m07_image.xlsx").read_bytes())
    assert [row.line for row in table.rows if ids(map(str, row.cells))] == [7]


def test_cells_of_a_shape_are_shown_as_the_sheet_shows_them():
    name = "m09_dates_numbers.xlsx"
    rows = named_rows(only_table(name, (SHAPES / name).read_bytes()))
    assert [[row[column] for column in "ABCD"] for row in rows] == [
        ["1949-10-01", "1950-10-01", "1951-01-01", "1952-01-01"],
        ["50%", "25%", "75%", "100%"],
        ["0.3", "0.4", "0.5", "0.6"],
        ["TRUE", "FALSE", "", ""],
        ["9:30:00", "10:00:00", "11:00:00", "14:00:00"],
        ["￥1,200", "3500", "4000", "5000"],
    ]
