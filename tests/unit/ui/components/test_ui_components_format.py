"""Figures as people read them."""

from datetime import datetime, timedelta

import pytest

from evalui.datasets.health import LengthStatistics
from evalui.messages import messages
from evalui.ui.components.format import (
    amount,
    duration,
    format_large_count,
    format_time,
    length_range,
    size,
)


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0.2, "1 s"),
        (43, "43 s"),
        (89, "89 s"),
        (120, "2 min"),
        (5340, "89 min"),
        (7800, "2 h 10 min"),
    ],
)
def test_a_time_span_has_the_unit_it_deserves(seconds: float, expected: str):
    assert duration(messages("en"), seconds) == expected


@pytest.mark.parametrize(
    ("n_bytes", "expected"),
    [
        (0, "0 MB"),
        (3, "3 B"),
        (20_700, "21 kB"),
        (12_400_000, "12.4 MB"),
        (5_400_000_000, "5.4 GB"),
    ],
)
def test_bytes_have_a_unit_that_leaves_few_digits(n_bytes: int, expected: str):
    assert amount(n_bytes) == expected


def test_a_moment_is_written_by_its_day():
    now = datetime(2026, 3, 2, 9, 30).astimezone()

    def told(then: datetime) -> str:
        return format_time(messages("en"), then.timestamp(), now=now)

    assert told(now) == "today 09:30"
    assert told(now - timedelta(days=1)) == "yesterday 09:30"
    assert told(now - timedelta(days=9)) == "2026-02-21 09:30"


@pytest.mark.parametrize(
    ("number", "expected"), [(402, "402 B"), (61_400, "61 kB"), (1_540_000, "1.5 MB")]
)
def test_a_size(number: int, expected: str):
    assert size(number) == expected


@pytest.mark.parametrize(("number", "expected"), [(3360, "3,360"), (380_000, "0.38 M")])
def test_a_large_count(number: int, expected: str):
    assert format_large_count(number) == expected


def test_lengths_stand_from_the_shortest_to_the_longest():
    assert length_range(LengthStatistics(4, 18.4, 1200)) == "4 – 18 – 1,200"
