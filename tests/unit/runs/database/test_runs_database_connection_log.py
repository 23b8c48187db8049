"""A full disk leaves one line a minute on the log, not one for each attempt."""

import logging
import subprocess
import sys

import pytest

from evalui.errors import StoreError
from evalui.messages import Sentence
from evalui.runs.database.connection import StoreErrorFilter

FULL = StoreError(Sentence("The disk is full."))


def record(message: str, *arguments: object, raised: Exception | None = None) -> logging.LogRecord:
    info = (type(raised), raised, None) if raised else None
    return logging.LogRecord("evalui", logging.WARNING, __file__, 1, message, arguments, info)


def test_the_same_error_of_the_store_is_logged_once_a_minute():
    now = 100.0
    limit = StoreErrorFilter(lambda: now)
    logged: list[float] = []
    for _ in range(360):  # three minutes of an idle worker's queue, heartbeat and presence
        for message in ("%s", "No heartbeat: %s", "What the worker does cannot be written: %s"):
            if limit.filter(record(message, StoreError(Sentence("The disk is full.")))):
                logged.append(now)
        now += 0.5
    assert logged == [100.0, 160.0, 220.0]


def test_a_run_that_cannot_be_written_is_logged_with_its_error_once():
    limit = StoreErrorFilter(lambda: 0.0)
    raised = record("Run %s cannot be written", "x", raised=FULL)
    assert [limit.filter(raised), limit.filter(raised)] == [True, False]


def test_another_error_of_the_store_is_logged_at_once():
    limit = StoreErrorFilter(lambda: 0.0)
    assert limit.filter(record("%s", FULL))
    assert limit.filter(record("%s", StoreError(Sentence("The database is locked."))))


@pytest.mark.parametrize("argument", ["The disk is full.", ValueError("x")])
def test_everything_else_is_logged_each_time(argument: object):
    limit = StoreErrorFilter(lambda: 0.0)
    assert limit.filter(record("%s", argument))
    assert limit.filter(record("%s", argument))


def test_a_process_that_works_writes_with_the_limit():
    script = """if True:
    import logging
    from evalui.errors import StoreError
    from evalui.messages import Sentence
    from evalui.runs.database.connection import configure_log
    configure_log(logging.INFO)
    log = logging.getLogger("evalui.runs.worker")
    for _ in range(5):
        log.warning("%s", StoreError(Sentence("The disk is full.")))
        log.info("working")
    """
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stderr.count("The disk is full.") == 1
    assert done.stderr.count("working") == 5
