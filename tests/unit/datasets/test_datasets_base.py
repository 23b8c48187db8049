import pytest

from evalui.datasets import ANSWER_KEYS, DATASET_FORMATS, UPLOAD_NOTES, UploadNote
from evalui.datasets.questions.choice import answer_letters
from evalui.errors import UnknownName
from evalui.messages import messages

OPTIONS = ("one", "two", "three")


@pytest.mark.parametrize(
    ("key", "cell", "index"),
    [
        ("letter", "A", 0),
        ("letter", "[c]", 2),
        ("letter", "D", None),
        ("letter", "AB", None),
        ("letter", "", None),
        ("letter", "2", None),
        ("index0", "0", 0),
        ("index0", "3", None),
        ("index0", "-1", None),
        ("index0", "B", None),
        ("index1", "3", 2),
        ("index1", "0", None),
        ("index1", "1.5", None),
        ("text", " two ", 1),
        ("text", "Two", None),
    ],
)
def test_an_answer_key_names_an_option_or_none(key: str, cell: str, index: int | None) -> None:
    assert ANSWER_KEYS[key](cell, OPTIONS) == index


@pytest.mark.parametrize(
    ("cell", "letters"),
    [
        ("AC", "AC"),
        ("a, c", "AC"),
        ("A、C", "AC"),
        ("A and C", "AC"),
        ('["A", "C"]', "AC"),
        ("A和C", "AC"),
        ("ＡＣ", "AC"),
        ("A", ""),
        ("AA", ""),
        ("AX", ""),
        ("because", ""),
        ("", ""),
    ],
)
def test_several_letters_are_told_from_other_texts(cell: str, letters: str) -> None:
    assert answer_letters(cell) == letters


def test_an_unknown_answer_key_lists_the_known_ones() -> None:
    with pytest.raises(UnknownName, match="index0, index1, letter, text"):
        ANSWER_KEYS["roman"]


def test_the_formats_are_registered() -> None:
    assert set(DATASET_FORMATS) >= {"ceval", "choices"}


def test_a_note_is_a_sentence() -> None:
    note = UploadNote("encoding", {"file": "{x}.csv", "encoding": "GB18030"})
    assert str(note) == "{x}.csv is not UTF-8; it was read as GB18030."
    sentences = messages("en").by_key
    assert all(sentences[f"note.{rule}"].endswith(".") for rule in UPLOAD_NOTES)
