"""Outputs of EvalScope: its figures, and letters that it reads where there are none."""

import json
from pathlib import Path

from harness_examples import figures_of, imported

from evalui.runs.results import read_results
from evalui.store.connection import Database


def test_the_marks_in_the_reviews_give_what_evalscope_printed(database: Database):
    figures = figures_of(imported(database, "evalscope"), "general_mcq")
    assert {key: figure.printed for key, figure in figures.items()} == {
        ("", "accuracy"): 0.25,
        ("geography", "accuracy"): 0.25,
        ("arithmetic", "accuracy"): 0.25,
    }
    assert all(figure.confirmed for figure in figures.values())


def test_a_letter_that_no_option_is_meant_by_is_the_reason_of_the_difference(database: Database):
    # Its mock model writes "Default output from mockllm/model", of which EvalScope reads "D".
    run = imported(database, "evalscope")
    figure = figures_of(run, "general_mcq")["", "accuracy"]
    assert (figure.ours, figure.differing, figure.unread) == (0.0, 4, 4)
    trial = read_results(database, run.run_id)[0].trials[0]
    assert trial.readings["tolerant"].choice is None
    assert trial.readings["harness"].choice == 3


def test_every_printed_text_figure_has_its_marks(database: Database):
    figures = figures_of(imported(database, "evalscope"), "general_qa")
    printed = [figure for figure in figures.values() if figure.printed is not None]
    assert len(printed) == 13
    assert all(figure.confirmed for figure in printed)
    assert {figure.reading for figure in printed} >= {"rouge-l-r", "bleu-4"}


def test_the_version_is_that_of_the_configuration(database: Database):
    run = imported(database, "evalscope")
    assert {source.version for _, source in run.sources} == {"1.14.1"}


def test_earlier_versions_have_a_text_as_input_and_another_name_of_the_mean(
    database: Database, tmp_path: Path
):
    review = {
        "index": 4,
        "input": "Question: 1+1?\nA) 2\nB) 3\n",
        "target": "A",
        "sample_score": {
            "score": {"value": {"acc": 1.0}, "prediction": "ANSWER: A", "extracted_prediction": "A"}
        },
    }
    report = {
        "model_name": "m",
        "metrics": [{"name": "mean_acc", "score": 1.0, "num": 1, "categories": []}],
    }
    for name, values in (("reviews", review), ("reports", report)):
        (tmp_path / name / "m").mkdir(parents=True)
        file = "arc_easy.jsonl" if name == "reviews" else "arc.json"
        (tmp_path / name / "m" / file).write_text(json.dumps(values) + "\n")
    run = imported(database, tmp_path)
    figure = figures_of(run, "arc")["", "acc"]
    assert (figure.printed, figure.confirmed, figure.ours) == (1.0, True, 1.0)
    (result,) = read_results(database, run.run_id)
    assert list(result.samples) == ["4"]
