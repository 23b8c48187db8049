"""Rows of several questions, and questions of several rows."""

from typing import Any

from evalui.datasets.model import Layout
from evalui.datasets.questions.reshaping import join_option_rows, split_passages
from evalui.datasets.tables.records import Record, Records
from evalui.datasets.tables.table import cell_text


def records(*rows: dict[str, Any]) -> Records:
    names = {name: name for row in rows for name in row}
    made = (
        Record(line, line, row, {name: cell_text(value) for name, value in row.items()})
        for line, row in enumerate(rows, start=1)
    )
    return Records(names, tuple(made), ())


def values(read: Records) -> list[dict[str, Any]]:
    return [dict(row.values) for row in read.rows]


RACE = {
    "article": "It rained.",
    "questions": ["Why?", "How?"],
    "options": [["a", "b"], ["c", "d"]],
    "answers": ["A", "B"],
    "id": "h1",
}


def test_lists_of_questions_options_and_answers_are_taken_apart_together():
    read = split_passages(records(RACE))
    assert values(read) == [
        {"article": "It rained.", "questions": "Why?", "options": ["a", "b"], "answers": "A"}
        | {"id": "h1-1"},
        {"article": "It rained.", "questions": "How?", "options": ["c", "d"], "answers": "B"}
        | {"id": "h1-2"},
    ]
    assert [(row.line, row.number) for row in read.rows] == [(1, 1), (1, 2)]


def test_objects_of_questions_stand_beside_what_they_share():
    row = {"text": "It rained.", "qas": [{"question": "Why?", "id": "q1", "answer": "so"}]}
    assert values(split_passages(records(row))) == [
        {"text": "It rained.", "question": "Why?", "id": "q1", "answer": "so"}
    ]


def test_an_object_of_lists_is_a_list_of_objects():
    row = {"documents": ["x"], "questions": {"question": ["Why?", "How?"], "answer": ["a", "b"]}}
    assert values(split_passages(records(row))) == [
        {"documents": ["x"], "question": "Why?", "answer": "a"},
        {"documents": ["x"], "question": "How?", "answer": "b"},
    ]


def test_other_lists_stay_as_they_are():
    rows = (
        {"question": "Why?", "choices": ["a", "b"], "answer": "A"},
        {"question": {"stem": "Why?", "choices": [{"text": "a"}]}, "answerkey": "A"},
        {"turns": ["Why?", "How?"], "reference": ["a", "b"]},
        {"question": "Why?", "answers": {"text": ["a"], "answer_start": [0]}},
    )
    for row in rows:
        read = records(row)
        assert split_passages(read) is read


def test_the_rows_of_a_question_become_one_with_marked_options():
    layout = Layout(question="q", id="qid", row_option="option", answer="right")
    rows = [
        {"qid": "1", "q": "Which?", "option": "plum", "right": "0"},
        {"qid": "1", "q": "Which?", "option": "oak", "right": "1"},
        {"qid": "2", "q": "Who?", "option": "Ann", "right": "TRUE"},
    ]
    first, second = values(join_option_rows(records(*rows), layout))
    assert first["option"] == [
        {"text": "plum", "correct": False},
        {"text": "oak", "correct": True},
    ]
    assert "right" not in first
    assert second["option"] == [{"text": "Ann", "correct": True}]


def test_an_answer_that_all_rows_of_a_question_repeat_stays():
    layout = Layout(question="q", row_option="option", answer="right")
    rows = [{"q": "Which?", "option": text, "right": "B"} for text in ("plum", "oak")]
    (joined,) = values(join_option_rows(records(*rows), layout))
    assert (joined["right"], joined["option"]) == ("B", [{"text": "plum"}, {"text": "oak"}])
