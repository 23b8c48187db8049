"""What answers mean is decided by all of them together, and what is assumed is noted."""

import pytest

from evalui.datasets.answers import RawAnswer, detect_answer_key

ABCD = ("w", "x", "y", "z")
SUMS = ("3", "1", "2", "0")


def found(
    *cells: str, options: tuple[str, ...] = ABCD, number: bool = False
) -> tuple[str, list[str]]:
    key = detect_answer_key(
        [RawAnswer(cell, options, number) for cell in cells], "x.jsonl", "answer"
    )
    return key.key, [note.rule for note in key.notes]


@pytest.mark.parametrize(
    ("cells", "key", "notes"),
    [
        (("A", "d"), "letter", []),
        (("x", "z"), "text", []),
        (("0", "3"), "index0", []),
        (("0", "4"), "index0", []),
        (("1", "4"), "index1", ["counts-from-1"]),
        (("1", "2"), "index0", ["counts-from-0"]),
        (("nothing", "else"), "letter", []),
        # Most answers decide, and the others become faults.
        (("A", "B", "x"), "letter", []),
        (("x", "y", "A"), "text", []),
    ],
)
def test_the_answers_of_a_file_decide(cells: tuple[str, ...], key: str, notes: list[str]):
    assert found(*cells) == (key, notes)


def test_where_a_zero_and_the_number_of_options_contradict_the_better_fit_counts():
    assert found("1", "2", "4", "0", "4", "4") == ("index1", ["counts-from-1"])
    assert found("0", "2", "0", "1", "0", "4") == ("index0", [])


def test_written_numbers_are_places_and_quoted_ones_texts():
    assert found("0", "3", options=SUMS, number=True) == ("index0", ["place-or-text"])
    assert found("0", "3", options=SUMS) == ("text", ["text-or-place"])


def test_nothing_is_noted_where_both_readings_name_the_same_option():
    options = ("0", "1", "2")
    assert found("0", "2", options=options, number=True) == ("index0", [])
    assert found("0", "2", options=options) == ("text", [])


def test_numbers_that_are_no_places_are_texts_however_they_are_written():
    assert found("8", "15", options=("4", "8", "15", "16"), number=True) == ("text", [])


def test_a_letter_that_is_also_a_text_is_decided_by_the_other_rows():
    blood = ("O", "A", "B", "AB")
    assert found("A", "O", "AB", options=blood) == ("text", [])
    assert found("A", "D", "C", options=blood) == ("letter", [])
    assert found("A", "B", options=blood) == ("letter", ["place-or-text"])


def test_a_text_that_two_options_have_names_neither():
    assert found("x", "y", options=("x", "x", "y")) == ("text", [])
    key = detect_answer_key([RawAnswer("x", ("x", "x"))], "x.jsonl", "answer")
    assert key.key == "letter"
