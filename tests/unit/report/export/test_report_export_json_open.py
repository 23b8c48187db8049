"""Answers, arenas and duels as JSON."""

import json

import pytest
from open_examples import answers_result, judge_result, judged_run, rating_result

from evalui.report.export.json import (
    encode,
)
from evalui.scoring.answer_summary import answers, summarise_answers
from evalui.scoring.arena.figures import arena, arenas
from evalui.scoring.pairs import compare_answers
from evalui.types import Outcome


def _half(number: int, first: str, second: str) -> Outcome | None:
    """Unreadable on odd questions; else `late` wins."""
    if number % 2:
        return None
    return "a" if first == "late" else "b" if second == "late" else "neither"


def test_a_cell_of_answers_has_shares_in_per_cent():
    told = encode(summarise_answers(answers_result("late")))
    assert (told["model"], told["dataset"], told["state"]) == ("late", "open-qa", "done")
    found = told["figures"]
    assert found["means"]["rouge-l-f"] == pytest.approx(90)
    # Eight answers that are all alike leave room for others: Wilson at 7.2 of 8.
    assert found["ranges"]["rouge-l-f"] == pytest.approx([55.5679, 98.4795])
    assert (found["n"], found["compared"], found["empty"], found["cut"]) == (12, 8, 0, 0)
    assert found["corpus"]["bleu_signature"].startswith("nrefs:")


def test_marks_stay_on_the_judges_scale():
    results = [answers_result("late"), rating_result({"late": [9, 7, None]})]
    (told,) = encode(answers(results)[0])["figures"]["rated"]
    assert (told["by"], told["scale"], told["n"], told["unscored"]) == (
        "judge-local",
        "rating",
        2,
        1,
    )
    assert told["mean"] == pytest.approx(8)


def test_a_cell_without_answers_has_nulls():
    told = encode(summarise_answers(answers_result("late", done=0)))
    assert (told["figures"]["means"], told["figures"]["corpus"]) == ({}, None)


def test_two_models_differ_in_per_cent_points():
    results = [answers_result("late"), answers_result("weak")]
    told = encode(compare_answers(results, "bleu-2")[0])
    assert (told["first"], told["second"], told["figure"]) == ("late", "weak", "bleu-2")
    assert told["difference"] == pytest.approx(40)


def test_an_arena_tells_standings_dimensions_and_reliability():
    told = encode(arena(judge_result(decide=_half)))
    assert (told["done"], told["planned"], told["battles"]) == (72, 72, 36)
    assert told["comparisons"]["extraction_rate"] == 50
    first = told["standings"][0]
    assert (first["model"], first["win"], first["n"]) == ("late", 24, 24)
    assert first["percent"] == {"win": 100, "tie": 0, "lose": 0, "not_bad": 100}
    assert first["bradley_terry"] is None
    assert told["connection"]["finite"] is False
    names = [one["name"] for one in told["dimensions"]]
    assert names == ["Overall", "CN", "EN", "common", "creation", "reasoning"]
    # English questions have odd numbers: none could be read.
    assert set(told["dimensions"][2]["models"].values()) == {None}
    assert told["reliability"]["unreadable"] == 50
    assert told["reliability"]["changed_with_order"] == 0


def test_everything_is_json():
    results = [*judged_run(judges=("one", "two")), judge_result(judge="late", done=0)]
    for found in arenas(results):
        assert json.loads(json.dumps(encode(found)))["by"] == found.by
    for summary in answers(results):
        assert json.dumps(encode(summary))
