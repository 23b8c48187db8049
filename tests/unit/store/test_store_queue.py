import secrets
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from runs_examples import KEPT, add_run, plans_of, spec, trial

from evalui.access import Person
from evalui.errors import Cancelled, ModelError, RunLeaseLost, SpecError, UnknownRun
from evalui.runs.fair_queue.limits import UserLimits
from evalui.runs.fair_queue.turns import queue_places
from evalui.runs.results import read_results
from evalui.runs.worker.supervisor import WorkerSupervisor
from evalui.runs.worker.worker import worker_name
from evalui.store import queue
from evalui.store.connection import Database
from evalui.store.queue import MAX_LOSSES, release_worker_runs
from evalui.store.response_cache import get_responses
from evalui.store.runs import Lease, read_cells, read_revision, read_run, read_runs
from evalui.store.trials import read_trials, write_trials


def claim(database: Database, worker: str = "worker-1") -> Lease:
    run = queue.claim(database, worker)
    assert run
    return run.lease


def queue_position(database: Database, run_id: str) -> int | None:
    """How many queued runs come first, of all owners; None if the run does not wait."""
    place = queue_places(database, UserLimits()).get(run_id)
    return place.place - 1 if place and place.place else None


def cell_states(database: Database, run_id: str) -> list[str]:
    return [cell.state for cell in read_cells(database, run_id)]


def test_a_run_is_called_by_its_datasets_unless_it_has_a_name(database: Database) -> None:
    assert read_run(database, add_run(database)).name == "sums"
    assert read_run(database, add_run(database, spec(name="midterm"))).name == "midterm"


def test_a_run_that_can_do_nothing_is_not_queued(database: Database) -> None:
    with pytest.raises(SpecError, match=r"Nothing in this run can be evaluated\. always-A cannot"):
        add_run(database, spec(models=["always-A"], mode="cloze"))
    assert read_runs(database) == []


def test_a_cell_that_cannot_run_keeps_its_reason(database: Database) -> None:
    run_id = add_run(database, spec(models=["always-A"], mode=["cloze", "generation"]))
    cloze, generation = read_cells(database, run_id)
    assert (cloze.state, generation.state) == ("impossible", "waiting")
    assert "no probability of a text" in cloze.error
    assert read_run(database, run_id).total == generation.total


def test_who_came_first_is_served_first(database: Database) -> None:
    ids = [add_run(database) for _ in range(3)]
    assert [queue_position(database, run_id) for run_id in ids] == [0, 1, 2]
    assert [claim(database).run_id for _ in ids] == ids


def test_a_run_that_is_claimed_has_no_place_in_the_queue(database: Database) -> None:
    first, second = add_run(database), add_run(database)
    claim(database)
    assert (queue_position(database, first), queue_position(database, second)) == (None, 0)


def test_an_empty_queue_gives_nothing(database: Database) -> None:
    assert queue.claim(database, "worker-1") is None


def test_a_run_can_be_claimed_by_its_id(database: Database) -> None:
    add_run(database)
    second = add_run(database)
    taken = queue.claim(database, "worker-1", second)
    assert taken
    assert taken.id == second
    assert queue.claim(database, "worker-1", second) is None


def test_a_run_of_a_script_is_no_other_workers_and_ends_with_it(database: Database) -> None:
    run_id = add_run(database, worker="script-box:1")
    assert queue.claim(database, "worker-1") is None
    assert queue.claim(database, "worker-1", run_id) is None
    taken = queue.claim(database, "script-box:1", run_id)
    assert taken is not None
    assert (taken.state, taken.attempt) == ("running", 1)
    assert queue.claim(database, "script-box:1", run_id) is None
    assert queue.has_lost_scripts(database, -1)
    assert not queue.has_lost_scripts(database, 60)
    assert queue.requeue_lost(database, silent_s=-1) == 1
    row = read_run(database, run_id)
    assert (row.state, cell_states(database, run_id)) == ("failed", ["failed"])
    assert row.error.startswith("The program that did this run ended")


