import json
from pathlib import Path

from evalui.datasets.model import Layout
from evalui.datasets.open_samples import STARTER, TESTS, passage_text, with_passage
from evalui.datasets.sandbox import load


def test_a_passage_stands_before_its_question_once():
    assert with_passage(" It rained. ", "Why wet?") == "It rained.\nWhy wet?"
    assert with_passage("It rained.", "It rained. Why wet?") == "It rained. Why wet?"
    assert with_passage("", "Why?") == "Why?"
    assert with_passage("It rained.", "") == ""


def test_the_parts_of_a_list_are_lines():
    assert passage_text(["M: Hello.", "W: Bye."]) == "M: Hello.\nW: Bye."
    assert passage_text([{"speaker": "M", "text": "Hello."}, {"text": "Bye."}]) == "M: Hello.\nBye."
    assert passage_text(None) == ""


def code_file(folder: Path, **changes: str) -> Path:
    row = {
        "query": "Add.",
        "python_tests": "assert add(1, 2) == 3",
        "starter_code": "def add(a, b):",
    }
    path = folder / "sums.jsonl"
    rows = [row, row | {"query": "Add again.", **changes}]
    path.write_text("".join(json.dumps(each) + "\n" for each in rows))
    return path


def test_a_file_with_tests_is_code(tmp_path: Path):
    loaded = load([code_file(tmp_path)])
    assert (loaded.dataset.kind, loaded.kinds, loaded.faults) == ("code", ("code",), ())
    assert loaded.unused_columns == ()
    for sample in loaded.dataset.samples:
        assert sample.metadata[TESTS] == "assert add(1, 2) == 3"
        assert sample.metadata[STARTER] == "def add(a, b):"


def test_a_question_of_code_without_tests_is_a_fault(tmp_path: Path):
    loaded = load([code_file(tmp_path, python_tests=" ")])
    assert [(each.line, each.rule) for each in loaded.faults] == [(2, "no-tests")]
    assert len(loaded.dataset.samples) == 1


def test_code_can_be_taken_as_open_questions(tmp_path: Path):
    loaded = load([code_file(tmp_path, python_tests="")], layout=Layout(kind="general_qa"))
    assert (loaded.dataset.kind, loaded.faults) == ("general_qa", ())
