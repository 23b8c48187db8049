"""What a file is decides how it is opened, whatever it is called."""

import io
import json
import zipfile
from pathlib import Path, PurePosixPath
from typing import Any

import pyarrow
import pytest
from openpyxl import Workbook
from pyarrow import parquet

from evalui.datasets import Layout, Limits, load
from evalui.datasets.columns import is_known_name
from evalui.datasets.files.archive import SourceFile
from evalui.datasets.model import Source
from evalui.datasets.reading import DecodedFile, open_file, role_of
from evalui.datasets.tables.containers import Container, open_container
from evalui.datasets.tables.records import read_records
from evalui.errors import DataError

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


def member(name: str, content: str | bytes, *, explicit: bool = True) -> SourceFile:
    data = content.encode() if isinstance(content, str) else content
    return SourceFile(PurePosixPath(name), data, explicit=explicit)


def container(name: str, content: str | bytes, **layout: Any) -> Container:
    return open_container(member(name, content), Layout(**layout), Limits(), is_known_name)


def opened(name: str, content: str | bytes, **layout: Any) -> tuple[DecodedFile, ...]:
    file = member(name, content)
    return open_file(file, role_of(file.path), Layout(**layout), Limits())


def texts(source: Source) -> list[dict[str, str]]:
    return [dict(row.texts) for row in read_records(source, ()).rows]


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
        ("x.md", CSV.replace(",", "|").replace("answer\n", "answer\n-|-|-|-\n")),
        ("x.parquet", parquet_file()),
        ("x.xlsx", xlsx(list(ROWS[0]), *[list(row.values()) for row in ROWS])),
        ("x.xlsm", xlsx(list(ROWS[0]), *[list(row.values()) for row in ROWS])),
        ("x.xls", xlsx(list(ROWS[0]), *[list(row.values()) for row in ROWS])),
        ("x.xls", CSV.replace(",", "\t")),
    ],
)
def test_the_same_rows_come_from_every_container(name: str, content: str | bytes):
    (file,) = opened(name, content)
    rows = texts(file.source)
    assert [row["answer"] for row in rows] == ["A", "B"]
    assert [(row["a"], row["b"]) for row in rows] == [("a", "b"), ("c", "d")]
    assert file.dataset_format is not None


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.txt", AIKEN),
        ("x.md", AIKEN),
        ("x.gift", GIFT),
        ("x.txt", GIFT),
        ("x.xml", XML),
        ("x.md", MARKDOWN),
    ],
)
def test_quizzes_and_pages_are_known_by_their_content(name: str, content: str):
    file = opened(name, content)[0]
    assert file.dataset_format is not None
    assert file.dataset_format.kind == "multiple_choice"
    assert texts(file.source)[0]["question"]


def test_questions_of_two_kinds_are_parts_of_one_quiz():
    choices, answers = opened("q.gift", GIFT)
    assert (choices.source.sheet, answers.source.sheet) == ("multichoice", "shortanswer")
    assert (choices.source.subject, answers.source.subject) == ("q", "q")
    assert choices.sheets == ("multichoice", "shortanswer")


def test_one_of_several_parts_can_be_chosen():
    document = json.dumps({"law": ROWS, "art": ROWS[:1]})
    law, art = opened("x.json", document)
    assert [file.source.subject for file in (law, art)] == ["x law", "x art"]
    assert [file.source.name for file in (law, art)] == ["x.json/law", "x.json/art"]
    (chosen,) = opened("x.json", document, sheet="art")
    assert (chosen.source.name, len(texts(chosen.source))) == ("x.json", 1)
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
        ("x.json", "question,A\n", "no JSON"),
        ("x.jsonl", "question,A\n", "no JSON"),
        ("x.xml", "<html></html>", "is XML, but no quiz of Moodle"),
        ("x.xls", "<html><table></table></html>", "a web page or XML under the name of a workbook"),
        ("x.xlsx", CSV, "no workbook of a spreadsheet program"),
        ("x.xlsx", b"", "is empty"),
        ("x.csv", b"PK\x03\x04", "not text"),
    ],
)
def test_what_cannot_be_opened_is_refused_with_a_reason(
    name: str, content: str | bytes, reason: str
):
    with pytest.raises(DataError, match=reason):
        container(name, content)


def test_a_first_line_that_is_broken_is_a_fault_of_json_lines():
    (part,) = container("x.jsonl", '{"question": \n{"question": "q"}\n').parts
    assert part.records is not None
    assert [fault.line for fault in part.records.faults] == [1]
    assert len(part.records.rows) == 1


@pytest.mark.parametrize("name", ["README.md", "package.json", "notes.txt", "pom.xml"])
def test_what_lies_beside_questions_is_named_and_not_read(tmp_path: Path, name: str):
    (tmp_path / "law.csv").write_text(CSV)
    (tmp_path / name).write_text('{"name": "x"}' if name.endswith("json") else "<a>Read me.</a>")
    loaded = load([tmp_path])
    assert loaded.files == ("law.csv",)
    assert [str(note) for note in loaded.notes] == [
        f"Ignored, since they are no tables of questions: {name}."
    ]


def test_an_archive_may_hold_every_container(tmp_path: Path):
    path = tmp_path / "all.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("law.csv", CSV)
        archive.writestr("art.json", json.dumps(ROWS))
        archive.writestr("math.parquet", parquet_file())
        archive.writestr("music.txt", AIKEN)
    assert load([path]).files == ("art.json", "law.csv", "math.parquet", "music.txt")


def test_rows_of_all_files_together_are_limited(tmp_path: Path):
    for name in "abc":
        (tmp_path / f"{name}.json").write_text(json.dumps(ROWS))
    with pytest.raises(DataError, match="6 lines; at most 5 are read"):
        load([tmp_path], limits=Limits(lines=5))


# The shapes that people have their files in


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_every_row_of_the_shapes_arrives(name: str):
    files = opened(name, (SHAPES / name).read_bytes())
    records = [read_records(file.source, ()) for file in files]
    n_rows = sum(len(read.rows) for read in records)
    expected = EXPECTED[name]["questions"]
    assert n_rows == (9 if expected is None else expected)
    cells = [text for read in records for row in read.rows for text in row.texts.values()]
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
    files = opened(name, (SHAPES / name).read_bytes())
    assert [note.rule for file in files for note in file.notes] == rules


def test_the_picture_of_a_shape_is_a_fault_with_its_row():
    (file,) = opened("m07_image.xlsx", (SHAPES / "m07_image.xlsx").read_bytes())
    faults = read_records(file.source, ()).faults
    assert [(fault.line, fault.rule) for fault in faults] == [(7, "picture")]


def test_cells_of_a_shape_are_shown_as_the_sheet_shows_them():
    (file,) = opened("m09_dates_numbers.xlsx", (SHAPES / "m09_dates_numbers.xlsx").read_bytes())
    rows = texts(file.source)
    assert [[row[column] for column in "abcd"] for row in rows] == [
        ["1949-10-01", "1950-10-01", "1951-01-01", "1952-01-01"],
        ["50%", "25%", "75%", "100%"],
        ["0.3", "0.4", "0.5", "0.6"],
        ["TRUE", "FALSE", "", ""],
        ["9:30:00", "10:00:00", "11:00:00", "14:00:00"],
        ["￥1,200", "3500", "4000", "5000"],
    ]
