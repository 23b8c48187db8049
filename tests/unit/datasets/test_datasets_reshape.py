"""Rows of several questions, and questions of several rows."""

from typing import Any

from evalui.datasets.model import FileTable, Roles, Row
from evalui.datasets.reshape import join_option_rows, to_questions


def table(*rows: dict[str, Any]) -> FileTable:
    heads = tuple(dict.fromkeys(name for row in rows for name in row))
    made = [
        Row(line, tuple(row.get(head) for head in heads)) for line, row in enumerate(rows, start=1)
    ]
    return FileTable("x.json", heads, made, typed=True)


def values(read: FileTable) -> list[dict[str, Any]]:
    return [
        {head: cell for head, cell in zip(read.heads, row.cells, strict=True) if cell is not None}
        for row in read.rows
    ]


RACE = {
    "article": "It rained.",
    "questions": ["Why?", "How?"],
    "options": [["a", "b"], ["c", "d"]],
    "answers": ["A", "B"],
    "id": "h1",
}


def test_lists_of_questions_options_and_answers_are_taken_apart_together():
    read = to_questions(table(RACE))
    assert values(read) == [
        {"article": "It rained.", "question": "Why?", "options": ["a", "b"], "answer": "A"},
        {"article": "It rained.", "question": "How?", "options": ["c", "d"], "answer": "B"},
    ]
    assert [row.line for row in read.rows] == [1, 1]


def test_questions_of_paragraphs_of_articles_are_rows():
    paragraph = {"context": "It rained.", "qas": [{"question": "Why?"}, {"question": "How?"}]}
    read = to_questions(table({"title": "Rain", "paragraphs": [paragraph]}, {"title": "Sun"}))
    assert values(read) == [
        {"title": "Rain", "context": "It rained.", "question": "Why?"},
        {"title": "Rain", "context": "It rained.", "question": "How?"},
        {"title": "Sun"},
    ]
    assert [row.line for row in read.rows] == [1, 1, 2]


def test_objects_of_questions_stand_beside_what_they_share():
    row = {"text": "It rained.", "qas": [{"question": "Why?", "id": "q1", "answer": "so"}]}
    assert values(to_questions(table(row))) == [
        {"text": "It rained.", "question": "Why?", "id": "q1", "answer": "so"}
    ]


def test_an_object_of_lists_is_a_list_of_objects():
    row = {"documents": ["x"], "questions": {"question": ["Why?", "How?"], "answer": ["a", "b"]}}
    assert values(to_questions(table(row))) == [
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
        read = table(row)
        assert to_questions(read) is read


def test_the_rows_of_a_question_become_one_with_marked_options():
    roles = Roles(("id", "question", "row_option", "answer"), kind="multiple_choice")
    rows = [
        {"qid": "1", "q": "Which?", "option": "plum", "right": "0"},
        {"qid": "1", "q": "Which?", "option": "oak", "right": "1"},
        {"qid": "2", "q": "Who?", "option": "Ann", "right": "TRUE"},
    ]
    joined, known = join_option_rows(table(*rows), roles)
    first, second = values(joined)
    assert first["option"] == [
        {"text": "plum", "correct": False},
        {"text": "oak", "correct": True},
    ]
    assert (known.place("answer"), known.place("options")) == (-1, 2)
    assert second["option"] == [{"text": "Ann", "correct": True}]


def test_an_answer_that_all_rows_of_a_question_repeat_stays():
    roles = Roles(("question", "row_option", "answer"), kind="multiple_choice")
    rows = [{"q": "Which?", "option": text, "right": "B"} for text in ("plum", "oak")]
    (joined,) = values(join_option_rows(table(*rows), roles)[0])
    assert (joined["right"], joined["option"]) == ("B", [{"text": "plum"}, {"text": "oak"}])
