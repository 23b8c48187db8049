"""What tolerant reading makes of replies that people labelled."""

import json
from collections import Counter

import pytest
from scoring_examples import GOLDEN

from evalui.scoring.parsing.choice import read_tolerant

REPLIES = [
    json.loads(line)
    for line in (GOLDEN / "replies" / "choices.jsonl").read_text("utf-8").splitlines()
]
EXPECTED = {
    "dev": {"right": 172, "unread": 120, "wrong": 10, "rightly unread": 84, "wrongly read": 13},
    "held": {"right": 157, "unread": 133, "wrong": 9, "rightly unread": 84, "wrongly read": 14},
}


def _outcome(choice: int | None, labelled: int | None) -> str:
    if labelled is None:
        return "rightly unread" if choice is None else "wrongly read"
    if choice is None:
        return "unread"
    return "right" if choice == labelled else "wrong"


@pytest.mark.parametrize("split", EXPECTED)
def test_labelled_replies_are_read_as_documented(split: str):
    outcomes = Counter(
        _outcome(read_tolerant(each["reply"], each["options"]).choice, each["choice"])
        for each in REPLIES
        if each["split"] == split
    )
    assert outcomes == EXPECTED[split]
