"""A key starts one run a day, for one owner and one body."""

from collections.abc import Callable

import pytest
from runs_examples import dataset, plans_of, spec

from evalui.errors import RequestKeyUsed
from evalui.runs.submit import create_run
from evalui.store import queue
from evalui.store.connection import Database
from evalui.store.datasets import add_dataset
from evalui.store.queue import REQUEST_KEY_KEPT_S, RequestKey
from evalui.store.runs import read_runs


@pytest.fixture
def start(database: Database) -> Callable[..., str]:
    def create(key: str, digest: str = "d", owner: str = "local") -> str:
        add_dataset(database, dataset(), owner)
        asked = spec()
        once = RequestKey(key, digest)
        return create_run(database, asked, plans_of(asked), owner, once=once)

    return create


def test_a_key_starts_one_run_of_an_owner(start: Callable[..., str], database: Database):
    first = start("k")
    assert start("k") == first
    assert len({first, start("other"), start("k", owner="eve")}) == 3
    assert len(read_runs(database)) == 2


def test_a_key_belongs_to_one_body(start: Callable[..., str], database: Database):
    start("k")
    with pytest.raises(RequestKeyUsed):
        start("k", "another")
    assert len(read_runs(database)) == 1


def test_a_key_counts_for_a_day(
    start: Callable[..., str], database: Database, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(queue.time, "time", lambda: 1000.0)
    first = start("k")
    monkeypatch.setattr(queue.time, "time", lambda: 1000.0 + REQUEST_KEY_KEPT_S - 1)
    assert start("k", "d") == first
    monkeypatch.setattr(queue.time, "time", lambda: 1000.0 + REQUEST_KEY_KEPT_S)
    assert start("k", "another") != first
    assert len(database.rows("SELECT * FROM request_key")) == 1  # none is kept for ever


def test_a_deleted_run_frees_its_key(start: Callable[..., str], database: Database):
    first = start("k")
    queue.delete(database, first)
    assert start("k", "another") != first
