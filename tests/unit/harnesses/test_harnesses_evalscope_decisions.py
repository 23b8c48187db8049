"""Runs of EvalScope against models that only decide: what is read of them."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from harness_examples import LOGS, figures_of, imported

from evalui.datasets.model import Limits
from evalui.errors import DataError
from evalui.harnesses.base import LoggedAnswer
from evalui.harnesses.evalscope import read_evalscope
from evalui.harnesses.files import opened_files
from evalui.report.analyses.imported import imported_blocks
from evalui.report.analyses.left_out import left_out_sentences
from evalui.runs.results import read_results
from evalui.store.connection import Database
from evalui.types import Decision

DECISIONS = LOGS.parent / "evalscope_decisions"


def test_a_choice_is_a_question_with_the_probabilities_of_its_options(database: Database):
    run = imported(database, DECISIONS / "choices")
    (result,) = read_results(database, run.run_id)
    assert len(result.trials) == 120
    sample, trial = result.samples["choices-1"], result.trials[0]
    assert (sample.question, sample.choices) == (
        "sum: 75 + 89\n\nWhich is the sum?",
        ("164", "167"),
    )
    assert trial.probabilities == pytest.approx((0.6415172446332439, 0.3584827553667561))
    assert trial.reply == "first"
    assert trial.readings["forced"].choice == trial.readings["tolerant"].choice == 0


def test_a_decision_is_as_the_server_gave_it():
    with opened_files([DECISIONS / "choices"], Limits()) as files:
        first = next(read_evalscope(files)[0].read())
    assert isinstance(first, LoggedAnswer)
    assert first.decision == Decision((0.6415172446332438, 0.3584827553667561), 0, confidence=0.821)


def test_the_signature_says_that_options_were_decided_between(database: Database):
    run = imported(database, DECISIONS / "choices")
    ((cell, source),) = run.sources
    assert "|spell:decision|" in cell.signature
    assert source.version == "1.14.1"


def test_what_was_rounded_is_kept_as_it_was_given(database: Database):
    run = imported(database, DECISIONS / "choices")
    (result,) = read_results(database, run.run_id)
    masses = [trial.mass for trial in result.trials if trial.mass is not None]
    assert len(masses) == 120
    assert sum(abs(mass - 1) > 0.005 for mass in masses) > 5
    assert all(sum(trial.probabilities) == pytest.approx(1) for trial in result.trials)


def test_the_marks_in_the_reviews_give_what_evalscope_printed_of_decisions(database: Database):
    figures = figures_of(imported(database, DECISIONS / "choices"), "general_decision")
    assert [name for (_, name), each in figures.items() if each.confirmed] == [
        "acc",
        "nll",
        "brier",
    ]
    assert figures["", "acc"].ours == pytest.approx(64 / 120)


@pytest.mark.parametrize("name", ["nll", "brier", "ece", "aurc"])
@pytest.mark.parametrize(
    ("folder", "dataset", "subject"),
    [
        ("choices", "general_decision", ""),
        ("kinds", "general_decision", "sums"),
        ("kinds", "general_decision", "more"),
        ("decide", "general_decision", "sums"),
        ("published", "boolq", ""),
    ],
)
def test_figures_of_calibration_are_evalscopes_to_the_last_digit(
    database: Database, folder: str, dataset: str, subject: str, name: str
):
    figure = figures_of(imported(database, DECISIONS / folder), dataset)[subject, name]
    assert figure.printed is not None
    assert figure.ours is not None
    assert figure.is_printed_as(figure.ours)


def test_figures_of_calibration_are_evalscopes_in_all_their_digits(database: Database):
    figures = figures_of(imported(database, DECISIONS / "choices"), "general_decision")
    stated = json.loads((DECISIONS / "figures_python_3_12.json").read_text())
    ours = {name: figures["", name].ours for name in ("nll", "brier", "ece", "aurc")}
    assert ours == pytest.approx({name: stated[name] for name in ours}, abs=1e-14)
    # Its sums round at each step in Python 3.11, so that equal probabilities come one by one.
    earlier = json.loads((DECISIONS / "figures_python_3_11.json").read_text())
    assert abs(earlier["aurc"] - stated["aurc"]) > 5e-5


def test_evalscope_averages_over_subsets_what_is_no_mean(database: Database):
    run = imported(database, DECISIONS / "kinds")
    figure = figures_of(run, "general_decision")["", "ece"]
    assert (figure.printed, figure.ours) == (0.3713, pytest.approx(0.26057, abs=1e-5))
    table = "".join(map(str, imported_blocks(read_results(database, run.run_id), [{}, {}], "en")))
    assert "the harness averages it over subsets" in table


def test_yes_or_no_has_a_brier_score_and_an_error_of_its_own(database: Database):
    figures = figures_of(imported(database, DECISIONS / "kinds"), "general_decision noul")
    assert [name for (subject, name), each in figures.items() if not subject and each.ours] == [
        "nll",
        "aurc",
        "acc",
    ]
    assert all(
        figures["", name].is_printed_as(figures["", name].ours or 0) for name in ("nll", "aurc")
    )


def test_questions_for_yes_or_no_are_a_dataset_of_their_own(database: Database):
    run = imported(database, DECISIONS / "kinds")
    choices, yes_no = read_results(database, run.run_id)
    assert (choices.cell.dataset, len(choices.trials)) == ("general_decision", 28)
    assert (yes_no.cell.dataset, len(yes_no.trials)) == ("general_decision noul", 16)
    sample = yes_no.samples["checks/checks-1"]
    assert sample.choices == ("no", "yes")
    assert sample.question == "72 + 12 is 84\n\nIs the sum right?"
    assert yes_no.trials[0].probabilities == pytest.approx((0.01, 0.99))
    figures = figures_of(run, "general_decision noul")
    assert figures["checks", "acc"].printed == figures["checks", "acc"].ours == 13 / 16
    assert figures["", "recall"].printed == 1.0


def test_levels_on_a_scale_are_left_out_and_counted(database: Database):
    run = imported(database, DECISIONS / "kinds")
    (sentence,) = left_out_sentences(run.left_out, "en")
    assert "a level on a scale, which evalui does not score: 6" in sentence


def test_the_share_that_is_right_is_no_figure_of_one_kind_where_there_are_several(
    database: Database,
):
    figures = figures_of(imported(database, DECISIONS / "kinds"), "general_decision")
    assert figures["", "acc"].printed is None
    assert figures["sums", "acc"].printed == figures["sums", "acc"].ours == 0.75
    assert ("levels", "acc") not in figures


def test_what_evalscope_took_for_errors_is_counted(database: Database):
    # Of sixteen answers, two each refuse, lack an option, sum to 0.8, name another option than the
    # most probable, or are an error of the server: EvalScope drops all of them.
    run = imported(database, DECISIONS / "faulty")
    (sentence,) = left_out_sentences(run.left_out, "en")
    assert sentence.startswith("Questions of general_decision that EvalScope took for errors")
    assert " 1: 10. " in sentence
    (result,) = read_results(database, run.run_id)
    assert len(result.trials) == 6


def test_of_options_that_tie_evalscope_takes_the_first_by_name(database: Database):
    run = imported(database, DECISIONS / "faulty")
    figure = figures_of(run, "general_decision")["", "acc"]
    assert (figure.printed, figure.ours) == (0.1667, pytest.approx(2 / 6))
    assert (figure.differing, figure.tied, figure.unread) == (2, 2, 0)


def test_the_other_form_of_server_leaves_the_same_reviews(database: Database):
    run = imported(database, DECISIONS / "decide")
    choices, yes_no = read_results(database, run.run_id)
    assert (len(choices.trials), len(yes_no.trials)) == (12, 6)
    assert all(trial.probabilities for trial in (*choices.trials, *yes_no.trials))


def test_benchmarks_of_letters_are_read_and_more_than_26_options_are_not(database: Database):
    run = imported(database, DECISIONS / "published")
    (result,) = read_results(database, run.run_id)
    assert (result.cell.dataset, len(result.trials)) == ("boolq", 10)
    sample = next(iter(result.samples.values()))
    assert sample.choices == ("Yes", "No")
    assert sample.question.startswith("question: Passage:\nThey say that 79 + 55 is 144.")
    (sentence,) = left_out_sentences(run.left_out, "en")
    assert "banking77 with more than 26 options: 2" in sentence


def test_a_run_of_levels_alone_says_that_they_are_not_scored(database: Database, tmp_path: Path):
    folder = tmp_path / "reviews" / "m"
    folder.mkdir(parents=True)
    reviews = DECISIONS / "kinds/reviews/seeded-decider/general_decision_levels.jsonl"
    (folder / "levels.jsonl").write_bytes(reviews.read_bytes())
    with pytest.raises(DataError, match="a level on a scale"):
        imported(database, tmp_path)


def test_the_area_by_the_models_own_confidence_stands_beside(database: Database):
    figures = figures_of(imported(database, DECISIONS / "choices"), "general_decision")
    assert figures["", "aurc (confidence)"].printed == 0.327
    assert figures["", "aurc (confidence)"].ours is None


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"gold": "sixth"}, "disagree with the right answer"),
        ({"labels": ["first", "sixth"]}, "missing from the log"),
        ({"raw_probabilities": {"first": 1.5, "second": -0.5}}, "Damaged or unusable"),
        ({"raw_probabilities": {"first": 1.0}}, "Damaged or unusable"),
    ],
)
def test_a_decision_that_contradicts_itself_is_left_out(
    database: Database, tmp_path: Path, more: dict[str, Any], why: str
):
    first, second = _reviews("choices")[:2]
    first["sample_score"]["score"]["metadata"]["decision"] |= more
    run = imported(database, _write(tmp_path / "own", [first, second]))
    (sentence,) = left_out_sentences(run.left_out, "en")
    assert why in sentence
    assert "general_decision.jsonl:1" in sentence
    assert len(read_results(database, run.run_id)[0].trials) == 1


def test_worked_examples_stay_in_the_log(database: Database, tmp_path: Path):
    (review, *_) = _reviews("published", "boolq_default.jsonl")
    asked = review["messages"][0]["internal"]["systemone"]
    asked["state"] = {"question": "Is it so?", "examples": ["Was it so? Yes"]}
    run = imported(database, _write(tmp_path / "own", [review]))
    (sample,) = read_results(database, run.run_id)[0].samples.values()
    assert sample.question.startswith("question: Is it so?\n\nAnswer the question")


def test_what_is_no_text_is_shown_as_it_was_sent(database: Database, tmp_path: Path):
    review = _reviews("choices")[0]
    review["messages"][0]["internal"]["systemone"]["state"] = {"sums": [1, "二"]}
    run = imported(database, _write(tmp_path / "own", [review]))
    (sample,) = read_results(database, run.run_id)[0].samples.values()
    assert sample.question == '{"sums": [1, "二"]}\n\nWhich is the sum?'


def test_runs_in_two_orders_are_one_with_the_figures_of_each(database: Database, tmp_path: Path):
    reviews = _reviews("choices")
    figure = figures_of(imported(database, _write(tmp_path / "a", reviews)), "general_decision")
    one_order = figure["", "nll"].ours
    turned = _reviews("choices")
    for review in turned:
        asked = review["messages"][0]["internal"]["systemone"]
        asked["criteria"] = dict(reversed(asked["criteria"].items()))
        review["sample_score"]["score"]["metadata"]["decision"]["labels"].reverse()
        # Another answer: all of the probability is with the first option.
        held = review["sample_score"]["score"]["metadata"]["decision"]
        held["raw_probabilities"] = dict.fromkeys(held["labels"], 0.0)
        held["raw_probabilities"][held["labels"][0]] = 1.0
    run = imported(database, tmp_path / "a", _write(tmp_path / "b", turned))
    ((cell, _),) = run.sources
    figures = figures_of(run, "general_decision")
    assert cell.pattern != "origin"
    assert figures["", "nll"].ours == one_order
    assert (figures["", "nll (2)"].ours or 0) > 10


def _reviews(folder: str, name: str = "general_decision_default.jsonl") -> list[dict[str, Any]]:
    path = DECISIONS / folder / "reviews/seeded-decider" / name
    return [json.loads(line) for line in path.read_text().splitlines()]


def _write(folder: Path, reviews: Sequence[Mapping[str, Any]]) -> Path:
    """A folder of EvalScope with reviews, and no report."""
    path = folder / "reviews" / "m" / "general_decision.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text("".join(json.dumps(review) + "\n" for review in reviews))
    return folder
