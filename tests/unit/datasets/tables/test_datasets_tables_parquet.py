"""Parquet files, as pandas and the hub write them, and as an attacker would."""

import datetime
import io
import sys
from typing import Any

import pyarrow
import pytest
from pyarrow import parquet

from evalui.datasets.model import Limits
from evalui.datasets.tables.parquet import read_parquet
from evalui.datasets.tables.table import JsonRows
from evalui.errors import DataError


def written(columns: dict[str, Any], **options: Any) -> bytes:
    stream = io.BytesIO()
    parquet.write_table(pyarrow.table(columns), stream, **options)
    return stream.getvalue()


def read(columns: dict[str, Any], *, limits: Limits = Limits(), **options: Any) -> JsonRows:  # noqa: B008
    return read_parquet(written(columns, **options), "x.parquet", limits)


def test_values_are_what_json_would_have():
    (row,) = read(
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
    ).rows
    assert row.values == {
        "question": "Which?",
        "choices": ["a", "b"],
        "answer": "1",
        "share": "0.25",
        "whole": "2",
        "yes": True,
        "nothing": None,
        "day": "2024-01-31",
        "pair": {"text": ["a", "b"], "label": ["A", "B"]},
        "bytes": "text",
    }
    assert (row.texts["answer"], row.texts["yes"], row.texts["nothing"]) == ("1", "true", "")


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
    rows = read(columns, **options).rows
    assert [row.values["question"] for row in rows] == columns["question"]
    assert [row.values["choices"] for row in rows] == columns["choices"]
    numbers = [None if n is None else str(n) for n in columns["answer"]]
    assert [row.values["answer"] for row in rows] == numbers
    assert [row.number for row in rows] == list(range(1, 3001))


def test_a_column_of_images_is_a_fault_for_each_row_with_one():
    images = pyarrow.array([{"bytes": b"\x89PNG\r\n", "path": None}, None])
    columns = {"question": ["Which?", "What?"], "media": images}
    result = read(columns)
    assert [row.values["question"] for row in result.rows] == ["What?"]
    assert [(fault.rule, fault.line) for fault in result.faults] == [("picture", 1)]


@pytest.mark.parametrize(
    ("columns", "options"),
    [
        # One text for a thousand rows.
        (
            {
                "question": pyarrow.DictionaryArray.from_arrays(
                    pyarrow.array([0] * 1000, pyarrow.int32()), ["x" * 3000]
                )
            },
            {},
        ),
        # A page that unpacks to a hundred times its size.
        ({"question": ["x" * 3_000_000]}, {"use_dictionary": False}),
        # A list that is written as one number and how often it is there.
        ({"question": pyarrow.array([[1] * 200_000])}, {}),
        # Texts that are written as additions to the one before.
        (
            {"question": ["x" * 30_000 + str(n) for n in range(100)]},
            {"use_dictionary": False, "column_encoding": {"question": "DELTA_BYTE_ARRAY"}},
        ),
        ({"question": pyarrow.array([b"x" * 1000] * 3000, pyarrow.binary(1000))}, {}),
    ],
)
def test_a_small_file_that_wants_a_lot_is_refused(columns: dict[str, Any], options: dict[str, Any]):
    data = written(columns, compression="zstd", **options)
    limits = Limits(unpacked=2**21, cells=100_000)
    assert len(data) < 2**14
    with pytest.raises(DataError, match="holds more than is read of one file"):
        read_parquet(data, "x.parquet", limits)


def test_more_rows_or_columns_than_are_read_are_refused():
    with pytest.raises(DataError, match=r"11 lines; at most 10 are read"):
        read({"question": ["q"] * 11}, limits=Limits(lines=10))
    with pytest.raises(DataError, match=r"1,001 columns"):
        read({f"c{n}": [1] for n in range(1001)})


def test_objects_within_objects_without_end_are_refused():
    kind = pyarrow.int32()
    for _ in range(100):
        kind = pyarrow.struct([("a", kind)])
    with pytest.raises(DataError, match="nested too deeply"):
        read({"a": pyarrow.nulls(1, kind)})


@pytest.mark.parametrize("cut", [4, 8, 100, 300])
def test_a_damaged_file_is_refused(cut: int):
    data = written({"question": ["Which?"] * 10})
    for damaged in (
        data[:cut],
        data[:cut] + data[-cut:],
        data[:cut] + b"\xff" * 40 + data[cut + 40 :],
    ):
        with pytest.raises(DataError, match="no Parquet file, or a damaged one"):
            read_parquet(damaged, "x.parquet", Limits())


def test_without_pyarrow_it_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(DataError, match=r"pip install 'evalui\[parquet\]'"):
        read_parquet(b"PAR1", "x.parquet", Limits())
