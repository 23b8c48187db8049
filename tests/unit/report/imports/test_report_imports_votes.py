"""Votes as a file."""

import json
from pathlib import Path

import pytest

from evalui.errors import DataError
from evalui.report.imports.battles import read_battles, read_votes
from evalui.report.write.lines import vote_lines
from evalui.types import Duel, Verdict

_ROW = {"model_a": "x", "model_b": "y", "winner": "model_a", "question": "q"}


def test_votes_come_back_as_they_left(tmp_path: Path):
    cast = [
        Verdict(Duel("题 1", "x", "y"), outcome, "ann", "vote", "clearer\nbetter")
        for outcome in ("a", "b", "tie", "neither")
    ]
    path = tmp_path / "votes.jsonl"
    path.write_text("".join(vote_lines({"talk": cast[1:], "闲聊": cast[:1]})), encoding="utf-8")
    assert read_votes(path) == {"talk": cast[1:], "闲聊": cast[:1]}
    path.write_text("".join(vote_lines({"talk": cast})), encoding="utf-8")
    assert [battle.outcome for battle in read_battles(path)] == ["a", "b", "tie", "neither"]


def test_a_vote_that_cannot_be_read_is_not_written():
    assert list(vote_lines({"talk": [Verdict(Duel("q", "x", "y"), None, "ann")]})) == []


def test_dataset_voter_and_reason_may_be_absent(tmp_path: Path):
    path = tmp_path / "votes.jsonl"
    path.write_text("\n" + json.dumps(_ROW | {"question": 7, "comment": ""}), encoding="utf-8")
    assert read_votes(path) == {"": [Verdict(Duel("7", "x", "y"), "a", "people", "vote")]}


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("[1]", "line 2: expected a vote as a JSON object"),
        ("{", "line 2: expected a vote as a JSON object"),
        (json.dumps(_ROW | {"winner": "x"}), "winner 'x' is unknown. Expected one of model_a"),
        (json.dumps(_ROW | {"model_b": "x"}), "line 2: model 'x' meets itself"),
        (json.dumps(_ROW | {"model_a": None}), "'model_a' is missing or not a text"),
        (json.dumps({"model_a": "x", "model_b": "y", "winner": "tie"}), "'question' is missing"),
        (json.dumps(_ROW | {"by": " "}), "'by' is missing or not a text"),
    ],
)
def test_a_row_that_is_no_vote_is_told_with_its_line(tmp_path: Path, row: str, told: str):
    path = tmp_path / "votes.jsonl"
    path.write_text(json.dumps(_ROW) + "\n" + row + "\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"votes\.jsonl line 2") as caught:
        read_votes(path)
    assert told in str(caught.value)


def test_an_empty_file_of_votes_is_refused(tmp_path: Path):
    path = tmp_path / "votes.jsonl"
    path.write_text("\n")
    with pytest.raises(DataError, match="is empty"):
        read_votes(path)
