"""A model whose servers are down before the worker has ever met them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from endpoint_flow_examples import TRIALS, Branch
from flow_examples import wait_until

from evalui.runs.database.runs import read_cells, read_run

pytestmark = pytest.mark.slow


@pytest.fixture
def branch(tmp_path: Path) -> Iterator[Branch]:
    opened = Branch(tmp_path)
    yield opened
    opened.close()


def test_a_run_waits_for_servers_that_are_down_when_it_begins(branch: Branch) -> None:
    run_id = branch.queue_questions()
    (place,) = branch.places
    place.kill()
    branch.start_worker()  # a process of its own, which knows nothing of the servers
    wait_until(lambda: branch.waiting(run_id) is not None)
    (cell,) = read_cells(branch.database, run_id)
    assert (cell.state, cell.done) == ("waiting", 0)
    place.start()
    branch.wait_for(run_id, lambda run: run.state == "done")
    assert read_run(branch.database, run_id).done == TRIALS
    assert set(branch.answered_by_all().values()) == {1}
