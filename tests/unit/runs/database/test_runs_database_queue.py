import time
from pathlib import Path

import pytest
from runs_examples import RESPONSE, add_run, plans_of, spec, trial

from evalui.errors import Cancelled, ModelError, RunLeaseLost, SpecError, UnknownRun
from evalui.runs.database.queue import MAX_LOSSES, release_worker_runs
from evalui.runs.database.records import Lease
from evalui.runs.database.store import Store
from evalui.runs.worker.main import worker_name
from evalui.runs.worker.supervisor import WorkerSupervisor


def claim(store: Store, worker: str = "worker-1") -> Lease:
    run = store.claim(worker)
    assert run
    return run.lease


def cell_states(store: Store, run_id: str) -> list[str]:
    return [cell.state for cell in store.cells(run_id)]


def test_a_run_is_called_by_its_datasets_unless_it_has_a_name(store: Store) -> None:
    assert store.run(add_run(store)).name == "sums"
    assert store.run(add_run(store, spec(name="midterm"))).name == "midterm"


def test_a_run_that_can_do_nothing_is_not_queued(store: Store) -> None:
    with pytest.raises(SpecError, match=r"Nothing in this run can be done\. always-A cannot"):
        add_run(store, spec(models=["always-A"], mode="cloze"))
    assert store.runs() == []


def test_a_cell_that_cannot_run_keeps_its_reason(store: Store) -> None:
    run_id = add_run(store, spec(models=["always-A"], mode=["cloze", "generation"]))
    cloze, generation = store.cells(run_id)
    assert (cloze.state, generation.state) == ("impossible", "waiting")
    assert "no probability of a text" in cloze.error
    assert store.run(run_id).total == generation.total


def test_who_came_first_is_served_first(store: Store) -> None:
    ids = [add_run(store) for _ in range(3)]
    assert [store.queue_position(run_id) for run_id in ids] == [0, 1, 2]
    assert [claim(store).run_id for _ in ids] == ids


def test_a_run_that_is_claimed_has_no_place_in_the_queue(store: Store) -> None:
    first, second = add_run(store), add_run(store)
    claim(store)
    assert (store.queue_position(first), store.queue_position(second)) == (None, 0)


def test_an_empty_queue_gives_nothing(store: Store) -> None:
    assert store.claim("worker-1") is None


def test_a_run_can_be_claimed_by_its_id(store: Store) -> None:
    add_run(store)
    second = add_run(store)
    taken = store.claim("worker-1", second)
    assert taken
    assert taken.id == second
    assert store.claim("worker-1", second) is None


def test_looking_into_an_empty_queue_writes_nothing(store: Store, lease: Lease) -> None:
    other = Store(store.database.path)
    with other.database.writing():
        assert store.claim("worker-2") is None
        assert store.requeue_stale(60) == 0
        assert store.requeue_worker("worker-2") == 0
    other.close()
    assert store.heartbeat(lease)


def test_a_run_whose_worker_was_ended_by_us_has_lost_none(store: Store) -> None:
    run_id = add_run(store)
    for _ in range(2 * MAX_LOSSES):
        claim(store)
        release_worker_runs(store.database, "worker-1")
    assert store.run(run_id).state == "queued"
    claim(store)
    release_worker_runs(store.database, "worker-2")
    store.cancel(run_id)
    assert store.run(run_id).state == "running"
    release_worker_runs(store.database, "worker-1")
    assert (store.run(run_id).state, cell_states(store, run_id)) == ("cancelled", ["cancelled"])


def test_a_waiting_run_is_cancelled_at_once(store: Store) -> None:
    run_id = add_run(store)
    store.cancel(run_id)
    assert store.run(run_id).state == "cancelled"
    assert cell_states(store, run_id) == ["cancelled"]
    assert store.claim("worker-1") is None


def test_a_running_run_is_cancelled_by_its_worker(store: Store, lease: Lease) -> None:
    store.check(lease)
    store.cancel(lease.run_id)
    assert (store.run(lease.run_id).state, store.run(lease.run_id).cancelling) == ("running", True)
    with pytest.raises(Cancelled):
        store.check(lease)
    store.finish_cancelled(lease)
    assert (store.run(lease.run_id).state, store.run(lease.run_id).cancelling) == (
        "cancelled",
        False,
    )


