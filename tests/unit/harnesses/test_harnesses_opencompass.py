"""Outputs of OpenCompass: circular figures from prompts alone, orders by the texts of options."""

import json
from pathlib import Path
from shutil import copytree

import pytest
from harness_examples import LOGS, figures_of, imported, report_of

from evalui.errors import DataError
from evalui.runs.results import read_results
from evalui.store.connection import Database

RUN = "opencompass/20261123_120000"


def test_all_seven_circular_figures_are_those_of_opencompass(database: Database):
    run = imported(database, RUN)
    circular = report_of(database, run).summaries[0]
    printed = json.loads((LOGS / RUN / "results/pick-a/geography-circular.json").read_text())
    assert len(printed) == 7
    assert {name: circular.metrics[name] for name in printed} == pytest.approx(printed)
    figures = figures_of(run, "geography-circular")
    assert {name: 100 * (figures["", name].ours or 0) for name in printed} == pytest.approx(printed)


def test_rows_of_one_question_are_its_orders(database: Database):
    run = imported(database, RUN)
    circular, plain = read_results(database, run.run_id)
    assert (circular.cell.pattern, plain.cell.pattern) == ("circular", "origin")
    assert len(circular.samples) == len(plain.samples) == 8
    assert len(circular.trials) == 32
    first = [trial.variant.permutation for trial in circular.trials[:4]]
    assert first == [(0, 1, 2, 3), (3, 0, 1, 2), (2, 3, 0, 1), (1, 2, 3, 0)]


def test_a_circular_run_shows_its_bias(database: Database):
    report = report_of(database, imported(database, RUN))
    assert report.summaries[0].robust
    assert report.summaries[0].order_sensitivity
    assert report.summaries[0].bias


def test_the_marks_of_details_give_the_printed_accuracy(database: Database):
    figure = figures_of(imported(database, RUN), "geography")["", "accuracy"]
    assert (figure.printed, figure.confirmed, figure.ours) == (37.5, True, 0.375)


def test_results_without_predictions_say_what_to_name(database: Database, tmp_path: Path):
    copytree(LOGS / RUN / "results", tmp_path / "results")
    with pytest.raises(DataError, match="predictions and results"):
        imported(database, tmp_path)


def test_predictions_of_several_workers_are_one_dataset(database: Database, tmp_path: Path):
    folder = tmp_path / "predictions" / "pick-a"
    folder.mkdir(parents=True)
    source = LOGS / RUN / "predictions/pick-a/geography.json"
    rows = list(json.loads(source.read_text()).values())
    for piece, part in enumerate((rows[:4], rows[4:])):
        numbered = {str(number): row for number, row in enumerate(part)}
        (folder / f"geography_{piece}.json").write_text(json.dumps(numbered))
    run = imported(database, tmp_path)
    (result,) = read_results(database, run.run_id)
    assert (result.cell.dataset, len(result.trials)) == ("geography", 8)


def test_labels_chosen_by_perplexity_are_replies(database: Database, tmp_path: Path):
    text = "Question: 1+1?\nA. 2\nB. 3\nAnswer: "
    label = {letter: {"testing input": text + letter, "PPL": 1.0} for letter in "AB"}
    row = {f"label: {letter}": each for letter, each in label.items()}
    folder = tmp_path / "predictions" / "m"
    folder.mkdir(parents=True)
    (folder / "sums.json").write_text(json.dumps({"0": row | {"prediction": "B", "gold": "A"}}))
    run = imported(database, tmp_path)
    (result,) = read_results(database, run.run_id)
    # A perplexity of a whole prompt is no probability of its letter.
    assert (result.cell.mode, result.trials[0].probabilities) == ("generation", ())
    assert (result.trials[0].choice, result.trials[0].target) == (1, 0)
    assert result.samples["1"].question == "1+1?"
