from runs_examples import CATALOG, add_run, dataset, plans_of, spec

from evalui.runs.database.store import Store
from evalui.runs.database.throughput import (
    LoadingTimes,
    Throughput,
    loading_times,
    store_loading_time,
    store_throughput,
    throughputs,
)
from evalui.runs.worker.devices import WorkerStatus
from evalui.runs.worker.main import Worker
from evalui.runs.workload import RequestSize

DATASETS = {"sums.csv": dataset()}


def done(store: Store) -> None:
    add_run(store, spec())
    assert Worker(store, lambda: CATALOG).run_once()


def test_the_latest_rate_counts(store: Store) -> None:
    size = RequestSize(sent=9.0, distinct=3.0, written=1.0)
    for shots, pace in ((5, Throughput(10.0)), (5, Throughput(20.0, size)), (0, Throughput(30.0))):
        store_throughput(store.database, "m", "cloze", shots, fingerprint="f", throughput=pace)
    assert throughputs(store.database) == {
        ("m", "cloze", 5): Throughput(20.0, size),
        ("m", "cloze", 0): Throughput(30.0),
    }


def test_a_model_that_never_ran_has_answered_nothing(store: Store) -> None:
    assert store.cached(plans_of(spec()), DATASETS) == (0,)


def test_the_answers_to_the_files_own_order_are_known_afterwards(store: Store) -> None:
    big = dataset(30)
    add_run(store, spec(), big)
    assert Worker(store, lambda: CATALOG).run_once()
    plans = plans_of(spec(pattern="circular"), big) + plans_of(spec(mode="cloze"), big)
    assert store.cached(plans, {"sums.csv": big}) == (30, 0)


def test_too_few_requests_tell_no_rate(store: Store) -> None:
    done(store)
    assert throughputs(store.database) == {}


def test_a_speed_is_kept_with_the_size_of_its_requests(store: Store) -> None:
    add_run(store, spec(mode="generation"), dataset(30))
    assert Worker(store, lambda: CATALOG).run_once()
    (found,) = throughputs(store.database).values()
    assert found.size.sent > found.size.distinct > 0
    assert found.size.written == 1  # the letter


def test_loading_times_are_those_of_first_and_of_later_models(store: Store) -> None:
    assert loading_times(store.database) == LoadingTimes()
    store_loading_time(store.database, "m", cold=True, worker="box:1", seconds=9.0)
    store_loading_time(store.database, "m", cold=False, worker="box:1", seconds=1.0)
    assert loading_times(store.database) == LoadingTimes({"m": 9.0}, {"m": 1.0}, is_warm=False)
    WorkerStatus(store.database, "box:1").update()
    assert loading_times(store.database).is_warm
