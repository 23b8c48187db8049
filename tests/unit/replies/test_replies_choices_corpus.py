"""What tolerant reading makes of replies that people labelled."""

import json
from collections import Counter
from typing import Any

import pytest
from scoring_examples import GOLDEN

from evalui.replies import read_tolerant


def _rows(name: str) -> list[dict[str, Any]]:
    lines = (GOLDEN / "replies" / name).read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


REPLIES = _rows("choices.jsonl")
EXPECTED = {
    "dev": {"right": 302, "rightly unread": 97},
    "held": {"right": 298, "unread": 1, "rightly unread": 97, "wrongly read": 1},
    "fresh": {"right": 157, "rightly unread": 63},
}


def _choice(labelled: dict[str, Any]) -> int | None:
    is_cut = labelled.get("finish_reason") == "length"
    return read_tolerant(labelled["reply"], labelled["options"], is_cut=is_cut).choice


def _outcome(choice: int | None, labelled: int | None) -> str:
    if labelled is None:
        return "rightly unread" if choice is None else "wrongly read"
    if choice is None:
        return "unread"
    return "right" if choice == labelled else "wrong"


@pytest.mark.parametrize("split", EXPECTED)
def test_labelled_replies_are_read_as_documented(split: str):
    outcomes = Counter(
        _outcome(_choice(each), each["choice"]) for each in REPLIES if each["split"] == split
    )
    assert outcomes == EXPECTED[split]


def test_replies_in_many_languages_and_forms_are_read_as_documented():
    outcomes = Counter(
        _outcome(_choice(each), each["choice"]) for each in _rows("more_choices.jsonl")
    )
    assert outcomes == {"right": 511, "unread": 6, "rightly unread": 89}
