import pytest
from runs_examples import CATALOG, add_run, dataset, plans_of, spec

from evalui.models import ModelEntry
from evalui.runs.database.connection import Database
from evalui.runs.database.throughput import (
    LoadingTimes,
    RequestSize,
    Throughput,
    count_cached,
    loading_times,
    store_loading_time,
    store_throughput,
    throughputs,
)
from evalui.runs.worker.heartbeat import WorkerStatus
from evalui.runs.worker.worker import Worker

DATASETS = {"sums.csv": dataset()}


def done(database: Database) -> None:
    add_run(database, spec())
    assert Worker(database, lambda: CATALOG).run_once()


def store(database: Database, *speeds: Throughput, shots: int = 5, fingerprint: str = "f") -> None:
    for speed in speeds:
        store_throughput(database, "m", "cloze", shots, fingerprint=fingerprint, throughput=speed)


def test_speeds_are_kept_the_newest_last(database: Database) -> None:
    old, new = Throughput(10.0), Throughput(20.0, RequestSize(sent=9.0, distinct=3.0, written=1.0))
    store(database, old, new)
    store(database, Throughput(30.0), shots=0)
    assert throughputs(database) == {
        ("m", "cloze", 5): [old, new],
        ("m", "cloze", 0): [Throughput(30.0)],
    }


def test_of_many_speeds_the_last_twelve_stay(database: Database) -> None:
    speeds = [Throughput(float(rate)) for rate in range(1, 16)]
    store(database, Throughput(0.5), shots=0)
    store(database, *speeds)
    kept = throughputs(database)
    assert kept["m", "cloze", 5] == speeds[3:]
    assert kept["m", "cloze", 0] == [Throughput(0.5)]


def test_speeds_on_another_device_or_with_other_files_count_no_longer(database: Database) -> None:
    store(database, Throughput(10.0), fingerprint="on the processor")
    store(database, Throughput(900.0), fingerprint="on the GPU")
    assert throughputs(database) == {("m", "cloze", 5): [Throughput(900.0)]}


def test_each_run_adds_its_speed(database: Database) -> None:
    slow = ModelEntry("perfect", "scripted", options={"rule": "perfect", "delay": 1e-6})
    for pattern in ("origin", "circular"):
        add_run(database, spec(mode="generation", pattern=pattern), dataset(30))
        assert Worker(database, lambda: {"perfect": slow}).run_once()
    (measured,) = throughputs(database).values()
    assert len(measured) == 2


def test_a_model_that_never_ran_has_answered_nothing(database: Database) -> None:
    assert count_cached(database, plans_of(spec()), DATASETS) == (0,)


def test_the_answers_to_the_files_own_order_are_known_afterwards(database: Database) -> None:
    big = dataset(30)
    add_run(database, spec(), big)
    slow = ModelEntry("perfect", "scripted", options={"rule": "perfect", "delay": 1e-6})
    assert Worker(database, lambda: {"perfect": slow}).run_once()
    plans = plans_of(spec(pattern="circular"), big) + plans_of(spec(mode="cloze"), big)
    assert count_cached(database, plans, {"sums.csv": big}) == (30, 0)


def test_of_many_requests_those_of_some_questions_are_looked_up(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("evalui.runs.database.throughput._MAX_LOOKUPS", 50)
    big, half = dataset(60), dataset(30)
    add_run(database, spec(pattern="circular", limit=30, limit_per="dataset"), big)
    slow = ModelEntry("perfect", "scripted", options={"rule": "perfect", "delay": 1e-6})
    assert Worker(database, lambda: {"perfect": slow}).run_once()
    found = [
        count_cached(database, plans_of(spec(pattern=pattern), each), {"sums.csv": each})
        for pattern, each in (("circular", half), ("circular", big), ("all_possible", half))
    ]
    # Four of the 24 orders of a question are answered, those of the first half of the questions.
    assert found == [(120,), (pytest.approx(120, abs=10),), (pytest.approx(120, abs=24),)]


def test_too_few_requests_tell_no_rate(database: Database) -> None:
    done(database)
    assert throughputs(database) == {}


def test_a_speed_is_kept_with_the_size_of_its_requests(database: Database) -> None:
    add_run(database, spec(mode="generation"), dataset(30))
    assert Worker(database, lambda: CATALOG).run_once()
    ((found,),) = throughputs(database).values()
    assert found.size.sent > found.size.distinct > 0
    assert found.size.written == 1  # the letter


def test_loading_times_are_those_of_first_and_of_later_models(database: Database) -> None:
    assert loading_times(database) == LoadingTimes()
    store_loading_time(database, "m", cold=True, worker="box:1", seconds=9.0)
    store_loading_time(database, "m", cold=False, worker="box:1", seconds=1.0)
    assert loading_times(database) == LoadingTimes({"m": 9.0}, {"m": 1.0}, is_warm=False)
    worker = WorkerStatus(database, "box:1")
    worker.update(model="other")  # which is not loaded yet
    assert loading_times(database).is_warm
    assert loading_times(database).loaded == frozenset()
    worker.update(model="m", device="cpu", keeps=True)
    assert loading_times(database).loaded == {"m"}
