"""`evalui check`: what a file is read as, what is wrong in it, and the JSON that pins it."""

import json
from pathlib import Path
from typing import Any

import pytest

from evalui.cli.main import main
from evalui.runs.spec import RunSpec
from evalui.runs.submit import read_datasets

GOOD = "question,A,B,answer\n" + "".join(f"Q{n}?,yes,no,{'AB'[n % 2]}\n" for n in range(8))
OWN = """Frage,erste,zweite,richtig
Hauptstadt von Norwegen?,Oslo,Rom,1
Hauptstadt von Italien?,Oslo,Rom,2
"""


@pytest.fixture
def check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    """Check a text, with more arguments: the exit code and what was printed."""

    def run(text: str, *arguments: str, name: str = "exam.csv") -> tuple[int, str]:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        code = main(["check", str(path), *arguments])
        out, err = capsys.readouterr()
        return code, out + err

    return run


def entry_of(output: str) -> dict[str, Any]:
    """The JSON that pins the reading."""
    return json.loads(output.strip().splitlines()[-1])


def test_the_first_questions_are_shown_as_they_are_asked(check: Any) -> None:
    code, output = check(GOOD)
    assert code == 0
    assert "exam (exam.csv): 8 of 8 rows can be used, multiple choice" in output
    assert "1. exam.csv, line 2\n   Q0?\n * A. yes\n   B. no\n" in output
    assert "4. exam.csv" not in output
    _, later = check(GOOD, "--from", "7", "--questions", "2")
    assert "8. exam.csv, line 9" in later
    assert "6. exam.csv" not in later


def test_questions_that_repeat_another_one_are_counted(check: Any) -> None:
    _, output = check(GOOD + "Q1?,no,yes,A\nQ1?,yes,maybe,A\n")
    assert "1 of 10 questions repeats another one: ranges and tests count them once." in output
    assert "another one" not in check(GOOD)[1]


def test_a_guess_is_shown_and_pinned_by_the_json(check: Any) -> None:
    code, output = check(OWN)
    assert code == 2  # `evalui run` would refuse it
    assert "This has to be confirmed: the columns are not clear" in output
    assert " * A. Oslo" in output
    spec = RunSpec.model_validate(
        {"version": 2, "datasets": [entry_of(output)], "models": ["x"], "mode": "cloze"}
    )
    (loaded,) = read_datasets(spec).values()
    assert [sample.target for sample in loaded.dataset.samples] == [0, 1]


def test_columns_are_chosen_by_their_roles(check: Any) -> None:
    roles = ("question=Frage", "A=erste", "B=zweite", "answer=richtig")
    options = [part for role in roles for part in ("--column", role)]
    code, output = check(OWN, *options)
    assert code == 0
    assert "a number from 1 (index1)" in output
    assert entry_of(output)["columns"]["question"] == "Frage"
    code, output = check(OWN, *options, "--answer-key", "text")
    assert code == 2
    assert "found “1”, expected the text of one of the options" in output


def test_faulty_rows_name_the_cure_that_helps(check: Any) -> None:
    code, output = check(GOOD + "Last?,yes,no,E\n")
    assert code == 2
    assert "exam.csv, line 10, column answer: found “E”" in output
    assert '"skip_faulty": true' in output
    code, output = check("question,A,B,answer\n" + "Q?,yes,no,E\n" * 7)
    assert code == 2
    assert "--column, --kind, --head-row, --sheet" in output
    assert "skip_faulty" not in output
    assert "and 2 more" in output


def test_commas_in_texts_are_accepted_by_a_flag(check: Any) -> None:
    rows = ("Is it, then?,yes,no,A", '"Is it, here?",no,yes, "B"', "Why, now?,a,b,A")
    text = "\n".join(("question,A,B,answer", *rows))
    code, output = check(text)
    assert code == 2
    assert "if a comma before a space belongs to the text, 3 of 3 rows are read" in output
    assert "--column, --kind" not in output
    code, output = check(text, "--commas-in-text")
    assert code == 0
    assert "1. exam.csv, line 2\n   Is it, then?\n * A. yes" in output
    assert entry_of(output)["commas_in_text"] is True


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--column", "colour=red"], "“colour=red” names no column."),
        (["--column", "question"], "“question” names no column."),
        (["--answer-key", "roman"], "roman"),
    ],
)
def test_what_cannot_be_chosen_is_refused(check: Any, arguments: list[str], problem: str) -> None:
    code, output = check(GOOD, *arguments)
    assert code == 2
    assert problem in output


def test_a_file_that_is_no_table_is_refused(check: Any) -> None:
    code, output = check("", name="empty.csv")
    assert (code, output) == (2, "evalui: empty.csv is empty.\n")


def test_open_questions_show_their_references_and_turns(check: Any) -> None:
    row = {"query": "And now?", "response": "Go.", "history": [["Hi", "Hello"]]}
    code, output = check(json.dumps(row) + "\n", name="qa.jsonl")
    assert code == 0
    assert "   [User] Hi\n   [Assistant] Hello\n   And now?\n * Reference: Go." in output


def test_each_entry_of_a_configuration_is_a_dataset_of_its_own(
    capsys: pytest.CaptureFixture[str],
) -> None:
    swift = Path(__file__).parents[3] / "assets" / "samples" / "swift"
    assert main(["check", str(swift)]) == 0
    output = capsys.readouterr().out
    assert output.count("can be used") == 2
    assert main(["check", str(swift), "--entry", "custom_ceval"]) == 0
    output = capsys.readouterr().out
    assert output.count("can be used") == 1
    assert entry_of(output)["entry"] == "custom_ceval"


@pytest.mark.parametrize(
    ("log", "harness"),
    [
        ("inspect/geography.eval", "Inspect"),
        ("lmeval", "lm-evaluation-harness"),
        ("opencompass/20261123_120000/predictions/pick-a/geography.json", "OpenCompass"),
        ("evalscope/reviews/mock/general_mcq_geography.jsonl", "EvalScope"),
        ("helm/geography/scenario_state.json", "HELM"),
    ],
)
def test_a_log_is_left_to_import(
    capsys: pytest.CaptureFixture[str], log: str, harness: str
) -> None:
    path = Path(__file__).parents[2] / "golden" / "harnesses" / log
    main(["check", str(path)])
    first, _, rest = capsys.readouterr().out.partition("\n")
    assert f"the log of a finished run ({harness})" in first
    assert f"`evalui import {path}`" in first
    assert "--column" not in rest


def test_replies_of_a_model_are_sent_to_the_place_for_them(check: Any) -> None:
    row = {"question_id": 1, "model_id": "model-m", "choices": [{"index": 0, "turns": ["Plum."]}]}
    code, output = check(json.dumps(row) + "\n", name="model-m.jsonl")
    assert code == 2
    assert "Answers you already have" in output
    assert "model_id = “model-m”" in output
    assert "--column" not in output


def test_it_speaks_chinese(check: Any) -> None:
    _, output = check(GOOD, "--language", "zh")
    assert "8 行中 8 行可用，选择题" in output
