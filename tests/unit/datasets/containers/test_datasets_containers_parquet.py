"""Parquet files, as pandas and the hub write them."""

import datetime
import io
import random
import sys
import zipfile
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from opened_tables import named_rows, only_table
from picture_examples import picture
from pyarrow import parquet

from evalui import pictures
from evalui.datasets import load
from evalui.datasets.model import FileTable, Limits
from evalui.errors import DataError
from evalui.pictures import mark_of


def written(columns: dict[str, Any], **options: Any) -> bytes:
    stream = io.BytesIO()
    parquet.write_table(pyarrow.table(columns), stream, **options)
    return stream.getvalue()


def read(columns: dict[str, Any], **options: Any) -> FileTable:
    return only_table("x.parquet", written(columns, **options))


def test_values_are_what_json_would_have():
    table = read(
        {
            "question": ["Which?"],
            "choices": [["a", "b"]],
            "answer": [1],
            "share": [0.25],
            "whole": [2.0],
            "yes": [True],
            "nothing": [None],
            "day": [datetime.date(2024, 1, 31)],
            "pair": pyarrow.array([{"text": ["a", "b"], "label": ["A", "B"]}]),
            "bytes": [b"text"],
        }
    )
    assert named_rows(table) == [
        {
            "question": "Which?",
            "choices": ["a", "b"],
            "answer": "1",
            "share": "0.25",
            "whole": "2",
            "yes": True,
            "day": "2024-01-31",
            "pair": {"text": ["a", "b"], "label": ["A", "B"]},
            "bytes": "text",
        }
    ]


@pytest.mark.parametrize(
    "options",
    [
        {"use_dictionary": False, "compression": "zstd"},
        {"compression": "none", "row_group_size": 7},
        {"data_page_version": "2.0", "data_page_size": 64},
        {"dictionary_pagesize_limit": 100, "data_page_size": 64, "write_batch_size": 10},
        {"use_dictionary": False, "column_encoding": {"question": "DELTA_BYTE_ARRAY"}},
    ],
)
def test_every_way_of_writing_gives_the_same_rows(options: dict[str, Any]):
    columns = {
        "question": [f"question {n // 3}" for n in range(3000)],
        "choices": [["a", "b"][: n % 3] if n % 5 else None for n in range(3000)],
        "answer": [n % 4 if n % 7 else None for n in range(3000)],
    }
    questions, choices, answers = zip(
        *(row.cells for row in read(columns, **options).rows), strict=True
    )
    assert [*questions] == columns["question"]
    assert [*choices] == columns["choices"]
    assert [*answers] == [None if n is None else str(n) for n in columns["answer"]]


RED, BLUE, GREEN = map(picture, ("red", "blue", "green"))
R, B, G = (str(mark_of(each)) for each in (RED, BLUE, GREEN))


def image(original: bytes | None) -> dict[str, Any] | None:
    """A picture as the hub has it."""
    return {"bytes": original, "path": "x.png"} if original else None


def stored(path: Path, columns: dict[str, Any], **options: Any) -> Path:
    path.write_bytes(written(columns, **options))
    return path


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        (image(RED), R),
        ({"bytes": RED}, R),
        (RED, R),
        ([image(RED), image(BLUE)], R + B),
        ([RED, BLUE], R + B),
    ],
)
def test_a_picture_is_its_mark(value: Any, cell: str):
    table = read({"question": ["Which?", "What?"], "image": pyarrow.array([value, None])})
    assert [row.cells for row in table.rows] == [("Which?", cell), ("What?", "")]


@pytest.mark.parametrize(
    ("original", "why"),
    [
        (RED[:50], "a picture that cannot be read"),
        (b"<svg/>", "a picture that is no PNG, JPEG, WebP, GIF, BMP or TIFF file"),
        (
            b"\xff\xf1 of a sound",
            "a picture that is no PNG, JPEG, WebP, GIF, BMP or TIFF file",
        ),
    ],
)
def test_what_is_no_picture_is_a_fault_of_its_row(original: bytes, why: str):
    images = pyarrow.array([image(original), None])
    table = read({"question": ["Which?", "What?"], "media": images})
    assert [row.cells[0] for row in table.rows] == ["What?"]
    assert [(each.line, each.column, each.actual) for each in table.faults] == [(1, "media", why)]


