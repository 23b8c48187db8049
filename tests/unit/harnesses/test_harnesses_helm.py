"""Runs of HELM: letters after all options, and what is not read."""

import json
from pathlib import Path
from shutil import copytree

import pytest
from harness_examples import LOGS, figures_of, imported

from evalui.errors import DataError
from evalui.report.analyses.left_out import left_out_sentences
from evalui.runs.results import read_results
from evalui.store.connection import Database


def test_the_marks_of_instances_give_what_helm_printed(database: Database):
    figures = figures_of(imported(database, "helm"), "geography")
    assert {name: figure.printed for (_, name), figure in figures.items()} == {
        "exact_match": 0.25,
        "quasi_exact_match": 0.25,
        "prefix_exact_match": 0.25,
        "quasi_prefix_exact_match": 0.25,
    }
    assert all(figure.confirmed for figure in figures.values())


def test_a_sentence_that_helm_does_not_read_is_the_difference(database: Database):
    # "It is B" is right, and no letter alone.
    figure = figures_of(imported(database, "helm"), "geography")["", "exact_match"]
    assert (figure.ours, figure.differing) == (0.375, 1)


def test_the_order_of_the_references_is_the_own_one(database: Database, tmp_path: Path):
    folder = tmp_path / "geography"
    copytree(LOGS / "helm/geography", folder)
    path = folder / "scenario_state.json"
    state = json.loads(path.read_text())
    request = state["request_states"][0]
    request["output_mapping"] = dict(
        zip("ABCD", ["Rome", "Madrid", "Berlin", "Paris"], strict=True)
    )
    path.write_text(json.dumps(state))
    run = imported(database, folder)
    (result,) = read_results(database, run.run_id)
    trial = result.trials[0]
    assert (trial.variant.permutation, trial.target) == ((1, 2, 3, 0), 3)
    assert result.samples["geography-0"].choices == ("Paris", "Rome", "Madrid", "Berlin")


def test_a_printed_figure_is_that_of_its_split(database: Database, tmp_path: Path):
    folder = tmp_path / "geography"
    copytree(LOGS / "helm/geography", folder)
    state = json.loads((folder / "scenario_state.json").read_text())
    marks = json.loads((folder / "per_instance_stats.json").read_text())
    own = {"geography-0", "geography-1"}  # one of the two is right
    for request in state["request_states"]:
        if request["instance"]["id"] in own:
            request["instance"]["split"] = "valid"
    for each in marks:
        for stat in each["stats"] if each["instance_id"] in own else []:
            stat["name"]["split"] = "valid"
    (folder / "scenario_state.json").write_text(json.dumps(state))
    (folder / "per_instance_stats.json").write_text(json.dumps(marks))
    stats = [
        {"name": {"name": "exact_match", "split": "valid"}, "mean": 0.5},
        {"name": {"name": "exact_match", "split": "test"}, "mean": 1 / 6},
    ]
    (folder / "stats.json").write_text(json.dumps(stats))
    figures = figures_of(imported(database, folder), "geography")
    valid, test = (figures["", f"exact_match,{split}"] for split in ("valid", "test"))
    assert (valid.printed, valid.marked, valid.n) == (0.5, 0.5, 2)
    assert (test.printed, test.n, test.confirmed) == (1 / 6, 6, True)


def test_every_completion_of_a_request_is_kept(database: Database, tmp_path: Path):
    folder = tmp_path / "geography"
    copytree(LOGS / "helm/geography", folder)
    path = folder / "scenario_state.json"
    state = json.loads(path.read_text())
    state["request_states"][0]["result"]["completions"] += [{"text": "B"}]
    path.write_text(json.dumps(state))
    first, second = read_results(database, imported(database, folder).run_id)
    assert [trial.reply for trial in second.trials] == ["B"]
    assert len(first.trials) == 8


def test_a_run_of_another_adapter_is_left_out_of_a_suite_by_name(
    database: Database, tmp_path: Path
):
    state = {"adapter_spec": {"method": "ranking_binary"}, "request_states": [{}, {}]}
    for name in ("a_ranked", "z_ranked"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "scenario_state.json").write_text(json.dumps(state))
    copytree(LOGS / "helm/geography", tmp_path / "geography")
    run = imported(database, tmp_path)
    assert [cell.dataset for cell, _ in run.sources] == ["geography"]
    others = [(each.rule, each.dataset, each.what, each.rows) for each in run.left_out]
    assert others == [
        ("log-helm-method", "a_ranked", "ranking_binary", 2),
        ("log-helm-method", "z_ranked", "ranking_binary", 2),
    ]
    assert left_out_sentences(run.left_out, "en")[0] == (
        "a_ranked was run with the adapter ranking_binary, which is not read: 2 answers."
        " Those with multiple_choice_joint and generation are."
    )


def test_another_adapter_is_named(database: Database, tmp_path: Path):
    state = {"adapter_spec": {"method": "ranking_binary"}, "request_states": [{}]}
    (tmp_path / "scenario_state.json").write_text(json.dumps(state))
    with pytest.raises(DataError, match="ranking_binary"):
        imported(database, tmp_path)
