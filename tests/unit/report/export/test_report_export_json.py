import json

import pytest
from bias_examples import cell_result, fond, right, with_probabilities

from evalui.report.export.json import (
    all_metrics_object,
    cell_object,
    encode,
    metrics_object,
)
from evalui.scoring.cell_summary import summarise
from evalui.scoring.comparisons import comparisons

_PICKS = {"q0": "right", "q1": [0, 0, None, "tie"]}


def test_opencompass_figures_come_first(make_result):
    summary = summarise(make_result(_PICKS))
    told = metrics_object(summary)
    assert list(told)[: len(summary.metrics)] == list(summary.metrics)
    assert told["acc_origin"] == summary.metrics["acc_origin"]


def test_ours_are_in_per_cent_too(make_result):
    summary = summarise(make_result(_PICKS))
    told = metrics_object(summary)
    assert (told["n"], told["n_all_orders"], told["trials"]) == (2, 2, 8)
    assert told["robust"] == pytest.approx(50)
    assert told["chance"] == 25
    assert (told["unreadable"], told["tied"]) == (1, 1)
    assert told["ranges"]["robust"] == [100 * summary.robust.low, 100 * summary.robust.high]


def test_positions_keep_their_counts(make_result):
    (table,) = metrics_object(summarise(make_result(_PICKS)))["positions"]
    assert sum(map(sum, table["counts"])) + sum(table["unreadable"]) + sum(table["tied"]) == 8


def test_a_cell_says_what_it_is_and_how_it_was_made(make_result):
    told = cell_object(summarise(make_result(_PICKS)))
    assert (told["dataset"], told["model"], told["mode"]) == ("d", "m", "generation")
    assert told["signature"] == "d@1|mode:generation|model:m"


def test_a_cell_without_answers_is_json_all_the_same(make_result):
    told = cell_object(summarise(make_result({}, state="failed", error="Out of memory.")))
    assert json.loads(json.dumps(told, allow_nan=False))["figures"]["robust"] is None


def test_groups_have_both_means(make_result):
    subjects = {"q0": {"subject": "law"}, "q1": {"subject": "art"}}
    told = metrics_object(summarise(make_result(_PICKS, subjects=subjects)))["groups"]
    assert [group["kind"] for group in told] == ["subject", "subject", "all"]
    assert set(told[-1]) >= {"micro", "macro"}


def test_a_cells_object_has_its_bias_with_the_ranges_of_the_prior():
    summary = summarise(with_probabilities(cell_result(fond)))
    (bias,) = cell_object(summary)["figures"]["bias"]
    found = summary.main_bias
    assert (bias["light"], bias["permutation_p"]) == ("red", found.tests.permutation.p)
    assert bias["rstd_floor95"] == found.tests.permutation.rstd_95
    assert bias["prior"]["pride_prior_ranges"][0][0] < bias["prior"]["pride_prior"][0]
    assert sum(bin_["n"] for bin_ in bias["calibration"]["bins"]) == 120
    assert bias["consistency"]["grid_rows_position_columns_content"][3][0] == 60


def test_all_figures_are_json_whatever_the_cell(make_result):
    for result in (
        cell_result(lambda *_: None, n=3),
        cell_result(lambda *_: 0, options=2),
        cell_result(right, pattern="origin"),
        make_result({}),
    ):
        told = all_metrics_object(summarise(result))
        assert json.loads(json.dumps(told, allow_nan=False)) == told


def test_pairs_and_ranks_are_an_object():
    made = [("sure", right), ("fond", fond), ("A", lambda *_: 0)]
    summaries = [summarise(cell_result(pick, model=model)) for model, pick in made]
    (found,) = comparisons(summaries)
    told = encode(found)
    first = told["pairs"][0]
    assert (first["first"], first["second"], first["n"]) == ("sure", "fond", 120)
    assert first["points"] == pytest.approx(50)
    assert first["p"] < first["p_holm"]
    assert first["mcnemar"]["first_only"] == 60
    assert [rank["model"] for rank in told["ranks"]] == ["sure", "fond"]
    assert told["not_ranked"] == {"A": "guessing"}
    json.dumps(told, allow_nan=False)


def test_what_is_not_compared_is_told_with_the_reason():
    summaries = [
        summarise(cell_result(right)),
        summarise(cell_result(fond, model="n", signature="e@1|mode:generation")),
    ]
    (found,) = comparisons(summaries)
    (refused,) = encode(found)["not_compared"]
    assert (refused["first"], refused["second"]) == ("m", "n")
    assert "dataset" in refused["differs"]
