"""A store, a store whose only run is in the hands of a worker, and a cluster of one object."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from fake_ray_examples import Echo, FakeRay
from runs_examples import add_run, spec

from evalui.runs.cluster import actor, model
from evalui.runs.database.records import Lease
from evalui.runs.database.store import Store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    opened = Store(tmp_path / "evalui.sqlite")
    yield opened
    opened.close()


@pytest.fixture
def lease(store: Store) -> Lease:
    """The lease of a run whose only cell has the id 1 and 6 questions in 4 orders."""
    add_run(store, spec(pattern="circular"))
    claimed = store.claim("worker-1")
    assert claimed
    store.start_cell(claimed.lease, 1, "f")
    return claimed.lease


@pytest.fixture
def ray(monkeypatch: pytest.MonkeyPatch) -> FakeRay:
    monkeypatch.setattr(actor, "open_model", lambda _: Echo())
    monkeypatch.setattr(model, "_SCAN_INTERVAL_S", 0.0)
    return FakeRay()
