"""Answers from elsewhere find their questions, or say that they do not."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openpyxl import Workbook

from evalui.datasets.external_answers import ExternalAnswers, read_answers
from evalui.errors import DataError
from evalui.types import Sample


def sample(id: str, question: str = "", index: str = "") -> Sample:
    metadata = {"index": index} if index else {}
    return Sample(id=f"s/{id}", question=question or f"Q{id}?", metadata=metadata)


SAMPLES = (sample("1", index="1"), sample("cn-2", index="cn-2"), sample("row-3"))


def write(folder: Path, *rows: Any, name: str = "answers.jsonl") -> Path:
    path = folder / name
    lines = [row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def read(folder: Path, *rows: Any, model: str = "") -> ExternalAnswers:
    return read_answers(write(folder, *rows), SAMPLES, model=model)


def test_answers_may_come_in_any_container(tmp_path: Path) -> None:
    rows = [{"index": "1", "answer": "yes"}, {"index": "cn-2", "answer": "no"}]
    (tmp_path / "answers.json").write_text(json.dumps({"data": rows}), encoding="utf-8")
    read = read_answers(tmp_path / "answers.json", SAMPLES)
    assert read.answers == {"s/1": ("yes",), "s/cn-2": ("no",)}


@pytest.mark.parametrize("key", ["index", "id", "question_id", " Index "])
@pytest.mark.parametrize("answer", ["answer", "reply", "response", "prediction", "output"])
def test_the_columns_have_several_names(tmp_path: Path, key: str, answer: str) -> None:
    found = read(tmp_path, {key: 1, answer: "yes"})
    assert found == ExternalAnswers({"s/1": ("yes",)}, missing=2)


@pytest.mark.parametrize(
    ("key", "id"),
    [
        (1, "s/1"),
        (1.0, "s/1"),
        ("s/1", "s/1"),
        ("cn-2", "s/cn-2"),
        ("s/cn-2", "s/cn-2"),
        ("row-3", "s/row-3"),
        (3, "s/row-3"),
    ],
)
def test_a_question_is_named_by_index_by_id_or_by_row(tmp_path: Path, key: Any, id: str) -> None:
    assert set(read(tmp_path, {"index": key, "answer": "x"}).answers) == {id}


def test_a_table_and_a_workbook_are_read_too(tmp_path: Path) -> None:
    table = write(tmp_path, "index,answer", '1,"a, b"', "cn-2,", name="answers.csv")
    assert read_answers(table, SAMPLES).answers == {"s/1": ("a, b",), "s/cn-2": ("",)}
    book = Workbook()
    sheet: Any = book.active
    for row in (["index", "prediction"], [1.0, "a, b"], ["cn-2", None]):
        sheet.append(row)
    book.save(tmp_path / "answers.xlsx")
    found = read_answers(tmp_path / "answers.xlsx", SAMPLES)
    assert found.answers == {"s/1": ("a, b",), "s/cn-2": ("",)}


@pytest.mark.parametrize(
    ("answer", "turns"),
    [
        ("", ("",)),
        (None, ("",)),
        ([], ("",)),
        (" a\r\n", (" a\n",)),
        (42, ("42",)),
        (["first", "second"], ("first", "second")),
        (["", "second"], ("", "second")),
    ],
)
def test_an_answer_is_kept_as_it_is(tmp_path: Path, answer: Any, turns: tuple[str, ...]) -> None:
    assert read(tmp_path, {"index": 1, "answer": answer}).answers["s/1"] == turns


@pytest.mark.parametrize("name", ["instruction", "prompt"])
def test_outputs_of_alpaca_eval_and_servers_find_their_questions(tmp_path: Path, name: str) -> None:
    row = {name: "Q1?", "output": "yes", "generator": "model-m"}
    found = read(tmp_path, row, row | {name: "Q1?", "output": "no", "generator": "n"}, model="n")
    assert found.answers == {"s/1": ("no",)}
    assert read(tmp_path, {"index": 1, name: "As asked.", "output": "x"}).answers == {"s/1": ("x",)}


def test_a_prediction_counts_before_a_reference(tmp_path: Path) -> None:
    row = {"index": 1, "answer": "gold", "response": "gold", "prediction": "mine"}
    assert read(tmp_path, row).answers["s/1"] == ("mine",)


def test_the_answers_of_mt_bench_are_read(tmp_path: Path) -> None:
    row = {
        "question_id": 1,
        "answer_id": "x",
        "model_id": "vicuna",
        "choices": [{"index": 0, "turns": ["first", "second"]}, {"index": 1, "turns": ["other"]}],
    }
    assert read(tmp_path, row).answers == {"s/1": ("first", "second")}


def test_the_trials_of_an_earlier_run_are_answers(tmp_path: Path) -> None:
    trial = {"id": "s/1", "model": "m", "mode": "question_answer", "answer": ["gold"], "reply": "x"}
    talk = trial | {"id": "s/cn-2", "reply": "b", "turns": ["a", "b"]}
    judged = trial | {"mode": "judge", "reply": "[[A]]"}
    other = trial | {"model": "n", "reply": "y"}
    found = read(tmp_path, judged, trial, talk, other, model="m")
    assert found == ExternalAnswers({"s/1": ("x",), "s/cn-2": ("a", "b")}, missing=1)


def test_the_question_decides_where_the_row_repeats_it(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        {"index": 1, "question": "Qrow-3?", "answer": "three"},
        {"index": 3, "question": "Q1?", "answer": "one"},
        {"question": " Qcn-2? ", "answer": "two"},
    )
    assert found.answers == {"s/row-3": ("three",), "s/1": ("one",), "s/cn-2": ("two",)}


def test_an_index_with_another_question_is_unknown(tmp_path: Path) -> None:
    found = read(tmp_path, {"index": 1, "question": "Something else?", "answer": "x"})
    assert (found.answers, found.unknown, found.missing) == ({}, ("1",), 3)


def test_a_question_that_is_asked_twice_gets_its_answers_in_order(tmp_path: Path) -> None:
    twice = (sample("row-1", "Why?"), sample("row-2", "Why?"))
    rows = ({"query": "Why?", "answer": "a"}, {"query": "Why?", "answer": "b"})
    found = read_answers(write(tmp_path, *rows), twice)
    assert found.answers == {"s/row-1": ("a",), "s/row-2": ("b",)}


def test_unknown_indices_are_counted_and_told_by_line(tmp_path: Path) -> None:
    found = read(tmp_path, {"index": 1, "answer": "x"}, {"index": "en-9", "answer": "y"})
    assert (found.unknown, found.missing) == (("en-9",), 2)
    assert [(fault.line, fault.rule, fault.actual) for fault in found.faults] == [
        (2, "unknown-index", "en-9")
    ]


@pytest.mark.parametrize(
    ("row", "rule"),
    [
        ("{", "invalid-json"),
        ({"answer": "x"}, "no-index"),
        ({"index": 1}, "no-answer"),
        ({"index": 1, "answer": {"text": "x"}}, "no-answer"),
        ({"index": 1, "choices": ["A", "B"]}, "no-answer"),
    ],
)
def test_a_row_that_cannot_be_used_is_told(tmp_path: Path, row: Any, rule: str) -> None:
    found = read(tmp_path, {"index": "cn-2", "answer": "y"}, row)
    assert [(fault.line, fault.rule) for fault in found.faults] == [(2, rule)]
    assert set(found.answers) == {"s/cn-2"}


def test_an_answer_that_is_there_twice_is_fine_if_it_is_the_same(tmp_path: Path) -> None:
    row = {"index": 1, "answer": "x"}
    assert read(tmp_path, row, row).answers == {"s/1": ("x",)}
    reason = r"answers\.jsonl line 3: the answer to s/1 is not that of line 1\."
    with pytest.raises(DataError, match=reason):
        read(tmp_path, row, row, row | {"answer": "y"})


def test_an_index_of_two_files_needs_the_whole_id(tmp_path: Path) -> None:
    samples = (sample("1"), Sample("t/1", "Q?", metadata={"index": "1"}))
    with pytest.raises(DataError, match=r"line 1: 2 questions have the index 1\..*such as s/1"):
        read_answers(write(tmp_path, {"index": 1, "answer": "x"}), samples)
    path = write(tmp_path, {"index": "t/1", "answer": "x"})
    assert set(read_answers(path, samples).answers) == {"t/1"}


BOTH = ({"id": 1, "model": "m", "output": "a"}, {"id": 1, "model": "n", "output": "b"})


@pytest.mark.parametrize(("model", "answer"), [("m", "a"), ("n", "b")])
def test_the_column_of_models_is_a_choice(tmp_path: Path, model: str, answer: str) -> None:
    assert read(tmp_path, *BOTH, model=model).answers == {"s/1": (answer,)}


def test_the_answers_of_one_model_may_be_given_another_name(tmp_path: Path) -> None:
    assert read(tmp_path, BOTH[0], model="mine").answers == {"s/1": ("a",)}


@pytest.mark.parametrize(
    ("rows", "model", "reason"),
    [
        (BOTH, "", r"has answers of several models: m, n\. Choose one\."),
        (BOTH, "o", r"has no answers of o\. Known: m, n\."),
        (({"index": 1, "text": "x"},), "", r"has no column of answers\. Expected one of pred"),
        (({"answer": "x"},), "", r"has no column that says which question"),
    ],
)
def test_what_a_file_of_answers_lacks_is_told(
    tmp_path: Path, rows: tuple[Any, ...], model: str, reason: str
) -> None:
    with pytest.raises(DataError, match=rf"answers\.jsonl {reason}"):
        read(tmp_path, *rows, model=model)


def test_a_folder_of_answers_is_too_much(tmp_path: Path) -> None:
    for name in ("a.jsonl", "b.jsonl"):
        write(tmp_path, {"index": 1, "answer": "x"}, name=name)
    with pytest.raises(DataError, match=r"Answers are one file, but these are 2"):
        read_answers(tmp_path, SAMPLES)


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)
_NAMES = st.sampled_from(
    ["index", "id", "answer", "choices", "turns", "model", "mode", "reply", "question", "Index"]
)


@settings(
    max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(rows=st.lists(st.dictionaries(_NAMES, _VALUES) | st.text(max_size=20), max_size=4))
def test_whatever_the_rows_they_are_answers_or_refused(tmp_path: Path, rows: list[Any]) -> None:
    try:
        path = tmp_path / "answers.jsonl"
        text = "\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows)
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        found = read_answers(path, SAMPLES)
    except DataError:
        return  # every other error is a bug
    assert set(found.answers) <= {sample.id for sample in SAMPLES}
    assert all(found.answers.values())
