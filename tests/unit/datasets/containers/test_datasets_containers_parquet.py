"""Parquet files, as pandas and the hub write them."""

import datetime
import io
import sys
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from opened_tables import faults_of, named_rows, only_table
from pyarrow import parquet

from evalui.datasets import load
from evalui.datasets.model import FileTable, Limits
from evalui.errors import DataError


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


def test_a_column_of_images_is_a_fault_for_each_row_with_one():
    images = pyarrow.array([{"bytes": b"\x89PNG\r\n", "path": None}, None])
    columns = {"question": ["Which?", "What?"], "media": images}
    table = read(columns)
    assert [row.cells[0] for row in table.rows] == ["What?"]
    assert faults_of(table) == [(1, "media", "picture")]


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
