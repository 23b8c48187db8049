from pathlib import Path

import pytest
from hostile_files import faulty_rows, workbook

from evalui.datasets import reader
from evalui.datasets.external_answers import read_answers
from evalui.datasets.model import MAX_FAULTS, FaultList, LoadResult, sort_by_line
from evalui.types import Fault


def fault(line: int, file: str = "a.csv") -> Fault:
    return Fault(file, line, "", "empty-question", "empty", "some text")


def loaded(tmp_path: Path, name: str, text: str) -> LoadResult:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return reader.load([path])


def test_the_first_faults_are_kept_and_all_are_counted():
    faults = FaultList(fault(line) for line in range(2500))
    assert faults.kept == tuple(fault(line) for line in range(MAX_FAULTS))
    assert (faults.unlisted.total(), faults.total, faults.rows) == (1500, 2500, 2500)


def test_the_faults_of_a_row_are_of_one_row():
    faults = FaultList([fault(1), fault(1), fault(2), fault(2, "b.csv")])
    assert (faults.total, faults.rows) == (4, 3)


def test_faults_of_one_file_come_in_the_order_of_its_lines():
    assert sort_by_line([fault(2), fault(5)], [fault(1), fault(3)]) == [
        fault(line) for line in (1, 2, 3, 5)
    ]


@pytest.mark.parametrize(
    ("name", "text", "n_faults", "n_rows", "left_out"),
    [
        ("a_val.csv", faulty_rows(1500), 4500, 1500, 1500),
        ("a_val.csv", faulty_rows(1500) + "9,Which?,a,b,c,d,A\n", 4500, 1501, 1500),
        ("q.jsonl", '{"query": "Why?"}\n' + "[]\n" * 1500, 1500, 1501, 1500),
        ("q.jsonl", '{"query": "Why?"}\n' + '{"query": " "}\n' * 1500, 1500, 1501, 1500),
        ("q.csv", "query,response\nWhy?,a\n" + "a,b,c\n" * 1500, 1500, 1501, 1500),
        (
            "q.jsonl",
            '{"query": "Why?"}\n' + "[]\n" * 800 + '{"query": " "}\n' * 800,
            1600,
            1601,
            1600,
        ),
        (
            "a_val.jsonl",
            '{"question": "Which?", "A": "a", "B": "b", "answer": "A"}\n' + "[]\n" * 1500,
            1500,
            1501,
            1500,
        ),
        (
            "arc.jsonl",
            '{"question": {"stem": "", "choices": [{"text": "a"}, {"text": "b"}]}, '
            '"answerKey": "A"}\n' * 1500,
            1500,
            1500,
            1500,
        ),
        ("a_val.csv", "id,question,A,B,answer\n" + "1,Which?,a,b,A\n" * 1501, 1500, 1501, 1500),
    ],
)
def test_each_reader_keeps_as_many_faults_and_counts_the_rest(
    tmp_path: Path, name: str, text: str, n_faults: int, n_rows: int, left_out: int
):
    found = loaded(tmp_path, name, text)
    assert (len(found.faults), found.n_faults) == (MAX_FAULTS, n_faults)
    assert (found.n_rows, found.n_unusable_rows) == (n_rows, left_out)
    assert [each.line for each in found.faults] == sorted(each.line for each in found.faults)


def test_faults_of_several_files_are_kept_as_one(tmp_path: Path):
    for name in ("a_val.csv", "b_val.csv", "c_dev.csv", "a_dev.csv"):
        (tmp_path / name).write_text(faulty_rows(600), encoding="utf-8")
    found = reader.load([tmp_path])
    assert (len(found.faults), found.n_faults, found.n_unusable_rows) == (
        MAX_FAULTS,
        3 * 1800,
        1800,
    )
    assert {each.file for each in found.faults} == {"a_val.csv"}


def test_formulas_without_a_value_are_counted(tmp_path: Path):
    rows = [["question", "A", "B", "answer"], *[["#REF!", "a", "b", "A"]] * 1500]
    path = tmp_path / "a_val.xlsx"
    path.write_bytes(workbook(rows))
    found = reader.load([path])
    assert (len(found.faults), found.n_faults, found.n_unusable_rows) == (MAX_FAULTS, 1500, 1500)


def test_few_faults_are_all_there(tmp_path: Path):
    found = loaded(tmp_path, "a_val.csv", faulty_rows(3))
    assert (len(found.faults), found.n_faults, found.unlisted, found.n_unusable_rows) == (
        9,
        9,
        0,
        3,
    )


def test_answers_that_cannot_be_used_are_not_hidden_by_unknown_ones(tmp_path: Path):
    samples = loaded(tmp_path, "q.jsonl", '{"query": "Why?"}\n').dataset.samples
    path = tmp_path / "answers.jsonl"
    strays = '{"index": "zz", "prediction": "x"}\n' * 1500
    path.write_text(strays + "[]\n" * 1200 + '{"prediction": "x"}\n' * 300, encoding="utf-8")
    found = read_answers(path, samples)
    assert len(found.unknown) == 1500
    assert (len(found.unusable), found.unlisted) == (MAX_FAULTS, 500)
