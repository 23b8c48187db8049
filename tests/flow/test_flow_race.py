"""Several workers want the same runs."""

import threading

from flow_examples import TRIALS, Office

from evalui.store import queue
from evalui.store.connection import Database


def test_two_workers_that_race_for_one_run_do_it_once(office: Office) -> None:
    workers = [office.start_worker(), office.start_worker()]
    run_id = office.queue()
    run = office.wait_for(run_id, lambda run: run.state == "done")
    assert run.attempt == 1
    assert len(office.answered()) == TRIALS
    for worker in workers:
        worker.terminate()
        assert worker.wait(100) == 0


def test_each_of_many_runs_is_claimed_once(office: Office) -> None:
    ids = [office.queue(n=1) for _ in range(40)]
    claimed: list[str] = []
    barrier = threading.Barrier(8)

    def claim_all(name: str) -> None:
        database = Database(office.database.path)
        barrier.wait()
        while run := queue.claim(database, name):
            claimed.append(run.id)
        database.close()

    threads = [threading.Thread(target=claim_all, args=(f"w{n}",)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(claimed) == sorted(ids)
