"""A run is stopped by its owner while a worker is at it."""

from flow_examples import SLOW, TRIALS, Office, wait_until

from evalui.store import queue
from evalui.store.runs import read_runs
from evalui.types import Trial


def test_a_cancelled_run_keeps_what_it_has_and_goes_on_from_there(
    office: Office, expected: list[tuple[Trial, ...]]
) -> None:
    office.pace(SLOW)
    run_id = office.queue()
    office.start_worker()
    office.wait_for(run_id, lambda run: run.done > 0)
    queue.cancel(office.database, run_id)
    stopped = office.wait_for(run_id, lambda run: run.state == "cancelled")
    assert 0 < stopped.done < TRIALS
    assert len(office.answered()) == stopped.done
    office.pace(0)
    queue.resume(office.database, run_id)
    office.wait_for(run_id, lambda run: run.state == "done")
    assert office.trials(run_id) == expected
    assert len(office.answered()) == TRIALS


def test_a_deleted_run_stops_its_worker_which_takes_the_next(office: Office) -> None:
    office.pace(SLOW)
    run_id = office.queue()
    office.start_worker()
    office.wait_for(run_id, lambda run: run.done > 0)
    office.pace(0)
    queue.delete(office.database, run_id)
    second = office.queue(n=10)
    office.wait_for(second, lambda run: run.state == "done")
    assert len(office.answered()) < TRIALS
    left = office.database.row("SELECT count(*) AS n FROM trial")
    assert left
    assert left["n"] == 40
    wait_until(lambda: len(read_runs(office.database)) == 1)
