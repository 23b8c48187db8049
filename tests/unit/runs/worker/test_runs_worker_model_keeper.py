"""A model stays loaded between runs that use it, and leaves when it is idle or in the way."""

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from runs_examples import CATALOG, RESPONSE, add_run, dataset, plans_of, spec

from evalui.models import Model, ModelEntry
from evalui.runs.fair_queue.limits import Spending, UserLimits, spendings_today
from evalui.runs.fair_queue.turns import set_queue_state
from evalui.runs.submit import create_run
from evalui.runs.worker import heartbeat
from evalui.runs.worker.heartbeat import WorkerStatus
from evalui.runs.worker.model_keeper import ModelKeeper
from evalui.runs.worker.model_tests import queue_model_test
from evalui.runs.worker.run_at_work import RunAtWork
from evalui.runs.worker.worker import Worker
from evalui.store.connection import Database
from evalui.store.runs import read_run, read_workers
from evalui.types import GeneratedText, NextToken, Request, Response, Usage

IDLE_S = 300.0
LOCAL = ModelEntry("perfect", "transformers")
OTHER = ModelEntry("always-A", "transformers")
REMOTE = ModelEntry("perfect", "endpoint", path="served", input_price=2.0, output_price=4.0)


class Loaded:
    fingerprint, abilities = "f", frozenset({"next_token"})

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_open = True
        self.fails = False

    def answer(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        assert self.is_open
        for index, request in enumerate(requests):
            if self.fails:
                raise RuntimeError("It broke.")
            yield index, RESPONSE if isinstance(request, NextToken) else GeneratedText("A")

    def close(self) -> None:
        self.is_open = False


class Metered(Loaded):
    """A model at an endpoint, which counts its tokens."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.answered = 0

    def answer(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        for answered in super().answer(requests):
            self.answered += 1
            yield answered

    def usage(self) -> Usage:
        return Usage(10 * self.answered, self.answered)


class Garage:
    """A worker whose models are fakes; `now` is its clock."""

    def __init__(
        self,
        database: Database,
        catalog: Mapping[str, ModelEntry],
        *,
        device: str = "",
        usual: UserLimits = UserLimits(),  # noqa: B008 (frozen)
    ) -> None:
        self.now = 0.0
        self.opened: list[Loaded] = []
        self.entries: list[ModelEntry] = []
        self.worker = Worker(
            database,
            lambda: catalog,
            name="box:1",
            opener=self.open,
            device=device,
            usual=usual,
        )
        self.worker.models = ModelKeeper(
            database,
            self.open,
            self.worker.status,
            idle_s=IDLE_S,
            own_device=device,
            clock=lambda: self.now,
        )
        self.worker._parts = replace(self.worker._parts, models=self.worker.models)

    def open(self, entry: ModelEntry) -> Model:
        self.now += 40.0  # it takes so long to load
        self.entries.append(entry)
        made = (Metered if entry.backend == "endpoint" else Loaded)(entry.name)
        self.opened.append(made)
        return made

    @property
    def is_open(self) -> list[bool]:
        return [model.is_open for model in self.opened]


def owned_run(database: Database, owner: str, n: int = 6) -> str:
    add_run(database, spec(name="first"), dataset(n))
    plans = plans_of(spec(), dataset(n))
    with database.writing() as connection:
        connection.execute("DELETE FROM run")
        connection.execute("UPDATE dataset SET owner = ?", (owner,))
    return create_run(database, spec(), plans, owner)


def test_a_model_is_loaded_once_for_two_runs(database: Database) -> None:
    garage = Garage(database, {"perfect": LOCAL})
    add_run(database)
    add_run(database, spec(pattern="circular"))
    while garage.worker.run_once():
        pass
    assert len(garage.opened) == 1
    assert garage.is_open == [True]
    (row,) = read_workers(database)
    assert (row.model, row.run, row.is_busy, row.has_loaded_model) == ("perfect", "", False, True)


def test_a_model_leaves_when_another_one_is_needed(database: Database) -> None:
    garage = Garage(database, {"perfect": LOCAL, "always-A": OTHER})
    add_run(database, spec(models=["perfect", "always-A"]))
    garage.worker.run_once()
    assert garage.is_open == [False, True]


def test_a_model_leaves_after_an_idle_time(database: Database) -> None:
    garage = Garage(database, {"perfect": LOCAL})
    add_run(database)
    garage.worker.run_once()
    garage.now += IDLE_S
    garage.worker.models.close_if_unused()
    assert garage.worker.models.has_kept
    garage.now += 1
    garage.worker.models.close_if_unused()
    assert garage.is_open == [False]
    assert not garage.worker.models.has_kept
    assert read_workers(database)[0].model == ""


def test_a_changed_entry_or_file_loads_the_model_anew(database: Database, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text("{}", encoding="utf-8")
    catalog = {"perfect": replace(LOCAL, path=str(folder))}
    garage = Garage(database, catalog)
    for change in (
        lambda: None,
        lambda: catalog.update(perfect=replace(catalog["perfect"], dtype="bfloat16")),
        lambda: (folder / "config.json").write_text('{"changed": 1}', encoding="utf-8"),
    ):
        change()
        add_run(database)
        garage.worker.run_once()
    assert garage.is_open == [False, False, True]


def test_a_model_that_failed_is_not_kept(database: Database) -> None:
    garage = Garage(database, {"perfect": LOCAL})
    add_run(database)
    garage.worker.run_once()
    garage.opened[0].fails = True
    failing = add_run(database, spec(pattern="circular"))
    garage.worker.run_once()
    assert read_run(database, failing).state == "failed"
    assert garage.is_open == [False]


def test_models_of_endpoints_and_rules_are_closed_and_leave_the_one_that_is_kept(
    database: Database,
) -> None:
    catalog = {"perfect": LOCAL}
    garage = Garage(database, catalog)
    add_run(database)
    garage.worker.run_once()
    catalog["perfect"] = REMOTE
    add_run(database, spec(pattern="circular"))
    garage.worker.run_once()
    catalog["perfect"] = CATALOG["perfect"]
    add_run(database)
    garage.worker.run_once()
    assert garage.is_open == [True, False, False]


def test_a_test_of_a_model_loads_it_alone(database: Database) -> None:
    garage = Garage(database, {"perfect": LOCAL})
    add_run(database)
    garage.worker.run_once()
    queue_model_test(database, LOCAL, "me")
    assert garage.worker.run_test_once()
    assert garage.is_open == [False, False]


@pytest.mark.parametrize(
    ("loading", "leaves"),
    [
        ({"name": "box:2", "model": "m"}, True),
        ({"name": "box:2", "model": "m", "device": "cuda"}, False),  # it is loaded already
        ({"name": "other-box:2", "model": "m"}, False),
        ({"name": "box:2", "model": "m", "own_device": "cuda:1"}, False),
        ({"name": "box:2", "model": "m", "own_device": "cuda:0"}, True),
    ],
)
def test_a_model_leaves_when_a_worker_beside_it_loads_one(
    database: Database, loading: dict[str, str], leaves: bool
) -> None:
    garage = Garage(database, {"perfect": LOCAL}, device="cuda:0")
    add_run(database)
    garage.worker.run_once()
    other = WorkerStatus(database, loading["name"], loading.get("own_device", ""))
    other.update(model="m", run="r", device=loading.get("device", ""))
    garage.worker.models.close_if_unused()
    assert garage.is_open == [not leaves]


def test_a_worker_for_one_gpu_opens_models_on_the_only_one_it_sees(database: Database) -> None:
    garage = Garage(database, {"perfect": replace(LOCAL, device="cuda:3")}, device="cuda:1")
    add_run(database)
    garage.worker.run_once()
    assert garage.entries[0].device == "cuda"
    (row,) = read_workers(database)
    assert (row.device, row.own_device) == ("cuda:1", "cuda:1")


def test_what_a_model_at_an_endpoint_takes_is_noted_with_the_owner_of_the_run(
    database: Database,
) -> None:
    garage = Garage(database, {"perfect": REMOTE})
    owned_run(database, "ada")
    garage.worker.run_once()
    assert spendings_today(database, time.time()) == {
        "ada": Spending(6 * 11, pytest.approx(6 * (10 * 2.0 + 4.0) / 1e6))
    }


@pytest.mark.parametrize("catalog", [CATALOG, {"perfect": LOCAL}], ids=["a rule", "here"])
def test_a_model_that_computes_here_spends_nothing(
    database: Database, catalog: dict[str, ModelEntry]
) -> None:
    owned_run(database, "ada")
    Garage(database, catalog).worker.run_once()
    assert spendings_today(database, time.time()) == {}


def test_a_run_waits_as_soon_as_its_owner_may_spend_no_more(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heartbeat, "HEARTBEAT_S", 0.001)
    run_id = owned_run(database, "ada", 400)
    deadline = time.monotonic() + 100
    at_work: list[RunAtWork] = []

    class Noted(RunAtWork):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            at_work.append(self)

    monkeypatch.setattr("evalui.runs.worker.worker.RunAtWork", Noted)

    class Slow(Metered):
        """The second portion waits until the heart has read what the first one took."""

        def answer(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
            while self.answered and not at_work[0]._is_spent_up:  # pyright: ignore[reportPrivateUsage]
                assert time.monotonic() < deadline
            yield from super().answer(requests)

    garage = Garage(database, {"perfect": REMOTE}, usual=UserLimits(tokens_day=100))
    monkeypatch.setattr(garage.worker.models, "_opener", lambda _: Slow("perfect"))
    assert garage.worker.run_once()
    run = read_run(database, run_id)
    assert run.state == "queued"
    assert 0 < run.done < run.total
    assert not garage.worker.run_once()


def test_a_run_ends_its_cell_and_waits_while_the_queue_is_drained(database: Database) -> None:
    run_id = add_run(database, spec(models=["perfect", "always-A"]))
    worker = Worker(
        database, lambda: CATALOG, on_batch=lambda: set_queue_state(database, "draining")
    )
    assert worker.run_once()
    run = read_run(database, run_id)
    assert (run.state, run.done, run.total) == ("queued", 6, 12)
    assert not worker.run_once()
    set_queue_state(database, "open")
    assert worker.run_once()
    assert read_run(database, run_id).state == "done"


def test_a_paused_queue_lets_what_runs_end(database: Database) -> None:
    run_id = add_run(database, spec(models=["perfect", "always-A"]))
    worker = Worker(database, lambda: CATALOG, on_batch=lambda: set_queue_state(database, "paused"))
    assert worker.run_once()
    assert read_run(database, run_id).state == "done"
