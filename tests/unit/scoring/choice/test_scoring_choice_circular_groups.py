from typing import Any

import pytest
from scoring_examples import golden

from evalui.scoring.choice.circular import group_means

CASES = golden("opencompass/circular_summary.json")["cases"]
GROUPS = [
    pytest.param(case, model, group, id=f"{case['missing']}-{model}-{group['name']}")
    for case in CASES
    for model in case["models"]
    for group in case["groups"]
]
METRICS = {"maths": {"acc": 80.0, "perf": 40.0}, "law": {"acc": 50.0, "perf": 10.0}}


@pytest.mark.parametrize(("case", "model", "group"), GROUPS)
def test_the_macro_mean_is_opencompass_group(case: Any, model: str, group: Any):
    metrics = case["per_dataset"][model]
    members = group["subsets"]
    means = group_means(metrics, dict.fromkeys(metrics, 10), members)
    expected = case["group_results"][model].get(group["name"])
    assert bool(means.missing) == (expected is None)
    if expected:  # naive_average is acc_origin again
        wanted = {name: value for name, value in expected.items() if name != "naive_average"}
        assert dict(means.macro) == pytest.approx(wanted, abs=1e-9)


def test_the_micro_mean_weighs_subjects_by_their_questions():
    means = group_means(METRICS, {"maths": 30, "law": 10}, ["maths", "law"])
    assert dict(means.micro) == {"acc": 72.5, "perf": 32.5}
    assert dict(means.macro) == {"acc": 65.0, "perf": 25.0}
    assert means.n == 40


def test_a_missing_member_is_named_and_the_rest_still_has_a_mean():
    means = group_means(METRICS, {"maths": 30, "law": 10}, ["law", "art"])
    assert (means.present, means.missing) == (("law",), ("art",))
    assert dict(means.macro) == METRICS["law"]


def test_a_figure_that_one_member_lacks_has_no_mean():
    metrics = {"maths": {"acc": 80.0, "perf": 40.0}, "law": {"acc": 50.0}}
    means = group_means(metrics, {"maths": 1, "law": 1}, ["maths", "law"])
    assert dict(means.macro) == {"acc": 65.0}


def test_a_group_without_any_member_has_no_figures():
    means = group_means(METRICS, {}, ["art"])
    assert (dict(means.macro), dict(means.micro), means.n) == ({}, {}, 0)
