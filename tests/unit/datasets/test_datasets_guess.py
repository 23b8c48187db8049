"""Where options stand, by what the cells say, and how long that may take."""

import pytest

from evalui.datasets.guess import guess_answer_key, guess_roles
from evalui.datasets.model import ColumnTable, Roles


def guess(*rows: str, separator: str = ",", **more: tuple[int, ...]) -> Roles:
    head, *body = (tuple(row.split(separator)) for row in rows)
    return guess_roles(ColumnTable("x.csv", head, tuple(body), len(body), **more))


def test_a_column_without_a_role_is_no_option() -> None:
    table = ColumnTable(
        "x.csv",
        ("id", "stem", "opt1", "opt2", "note", "label"),
        (("q1", "Which is it?", "plum", "leek", "B", "0"), ("q2", "Who?", "Ann", "Bo", "A", "1")),
        2,
    )
    found = guess_roles(table)
    assert (found.roles, found.answer_key) == (("id", "question", "A", "B", "", "answer"), "index0")
    # What no role is used for must not be counted among the options.
    assert guess_answer_key(table, ("", "question", "A", "B", "", "answer")) == "index0"
    assert guess_answer_key(table, ("", "question", "A", "B", "answer", "")) == "letter"
    assert guess_answer_key(table, ("", "question", "A", "B", "", "")) == "letter"


def test_the_series_that_the_answers_name_holds_the_options() -> None:
    found = guess(
        "question,hint1,hint2,hint3,choice1,choice2,label",
        "Which is it?,old,red,raw,plum,leek,1",
        "Who is it?,tall,young,kind,Ann,Bo,2",
    )
    assert found.options == (4, 5)
    assert found.sure


def test_series_under_unknown_names_are_asked_about() -> None:
    found = guess(
        "question,w1,w2,w3,label", "Which is it?,plum,leek,kale,1", "Who is it?,Ann,Bo,Cy,3"
    )
    assert (found.options, found.answer_key, found.doubt) == ((1, 2, 3), "index1", "columns")


def test_written_numbers_are_places_in_json() -> None:
    rows = ("question,opt1,opt2,opt3,label", "1+1?,2,1,0,0", "1-1?,2,1,0,2")
    assert guess(*rows).doubt == "answer-key"
    assert guess(*rows, numbers=(4,)).sure


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("head", "cells"),
    [
        (["question", *(f"option{n}" for n in range(999))], ["Which?", *map(str, range(999))]),
        ([f"c{n}" for n in range(1000)], [f"some words {n}" for n in range(1000)]),
        (["question", "options", "answer"], ["Which?", "[" * 90_000, "A"]),
        (["question", "A", "B", "answer"], ["A. B. " * 9_000, "A. " * 9_000, "(" * 9_000, "A"]),
    ],
)
def test_hostile_tables_take_no_time(head: list[str], cells: list[str]) -> None:
    table = ColumnTable("x", tuple(head), (tuple(cells),) * 200, 200)
    assert guess_roles(table).roles
