"""Files in the shapes that people have: each comes out as expected.json says."""

import json
from pathlib import Path
from typing import Any

import pytest

from evalui.datasets import Layout, load, read_columns
from evalui.datasets.guess import guess_roles
from evalui.datasets.model import with_columns
from evalui.types import Sample

SHAPES = Path(__file__).parents[2] / "golden" / "shapes"
EXPECTED: dict[str, dict[str, Any]] = json.loads(
    (SHAPES / "expected.json").read_text(encoding="utf-8")
)
# Those are clear. Of these some are asked about, and some are read only when files are read anew.
UNCLEAR = SHAPES.with_name("shapes_2026_11_28")
OUTCOMES: dict[str, dict[str, Any]] = json.loads(
    (UNCLEAR / "expected.json").read_text(encoding="utf-8")
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


def right(sample: Sample) -> str | None:
    if isinstance(sample.target, int):
        return sample.choices[sample.target]
    return next(iter(sample.references), None)


def confirmed(path: Path) -> Layout:
    """The layout that a person confirms who is shown the guess."""
    table = read_columns([path])
    assert table
    guess = guess_roles(table)
    roles = {role: name for name, role in zip(table.headers, guess.roles, strict=True) if role}
    return with_columns(Layout(answer_key=guess.answer_key, kind=guess.kind), roles)


@pytest.mark.parametrize("name", OUTCOMES)
def test_a_shape_is_read_rightly_or_asked_about(name: str) -> None:
    expected, path = OUTCOMES[name], UNCLEAR / name
    loaded = load([path])
    samples = loaded.dataset.samples
    assert [fault.rule for fault in loaded.faults] == expected.get("faults", [])
    assert [right(sample) for sample in samples] == expected.get("right", [])
    assert not samples or loaded.dataset.kind == expected["kind"]
    assert not samples or samples[0].question == expected.get("first", samples[0].question)
    if "confirmed" in expected:
        again = load([path], layout=confirmed(path))
        assert [right(sample) for sample in again.dataset.samples] == expected["confirmed"]


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