def test_what_was_answered_before_a_cancel_can_still_be_written(store: Store, lease: Lease) -> None:
    store.cancel(lease.run_id)
    store.write_trials(lease, 1, [trial(1)])
    assert store.cells(lease.run_id)[0].done == 1


def test_resuming_waits_for_unfinished_cells_only(store: Store) -> None:
    run_id = add_run(store, spec(mode=["multiple_choice", "generation", "cloze"]))
    lease = claim(store)
    one, two, _ = store.cells(run_id)
    store.start_cell(lease, one.id, "f")
    store.finish_cell(lease, one.id)
    store.finish_cell(lease, two.id, "It broke.", "Traceback ...")
    store.cancel(run_id)
    store.finish_cancelled(lease)
    assert cell_states(store, run_id) == ["done", "failed", "cancelled"]
    store.resume(run_id)
    assert cell_states(store, run_id) == ["done", "waiting", "waiting"]
    assert store.cells(run_id)[1].traceback == ""
    assert claim(store).run_id == run_id


def test_a_resumed_run_goes_to_the_end_of_the_queue(store: Store) -> None:
    first = add_run(store)
    store.cancel(first)
    second = add_run(store)
    store.resume(first)
    assert (store.queue_position(second), store.queue_position(first)) == (0, 1)


def test_resuming_a_finished_run_changes_nothing(store: Store, lease: Lease) -> None:
    store.finish_cell(lease, 1)
    store.finish(lease)
    before = store.run(lease.run_id)
    store.resume(lease.run_id)
    assert store.run(lease.run_id) == before


def test_a_run_fails_when_a_cell_has_failed(store: Store) -> None:
    run_id = add_run(store, spec(mode=["multiple_choice", "generation"]))
    lease = claim(store)
    one, two = store.cells(run_id)
    store.finish_cell(lease, one.id, "It broke.", "Traceback ...")
    store.finish_cell(lease, two.id)
    store.finish(lease)
    assert (store.run(run_id).state, store.run(run_id).error) == ("failed", "It broke.")
    assert store.cells(run_id)[0].traceback == "Traceback ..."


def test_deleting_a_run_takes_its_trials_along_and_stops_its_worker(
    store: Store, lease: Lease
) -> None:
    store.write_trials(lease, 1, [trial(1)], [(b"k" * 32, RESPONSE)])
    store.delete(lease.run_id)
    with pytest.raises(RunLeaseLost):
        store.check(lease)
    with pytest.raises(RunLeaseLost):
        store.write_trials(lease, 1, [trial(2)])
    assert store.trials(1) == ()
    assert store.runs() == []


def test_a_cell_is_not_gone_on_with_by_another_model(store: Store, lease: Lease) -> None:
    store.start_cell(lease, 1, "before")
    store.start_cell(lease, 1, "after")  # nothing was answered yet
    store.write_trials(lease, 1, [trial(1)])
    with pytest.raises(ModelError, match="has changed since this cell began"):
        store.start_cell(lease, 1, "later")
    store.start_cell(lease, 1, "after")


def test_a_response_outlives_its_run(store: Store, lease: Lease) -> None:
    store.write_trials(lease, 1, [trial(1)], [(b"k" * 32, RESPONSE)])
    store.delete(lease.run_id)
    assert store.responses([b"k" * 32]) == {b"k" * 32: RESPONSE}


@pytest.mark.parametrize("what", ["run", "cells", "cancel", "resume", "delete", "results"])
def test_a_run_that_is_not_there_is_said_to_be_unknown(store: Store, what: str) -> None:
    with pytest.raises(UnknownRun, match="There is no run 'nope'"):
        getattr(store, what)("nope")


def test_a_beating_worker_keeps_its_run(store: Store, lease: Lease) -> None:
    assert store.heartbeat(lease)
    assert store.requeue_stale(60) == 0
    assert store.run(lease.run_id).state == "running"


def test_a_heartbeat_is_no_news(store: Store, lease: Lease) -> None:
    before = store.revision(lease.run_id)
    store.heartbeat(lease)
    assert store.revision(lease.run_id) == before


def test_a_silent_workers_run_goes_back_to_its_place(store: Store, lease: Lease) -> None:
    later = add_run(store)
    time.sleep(0.01)
    assert store.requeue_stale(0) == 1
    assert (store.queue_position(lease.run_id), store.queue_position(later)) == (0, 1)
    assert cell_states(store, lease.run_id) == ["waiting"]