def test_looking_into_an_empty_queue_writes_nothing(database: Database, lease: Lease) -> None:
    other = Database(database.path)
    with other.writing():
        assert queue.claim(database, "worker-2") is None
        assert queue.requeue_lost(database, silent_s=60) == 0
        assert queue.requeue_lost(database, worker="worker-2") == 0
    other.close()
    assert queue.heartbeat(database, lease)


def test_a_run_whose_worker_was_ended_by_us_has_lost_none(database: Database) -> None:
    run_id = add_run(database)
    for _ in range(2 * MAX_LOSSES):
        claim(database)
        release_worker_runs(database, "worker-1")
    assert read_run(database, run_id).state == "queued"
    claim(database)
    release_worker_runs(database, "worker-2")
    queue.cancel(database, run_id)
    assert read_run(database, run_id).state == "running"
    release_worker_runs(database, "worker-1")
    assert (read_run(database, run_id).state, cell_states(database, run_id)) == (
        "cancelled",
        ["cancelled"],
    )


def test_a_waiting_run_is_cancelled_at_once(database: Database) -> None:
    run_id = add_run(database)
    queue.cancel(database, run_id)
    assert read_run(database, run_id).state == "cancelled"
    assert cell_states(database, run_id) == ["cancelled"]
    assert queue.claim(database, "worker-1") is None


def test_a_running_run_is_cancelled_by_its_worker(database: Database, lease: Lease) -> None:
    queue.check_lease(database, lease)
    queue.cancel(database, lease.run_id)
    assert (
        read_run(database, lease.run_id).state,
        read_run(database, lease.run_id).cancelling,
    ) == ("running", True)
    with pytest.raises(Cancelled):
        queue.check_lease(database, lease)
    queue.finish_cancelled(database, lease)
    assert (
        read_run(database, lease.run_id).state,
        read_run(database, lease.run_id).cancelling,
    ) == (
        "cancelled",
        False,
    )


def test_what_was_answered_before_a_cancel_can_still_be_written(
    database: Database, lease: Lease
) -> None:
    queue.cancel(database, lease.run_id)
    write_trials(database, lease, 1, [trial(1)])
    assert read_cells(database, lease.run_id)[0].done == 1


def test_resuming_waits_for_unfinished_cells_only(database: Database) -> None:
    run_id = add_run(database, spec(mode=["multiple_choice", "generation", "cloze"]))
    lease = claim(database)
    one, two, _ = read_cells(database, run_id)
    queue.start_cell(database, lease, one.id, "f")
    queue.finish_cell(database, lease, one.id)
    queue.finish_cell(database, lease, two.id, "It broke.", "Traceback ...")
    queue.cancel(database, run_id)
    queue.finish_cancelled(database, lease)
    assert cell_states(database, run_id) == ["done", "failed", "cancelled"]
    queue.resume(database, run_id)
    assert cell_states(database, run_id) == ["done", "waiting", "waiting"]
    assert read_cells(database, run_id)[1].traceback == ""
    assert claim(database).run_id == run_id


def test_a_resumed_run_goes_to_the_end_of_the_queue(database: Database) -> None:
    first = add_run(database)
    queue.cancel(database, first)
    second = add_run(database)
    queue.resume(database, first)
    assert (queue_position(database, second), queue_position(database, first)) == (0, 1)


def test_resuming_a_finished_run_changes_nothing(database: Database, lease: Lease) -> None:
    queue.finish_cell(database, lease, 1)
    queue.finish(database, lease)
    before = read_run(database, lease.run_id)
    queue.resume(database, lease.run_id)
    assert read_run(database, lease.run_id) == before


