"""Columns under unknown names: which is what is guessed, corrected by a person, and read."""

import csv
import io
from pathlib import Path

import pytest

from evalui.datasets.guess import guess_roles
from evalui.datasets.model import ColumnTable, Layout, columns_of, with_columns
from evalui.datasets.reader import load, read_columns

EXAM = """prompt,opt1,opt2,opt3,opt4,label,topic,note
Capital of France?,Paris,Rome,Oslo,Bern,1,history,2024 spring
Capital of Italy?,Paris,Rome,Oslo,Bern,2,history,
Capital of Norway?,Paris,Rome,Oslo,Bern,3,tax law,
Capital of Switzerland?,Paris,Rome,Oslo,Bern,4,tax law,
"""
ROLES = {
    "question": "prompt",
    "A": "opt1",
    "B": "opt2",
    "C": "opt3",
    "D": "opt4",
    "answer": "label",
    "subject": "topic",
}


def written(folder: Path, text: str, name: str = "exam.csv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def table(text: str) -> ColumnTable:
    headers, *rows = [tuple(row) for row in csv.reader(io.StringIO(text))]
    return ColumnTable("exam.csv", headers, tuple(rows), len(rows))


def guessed(text: str) -> dict[str, str]:
    columns = table(text)
    roles = guess_roles(columns).roles
    return {role: name for name, role in zip(columns.headers, roles, strict=True) if role}


def test_unknown_headers_are_guessed_and_read_as_corrected(tmp_path: Path) -> None:
    path = written(tmp_path, EXAM)
    columns = read_columns([path])
    assert columns is not None
    assert (columns.file, columns.n_rows, columns.headers[:2]) == (
        "exam.csv",
        4,
        ("prompt", "opt1"),
    )
    guess = guess_roles(columns)
    named = {role: name for name, role in zip(columns.headers, guess.roles, strict=True) if role}
    assert named == ROLES
    assert guess.answer_key == "index1"
    assert (guess.kind, guess.sure) == ("multiple_choice", True)
    loaded = load([path], layout=with_columns(Layout(answer_key=guess.answer_key), named))
    assert loaded.dataset.samples == load([path]).dataset.samples
    assert (len(loaded.dataset.samples), loaded.faults) == (4, ())
    second = loaded.dataset.samples[1]
    assert (second.question, second.choices[second.target], second.subject) == (
        "Capital of Italy?",
        "Rome",
        "history",
    )
    assert loaded.dataset.samples[0].metadata["note"] == "2024 spring"


def test_values_decide_where_headers_say_nothing() -> None:
    text = EXAM.replace("prompt,opt1,opt2,opt3,opt4,label,topic,note", "c1,c2,c3,c4,c5,c6,c7,c8")
    assert guessed(text) == {
        "question": "c1",
        **dict(zip("ABCD", ("c2", "c3", "c4", "c5"), strict=True)),
        "answer": "c6",
    }


def test_chinese_headers_are_known() -> None:
    text = (
        "序号,题干,选项1,选项2,正确答案,学科\n"
        "1,法国的首都？,巴黎,罗马,A,地理\n2,意大利的首都？,巴黎,罗马,B,地理\n"
    )
    assert guessed(text) == {
        "id": "序号",
        "question": "题干",
        "A": "选项1",
        "B": "选项2",
        "answer": "正确答案",
        "subject": "学科",
    }


def test_questions_with_references_have_no_options() -> None:
    assert guessed("ask,gold\nWho wrote Faust in two parts?,Goethe\nWho wrote Emma?,Austen\n") == {
        "question": "ask",
        "answer": "gold",
    }


def test_a_column_of_lists_is_the_options(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        '{"q": "Capital of France?", "alternatives": ["Paris", "Rome"], "sol": 1, "area": "map"}\n'
        '{"q": "Capital of Italy?", "alternatives": ["Paris", "Rome"], "sol": 2, "area": "map"}\n',
        "exam.jsonl",
    )
    named = {"question": "q", "options": "alternatives", "answer": "sol", "subject": "area"}
    loaded = load([path], layout=with_columns(Layout(answer_key="index1"), named))
    assert [sample.target for sample in loaded.dataset.samples] == [0, 1]
    assert {sample.subject for sample in loaded.dataset.samples} == {"map"}


def test_open_questions_have_columns_of_their_own(tmp_path: Path) -> None:
    path = written(tmp_path, "ask,gold,nr,area,skill\nWho?,Goethe,7,poems,recall\n")
    named = {
        "question": "ask",
        "answer": "gold",
        "id": "nr",
        "subject": "area",
        "capability": "skill",
    }
    (sample,) = load([path], layout=with_columns(Layout(), named)).dataset.samples
    assert (sample.id, sample.references, sample.subject) == ("poems/7", ("Goethe",), "poems")
    assert sample.metadata["capability"] == "recall"


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
def test_another_delimiter_is_seen_before_any_header_is_known(
    tmp_path: Path, delimiter: str
) -> None:
    columns = read_columns([written(tmp_path, EXAM.replace(",", delimiter))])
    assert columns is not None
    assert columns.headers[5:] == ("label", "topic", "note")


@pytest.mark.parametrize(
    "text",
    [
        "Dear all,\nplease find below, as agreed, the minutes, and more.\nYours\nA. B.\n",
        "One line after another.\nNothing else.\n",
        "prompt,opt1,opt2,label\n",
    ],
)
def test_what_is_no_table_has_no_columns(tmp_path: Path, text: str) -> None:
    assert read_columns([written(tmp_path, text, "notes.txt")]) is None


def test_a_layout_names_its_columns_and_is_made_of_them() -> None:
    assert columns_of(with_columns(Layout(), ROLES)) == ROLES
    with pytest.raises(KeyError):
        with_columns(Layout(), {"colour": "red"})


def test_another_subject_column_is_another_dataset(tmp_path: Path) -> None:
    path = written(tmp_path, EXAM)
    digests = {
        load([path], layout=with_columns(Layout(answer_key="index1"), columns)).dataset.sha256
        for columns in (ROLES, ROLES | {"subject": "note"}, ROLES | {"id": "note"})
    }
    assert len(digests) == 3
