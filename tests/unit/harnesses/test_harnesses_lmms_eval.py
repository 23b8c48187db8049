"""Samples of lmms-eval: replies, marks of each filter, and the figures that it printed."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from harness_examples import LOGS, figures_of, imported

from evalui.errors import DataError
from evalui.harnesses.importing import ImportedRun
from evalui.report.analyses.left_out import left_out_sentences
from evalui.runs.results import read_results
from evalui.store.connection import Database
from evalui.store.runs import read_left_out
from evalui.types import CellResult

GOLDEN = LOGS.parent / "lmms_eval"
(PRINTED,) = GOLDEN.glob("*/*_results.json")


def results_of(database: Database, run: ImportedRun) -> Mapping[str, CellResult]:
    return {each.cell.dataset: each for each in read_results(database, run.run_id)}


def line(number: int = 0, **more: Any) -> dict[str, Any]:
    return {
        "doc_id": number,
        "target": "A",
        "filtered_resps": "A",
        "doc_hash": "0",
        "exact_match": 1.0,
        "input": f"Which is in picture {number}?\nA. boat\nB. lamp\nAnswer with the letter.",
    } | more


def write_samples(folder: Path, *lines: Mapping[str, Any], **results: Any) -> Path:
    """A log of one task, `things`, with its results if any are given."""
    samples = "".join(json.dumps(each) + "\n" for each in lines)
    (folder / "20260101_000000_samples_things.jsonl").write_text(samples)
    if results:
        (folder / "20260101_000000_results.json").write_text(json.dumps(results))
    return folder


def test_the_marks_give_every_printed_mean(database: Database):
    run = imported(database, GOLDEN)
    printed = json.loads(PRINTED.read_text())["results"]
    read = {
        (dataset, subject, name): figure
        for dataset in {cell.dataset for cell, _ in run.sources}
        for (subject, name), figure in figures_of(run, dataset).items()
    }
    stated = {
        (*(("seeded_letters", place) if place else (task, "")), name): value
        for task, values in printed.items()
        for name, value in values.items()
        if "," in name and "_stderr" not in name
        for place in [task.removeprefix("seeded_letters_").removeprefix(task)]
    }
    assert {key: figure.printed for key, figure in read.items()} == stated
    unconfirmed = [key[2] for key, figure in read.items() if not figure.confirmed]
    assert unconfirmed == ["yes_ratio,none"]  # no mean of the marks beside it


@pytest.mark.parametrize(
    ("dataset", "name"),
    [
        ("seeded_letters", "exact_match,none"),
        ("seeded_filters", "exact_match,first-letter"),
        ("seeded_thoughts", "exact_match,none"),
        ("seeded_written", "exact_match,none"),
    ],
)
def test_evalui_gives_the_printed_figure(database: Database, dataset: str, name: str):
    figure = figures_of(imported(database, GOLDEN), dataset)["", name]
    assert figure.printed == figure.ours
    assert figure.differing == 0


def test_replies_have_their_thoughts(database: Database):
    results = results_of(database, imported(database, GOLDEN))
    replies = [trial.reply for trial in results["seeded_thoughts"].trials]
    assert "<think>Perhaps B.</think>C" in replies


def test_it_is_stated_that_replies_are_filtered(database: Database):
    run = imported(database, GOLDEN)
    missing = {cell.dataset: source.missing for cell, source in run.sources}
    assert "unfiltered" in missing["seeded_filters"]
    assert "unfiltered" not in missing["seeded_letters"]
    replies = {trial.reply for trial in results_of(database, run)["seeded_filters"].trials}
    assert replies <= {*"ABCD"}  # "It is A" stands in no line of the first filter


def test_tasks_of_a_group_are_its_subjects(database: Database):
    letters = results_of(database, imported(database, GOLDEN))["seeded_letters"]
    assert letters.cell.model == "seeded/vlm-7b"
    assert len(letters.samples) == 16
    sample = letters.samples["seeded_letters_indoor/0"]
    assert (sample.subject, sample.question) == ("indoor", "Which thing is in picture 0?")
    assert sample.choices == ("ladder", "wagon", "boat", "bridge")
    assert sample.target == 3


def test_several_replies_are_repeats(database: Database, tmp_path: Path):
    repeated = line(resps=[["A"], ["B"]], filtered_resps=["A", "B"])
    run = imported(database, write_samples(tmp_path, repeated))
    first, second = read_results(database, run.run_id)
    assert [each.trials[0].reply for each in (first, second)] == ["A", "B"]


def test_several_right_answers_are_references(database: Database, tmp_path: Path):
    asked = line(input="Which sign?", target="['stop', 'halt']", filtered_resps="halt")
    run = imported(database, write_samples(tmp_path, asked))
    (result,) = read_results(database, run.run_id)
    assert result.samples["0"].target == ("stop", "halt")


@pytest.mark.parametrize(
    ("more", "reason"),
    [
        ({"input": "Which?"}, "options"),
        ({"target": "E"}, "right answer"),
        ({"filtered_resps": [["-1.0", "True"], 3]}, "without an answer"),
        ({"doc_id": 0}, "the id of another answer"),
    ],
)
def test_answers_that_cannot_be_used_have_their_line(
    database: Database, tmp_path: Path, more: dict[str, Any], reason: str
):
    run = imported(database, write_samples(tmp_path, line(), line(1, **more)))
    (result,) = read_results(database, run.run_id)
    (sentence,) = left_out_sentences(read_left_out(database, run.run_id), "en")
    assert len(result.trials) == 1
    assert "20260101_000000_samples_things.jsonl:2" in sentence
    assert reason in sentence


def test_a_damaged_line_is_left_out(database: Database, tmp_path: Path):
    folder = write_samples(tmp_path, line())
    with (folder / "20260101_000000_samples_things.jsonl").open("a") as samples:
        samples.write('{"doc_id": 1,')
    run = imported(database, folder)
    (sentence,) = left_out_sentences(read_left_out(database, run.run_id), "en")
    assert "things.jsonl:2" in sentence


def test_results_alone_say_what_they_lack(database: Database):
    with pytest.raises(DataError, match="--log_samples"):
        imported(database, PRINTED)


def test_scored_options_are_refused_by_their_method(database: Database, tmp_path: Path):
    configs = {"things": {"output_type": "multiple_choice"}}
    scored = line(filtered_resps=[["1.0", "False"], ["2.0", "False"]])
    folder = write_samples(tmp_path, scored, results={}, configs=configs, lmms_eval_version="x@1")
    with pytest.raises(DataError, match="by the method multiple_choice"):
        imported(database, folder)


def test_the_version_is_that_of_the_results(database: Database, tmp_path: Path):
    folder = write_samples(
        tmp_path, line(), results={}, lmms_eval_version="main@75571cfe", model_name="m"
    )
    ((cell, source),) = imported(database, folder).sources
    assert (cell.model, source.version) == ("m", "main@75571cfe")
    of_package = imported(database, GOLDEN).sources
    assert {source.version for _, source in of_package} == {""}