def test_a_run_fails_when_a_cell_has_failed(database: Database) -> None:
    run_id = add_run(database, spec(mode=["multiple_choice", "generation"]))
    lease = claim(database)
    one, two = read_cells(database, run_id)
    queue.finish_cell(database, lease, one.id, "It broke.", "Traceback ...")
    queue.finish_cell(database, lease, two.id)
    queue.finish(database, lease)
    assert (read_run(database, run_id).state, read_run(database, run_id).error) == (
        "failed",
        "It broke.",
    )
    assert read_cells(database, run_id)[0].traceback == "Traceback ..."


def test_deleting_a_run_takes_its_trials_along_and_stops_its_worker(
    database: Database, lease: Lease
) -> None:
    write_trials(database, lease, 1, [trial(1)], [KEPT])
    queue.delete(database, lease.run_id)
    with pytest.raises(RunLeaseLost):
        queue.check_lease(database, lease)
    with pytest.raises(RunLeaseLost):
        write_trials(database, lease, 1, [trial(2)])
    assert tuple(read_trials(database, 1)) == ()
    assert read_runs(database) == []


def test_a_cell_is_not_gone_on_with_by_another_model(database: Database, lease: Lease) -> None:
    queue.start_cell(database, lease, 1, "before")
    queue.start_cell(database, lease, 1, "after")  # nothing was answered yet
    write_trials(database, lease, 1, [trial(1)])
    with pytest.raises(ModelError, match="has changed since this part of the run began"):
        queue.start_cell(database, lease, 1, "later")
    queue.start_cell(database, lease, 1, "after")


def test_a_response_outlives_its_run(database: Database, lease: Lease) -> None:
    write_trials(database, lease, 1, [trial(1)], [KEPT])
    queue.delete(database, lease.run_id)
    assert get_responses(database, [b"k" * 32]) == {b"k" * 32: KEPT}


@pytest.mark.parametrize(
    "use", [read_run, read_cells, queue.cancel, queue.resume, queue.delete, read_results]
)
def test_a_run_that_is_not_there_is_reported_as_unknown(
    database: Database, use: Callable[[Database, str], object]
) -> None:
    with pytest.raises(UnknownRun, match="There is no run 'nope'"):
        use(database, "nope")


def test_a_beating_worker_keeps_its_run(database: Database, lease: Lease) -> None:
    assert queue.heartbeat(database, lease)
    assert queue.requeue_lost(database, silent_s=60) == 0
    assert read_run(database, lease.run_id).state == "running"


def test_a_heartbeat_is_no_news(database: Database, lease: Lease) -> None:
    before = read_run(database, lease.run_id).revision
    queue.heartbeat(database, lease)
    assert read_run(database, lease.run_id).revision == before


def test_a_silent_workers_run_goes_back_to_its_place(database: Database, lease: Lease) -> None:
    later = add_run(database)
    time.sleep(0.01)
    assert queue.requeue_lost(database, silent_s=0) == 1
    assert (queue_position(database, lease.run_id), queue_position(database, later)) == (0, 1)
    assert cell_states(database, lease.run_id) == ["waiting"]


def test_a_worker_thought_dead_can_write_nothing(database: Database, lease: Lease) -> None:
    queue.requeue_lost(database, worker="worker-1")
    for write in (
        lambda: write_trials(database, lease, 1, [trial(1)], [KEPT]),
        lambda: queue.start_cell(database, lease, 1, "g"),
        lambda: queue.finish_cell(database, lease, 1),
        lambda: queue.finish(database, lease),
        lambda: queue.fail(database, lease, "It broke."),
        lambda: queue.finish_cancelled(database, lease),
        lambda: queue.release(database, lease),
        lambda: queue.check_lease(database, lease),
    ):
        with pytest.raises(RunLeaseLost):
            write()
    assert not queue.heartbeat(database, lease)
    assert tuple(read_trials(database, 1)) == ()
    assert get_responses(database, [b"k" * 32]) == {}


