"""Two servers with workers of their own use one store."""

from flow_examples import TRIALS, Office
from test_fault_kills import kill, serve

from evalui.store.runs import read_run
from evalui.types import Trial


def test_two_servers_share_the_work_and_one_may_die(
    office: Office, expected: list[tuple[Trial, ...]]
):
    office.pace(0.004)
    ids = [office.queue() for _ in range(3)]
    first, second = serve(office), serve(office)
    office.wait_for(ids[0], lambda run: run.done > TRIALS // 4)
    kill(first, "both")
    office.pace(0)
    for run_id in ids:
        run = office.wait_for(run_id, lambda run: run.state in ("done", "failed"))
        assert run.state == "done", run.error
        assert office.trials(run_id) == expected
    assert second.poll() is None
    assert sum(read_run(office.database, run_id).done for run_id in ids) == 3 * TRIALS
