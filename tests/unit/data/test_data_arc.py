import json
from pathlib import Path
from typing import Any

import pytest

from evalui.data import Loaded, load


def choices(labels: str) -> list[dict[str, str]]:
    return [{"text": f"text {label}", "label": label} for label in labels]


def record(labels: str = "ABCD", answer: Any = "B", **more: Any) -> dict[str, Any]:
    question = {"stem": "Why?", "choices": choices(labels)}
    return {"id": "q1", "question": question, "answerKey": answer, **more}


def loaded(folder: Path, *records: dict[str, Any]) -> Loaded:
    path = folder / "arc.jsonl"
    path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    return load([path])


@pytest.mark.parametrize(
    ("labels", "answer", "target"),
    [("ABCD", "B", 1), ("ABC", "C", 2), ("ABCDE", "E", 4), ("1234", "4", 3), ("1234", 4, 3)],
)
def test_labels_are_letters_or_numbers(
    tmp_path: Path, labels: str, answer: str, target: int
) -> None:
    (sample,) = loaded(tmp_path, record(labels, answer)).dataset.samples
    assert (sample.id, sample.question, sample.target) == ("arc/q1", "Why?", target)
    assert sample.choices == tuple(f"text {label}" for label in labels)


def test_the_shape_of_the_hub_is_read(tmp_path: Path) -> None:
    hub = {
        "id": "q1",
        "question": "Why?",
        "choices": {"text": ["so", "thus"], "label": ["A", "B"]},
        "answerKey": "A",
    }
    (sample,) = loaded(tmp_path, hub).dataset.samples
    assert (sample.question, sample.choices, sample.target) == ("Why?", ("so", "thus"), 0)


def test_further_keys_are_kept(tmp_path: Path) -> None:
    (sample,) = loaded(tmp_path, record(grade="5", explanation="So.", file="evil")).dataset.samples
    assert sample.metadata == {
        "subject": "arc",
        "grade": "5",
        "explanation": "So.",
        "file": "arc.jsonl",
        "line": "1",
    }


@pytest.mark.parametrize(
    ("bad", "fault"),
    [
        (record(answer="E"), ("answerKey", "answer-not-an-option", "one of A, B, C, D")),
        # A letter is no answer where the choices are numbered: counting would be a guess.
        (record("1234", "B"), ("answerKey", "answer-not-an-option", "one of 1, 2, 3, 4")),
        (record(answer=None), ("answerKey", "answer-not-an-option", "one of A, B, C, D")),
        (record("A", "A"), ("", "too-few-options", "at least 2")),
        (record("AAB"), ("choices", "duplicate-option", "a label of its own for each choice")),
        (record("ABCDEFGHIJK"), ("choices", "too-many-options", "at most 10")),
        ({"id": "q1"}, ("question", "empty-question", "some text")),
    ],
)
def test_a_faulty_line_is_told(
    tmp_path: Path, bad: dict[str, Any], fault: tuple[str, str, str]
) -> None:
    found = loaded(tmp_path, record(), bad | {"id": "q2"})
    first = found.faults[0]
    assert (first.column, first.rule, first.expected) == fault
    assert (first.line, len(found.dataset.samples), found.n_rows) == (2, 1, 2)


def test_a_line_that_is_no_json_is_told(tmp_path: Path) -> None:
    path = tmp_path / "arc.jsonl"
    path.write_text(json.dumps(record()) + "\n{oops\n", encoding="utf-8")
    (fault,) = load([path]).faults
    assert (fault.rule, fault.line) == ("invalid-json", 2)
