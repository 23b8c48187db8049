"""The log: no contents in JSON lines, and one line a minute of a full disk."""

import json
import logging
import subprocess
import sys
from datetime import datetime

import pytest

from evalui.errors import StoreError
from evalui.logs import REQUEST_ID, JsonFormatter, RepeatFilter, TextFormatter, about_run
from evalui.messages import Sentence

FULL = StoreError(Sentence("The disk is full."))


def record(message: str, *arguments: object, raised: Exception | None = None) -> logging.LogRecord:
    info = (type(raised), raised, None) if raised else None
    return logging.LogRecord("evalui", logging.WARNING, __file__, 1, message, arguments, info)


def test_what_fills_a_line_is_no_line_of_its_own_and_controls_no_terminal():
    named = record("%s failed", "law\n2026-01-01 INFO signed in\x1b[31m\r\u202e", raised=FULL)
    first, *others = TextFormatter("%(message)s").format(named).splitlines()
    assert first == "law"
    assert others[0] == r"    2026-01-01 INFO signed in\x1b[31m\r\u202e failed"
    assert all(line.startswith("    ") for line in others)


def test_the_same_error_of_the_store_is_logged_once_a_minute():
    now = 100.0
    limit = RepeatFilter(lambda: now)
    logged: list[float] = []
    for _ in range(360):  # three minutes of an idle worker's queue, heartbeat and presence
        for message in ("%s", "No heartbeat: %s", "What the worker does cannot be written: %s"):
            if limit.filter(record(message, StoreError(Sentence("The disk is full.")))):
                logged.append(now)
        now += 0.5
    assert logged == [100.0, 160.0, 220.0]


def test_a_run_that_cannot_be_written_is_logged_with_its_error_once():
    limit = RepeatFilter(lambda: 0.0)
    raised = record("Run %s cannot be written", "x", raised=FULL)
    assert [limit.filter(raised), limit.filter(raised)] == [True, False]


def test_another_error_of_the_store_is_logged_at_once():
    limit = RepeatFilter(lambda: 0.0)
    assert limit.filter(record("%s", FULL))
    assert limit.filter(record("%s", StoreError(Sentence("The database is locked."))))


@pytest.mark.parametrize("argument", ["The disk is full.", ValueError("x")])
def test_everything_else_is_logged_each_time(argument: object):
    limit = RepeatFilter(lambda: 0.0)
    assert limit.filter(record("%s", argument))
    assert limit.filter(record("%s", argument))


def test_a_process_that_works_writes_with_the_limit():
    script = """if True:
    import logging
    from evalui.errors import StoreError
    from evalui.messages import Sentence
    from evalui.logs import configure_log
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


def json_line(
    message: str, *arguments: object, name: str = "evalui.x", raised: Exception | None = None
) -> dict[str, object]:
    made = record(message, *arguments, raised=raised)
    made.name = name
    return json.loads(JsonFormatter(lambda: "ada").format(made))


def test_a_json_line_names_time_level_event_user_request_and_run():
    token = REQUEST_ID.set("r-1")
    try:
        with about_run("run-1"):
            line = json_line("Worker %d died with %d", 12, -9)
    finally:
        REQUEST_ID.reset(token)
    assert datetime.fromisoformat(str(line.pop("time"))).tzinfo
    assert line == {
        "level": "warning",
        "event": "Worker %d died with %d",
        "logger": "evalui.x",
        "place": "test_logs:1",
        "run": "run-1",
        "user": "ada",
        "request": "r-1",
        "numbers": [12, -9],
    }
    assert "run" not in json_line("x")


def raised_error(secret: str) -> Exception:
    with pytest.raises(StoreError) as raised:
        raise StoreError("no-store", path=secret)
    return raised.value


SECRET = "What is the capital of France"


def test_a_json_line_holds_no_contents():
    error = raised_error(SECRET)
    formatted = JsonFormatter().format(record("Not %s: %s", SECRET, error))
    with_trace = logging.LogRecord(
        "evalui", 40, __file__, 1, "Gone", (), (StoreError, error, error.__traceback__)
    )
    foreign = logging.LogRecord("httpx", 20, __file__, 1, f"GET {SECRET}", (), None)
    lines = [formatted, JsonFormatter().format(with_trace), JsonFormatter().format(foreign)]
    assert [line for line in lines if SECRET in line] == []
    assert json.loads(lines[0])["error"] == "StoreError error.no-store"
    assert json.loads(lines[1])["frames"][0].startswith("test_logs.py:")
    assert json.loads(lines[2])["event"] == "text of another package"


def test_facts_stand_in_the_line():
    made = record("request")
    made.facts = {"route": "/runs/{id}", "status": 200}
    assert json.loads(JsonFormatter().format(made))["route"] == "/runs/{id}"


def test_a_process_with_a_log_of_json_writes_nothing_else():
    script = """if True:
    import logging
    from evalui.logs import configure_log
    configure_log(logging.INFO, "json")
    logging.getLogger("evalui.runs").info("Run %s begins", "secret")
    try:
        raise ValueError("secret")
    except ValueError:
        logging.getLogger("uvicorn.error").exception("secret")
    """
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert "secret" not in done.stderr
    assert [json.loads(line)["level"] for line in done.stderr.splitlines()] == ["info", "error"]
