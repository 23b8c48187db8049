"""A store whose only run is in the hands of a worker, and a cluster of one object."""

import pytest
from fake_ray_examples import Echo, FakeRay
from runs_examples import claim_its_run

from evalui.runs.cluster import actor, model
from evalui.store.connection import Database
from evalui.store.runs import Lease


@pytest.fixture
def lease(database: Database) -> Lease:
    return claim_its_run(database)


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> FakeRay:
    monkeypatch.setattr(actor, "open_model", lambda _: Echo())
    monkeypatch.setattr(model, "_SCAN_INTERVAL_S", 0.0)
    return FakeRay()