def test_an_old_claim_of_the_same_worker_is_worth_nothing(database: Database, lease: Lease) -> None:
    queue.requeue_lost(database, worker="worker-1")
    newer = claim(database, "worker-1")
    with pytest.raises(RunLeaseLost):
        write_trials(database, lease, 1, [trial(1)])
    write_trials(database, newer, 1, [trial(1)])


def test_another_workers_run_is_left_alone(database: Database, lease: Lease) -> None:
    assert queue.requeue_lost(database, worker="worker-2") == 0
    assert queue.heartbeat(database, lease)


def test_a_cancel_is_not_forgotten_when_the_worker_dies(database: Database, lease: Lease) -> None:
    queue.cancel(database, lease.run_id)
    queue.requeue_lost(database, worker="worker-1")
    assert read_run(database, lease.run_id).state == "cancelled"


def test_a_run_that_kills_its_workers_fails_at_last(database: Database) -> None:
    run_id = add_run(database)
    for _ in range(MAX_LOSSES):
        assert read_run(database, run_id).state == "queued"
        claim(database)
        queue.requeue_lost(database, worker="worker-1")
    assert read_run(database, run_id).state == "failed"
    assert (
        read_cells(database, run_id)[0].error
        == "The worker died 3 times while it worked on this run."
    )


@pytest.mark.parametrize(("over", "state"), [(False, "failed"), (True, "queued")])
def test_a_server_that_ends_in_the_middle_is_no_loss(
    database: Database, over: bool, state: str
) -> None:
    workers = WorkerSupervisor(database, Path("models.toml"), devices=())
    if over:
        workers.stop()
    run_id = add_run(database)
    for _ in range(MAX_LOSSES):
        claim(database, worker_name(4711))
        workers._requeue(4711, -9)  # pyright: ignore[reportPrivateUsage]
    assert read_run(database, run_id).state == state


def test_progress_forgives_a_lost_worker(database: Database) -> None:
    run_id = add_run(database)
    for number in range(2 * MAX_LOSSES):
        write_trials(database, claim(database), 1, [trial(number)])
        queue.requeue_lost(database, worker="worker-1")
    assert read_run(database, run_id).state == "queued"


def test_a_run_given_back_keeps_its_place(database: Database, lease: Lease) -> None:
    add_run(database)
    queue.release(database, lease)
    assert queue_position(database, lease.run_id) == 0


def test_every_change_is_news(database: Database) -> None:
    run_id = add_run(database)
    seen = [read_run(database, run_id).revision]

    def news() -> bool:
        seen.append(read_run(database, run_id).revision)
        return seen[-1] > seen[-2]

    lease = claim(database)
    assert news()
    queue.start_cell(database, lease, 1, "f")
    assert news()
    write_trials(database, lease, 1, [trial(1)])
    assert news()
    queue.cancel(database, run_id)
    assert news()
    queue.finish_cancelled(database, lease)
    assert news()
    queue.resume(database, run_id)
    assert news()


def test_news_of_one_run_is_no_news_of_another(database: Database) -> None:
    first = add_run(database)
    before, all_before = read_run(database, first).revision, read_revision(database)
    queue.cancel(database, add_run(database))
    assert read_run(database, first).revision == before
    assert read_revision(database) > all_before


def test_a_deletion_is_news(database: Database) -> None:
    run_id = add_run(database)
    before = read_revision(database)
    queue.delete(database, run_id)
    assert read_revision(database) > before


def test_the_runs_of_others_are_not_listed(database: Database) -> None:
    add_run(database)
    assert read_runs(database, Person("ada", "admin")) == []


def test_the_plan_is_kept_with_its_chat_decided(database: Database) -> None:
    run_id = add_run(database)
    (plan,) = plans_of(spec())
    assert read_cells(database, run_id)[0].plan == plan.mode.model_dump_json()


def test_no_id_of_a_run_begins_with_a_dash_which_a_shell_takes_for_an_option(
    database: Database, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(secrets, "token_urlsafe", lambda _: "-CUxIm-IVW1")
    assert add_run(database) == "_CUxIm-IVW"
