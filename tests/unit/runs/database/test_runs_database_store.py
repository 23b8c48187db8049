from runs_examples import CATALOG, add_run, spec, trial

from evalui.runs.database.records import Lease
from evalui.runs.database.store import Store
from evalui.runs.database.throughput import Throughput, store_throughput
from evalui.runs.worker.main import Worker


def test_a_run_that_is_done_has_nothing_left(store: Store) -> None:
    run_id = add_run(store)
    Worker(store, lambda: CATALOG).run_once()
    assert store.remaining_seconds(run_id) == 0


def test_a_cell_that_waits_is_timed_by_its_model(store: Store) -> None:
    run_id = add_run(store, spec(pattern="circular"))
    assert store.remaining_seconds(run_id) is None
    pace = Throughput(12.0)
    store_throughput(
        store.database, "perfect", "multiple_choice", 0, fingerprint="f", throughput=pace
    )
    assert store.remaining_seconds(run_id) == 2.0


def test_a_run_counts_the_trials_of_its_cells(store: Store, lease: Lease) -> None:
    store.write_trials(lease, 1, [trial(1), trial(2)])
    run = store.run(lease.run_id)
    assert (run.done, run.total) == (2, 24)


def test_results_stand_in_the_order_of_the_cells(store: Store) -> None:
    run_id = add_run(store, spec(models=["perfect", "always-A"], mode=["cloze", "generation"]))
    Worker(store, lambda: CATALOG).run_once()
    results = store.results(run_id)
    assert [(r.cell.model, r.cell.mode, r.state, len(r.trials)) for r in results] == [
        ("perfect", "cloze", "done", 6),
        ("perfect", "generation", "done", 6),
        ("always-A", "cloze", "impossible", 0),
        ("always-A", "generation", "done", 6),
    ]
    assert "no probability of a text" in results[2].error


def test_the_store_can_be_opened_again(store: Store) -> None:
    run_id = add_run(store)
    other = Store(store.database.path)
    assert other.run(run_id) == store.run(run_id)
    other.close()
