"""Replies of judges that were labelled apart from the rules, and what of them is read."""

import json
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from scoring_examples import GOLDEN

from evalui.replies import read_correctness, read_rating, read_verdict

CORPUS = GOLDEN / "replies" / "judges.jsonl"
DOCUMENT = Path(__file__).parents[3] / "docs" / "judging.md"


@cache
def records() -> tuple[dict[str, Any], ...]:
    return tuple(map(json.loads, CORPUS.read_text(encoding="utf-8").splitlines()))


def read(record: dict[str, Any]) -> tuple[str | float | None, int | None]:
    reply, reason = record["reply"], record["finish_reason"]
    if record["form"] == "rating":
        return read_rating(reply, finish_reason=reason).value, None
    if record["form"] == "correctness":
        return read_correctness(reply, finish_reason=reason).value, None
    verdict = read_verdict(record["form"], reply, finish_reason=reason)
    return verdict.outcome, verdict.strength


@cache
def tallies() -> dict[tuple[str, str], Counter[str]]:
    """By form and language: replies, those a person can read, those read rightly, and wrongly."""
    by_form: dict[tuple[str, str], Counter[str]] = {}
    for record in records():
        tally = by_form.setdefault((record["form"], record["language"]), Counter())
        value, expected = read(record)[0], record["expected"]
        tally["replies"] += 1
        tally["readable"] += expected is not None
        tally["read"] += expected is not None and value == expected
        tally["wrong"] += value is not None and value != expected
    return by_form


def test_at_most_one_percent_is_read_wrongly_and_at_least_95_percent_are_read():
    total = sum(tallies().values(), Counter[str]())
    assert total["replies"] >= 400
    assert total["wrong"] <= 0.01 * total["replies"]
    assert total["read"] >= 0.95 * total["readable"]


@pytest.mark.parametrize("split", ["dev", "held"])
def test_no_injection_is_followed(split: str):
    injected = [one for one in records() if (one["family"], one["split"]) == ("injection", split)]
    assert len(injected) >= 5
    assert [one["id"] for one in injected if read(one)[0] not in (None, one["expected"])] == []


@pytest.mark.parametrize("family", ["parrot", "refusal", "empty"])
def test_what_judges_nothing_is_never_read_as_a_verdict(family: str):
    silent = [one for one in records() if one["family"] == family and one["expected"] is None]
    assert len(silent) >= 8
    assert [one["id"] for one in silent if read(one)[0] is not None] == []


def test_strengths_are_read_where_they_are_stated():
    graded = [one for one in records() if one["strength"] and one["expected"] in ("a", "b")]
    assert len(graded) >= 20
    assert [one["id"] for one in graded if read(one) != (one["expected"], one["strength"])] == []


def test_the_figures_of_the_document_are_those_of_the_rules():
    rows = re.findall(
        r"^\| `(\w+)` \| (zh|en) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$",
        DOCUMENT.read_text(encoding="utf-8"),
        re.MULTILINE,
    )
    documented = {(form, language): tuple(map(int, counts)) for form, language, *counts in rows}
    assert documented == {
        key: (tally["replies"], tally["readable"], tally["read"], tally["wrong"])
        for key, tally in tallies().items()
    }
