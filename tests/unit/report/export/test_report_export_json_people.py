"""People's votes as JSON objects."""

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest
from open_examples import DATASET, MODELS, answers_result, judged_run, votes

from evalui.report.compile import compile_report
from evalui.report.export.files import vote_lines, vote_sheet
from evalui.report.export.json import encode
from evalui.report.imports.battles import read_battles, read_votes
from evalui.types import CastVote, Duel, Outcome


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


def test_votes_leave_with_their_times_and_with_what_was_decided(tmp_path: Path):
    duel = Duel("q 1", "late", "early")
    cast = [
        CastVote(duel, "a", "ann", "vote", "clear", created=1e9, seconds=7.5, assigned=True),
        CastVote(duel, "b", "eve", "vote", created=1e9 + 0.25, adjudicated="a"),
    ]
    rows = [json.loads(line) for line in vote_lines({"talk": cast})]
    assert rows[0] == {
        "model_a": "late",
        "model_b": "early",
        "winner": "model_a",
        "dataset": "talk",
        "question": "q 1",
        "by": "ann",
        "comment": "clear",
        "created": "2001-09-09T01:46:40.000+00:00",
        "seconds": 7.5,
        "assigned": True,
        "adjudicated": None,
    }
    assert rows[1]["created"] == "2001-09-09T01:46:40.250+00:00"
    assert (rows[1]["seconds"], rows[1]["assigned"]) == (None, False)
    assert rows[1]["adjudicated"] == "model_a"
    path = tmp_path / "votes.jsonl"
    path.write_text("".join(vote_lines({"talk": cast})), encoding="utf-8")
    (read,) = read_votes(path).values()
    assert [(one.duel, one.outcome, one.rater) for one in read] == [
        (one.duel, one.outcome, one.rater) for one in cast
    ]
    assert [battle.outcome for battle in read_battles(path)] == ["a", "b"]
    sheet = b"".join(vote_sheet({"talk": cast})).decode("utf-8-sig")
    head, first, second = csv.reader(io.StringIO(sheet))
    assert head == list(rows[0])
    assert (first[0], first[7], second[10]) == ("late", rows[0]["created"], "model_a")
