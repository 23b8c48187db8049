"""A store whose only run is in the hands of a worker."""

import pytest
from runs_examples import claim_its_run

from evalui.store.connection import Database
from evalui.store.runs import Lease


@pytest.fixture
def lease(database: Database) -> Lease:
    return claim_its_run(database)
