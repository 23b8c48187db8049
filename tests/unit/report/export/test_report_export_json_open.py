"""Answers, arenas and duels as JSON."""

import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from open_examples import answers_result, judge_result, judged_run, rating_result

from evalui.report.export.json import (
    answer_lines,
    battle_objects,
    duel_objects,
    encode,
    rating_lines,
)
from evalui.report.imports.battles import battle_statistics, read_battles
from evalui.scoring.answer_summary import answers, summarise_answers
from evalui.scoring.arena.figures import arena, arenas
from evalui.scoring.pairs import compare_answers
from evalui.types import Outcome


def _read(lines: Iterable[str]) -> list[Any]:
    return [json.loads(line) for line in "".join(lines).splitlines()]


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


def test_an_answer_is_a_line_with_its_references_and_figures():
    told = _read(answer_lines(answers_result("late")))
    assert len(told) == 12
    assert told[0]["id"] == "cn-0"
    assert told[0]["references"] == ["熵是无序的量度。"]
    assert told[0]["reply"].startswith("- 第 0 点")
    assert told[0]["figures"]["rouge-1-f"] == pytest.approx(0.9)
    # The third question has no reference.
    assert (told[2]["references"], told[2]["figures"]) == ([], {})


def test_a_mark_is_a_line_and_an_unreadable_one_null():
    told = _read(rating_lines(rating_result({"late": [9], "weak": [None]})))
    assert [(one["model"], one["rating"], one["correct"]) for one in told] == [
        ("late", 9, None),
        ("weak", None, None),
    ]


def test_each_showing_is_a_line_readable_or_not():
    told = list(duel_objects(arena(judge_result(decide=_half, injected=(1,)))))
    assert len(told) == 72
    assert [one["winner"] for one in told[:2]] == ["model_a", "model_b"]
    unreadable = [one for one in told if one["winner"] is None]
    assert len(unreadable) == 36
    assert {one["rule"] for one in unreadable} == {"unparsed"}
    assert [one["question"] for one in told if one["injected"]] == ["en-1"] * 6


def test_how_probable_each_outcome_was_and_what_was_asked_again_is_exported():
    result = judge_result(n=1)
    first, second, *others = result.trials
    first = replace(first, probabilities=(0.7, 0.1, 0.15, 0.05), mass=0.9)
    second = replace(second, scores={**second.scores, "retried": (1.0,)})
    told = list(duel_objects(arena(replace(result, trials=(first, second, *others)))))
    assert told[0]["probabilities"] == {
        "model_a": 0.7,
        "model_b": 0.1,
        "tie": 0.15,
        "neither": 0.05,
    }
    assert all("probabilities" not in one for one in told[1:])
    assert [one["retried"] for one in told] == [False, True, False, False, False, False]


def test_the_marks_of_criteria_are_in_the_line_of_their_answer():
    result = rating_result({"late": [6]})
    (trial,) = result.trials
    marked = replace(trial, scores={**trial.scores, "criterion:wit": (4.0,), "retried": (1.0,)})
    (told,) = _read(rating_lines(replace(result, trials=(marked,))))
    assert (told["rating"], told["criteria"], told["retried"]) == (6, {"wit": 4}, True)
    (plain,) = _read(rating_lines(result))
    assert (plain["criteria"], plain["retried"]) == ({}, False)


def test_battles_score_as_the_arena_does(tmp_path: Path):
    found = arena(judge_result())
    path = tmp_path / "battles.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in battle_objects(found)))
    scored = battle_statistics(read_battles(path))
    for one in found.standings:
        assert one.rating
        assert scored["scores"][one.model] == one.tally.score
        counted = scored["table"][one.model]
        assert (counted["NB"], counted.get("contradicted", 0)) == (
            one.tally.not_bad,
            one.tally.contradicted,
        )
        assert scored["elo"]["permutations"]["median"][one.model] == one.elo
        assert scored["bradley_terry"]["ratings"][one.model]["rating"] == one.rating.value
