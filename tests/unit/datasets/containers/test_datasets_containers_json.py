"""JSON as people and programs write it; each document is written by hand, as published sets are."""

import json
from typing import Any

import pytest
from opened_tables import faults_of, named_rows, only_table, opened

from evalui.datasets.model import FileTable, JsonNumber, Limits, Tables
from evalui.errors import DataError

ROWS = [{"question": "Which?", "answer": "a"}, {"question": "What?", "answer": "b"}]


def document(content: Any, name: str = "x.json", **options: Any) -> Tables:
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    return opened(name, text, **options)


def table(content: Any, name: str = "x.json") -> FileTable:
    (only,) = document(content, name).tables
    return only


def rows(content: Any) -> list[dict[str, Any]]:
    return named_rows(table(content))


@pytest.mark.parametrize(
    "content",
    [
        ROWS,
        {"data": ROWS},
        {"version": "1.0", "examples": ROWS},
        {"meta": {"made": "today"}, "data": {"example": ROWS}},
        {"data": {"inner": {"rows": ROWS}}},
        {"questions": ROWS, "count": 2},
        {"whatever it is called": ROWS},
        {
            "columns": ["question", "answer"],
            "index": [0, 1],
            "data": [["Which?", "a"], ["What?", "b"]],
        },
        {"question": {"0": "Which?", "1": "What?"}, "answer": {"0": "a", "1": "b"}},
        {"0": ROWS[0], "1": ROWS[1]},
        {"question": ["Which?", "What?"], "answer": ["a", "b"]},
        {"schema": {"fields": [{"name": "question"}]}, "data": ROWS} | {"schema": {"version": "1"}},
        "\n".join(map(json.dumps, ROWS)),
        "\n".join(json.dumps(row, indent=2) for row in ROWS),
    ],
)
def test_rows_are_found_in_every_shape(content: Any):
    assert rows(content) == ROWS


def test_rows_keep_the_lines_on_which_they_begin():
    assert [row.line for row in table(json.dumps(ROWS, indent=1)).rows] == [2, 6]


def test_rows_that_share_a_line_have_their_places():
    assert [row.line for row in table(json.dumps(ROWS)).rows] == [1, 2]


def test_the_key_of_a_row_is_its_id():
    assert [row["id"] for row in rows({"q7": ROWS[0], "q9": ROWS[1]})] == ["q7", "q9"]


def test_numbers_stay_as_they_are_written():
    assert rows([{"question": "q", "answer": 1.50}, {"question": "p", "answer": 1e3}]) == [
        {"question": "q", "answer": "1.5"},
        {"question": "p", "answer": "1000.0"},
    ]
    assert rows('[{"question": "q", "answer": 1.50}]')[0]["answer"] == "1.50"


def test_the_list_of_a_question_is_no_list_of_questions():
    row = {"question": "q", "choices": [{"label": "A", "text": "x"}, {"label": "B", "text": "y"}]}
    assert rows(row) == [row]
    chat = {"messages": [{"role": "user", "content": "q"}]}
    assert rows(chat) == [chat]


def test_a_list_of_lists_is_a_table():
    read = table([["question", "A", "B"], ["q", "x", "y"]])
    assert read.heads == ("question", "A", "B")
    assert [row.cells for row in read.rows] == [("q", "x", "y")]


def test_several_lists_are_tables_with_their_keys():
    read = document({"train": ROWS, "test": ROWS[:1]})
    assert [(each.title, len(each.rows)) for each in read.tables] == [("train", 2), ("test", 1)]
    nested = document({"law": {"questions": ROWS}, "art": {"questions": ROWS}})
    assert nested.titles == ("law/questions", "art/questions")


def test_lists_that_are_not_read_are_named():
    read = document({"data": ROWS, "labels": ["a", "b"], "version": 2})
    assert [str(note) for note in read.notes] == [
        "x.json: read: data; lists that were not read: labels."
    ]


