"""Two workers on one machine, two people: turns go round, each run is done once."""

from collections import Counter

from flow_examples import TRIALS, Office, wait_until

from evalui.store.runs import read_run, read_workers
from evalui.types import Trial


def test_two_workers_take_turns_between_two_people(
    office: Office, expected: list[tuple[Trial, ...]]
) -> None:
    many = [office.queue(owner="ada") for _ in range(5)]
    few = [office.queue(owner="bob") for _ in range(2)]
    for _ in range(2):
        office.start_worker()
    wait_until(lambda: len(read_workers(office.database)) == 2)
    for run_id in (*many, *few):
        office.wait_for(run_id, lambda run: run.state == "done")
        assert office.trials(run_id) == expected
    rows = [read_run(office.database, run_id) for run_id in (*many, *few)]
    assert [row.attempt for row in rows] == [1] * 7
    assert len({row.worker for row in rows}) == 2
    begun = [row.owner for row in sorted(rows, key=lambda row: row.started or 0.0)]
    assert begun == ["ada", "bob", "ada", "bob", "ada", "ada", "ada"]
    # The same requests of a model are answered once, whoever has them done.
    assert max(Counter(office.answered()).values()) <= 2
    assert len(set(office.answered())) == TRIALS
