"""People's votes as JSON objects."""

import json
from typing import Any

import pytest
from open_examples import DATASET, MODELS, answers_result, judged_run, votes

from evalui.report.compile import compile_report
from evalui.report.export.json import encode
from evalui.types import Outcome


def _contrary(number: int, first: str, second: str) -> Outcome:
    del number
    return "b" if MODELS.index(first) < MODELS.index(second) else "a"


@pytest.fixture(scope="module")
def found() -> dict[str, Any]:
    said = (*votes("ann")[:12], *votes("eve", decide=_contrary)[:6])
    (figures,) = compile_report("", judged_run(), votes={DATASET: said}).people
    return json.loads(json.dumps(encode(figures)))


def test_the_object_names_its_dataset_and_judge(found: dict[str, Any]):
    assert (found["dataset"], found["judge"]) == (DATASET, "judge-local")
    assert (found["votes"], found["people"], found["strangers"]) == (18, 2, 0)


def test_peoples_own_arena_is_an_arena_as_the_judges(found: dict[str, Any]):
    assert found["arena"]["by"] == "people"
    assert {one["model"] for one in found["arena"]["standings"]} == set(MODELS)


def test_agreement_is_told_with_the_majority_with_each_and_between(found: dict[str, Any]):
    assert [one["person"] for one in found["each"]] == ["ann", "eve"]
    (between,) = found["between"]
    assert (between["first"], between["second"], between["n"]) == ("ann", "eve", 6)
    assert 0 <= found["agreement"]["raw"] <= 100
    assert [one["person"] for one in found["voters"]] == ["ann", "eve"]


def test_corrected_rates_are_in_per_cent_with_counts(found: dict[str, Any]):
    rate = next(one for one in found["powered"] if one["first"] == "late")
    assert (rate["second"], rate["pairs"], rate["voted"]) == ("early", 12, 4)
    assert set(rate["ranges"]) == {"judge", "people", "powered"}
    low, high = rate["ranges"]["powered"]
    assert 0 <= low <= rate["powered"] <= high <= 100
    assert rate["judge"] > 1


def test_a_quarrel_tells_who_said_what(found: dict[str, Any]):
    assert found["disagreements"][0] == {
        "question": "cn-0",
        "model_a": "late",
        "model_b": "early",
        "judge": "model_a",
        "people": {"ann": "model_a", "eve": "model_b"},
    }


def test_the_others_agreement_is_in_per_cent():
    said = [vote for name in ("ann", "bob", "eve") for vote in votes(name)]
    (figures,) = compile_report("", judged_run(), votes={DATASET: said}).people
    assert [one["others"] for one in encode(figures)["voters"]] == [100, 100, 100]


def test_answers_that_nobody_judged_have_no_judge():
    results = [answers_result(model) for model in MODELS]
    (figures,) = compile_report("", results, votes={DATASET: votes("ann")}).people
    found = encode(figures)
    assert (found["judge"], found["agreement"], found["powered"]) == (None, None, [])
