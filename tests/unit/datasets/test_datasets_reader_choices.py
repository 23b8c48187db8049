import json
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook

from evalui.datasets import Layout, LoadResult, load
from evalui.datasets.model import with_columns


def choices(labels: str) -> list[dict[str, str]]:
    return [{"text": f"text {label}", "label": label} for label in labels]


def record(labels: str = "ABCD", answer: Any = "B", **more: Any) -> dict[str, Any]:
    question = {"stem": "Why?", "choices": choices(labels)}
    return {"id": "q1", "question": question, "answerKey": answer, **more}


def loaded(folder: Path, *records: dict[str, Any]) -> LoadResult:
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
        (record("ABCDEFGHIJKLMNOPQRSTUVWXYZÄ"), ("choices", "too-many-options", "at most 26")),
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


def mmlu(answer: Any, options: Any = ("so", "thus", "hence", "as"), **more: Any) -> dict[str, Any]:
    return {"question": "Why?", "choices": options, "answer": answer, **more}


def targets(found: LoadResult) -> list[int | tuple[str, ...]]:
    assert found.dataset.kind == "multiple_choice"
    return [sample.target for sample in found.dataset.samples]


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        ([mmlu(0), mmlu(3)], [0, 3]),
        ([mmlu("B")], [1]),
        ([mmlu("hence")], [2]),
        ([mmlu(["C"])], [2]),
        ([mmlu(4), mmlu(1)], [3, 0]),
        ([mmlu(0, {"text": ["a", "b"], "label": ["A", "B"]})], [0]),
        ([mmlu("B", {"A": "a", "B": "b"})], [1]),
        ([{"Question": "Why?", "Options": ["a", "b"], "Answer": "B"}], [1]),
        ([{"query": "Why?", "options": ["a", "b"], "correct_option": 0}], [0]),
        ([{"ctx": "He", "endings": ["runs", "sings"], "label": "1"}, mmlu(1)], [1]),
        ([{"question": "Why?", "choices": ["a", "b"], "answerKey": "A"}], [0]),
    ],
)
def test_a_list_of_options_is_multiple_choice(
    tmp_path: Path, records: list[dict[str, Any]], expected: list[int]
) -> None:
    assert targets(loaded(tmp_path, *records)) == expected


def test_a_question_of_the_hub_keeps_its_subject_and_is_no_question_of_ceval(
    tmp_path: Path,
) -> None:
    (sample,) = loaded(tmp_path, mmlu(0, subject="high_school_physics")).dataset.samples
    assert (sample.id, sample.subject) == ("high_school_physics/row-1", "high_school_physics")
    assert "ceval_subject" not in sample.metadata


def test_what_is_read_with_a_question_stands_before_it(tmp_path: Path) -> None:
    (sample,) = loaded(tmp_path, mmlu(0, passage="It rained.", source="radio")).dataset.samples
    assert sample.question == "It rained.\nWhy?"
    assert sample.metadata["source"] == "radio"
    assert "passage" not in sample.metadata


def test_what_is_assumed_of_numbers_is_noted_and_the_layout_decides(tmp_path: Path) -> None:
    found = loaded(tmp_path, mmlu(1))
    assert ([note.rule for note in found.notes], targets(found)) == (["counts-from-0"], [1])
    counted = load([tmp_path / "arc.jsonl"], layout=Layout(answer_key="index1"))
    assert (counted.notes, targets(counted)) == ((), [0])


def test_files_of_one_set_count_alike(tmp_path: Path) -> None:
    for name, answers in (("law_dev", (1, 2, 3)), ("law_val", (1, 4))):
        text = "\n".join(json.dumps(mmlu(answer, id=str(answer))) for answer in answers)
        (tmp_path / f"{name}.jsonl").write_text(text)
    found = load([tmp_path / "law_dev.jsonl", tmp_path / "law_val.jsonl"])
    assert [shot.target for shot in found.dataset.shots] == [0, 1, 2]
    assert targets(found) == [0, 3]
    assert "counts-from-0" not in {note.rule for note in found.notes}


def test_a_table_and_a_sheet_may_have_a_list_of_options_in_a_cell(tmp_path: Path) -> None:
    path = tmp_path / "quiz.csv"
    path.write_text("question,choices,answer\nWhy?,\"['so', 'thus']\",1\nHow?,\"['a', 'b']\",0\n")
    assert targets(load([path])) == [1, 0]
    book = Workbook()
    for row in (("question", "choices", "answer"), ("Why?", '["so", "thus"]', 0)):
        book.active.append(row)  # pyright: ignore[reportOptionalMemberAccess] - a new one has a sheet
    book.save(tmp_path / "quiz.xlsx")
    assert targets(load([tmp_path / "quiz.xlsx"])) == [0]


def test_a_column_of_options_without_a_list_is_never_an_open_question(tmp_path: Path) -> None:
    path = tmp_path / "qa.csv"
    path.write_text("question,options,answer\nWhy?,none,so\n")
    found = load([path])
    assert (found.dataset.kind, found.dataset.samples) == ("multiple_choice", ())
    assert [fault.rule for fault in found.faults] == ["confirm-options"]
    confirmed = with_columns(
        Layout(), {"question": "question", "options": "options", "answer": "answer"}
    )
    found = load([path], layout=confirmed)
    assert (found.dataset.kind, [fault.rule for fault in found.faults]) == (
        "multiple_choice",
        ["no-option-list"],
    )


@pytest.mark.parametrize(
    ("bad", "column", "rule"),
    [
        (mmlu(7), "answer", "answer-not-an-option"),
        (mmlu("A, C"), "answer", "answer-not-an-option"),
        (mmlu(0, "no list"), "choices", "no-option-list"),
        (mmlu(0, ["a"]), "", "too-few-options"),
        (mmlu(0, [*map(str, range(27))]), "choices", "too-many-options"),
        (mmlu(-1), "answer", "answer-not-an-option"),
    ],
)
def test_a_faulty_row_among_good_ones_is_told(
    tmp_path: Path, bad: dict[str, Any], column: str, rule: str
) -> None:
    found = loaded(tmp_path, mmlu(0, id="1"), mmlu(3, id="2"), bad)
    assert (found.faults[0].line, found.faults[0].column, found.faults[0].rule) == (3, column, rule)
    assert (len(found.dataset.samples), found.n_rows) == (2, 3)


def test_a_test_file_whose_answers_are_held_back_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "x_val.jsonl").write_text(json.dumps(mmlu(0)))
    (tmp_path / "x_test.jsonl").write_text(json.dumps(mmlu(-1)))
    found = load([tmp_path / "x_test.jsonl", tmp_path / "x_val.jsonl"])
    assert [note.rule for note in found.notes] == ["test-without-answers"]


def test_without_a_column_of_questions_no_other_column_is_one(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    row = {"was ist gefragt": "Why?", "choices": ["one", "two"], "label": "A"}
    path.write_text(json.dumps(row), encoding="utf-8")
    named = load([path], layout=Layout(option_list="choices"))
    assert not named.dataset.samples
    assert [fault.rule for fault in named.faults] == ["empty-question"]
