"""A store whose only run is in the hands of a worker, and a cluster of one object."""

import pytest
from fake_ray_examples import Echo, FakeRay
from runs_examples import add_run, spec

from evalui.runs.cluster import actor, model
from evalui.runs.database import queue
from evalui.runs.database.connection import Database
from evalui.runs.database.records import Lease


@pytest.fixture
def lease(database: Database) -> Lease:
    """The lease of a run whose only cell has the id 1 and 6 questions in 4 orders."""
    add_run(database, spec(pattern="circular"))
    claimed = queue.claim(database, "worker-1")
    assert claimed
    queue.start_cell(database, claimed.lease, 1, "f")
    return claimed.lease


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> FakeRay:
    monkeypatch.setattr(actor, "open_model", lambda _: Echo())
    monkeypatch.setattr(model, "_SCAN_INTERVAL_S", 0.0)
    return FakeRay()
