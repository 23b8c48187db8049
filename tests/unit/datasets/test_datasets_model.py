import ast
from pathlib import Path

import pytest

import evalui.datasets
from evalui.datasets import ANSWER_KEYS, UploadNote
from evalui.datasets.answers import answer_letters
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
        ("text", "Two.", 1),
        ("text", "four", None),
        ("letter", "B. two", 1),
        ("letter", "B. one", None),
        ("letter", "答案：B", 1),
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
    with pytest.raises(UnknownName, match="apart, index0, index1, letter, text"):
        ANSWER_KEYS["roman"]


def test_a_note_is_a_sentence() -> None:
    note = UploadNote("encoding", {"file": "{x}.csv", "encoding": "GB18030"})
    assert str(note) == "{x}.csv is not UTF-8; it was read as GB18030."
    notes = {key: text for key, text in messages("en").by_key.items() if key.startswith("note.")}
    assert [key for key, text in notes.items() if not text.endswith(".")] == []


def test_every_fault_and_note_that_the_code_names_has_words() -> None:
    places = {"Fault": 3, "UploadNote": 0}  # of the rule among the arguments
    named: dict[str, set[str]] = {name: set() for name in places}
    for path in Path(evalui.datasets.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            name = node.func.id if isinstance(node.func, ast.Name) else ""
            if isinstance(node.func, ast.Attribute) and node.func.attr == "_fault":
                name, place = "Fault", 2  # a reader's own way to one of its file
            else:
                place = places.get(name, len(node.args))
            rule = node.args[place] if place < len(node.args) else None
            if isinstance(rule, ast.Constant):
                named[name].add(str(rule.value))
    assert {"no-rows", "gap-in-options"} <= named["Fault"]
    assert {"ignored-files", "other-kind"} <= named["UploadNote"]
    known = messages("en").by_key.keys()
    assert {f"fault.{rule}.{part}" for rule in named["Fault"] for part in ("what", "expected")} <= (
        known
    )
    assert {f"note.{rule}" for rule in named["UploadNote"]} <= known
