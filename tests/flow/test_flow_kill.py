"""A worker is killed, frozen or ended in the middle of a run."""

import os
import signal
import subprocess

from flow_examples import SLOW, TRIALS, Office, wait_until

from evalui.errors import StoreError
from evalui.runs.worker.cell import FLUSH_S
from evalui.runs.worker.worker import worker_name
from evalui.store import queue
from evalui.store.runs import read_run
from evalui.types import Trial


def test_a_killed_worker_loses_nothing_that_was_written(
    office: Office, expected: list[tuple[Trial, ...]]
) -> None:
    office.pace(SLOW)
    run_id = office.queue()
    lost = 0
    for share in (0.1, 0.2, 0.3):
        worker = office.start_worker()
        office.wait_for(run_id, lambda run, share=share: run.done >= share * TRIALS)
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        # What was answered and not yet written is all that can be lost, and never more than
        # what the model answers between two writings.
        in_hand = len(office.answered()) - lost - read_run(office.database, run_id).done
        assert 0 <= in_hand <= 1.5 * FLUSH_S / SLOW
        lost += in_hand
        assert queue.requeue_lost(office.database, worker=worker_name(worker.pid)) == 1
    office.pace(0)
    office.start_worker()
    office.wait_for(run_id, lambda run: run.state == "done")
    assert office.trials(run_id) == expected
    assert len(office.answered()) == TRIALS + lost
    assert len(set(office.answered())) == TRIALS


def test_a_silent_worker_is_replaced_and_can_write_no_more(
    office: Office, expected: list[tuple[Trial, ...]]
) -> None:
    office.pace(SLOW)
    run_id = office.queue()
    frozen = office.start_worker()
    office.wait_for(run_id, lambda run: run.done > 0)
    freeze(frozen, office)
    office.pace(0)
    before = read_run(office.database, run_id)
    # Everybody who is silent for a moment is silent too long here.
    wait_until(lambda: queue.requeue_lost(office.database, silent_s=1.0) == 1)
    other = office.start_worker()
    office.wait_for(run_id, lambda run: run.attempt == before.attempt + 1)
    frozen.send_signal(signal.SIGCONT)
    done = office.wait_for(run_id, lambda run: run.state == "done")
    assert done.worker == worker_name(other.pid)
    assert office.trials(run_id) == expected
    # The one that was thought dead lives, and takes the next run as if nothing had been.
    other.terminate()
    other.wait()
    second = office.queue()
    assert office.wait_for(second, lambda run: run.state == "done").worker == worker_name(
        frozen.pid
    )


def freeze(worker: subprocess.Popen[bytes], office: Office) -> None:
    """Stop a worker while it does not hold the database, which nobody else could write then."""
    for _ in range(5):
        worker.send_signal(signal.SIGSTOP)
        try:
            with office.database.writing():
                return
        except StoreError:
            worker.send_signal(signal.SIGCONT)
    raise AssertionError("it is always writing")


def test_a_worker_asked_to_end_finishes_its_batch_and_gives_the_run_back(office: Office) -> None:
    office.pace(SLOW)
    run_id = office.queue()
    worker = office.start_worker()
    office.wait_for(run_id, lambda run: run.done > 0)
    os.kill(worker.pid, signal.SIGTERM)
    assert worker.wait(100) == 0
    run = read_run(office.database, run_id)
    assert run.state == "queued"
    assert 0 < run.done < TRIALS
    office.pace(0)
    assert office.work_here()
    assert read_run(office.database, run_id).state == "done"
    assert len(office.answered()) == TRIALS
