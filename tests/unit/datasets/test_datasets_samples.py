"""Rows become samples, or all that is wrong with them."""

import tracemalloc
from collections.abc import Sequence

import pytest

from evalui.datasets.model import (
    MAX_FAULTS,
    FileRole,
    FileTable,
    Layout,
    ParsedRows,
    Roles,
    Row,
)
from evalui.datasets.samples import read_rows
from evalui.types import Fault

HEADS = ("id", "question", "options", "answer", "subject")
ROLES = Roles(HEADS, kind="multiple_choice", sure=True)
ROLE = FileRole("x", "val", "x_val.csv")


def question(**changes: object) -> dict[str, object]:
    row: dict[str, object] = {"line": 2, "id": "1", "question": "Q?", "options": ["one", "two"]}
    return row | {"answer": "B", "subject": ""} | changes


def validate(
    rows: Sequence[dict[str, object] | Fault],
    layout: Layout = Layout(),  # noqa: B008 - frozen
) -> ParsedRows:
    faults = tuple(row for row in rows if isinstance(row, Fault))
    cells = [
        Row(int(str(row["line"])), tuple(row[head] for head in HEADS))
        for row in rows
        if not isinstance(row, Fault)
    ]
    table = FileTable("x_val.csv", HEADS, cells, typed=True, faults=faults)
    return read_rows(table, ROLES, ROLE, layout)


def test_rows_that_could_not_be_read_are_counted() -> None:
    broken = Fault("x_val.csv", 3, "", "shifted-row", "9 cells", "8 cells")
    part = validate([question(), broken])
    assert (len(part.samples), part.faults, part.n_rows) == (1, (broken,), 2)


def test_of_many_faulty_rows_no_more_is_kept_than_is_shown() -> None:
    n = 20_000
    rows = (question(line=line, answer="E") for line in range(n))
    questions = list(rows)
    tracemalloc.start()
    part = validate(questions)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [fault.line for fault in part.faults] == [*range(MAX_FAULTS)]
    assert part.unlisted == {"answer-not-an-option": n - MAX_FAULTS}
    assert peak < 20 * 2**20  # the texts of all these faults have 100 MB


def test_a_file_without_any_answer_is_told_from_one_with_gaps() -> None:
    assert validate([question(answer=""), question(answer=" ")]).unanswered
    assert not validate([question(answer=""), question()]).unanswered


def test_an_answer_may_repeat_the_name_of_an_option() -> None:
    labelled = question(options={"1": "one", "2": "two"}, answer="2")
    assert validate([labelled]).samples[0].target == 1
    wrong = question(options={"1": "one", "2": "two"}, answer="B")
    assert validate([labelled, wrong]).faults[0].expected == "one of 1, 2"


def test_the_rows_own_subject_begins_its_id() -> None:
    (sample,) = validate([question(subject="law")]).samples
    assert (sample.id, sample.metadata["subject_zh"]) == ("law/1", "法学")


def test_long_cells_are_shortened_in_faults() -> None:
    (fault,) = validate([question(answer="x" * 500)]).faults
    assert len(fault.actual) < 50


def test_what_is_expected_of_an_answer_follows_the_answer_key() -> None:
    expected = {
        key: validate([question(answer="9")], Layout(answer_key=key)).faults[0].expected
        for key in ("letter", "index0", "index1", "text")
    }
    assert expected == {
        "letter": "one of A, B",
        "index0": "a number from 0 to 1",
        "index1": "a number from 1 to 2",
        "text": "the text of one of the options",
    }


def test_an_answer_by_a_text_that_two_options_have_names_none_of_them() -> None:
    same = ("one", "two", "two")
    by_text = Layout(answer_key="text")
    (fault,) = validate([question(options=list(same), answer="two")], by_text).faults
    assert (fault.rule, fault.actual) == (
        "answer-not-an-option",
        "“two” (the text of option B and C)",
    )
    assert fault.expected == "the text of one option only"
    assert validate([question(options=list(same), answer="one")], by_text).samples[0].target == 0


def options_of(*rows: tuple[str, ...], answer: str = "A") -> list[tuple[str, ...]]:
    width = max(map(len, rows))
    heads = ("question", *"ABC"[:width], "answer")
    cells = [Row(n, ("Q?", *row, *[""] * (width - len(row)), answer)) for n, row in enumerate(rows)]
    table = FileTable("x_val.csv", heads, cells)
    part = read_rows(table, Roles(heads, kind="multiple_choice", sure=True), ROLE, Layout())
    assert part.faults == ()
    return [sample.choices for sample in part.samples]


def test_letters_before_options_are_taken_off_where_a_question_has_them_all() -> None:
    assert options_of(("A. plum", "B. oak"), ("A、桃", "B、松"), ("(A) x", "(B) y")) == [
        ("plum", "oak"),
        ("桃", "松"),
        ("x", "y"),
    ]
    assert options_of(("A. Lincoln", "Goethe"), ("E. coli", "B. oak")) == [
        ("A. Lincoln", "Goethe"),
        ("E. coli", "B. oak"),
    ]


def test_where_nearly_all_questions_have_letters_a_forgotten_one_matters_not() -> None:
    rows = [(f"A. a{n}", f"B. b{n}") for n in range(18)]
    assert options_of(*rows, ("A. plum", "oak"))[-1] == ("plum", "oak")
    assert options_of(*rows[:2], ("A. plum", "oak"))[-1] == ("A. plum", "oak")


def test_letters_are_no_options_and_fewer_options_keep_their_places() -> None:
    assert options_of(("A.", "B.")) == [("A.", "B.")]
    assert options_of(("A. plum", "B. oak", "")) == [("plum", "oak")]


@pytest.mark.parametrize(
    ("options", "answer", "target"),
    [
        (("是", "否"), "×", 1),
        (("错误", "正确"), "√", 1),
        (("one", "two"), "TWO.", 1),
        (("one", "two"), "B. two", 1),
    ],
)
def test_among_letters_an_answer_may_say_an_option(
    options: tuple[str, ...], answer: str, target: int
) -> None:
    rows = [
        question(id="1"),
        question(id="2"),
        question(id="3", options=list(options), answer=answer),
    ]
    assert validate(rows).samples[2].target == target


def test_a_right_option_that_stands_apart_is_put_among_the_wrong_ones() -> None:
    rows = [
        question(id=str(n), question=f"Q{n}?", options=["w", "x", "y"], answer="r")
        for n in range(40)
    ]
    part = validate(rows, Layout(answer_key="apart"))
    places = [sample.choices.index("r") for sample in part.samples]
    assert [sample.target for sample in part.samples] == places
    assert {sorted(sample.choices) == ["r", "w", "x", "y"] for sample in part.samples} == {True}
    assert all(4 <= places.count(place) <= 18 for place in range(4))
    assert [note.rule for note in part.notes] == ["options-shuffled"]
    assert part.samples == validate(rows, Layout(answer_key="apart")).samples


def test_options_that_are_marked_need_no_answer() -> None:
    one, none, two = (
        question(
            id=str(n),
            answer="",
            options=[{"text": t, "correct": at in right} for at, t in enumerate(("one", "two"))],
        )
        for n, right in enumerate(((1,), (), (0, 1)))
    )
    part = validate([one, none, two])
    assert [sample.target for sample in part.samples] == [1]
    assert [fault.rule for fault in part.faults] == [
        "answer-not-an-option",
        "multi-letter-answer",
    ]
