from runs_examples import CATALOG, add_run, dataset, plans_of, spec

from evalui.runs.store import Store
from evalui.runs.worker import Worker

DATASETS = {"sums.csv": dataset()}


def done(store: Store) -> None:
    add_run(store, spec())
    assert Worker(store, lambda: CATALOG).work_once()


def test_the_latest_rate_counts(store: Store) -> None:
    store.put_pace("m", "cloze", 5, fingerprint="f", rate=10.0)
    store.put_pace("m", "cloze", 5, fingerprint="f", rate=20.0)
    store.put_pace("m", "cloze", 0, fingerprint="f", rate=30.0)
    assert store.rates() == {("m", "cloze", 5): 20.0, ("m", "cloze", 0): 30.0}


def test_a_model_that_never_ran_has_answered_nothing(store: Store) -> None:
    assert store.cached(plans_of(spec()), DATASETS) == (0,)


def test_the_answers_to_the_files_own_order_are_known_afterwards(store: Store) -> None:
    big = dataset(30)
    add_run(store, spec(), big)
    assert Worker(store, lambda: CATALOG).work_once()
    plans = plans_of(spec(pattern="circular"), big) + plans_of(spec(mode="cloze"), big)
    assert store.cached(plans, {"sums.csv": big}) == (30, 0)


def test_too_few_requests_tell_no_rate(store: Store) -> None:
    done(store)
    assert store.rates() == {}
