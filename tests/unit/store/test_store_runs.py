from runs_examples import CATALOG, add_run, spec, trial

from evalui.runs.results import read_results
from evalui.runs.worker.worker import Worker
from evalui.store import queue
from evalui.store.connection import Database
from evalui.store.runs import Lease, count_runs, read_cells, read_cells_of, read_run
from evalui.store.trials import write_trials
from evalui.store.usage import remaining_seconds_of, store_throughput


def test_a_run_that_is_done_has_nothing_left(database: Database) -> None:
    run_id = add_run(database)
    Worker(database, lambda: CATALOG).run_once()
    assert remaining_seconds_of(database, [run_id])[run_id] == 0


def test_a_cell_that_waits_is_timed_by_its_model(database: Database) -> None:
    run_id = add_run(database, spec(pattern="circular"))
    assert remaining_seconds_of(database, [run_id])[run_id] is None
    store_throughput(database, "perfect", "multiple_choice", 0, fingerprint="f", rate=12.0)
    assert remaining_seconds_of(database, [run_id])[run_id] == 2.0


def test_a_run_counts_the_trials_of_its_cells(database: Database, lease: Lease) -> None:
    write_trials(database, lease, 1, [trial(1), trial(2)])
    run = read_run(database, lease.run_id)
    assert (run.done, run.total) == (2, 24)


def test_runs_are_counted_by_owner_and_state(database: Database) -> None:
    add_run(database)
    queue.cancel(database, add_run(database))
    assert count_runs(database, "local", ["queued"]) == 1
    assert count_runs(database, "local", ["queued", "cancelled", "done"]) == 2
    assert count_runs(database, "someone else", ["queued", "cancelled"]) == 0


def test_the_cells_of_several_runs_are_read_at_once(database: Database) -> None:
    runs = [add_run(database), add_run(database)]
    cells = read_cells_of(database, [*runs, "none"])
    assert cells == {run_id: read_cells(database, run_id) for run_id in runs} | {"none": []}
    assert all(cells[run_id] for run_id in runs)


def test_results_stand_in_the_order_of_the_cells(database: Database) -> None:
    run_id = add_run(database, spec(models=["perfect", "always-A"], mode=["cloze", "generation"]))
    Worker(database, lambda: CATALOG).run_once()
    results = read_results(database, run_id)
    assert [(r.cell.model, r.cell.mode, r.state, len(r.trials)) for r in results] == [
        ("perfect", "cloze", "done", 6),
        ("perfect", "generation", "done", 6),
        ("always-A", "cloze", "impossible", 0),
        ("always-A", "generation", "done", 6),
    ]
    assert "no probability of a text" in results[2].error


def test_the_store_can_be_opened_again(database: Database) -> None:
    run_id = add_run(database)
    other = Database(database.path)
    assert read_run(other, run_id) == read_run(database, run_id)
    other.close()
