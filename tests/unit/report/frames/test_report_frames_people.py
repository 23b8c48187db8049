"""Frames of people's votes beside judges, and alone."""

import pandas as pd
import pytest
from open_examples import DATASET, MODELS, answers_result, judged_run, votes

from evalui.report.analyses.base import Report
from evalui.report.compile import compile_report
from evalui.types import CastVote, Duel, Outcome

_OF_PEOPLE = ("people", "agreement", "powered", "disagreements")
_RATERS = ("majority", "ann", "eve")


def _contrary(number: int, first: str, second: str) -> Outcome:
    del number
    return "b" if MODELS.index(first) < MODELS.index(second) else "a"


@pytest.fixture(scope="module")
def report() -> Report:
    said = (*votes("ann")[:12], *votes("eve", decide=_contrary)[:6])
    return compile_report("", judged_run(judges=("one", "two")), votes={DATASET: said})


def test_without_votes_there_is_no_row():
    frames = compile_report("", judged_run()).frames
    assert all(frames[name].empty for name in (*_OF_PEOPLE, "votes"))


def test_each_person_is_a_row_whatever_the_number_of_judges(report: Report):
    frame = report.frames["people"].set_index("person")
    assert frame["votes"].to_dict() == {"ann": 12, "eve": 6}
    assert frame["shared"].to_dict() == {"ann": 6, "eve": 6}
    # The two part on every pair they share but one that Ann finds equally good.
    assert frame.loc["ann", "as_most_others"] == 0


def test_the_agreement_of_the_others_is_in_per_cent():
    said = [vote for name in ("ann", "bob", "eve") for vote in votes(name)]
    frame = compile_report("", judged_run(), votes={DATASET: said}).frames["people"]
    assert frame["others"].tolist() == [100, 100, 100]


def test_each_two_raters_are_a_row(report: Report):
    frame = report.frames["agreement"]
    pairs = list(zip(frame["first"], frame["second"], strict=True))
    assert pairs == [
        *((judge, rater) for judge in ("panel", "one", "two") for rater in _RATERS),
        ("ann", "eve"),
    ]
    alone = report.people[0].between_people["ann", "eve"]
    assert frame.iloc[-1]["n"] == 6
    assert frame.iloc[-1]["agreement"] == pytest.approx(100 * alone.raw.value)


def test_win_rates_are_in_per_cent_for_each_judge_and_pair(report: Report):
    frame = report.frames["powered"].set_index(["judge", "model", "against"])
    assert len(frame) == 3 * 3
    rate = report.people[1].prediction_powered["late", "early"]
    row = frame.loc[("one", "late", "early")]
    assert row["judge_only"] == pytest.approx(100 * rate.judge.value)
    assert rate.combined
    assert row["powered_low"] == pytest.approx(100 * rate.combined.low)
    assert (row["pairs"], row["voted"]) == (12, 4)


def test_each_vote_of_a_quarrel_is_a_row(report: Report):
    frame = report.frames["disagreements"]
    first = frame[(frame["judge"] == "one") & (frame["id"] == "cn-0")].iloc[0]
    assert (first["model_a"], first["model_b"]) == ("late", "early")
    assert (first["judge_says"], first["person"], first["person_says"]) == (
        "model_a",
        "ann",
        "model_a",
    )
    assert len(frame) == sum(
        len(one.people) for figures in report.people for one in figures.disagreements
    )


def test_people_who_voted_stand_beside_the_judges(report: Report):
    standings = report.frames["standings"]
    assert set(standings["judge"]) == {"panel", "one", "two", "people"}
    assert set(standings[standings["judge"] == "people"]["model"]) == set(MODELS)
    assert (standings["judge"] == "people").sum() == len(MODELS)  # beside each judge the same


def test_every_row_is_signed(report: Report):
    assert all((report.frames[name]["signature"] != "").all() for name in _OF_PEOPLE)


def test_answers_that_nobody_judged_have_people_but_no_corrected_rates():
    results = [answers_result(model) for model in MODELS]
    frames = compile_report("", results, votes={DATASET: votes("ann")}).frames
    sizes = {name: len(frames[name]) for name in _OF_PEOPLE}
    assert sizes == {"people": 1, "agreement": 0, "powered": 0, "disagreements": 0}


def test_only_people_who_differ_have_no_judge_beside_them():
    results = [answers_result(model) for model in MODELS]
    said = (*votes("ann"), *votes("eve", decide=_contrary))
    frame = compile_report("", results, votes={DATASET: said}).frames["disagreements"]
    assert len(frame)
    assert frame[["judge", "judge_says"]].isna().all(axis=None)


def test_votes_have_their_times_and_what_was_decided():
    duel = Duel("q 1", "late", "early")
    cast = [
        CastVote(duel, "a", "ann", "vote", "clear", created=1e9, seconds=7.5, assigned=True),
        CastVote(duel, "b", "eve", "vote", created=1e9 + 0.25, adjudicated="a"),
        CastVote(duel, None, "bob", "vote"),  # not readable
    ]
    frame = compile_report("", (), votes={"talk": cast}).frames["votes"]
    assert frame["by"].tolist() == ["ann", "eve"]
    assert frame["created"].tolist() == [
        pd.Timestamp("2001-09-09T01:46:40.000Z"),
        pd.Timestamp("2001-09-09T01:46:40.250Z"),
    ]
    assert frame.loc[0, ["winner", "comment", "seconds", "assigned"]].tolist() == [
        "model_a",
        "clear",
        7.5,
        True,
    ]
    assert pd.isna(frame.loc[0, "adjudicated"])
    assert frame.loc[1, "adjudicated"] == "model_a"


def test_votes_from_a_file_have_no_time():
    cast = {DATASET: (*votes("ann"), *votes("bob"))}
    frame = compile_report("", judged_run(), votes=cast).frames["votes"]
    assert set(frame["by"]) == {"ann", "bob"}
    assert frame["created"].isna().all()


def test_who_is_unlike_the_others_is_an_outlier():
    said = [vote for name in ("ann", "bob", "cleo") for vote in votes(name)]
    said += votes("eve", decide=_contrary)
    frame = compile_report("", judged_run(), votes={DATASET: said}).frames["people"]
    assert frame.set_index("person")["outlier"].to_dict() == {
        "ann": False,
        "bob": False,
        "cleo": False,
        "eve": True,
    }