def test_options_may_be_pictures(tmp_path: Path):
    columns: dict[str, Any] = {
        "question": ["Which is red?", "Which is green?"],
        "choices": [[image(RED), image(BLUE)], [image(BLUE), image(GREEN)]],
        "answer": [0, 1],
    }
    samples = load([stored(tmp_path / "x.parquet", columns)]).dataset.samples
    assert [(each.choices, each.target) for each in samples] == [((R, B), 0), ((B, G), 1)]


def test_questions_of_mmmu_have_their_pictures_where_they_name_them(tmp_path: Path):
    columns: dict[str, Any] = {
        "id": ["validation_Art_1", "validation_Art_2", "validation_Art_3"],
        "question": [
            "What is <image 1>?",
            "Which one matches <image 1>?",
            "How many in <image 1>?",
        ],
        "options": ["['a', \"b's\", 'c']", "['<image 2>', '<image 3>']", "[]"],
        "explanation": ["", "", ""],
        "image_1": [image(RED), image(GREEN), image(BLUE)],
        "image_2": [None, image(RED), None],
        "image_3": [None, image(GREEN), None],
        "image_4": pyarrow.nulls(3, pyarrow.struct({"bytes": "binary", "path": "string"})),
        "img_type": ["['Paintings']"] * 3,
        "answer": ["B", "B", "['7', 'seven']"],
        "question_type": ["multiple-choice", "multiple-choice", "open"],
    }
    loaded = load([stored(tmp_path / "art.parquet", columns)])
    assert [
        (each.id, each.question, each.choices, each.target) for each in loaded.dataset.samples
    ] == [
        ("art/validation_Art_1", f"What is {R}?", ("a", "b's", "c"), 1),
        ("art/validation_Art_2", f"Which one matches {G}?", (R, G), 1),
    ]
    assert [(fault.line, fault.rule) for fault in loaded.faults] == [(3, "no-option-list")]


def test_questions_of_scienceqa_have_their_picture_before_the_hint(tmp_path: Path):
    columns: dict[str, Any] = {
        "image": [image(RED), None],
        "question": ["Which is farthest north?", "What is water?"],
        "choices": [["Ohio", "Iowa"], ["a gas", "a liquid"]],
        "answer": pyarrow.array([0, 1], pyarrow.int8()),
        "hint": ["Look at the map.", ""],
        "solution": ["Ohio is.", "It is."],
    }
    samples = load([stored(tmp_path / "x.parquet", columns)]).dataset.samples
    assert [(each.question, each.target) for each in samples] == [
        (f"{R}\nLook at the map.\nWhich is farthest north?", 0),
        ("What is water?", 1),
    ]


def test_a_large_file_is_read_as_a_small_one(tmp_path: Path):
    """It stays on the disk, and its rows come in many parts."""
    padding = random.Random(1).randbytes(2**20)
    images = [image(RED + bytes([n]) + padding) for n in range(34)]
    columns = {name: [f"{name} {n}" for n in range(34)] for name in ("query", "response")}
    path = stored(tmp_path / "x.parquet", {**columns, "image": images}, compression="none")
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.write(path, path.name)
    large, packed = (load([each]).dataset for each in (path, tmp_path / "x.zip"))
    assert (large.samples, large.sha256) == (packed.samples, packed.sha256)
    assert len(pictures.ids(each.question for each in large.samples)) == 34


def test_more_rows_or_columns_than_are_read_are_refused():
    with pytest.raises(DataError, match=r"11 lines; at most 10 are read"):
        only_table("x.parquet", written({"question": ["q"] * 11}), limits=Limits(lines=10))
    with pytest.raises(DataError, match=r"1,001 columns"):
        read({f"c{n}": [1] for n in range(1001)})


@pytest.mark.parametrize("cut", [4, 8, 100, 300])
def test_a_damaged_file_is_refused(cut: int):
    data = written({"question": ["Which?"] * 10})
    for damaged in (
        data[:cut],
        data[:cut] + data[-cut:],
        data[:cut] + b"\xff" * 40 + data[cut + 40 :],
    ):
        with pytest.raises(DataError, match="not a Parquet file, or it is damaged"):
            only_table("x.parquet", damaged)


def test_without_pyarrow_it_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(DataError, match=r"pip install 'evalui\[parquet\]'"):
        only_table("x.parquet", b"PAR1")


def test_two_columns_of_one_name_are_a_fault_of_the_file(tmp_path: Path):
    path = tmp_path / "x.parquet"
    path.write_bytes(written({"question": ["Which?"], "answer": ["a"], "Answer": ["b"]}))
    loaded = load([path])
    assert not loaded.dataset.samples
    assert [fault.rule for fault in loaded.faults] == ["duplicate-column"]