def test_a_worker_thought_dead_can_write_nothing(store: Store, lease: Lease) -> None:
    store.requeue_worker("worker-1")
    for write in (
        lambda: store.write_trials(lease, 1, [trial(1)], [(b"k" * 32, RESPONSE)]),
        lambda: store.start_cell(lease, 1, "g"),
        lambda: store.finish_cell(lease, 1),
        lambda: store.finish(lease),
        lambda: store.fail(lease, "It broke."),
        lambda: store.finish_cancelled(lease),
        lambda: store.release(lease),
        lambda: store.check(lease),
    ):
        with pytest.raises(RunLeaseLost):
            write()
    assert not store.heartbeat(lease)
    assert store.trials(1) == ()
    assert store.responses([b"k" * 32]) == {}


def test_an_old_claim_of_the_same_worker_is_worth_nothing(store: Store, lease: Lease) -> None:
    store.requeue_worker("worker-1")
    newer = claim(store, "worker-1")
    with pytest.raises(RunLeaseLost):
        store.write_trials(lease, 1, [trial(1)])
    store.write_trials(newer, 1, [trial(1)])


def test_another_workers_run_is_left_alone(store: Store, lease: Lease) -> None:
    assert store.requeue_worker("worker-2") == 0
    assert store.heartbeat(lease)


def test_a_cancel_is_not_forgotten_when_the_worker_dies(store: Store, lease: Lease) -> None:
    store.cancel(lease.run_id)
    store.requeue_worker("worker-1")
    assert store.run(lease.run_id).state == "cancelled"


def test_a_run_that_kills_its_workers_fails_at_last(store: Store) -> None:
    run_id = add_run(store)
    for _ in range(MAX_LOSSES):
        assert store.run(run_id).state == "queued"
        claim(store)
        store.requeue_worker("worker-1")
    assert store.run(run_id).state == "failed"
    assert store.cells(run_id)[0].error == "The worker died 3 times while it worked on this run."


@pytest.mark.parametrize(("over", "state"), [(False, "failed"), (True, "queued")])
def test_a_server_that_ends_in_the_middle_is_no_loss(store: Store, over: bool, state: str) -> None:
    workers = WorkerSupervisor(store, Path("models.toml"), count=0)
    if over:
        workers.stop()
    run_id = add_run(store)
    for _ in range(MAX_LOSSES):
        claim(store, worker_name(4711))
        workers._requeue(4711, -9)  # pyright: ignore[reportPrivateUsage]
    assert store.run(run_id).state == state


def test_progress_forgives_a_lost_worker(store: Store) -> None:
    run_id = add_run(store)
    for number in range(2 * MAX_LOSSES):
        store.write_trials(claim(store), 1, [trial(number)])
        store.requeue_worker("worker-1")
    assert store.run(run_id).state == "queued"


def test_a_run_given_back_keeps_its_place(store: Store, lease: Lease) -> None:
    add_run(store)
    store.release(lease)
    assert store.queue_position(lease.run_id) == 0


def test_every_change_is_news(store: Store) -> None:
    run_id = add_run(store)
    seen = [store.revision(run_id)]

    def news() -> bool:
        seen.append(store.revision(run_id))
        return seen[-1] > seen[-2]

    lease = claim(store)
    assert news()
    store.start_cell(lease, 1, "f")
    assert news()
    store.write_trials(lease, 1, [trial(1)])
    assert news()
    store.cancel(run_id)
    assert news()
    store.finish_cancelled(lease)
    assert news()
    store.resume(run_id)
    assert news()


def test_news_of_one_run_is_no_news_of_another(store: Store) -> None:
    first = add_run(store)
    before, all_before = store.revision(first), store.revision()
    store.cancel(add_run(store))
    assert store.revision(first) == before
    assert store.revision() > all_before


def test_a_deletion_is_news(store: Store) -> None:
    run_id = add_run(store)
    before = store.revision()
    store.delete(run_id)
    assert store.revision() > before


def test_the_runs_of_others_are_not_listed(store: Store) -> None:
    add_run(store)
    assert store.runs("ada") == []


def test_the_plan_is_kept_with_its_chat_decided(store: Store) -> None:
    run_id = add_run(store)
    (plan,) = plans_of(spec())
    assert store.cells(run_id)[0].plan == plan.mode.model_dump_json()