def test_lines_have_a_cell_for_each_key_of_the_file() -> None:
    read = table('{"question": "q", "A": 1}\n\n{"Question ": null, "B": [1, "x"], "a": true}\n')
    assert (read.heads, read.typed) == (("question", "A", "B"), True)
    assert [row.cells for row in read.rows] == [("q", "1"), (None, True, ["1", "x"])]
    assert isinstance(read.rows[0].cells[1], JsonNumber)
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
    (fault,) = table('{"question": "q"}\n' + line, "x.jsonl").faults
    assert (fault.rule, fault.line) == ("invalid-json", 2)
    assert fault.actual.startswith(found)


@pytest.mark.parametrize("depth", [10, 200, 400, 450, 480, 600, 900, 950, 990, 5000])
def test_json_of_any_depth_is_a_cell_or_a_fault(depth: int) -> None:
    nested = '{"question": ' + "[" * depth + '"x"' + "]" * depth + "}"
    read = table(nested, "x.jsonl")
    assert len(read.rows) + len(read.faults) == 1
    assert all(fault.actual == "JSON nested too deeply" for fault in read.faults)


def test_two_keys_that_are_one_name_are_a_fault_of_their_row():
    read = table('{"question": "q", "Question": "p"}\n{"Question": "r"}\n')
    assert faults_of(read) == [(1, "question", "duplicate-column")]
    assert [row.cells for row in read.rows] == [("r",)]


# Questions about passages


def test_c3_is_a_list_of_passage_questions_and_id():
    item = [
        ["男：你好。", "女：再见。"],
        [{"question": "谁？", "choice": ["甲", "乙"], "answer": "甲"}],
        "1-1",
    ]
    (row,) = rows([item])
    assert row == {
        "passage": "男：你好。\n女：再见。",
        "questions": [{"question": "谁？", "choice": ["甲", "乙"], "answer": "甲"}],
    }


# What is wrong


def test_what_is_no_object_among_the_rows_is_a_fault():
    read = table('[{"question": "q"},\n7,\n{"question": "\\ud800"}]')
    assert [row.line for row in read.rows] == [1]
    assert faults_of(read) == [(2, "", "invalid-json"), (3, "", "invalid-json")]


def test_a_picture_is_found_wherever_it_is():
    read = table([{"question": "q", "media": [{"bytes": "iVBOR", "path": None}]}])
    assert faults_of(read) == [(1, "media", "picture")]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "line 1: not valid JSON"),
        ('[{"a": 1}\n{"b": 2}]', "not valid JSON"),
        ('[{"a": 1}] and more', "not valid JSON"),
        ("[]", "is empty"),
        ("[1, 2]", "a list of texts or numbers"),
        ("{}", "has no list of questions"),
        ('{"name": "x", "scripts": {"test": "y"}}', "it has the keys name, scripts"),
        ("[" * 100_000, "nested too deeply"),
        ('{"a":' * 100_000, "nested too deeply"),
    ],
)
def test_what_has_no_rows_is_refused_with_what_was_expected(text: str, reason: str):
    with pytest.raises(DataError, match=reason):
        document(text)


def test_another_text_than_json_may_begin_with_a_bracket():
    read = only_table("x.txt", "[1] A question?\n[2] Another?\n")
    assert not read.typed
    assert len(read.rows) == 1


# What does harm


@pytest.mark.parametrize(
    "content",
    [
        [{"question": "q"}] * 11,
        {"question": ["q"] * 11, "answer": ["a"] * 11},
    ],
)
def test_more_rows_than_are_read_are_refused(content: Any):
    with pytest.raises(DataError, match="at most 10 are read"):
        document(content, limits=Limits(lines=10))


def test_more_keys_than_columns_are_read_are_refused():
    with pytest.raises(DataError, match=r"1,001 columns"):
        document([{f"k{n}": n for n in range(1001)}])
    with pytest.raises(DataError, match=r"1,001 columns"):
        document([{f"k{n}": n} for n in range(1001)])


def test_more_lists_than_parts_are_refused():
    with pytest.raises(DataError, match="201 lists of objects"):
        document({f"list {n}": [{"question": "q"}] for n in range(201)})
