import pytest
from runs_examples import CATALOG, add_run, dataset, plans_of, spec

from evalui.models import ModelEntry
from evalui.runs.estimate import count_cached
from evalui.runs.worker.worker import Worker
from evalui.store.connection import Database
from evalui.store.usage import store_throughput, throughputs

DATASETS = {"sums.csv": dataset()}


def done(database: Database) -> None:
    add_run(database, spec())
    assert Worker(database, lambda: CATALOG).run_once()


def store(database: Database, *rates: float, shots: int = 5, fingerprint: str = "f") -> None:
    for rate in rates:
        store_throughput(database, "m", "cloze", shots, fingerprint=fingerprint, rate=rate)


def test_the_newest_speed_counts(database: Database) -> None:
    store(database, 10.0, 20.0)
    store(database, 30.0, shots=0)
    assert throughputs(database) == {("m", "cloze", 5): 20.0, ("m", "cloze", 0): 30.0}


def test_of_many_speeds_the_last_twelve_stay(database: Database) -> None:
    store(database, 0.5, shots=0)
    store(database, *map(float, range(1, 16)))
    rows = database.rows("SELECT rate FROM pace WHERE shots = 5 ORDER BY id")
    assert [row["rate"] for row in rows] == [float(rate) for rate in range(4, 16)]
    assert throughputs(database)["m", "cloze", 0] == 0.5


def test_each_run_adds_its_speed(database: Database) -> None:
    slow = ModelEntry("perfect", "scripted", options={"rule": "perfect", "delay": 1e-6})
    for pattern in ("origin", "circular"):
        add_run(database, spec(mode="generation", pattern=pattern), dataset(30))
        assert Worker(database, lambda: {"perfect": slow}).run_once()
    assert len(database.rows("SELECT id FROM pace")) == 2


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
    monkeypatch.setattr("evalui.runs.estimate._MAX_LOOKUPS", 50)
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
