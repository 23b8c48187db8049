"""What a worker's log states while it does a run."""

import json
import logging
from collections.abc import Iterator

import pytest

from evalui.logs import JsonFormatter
from evalui.runs.worker import heartbeat
from evalui.runs.worker.heartbeat import Heartbeat
from evalui.store.connection import Database
from evalui.store.runs import Lease


@pytest.fixture
def lines() -> Iterator[list[dict[str, object]]]:
    """The JSON lines of this test."""
    made: list[dict[str, object]] = []
    handler = logging.Handler()
    handler.emit = lambda record: made.append(json.loads(JsonFormatter().format(record)))
    logger = logging.getLogger("evalui")
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    yield made
    logger.removeHandler(handler)
    logger.setLevel(logging.NOTSET)


def test_what_is_logged_within_a_run_names_it(
    database: Database, lease: Lease, lines: list[dict[str, object]]
):
    with Heartbeat(database, lease, interval_s=60):
        heartbeat._log.info("within")
    heartbeat._log.info("after")
    runs = [(line["event"], line.get("run", "")) for line in lines]
    assert runs == [
        ("Run %s begins", lease.run_id),
        ("within", lease.run_id),
        ("Run %s is left", lease.run_id),
        ("after", ""),
    ]


def test_its_thread_names_the_run_too(
    database: Database,
    lease: Lease,
    lines: list[dict[str, object]],
    monkeypatch: pytest.MonkeyPatch,
):
    beaten = heartbeat.threading.Event()

    def beat(*_: object) -> bool:
        heartbeat._log.info("from the thread")
        beaten.set()
        return True

    monkeypatch.setattr(heartbeat.queue, "heartbeat", beat)
    with Heartbeat(database, lease, interval_s=0.001):
        assert beaten.wait(60)
    assert {line["run"] for line in lines if line["event"] == "from the thread"} == {lease.run_id}


def test_a_trial_of_a_model_is_no_run(database: Database, lines: list[dict[str, object]]):
    with Heartbeat(database, interval_s=60):
        heartbeat._log.info("within")
    assert [(line["event"], line.get("run")) for line in lines] == [("within", None)]
