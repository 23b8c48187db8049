"""Several workers want the same runs."""

import threading

from flow_examples import TRIALS, Office

from evalui.runs.database.store import Store


def test_two_workers_that_race_for_one_run_do_it_once(office: Office) -> None:
    workers = [office.start_worker(), office.start_worker()]
    run_id = office.queue()
    run = office.wait_for(run_id, lambda run: run.state == "done")
    assert run.attempt == 1
    assert len(office.answered()) == TRIALS
    for worker in workers:
        worker.terminate()
        assert worker.wait(20) == 0


def test_each_of_many_runs_is_claimed_once(office: Office) -> None:
    ids = [office.queue(n=1) for _ in range(40)]
    claimed: list[str] = []
    barrier = threading.Barrier(8)

    def claim_all(name: str) -> None:
        store = Store(office.store.database.path)
        barrier.wait()
        while run := store.claim(name):
            claimed.append(run.id)
        store.close()

    threads = [threading.Thread(target=claim_all, args=(f"w{n}",)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(claimed) == sorted(ids)
