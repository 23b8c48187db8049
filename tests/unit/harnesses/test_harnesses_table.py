"""Answers in a CSV file whose columns are named."""

import csv
from pathlib import Path

import pytest
from harness_examples import figures_of, imported

from evalui.errors import SpecError
from evalui.harnesses import table_reader
from evalui.harnesses.base import LoggedAnswer
from evalui.runs.results import read_results
from evalui.store.connection import Database

COLUMNS = [
    *("id=key", "question=prompt", "options=one,two,three", "answer=right"),
    *("reply=output", "correct=ok", 'model="gpt-x"'),
]


def test_a_table_is_read_by_its_mapping(database: Database):
    run = imported(database, "table/answers.csv", reader=table_reader(COLUMNS))
    (result,) = read_results(database, run.run_id)
    assert (result.cell.model, result.cell.dataset) == ("gpt-x", "answers")
    targets = {name: sample.target for name, sample in result.samples.items()}
    assert targets == {"q1": 0, "q2": 1, "q3": 0}  # a letter, a text, a number
    assert [each.rule for each in run.left_out] == ["log-gold"]  # D of two options
    figure = figures_of(run, "answers")["", "correct"]
    assert (figure.printed, figure.marked, figure.ours) == (None, 2 / 3, 2 / 3)


def test_probabilities_of_letters_are_read(database: Database, tmp_path: Path):
    file = tmp_path / "p.csv"
    file.write_text("q,a,b,right,pa,pb\n1?,x,y,A,0.7,0.2\n2?,x,y,B,0.6,0.4\n", encoding="utf-8")
    mapping = ["question=q", "options=a,b", "answer=right", "probabilities=pa,pb"]
    run = imported(database, file, reader=table_reader(mapping))
    (result,) = read_results(database, run.run_id)
    assert result.trials[0].probabilities == pytest.approx((7 / 9, 2 / 9))
    assert result.trials[0].mass == pytest.approx(0.9)
    assert [trial.correct for trial in result.trials] == [True, False]


def test_written_answers_have_references(database: Database, tmp_path: Path):
    file = tmp_path / "w.csv"
    file.write_text("q,ref,out\nCapital?,Paris,Paris\n", encoding="utf-8")
    mapping = ["question=q", "reference=ref", "reply=out"]
    run = imported(database, file, reader=table_reader(mapping))
    (result,) = read_results(database, run.run_id)
    assert result.trials[0].scores["exact_match"] == (1.0,)


@pytest.mark.parametrize(
    ("mapping", "words"),
    [
        (["quesion=q"], "Not one of them: quesion=q"),
        (["reply=output"], "must name the columns for: question"),
        (["question=prompt", "reply=output"], "options and answer, or for reference"),
    ],
)
def test_a_mapping_that_lacks_something_says_what(mapping: list[str], words: str):
    with pytest.raises(SpecError, match=words):
        table_reader(mapping)


def test_a_column_that_is_not_there_is_named_with_those_that_are(database: Database):
    reader = table_reader(["question=prompt", "reference=right", "reply=answer"])
    with pytest.raises(SpecError, match=r"no column answer.*key, prompt, one"):
        imported(database, "table/answers.csv", reader=reader)


def test_a_reply_of_any_length_is_read_and_the_limit_of_uploads_stays(tmp_path: Path):
    csv.field_size_limit(131_072)
    path = tmp_path / "long.csv"
    path.write_text(f'question,reply,gold\n"{"x" * 200_000}","two\nlines",b\n\nq,r,g\n')
    (part,) = table_reader(["question=question", "reply=reply", "reference=gold"])([path])
    answers = [each for each in part.read() if isinstance(each, LoggedAnswer)]
    assert [len(each.question) for each in answers] == [200_000, 1]
    assert [each.id for each in answers] == ["3", "5"]  # the line on which each ends
    assert csv.field_size_limit() == 131_072
