"""Lines as other commands read them again."""

import csv
import io
import json
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from open_examples import answers_result, judge_result, rating_result

from evalui.report.imports.battles import battle_statistics, read_battles, read_votes
from evalui.report.imports.predictions import read_choices
from evalui.report.write.files import vote_sheet
from evalui.report.write.lines import (
    battle_lines,
    duel_lines,
    rating_lines,
    trial_lines,
    vote_lines,
)
from evalui.scoring.arena.figures import arena
from evalui.types import CastVote, CellResult, Duel, Outcome, Trial

_PICKS = {"q0": "right", "q1": [0, 0, None, "tie"]}


def _read(lines: Iterable[str]) -> list[Any]:
    return [json.loads(line) for line in "".join(lines).splitlines()]


def _half(number: int, first: str, second: str) -> Outcome | None:
    """Unreadable on odd questions; else `late` wins."""
    if number % 2:
        return None
    return "a" if first == "late" else "b" if second == "late" else "neither"


def _with_probabilities(result: CellResult) -> CellResult:
    def given(trial: Trial) -> Trial:
        shares = [0.1, 0.1, 0.1, 0.1]
        if trial.choice is not None:
            shares[trial.choice] = 0.7
        return replace(
            trial,
            headline="forced",
            readings={"forced": trial.reading},
            probabilities=tuple(shares) if trial.choice is not None else (),
            mass=0.9,
        )

    return replace(result, trials=tuple(map(given, result.trials)))


def _reread(result: CellResult, folder: Path) -> tuple[Trial, ...]:
    path = folder / "trials.jsonl"
    path.write_text("".join(trial_lines([result])), encoding="utf-8")
    return read_choices(path)


def test_replies_can_be_scored_again_from_their_file(make_result, tmp_path: Path):
    result = make_result(_PICKS)
    again = _reread(result, tmp_path)
    assert [(t.sample_id, t.variant, t.target, t.reply) for t in again] == [
        (t.sample_id, t.variant, t.target, t.reply) for t in result.trials
    ]


def test_probabilities_can_be_scored_again_from_their_file(make_result, tmp_path: Path):
    result = _with_probabilities(make_result({"q0": "right", "q1": [0, 0, None, 0]}))
    again = _reread(result, tmp_path)
    assert [trial.choice for trial in again] == [trial.choice for trial in result.trials]
    assert again[0].probabilities == pytest.approx(result.trials[0].probabilities)


def test_cloze_scores_are_kept(make_result):
    result = make_result({"q0": [0]}, pattern="origin")
    scored = replace(
        result.trials[0], scores={"raw": (-1.0, -2.0, -3.0, -4.0)}, merged_boundaries=2
    )
    (line,) = trial_lines([replace(result, trials=(scored,))])
    told = json.loads(line)
    assert told["scores"] == {"raw": [-1, -2, -3, -4]}
    assert told["merged_seams"] == 2
    assert "reply" not in told


def test_an_answer_is_a_line_with_its_references_and_figures():
    told = _read(trial_lines([answers_result("late")]))
    assert len(told) == 12
    assert told[0]["id"] == "cn-0"
    assert told[0]["references"] == ["熵是无序的量度。"]
    assert told[0]["reply"].startswith("- 第 0 点")
    assert told[0]["figures"]["rouge-1-f"] == pytest.approx(0.9)
    # The third question has no reference.
    assert (told[2]["references"], told[2]["figures"]) == ([], {})


def test_a_mark_is_a_line_and_an_unreadable_one_null():
    told = _read(rating_lines([rating_result({"late": [9], "weak": [None]})]))
    assert [(one["model"], one["rating"], one["correct"]) for one in told] == [
        ("late", 9, None),
        ("weak", None, None),
    ]


def test_each_showing_is_a_line_readable_or_not():
    told = _read(duel_lines([arena(judge_result(decide=_half, injected=(1,)))]))
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
    told = _read(duel_lines([arena(replace(result, trials=(first, second, *others)))]))
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
    (told,) = _read(rating_lines([replace(result, trials=(marked,))]))
    assert (told["rating"], told["criteria"], told["retried"]) == (6, {"wit": 4}, True)
    (plain,) = _read(rating_lines([result]))
    assert (plain["criteria"], plain["retried"]) == ({}, False)


def test_battles_score_as_the_arena_does(tmp_path: Path):
    found = arena(judge_result())
    path = tmp_path / "battles.jsonl"
    path.write_text("".join(battle_lines([found])))
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
    first, second = csv.DictReader(io.StringIO(sheet))
    assert set(first) == set(rows[0])
    assert (first["model_a"], first["created"]) == ("late", rows[0]["created"])
    assert second["adjudicated"] == "model_a"
