"""The 24 files in the shapes that people have: each comes out as expected.json says."""

import json
from pathlib import Path
from typing import Any

import pytest

from evalui.datasets import load

SHAPES = Path(__file__).parents[2] / "golden" / "shapes"
EXPECTED: dict[str, dict[str, Any]] = json.loads(
    (SHAPES / "expected.json").read_text(encoding="utf-8")
)
# These need more of the reading of workbooks: titles, pictures, sheets, formats of numbers.
READABLE = list(EXPECTED)
# m03 has two rows with several right answers among its nine.
QUESTIONS = {"m03_mixed_types.xlsx": 7}


def test_there_is_a_file_for_each_expectation() -> None:
    assert {path.name for path in SHAPES.iterdir()} == {*EXPECTED, "expected.json"}
    assert len(EXPECTED) == 24


@pytest.mark.parametrize("name", READABLE)
def test_a_shape_is_read_without_help(name: str) -> None:
    expected = EXPECTED[name]
    loaded = load([SHAPES / name])
    samples = loaded.dataset.samples
    assert loaded.dataset.kind == "multiple_choice"
    assert len(samples) == (expected["questions"] or QUESTIONS[name])
    right = [sample.choices[sample.target] for sample in samples if isinstance(sample.target, int)]
    for text, beginning in zip(right, expected["right"], strict=False):
        assert text.startswith(beginning)


def test_rows_with_several_right_answers_are_set_aside_and_counted() -> None:
    loaded = load([SHAPES / "m03_mixed_types.xlsx"])
    assert [(fault.rule, fault.line) for fault in loaded.faults] == [
        ("multi-letter-answer", 7),
        ("multi-letter-answer", 8),
    ]
    assert [sample.choices for sample in loaded.dataset.samples[-2:]] == [("对", "错")] * 2


def test_what_the_question_is_about_is_asked_with_it() -> None:
    first = load([SHAPES / "s06_cosmosqa.csv"]).dataset.samples[0]
    assert first.question == "It was cold.\nWhy coat?"
    first = load([SHAPES / "s10_boolq.jsonl"]).dataset.samples[0]
    assert first.question == "The sky is blue.\nis the sky blue"


@pytest.mark.parametrize("name", ["s05_sciq.jsonl", "s12_gpqa.csv"])
def test_options_whose_place_says_nothing_are_put_in_another_order(name: str) -> None:
    loaded, again = load([SHAPES / name]), load([SHAPES / name])
    assert loaded.dataset.samples == again.dataset.samples
    assert "options-shuffled" in [note.rule for note in loaded.notes]
    assert len(loaded.dataset.samples[0].choices) == 4
