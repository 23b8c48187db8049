"""The same warning is logged so many times a minute, and how many were left out is stated."""

import logging

from evalui.logs import RepeatFilter


def written(limit: RepeatFilter, message: str, level: int = logging.WARNING, n: int = 1) -> int:
    return sum(
        limit.filter(logging.LogRecord("x", level, __file__, 1, message, (place,), None))
        for place in range(n)
    )


def test_the_same_warning_is_written_twenty_times_a_minute():
    now = 0.0
    limit = RepeatFilter(lambda: now)
    assert written(limit, "refused: %s", n=500) == 20
    assert written(limit, "another: %s", n=3) == 3
    now = 61.0
    record = logging.LogRecord("x", logging.WARNING, __file__, 1, "refused: %s", ("y",), None)
    assert limit.filter(record)
    assert record.getMessage() == "refused: y (480 more like this were left out)"
    assert written(limit, "refused: %s", n=500) == 19


def test_less_than_a_warning_is_written_each_time():
    assert written(RepeatFilter(lambda: 0.0), "working", logging.INFO, 500) == 500


def test_many_different_messages_take_no_more_memory():
    limit = RepeatFilter(lambda: 0.0)
    for number in range(5000):
        written(limit, f"{number} is the number %s")
    assert len(limit._counted) <= 1000
