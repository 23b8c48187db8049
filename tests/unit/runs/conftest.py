"""A store, and a store whose only run is in the hands of a worker."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from runs_examples import add_run, spec

from evalui.runs.rows import Lease
from evalui.runs.store import Store


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
