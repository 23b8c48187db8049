"""Runs beside each other in one worker, and judges that begin on answers as they come."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import pytest
from open_run_examples import capitals
from runs_examples import CATALOG, RESPONSE, dataset, spec

from evalui.models.base import ModelEntry
from evalui.runs.fair_queue.limits import UserLimits
from evalui.runs.fair_queue.turns import queue_ahead, queue_places
from evalui.runs.plan import plan_run
from evalui.runs.spec import RunSpec
from evalui.runs.submit import create_run
from evalui.runs.worker import heartbeat
from evalui.runs.worker.worker import Worker
from evalui.store import queue
from evalui.store.connection import Database
from evalui.store.datasets import add_dataset
from evalui.store.runs import read_cells, read_run
from evalui.types import GeneratedText, Request, Response


class Held:
    """A model that answers once it is let go; `begun` says that it was asked."""

    abilities = frozenset({"next_token"})

    def __init__(self, name: str, *, free: bool = False) -> None:
        self.name = self.fingerprint = name  # or replies of one would be those of another
        self.begun, self.free, self.stopped = (threading.Event() for _ in range(3))
        if free:
            self.free.set()

    def answer(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        self.begun.set()
        while not (self.free.wait(0.01) or self.stopped.is_set()):
            continue
        yield from ((index, RESPONSE) for index in range(len(requests)))

    def stop(self) -> None:
        self.stopped.set()

    def close(self) -> None:
        pass


def wait_until(reached: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not reached():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)


REMOTE = ("far", "near", "third")
HERE = ("here", "also-here")


class Place:
    """A store, its models and one worker that takes whatever may begin."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.models = {name: Held(name) for name in (*REMOTE, *HERE)}
        self.entries = {name: ModelEntry(name, "openai") for name in REMOTE} | {
            name: ModelEntry(name, "scripted", options={"rule": "perfect"}) for name in HERE
        }
        self.worker = Worker(
            database,
            lambda: self.entries,
            name="worker-1",
            opener=lambda entry: self.models[entry.name],  # type: ignore[arg-type]
        )

    def queue(self, *models: str, owner: str = "local") -> str:
        data, asked = dataset(8), spec(models=list(models))
        add_dataset(self.database, data, owner)
        planned = {name: replace(CATALOG["perfect"], name=name) for name in models}
        plans = plan_run(asked, {asked.datasets[0].key: data}, planned)
        # Planned as models that need no server to be described, and queued as what they are.
        known = [replace(plan, entry=self.entries[plan.entry.name]) for plan in plans]
        return create_run(self.database, asked, known, owner)

    def state(self, run_id: str) -> str:
        return read_run(self.database, run_id).state

    def let_all_go(self) -> None:
        for model in self.models.values():
            model.free.set()


@pytest.fixture
def place(database: Database) -> Iterator[Place]:
    opened = Place(database)
    yield opened
    opened.let_all_go()
    opened.worker.end()


def test_a_small_run_at_an_endpoint_ends_while_another_waits_for_its_own(place: Place):
    long, small = place.queue("far"), place.queue("near")
    place.models["near"].free.set()
    assert place.worker.begin_run()
    assert place.models["far"].begun.wait(60)
    assert place.worker.begin_run()
    wait_until(lambda: place.state(small) == "done")
    assert place.state(long) == "running"
    place.models["far"].free.set()
    wait_until(lambda: place.state(long) == "done")


def test_a_run_that_computes_here_begins_beside_one_at_an_endpoint(place: Place):
    place.queue("far")
    here = place.queue("here")
    place.models["here"].free.set()
    assert place.worker.begin_run()
    assert place.worker.begin_run()
    wait_until(lambda: place.state(here) == "done")


def test_a_run_of_both_kinds_has_the_processor_only_until_its_own_models_here_are_done(
    place: Place,
):
    both, second = place.queue("far", "here"), place.queue("also-here")
    place.models["also-here"].free.set()
    assert place.worker.begin_run()
    assert place.models["here"].begun.wait(60)
    assert not place.worker.begin_run()
    place.models["here"].free.set()
    wait_until(place.worker.begin_run)
    wait_until(lambda: place.state(second) == "done")
    assert place.state(both) == "running"
    place.models["far"].free.set()
    wait_until(lambda: place.state(both) == "done")


def test_two_runs_that_compute_here_follow_each_other_and_others_pass(place: Place):
    first, second, remote = place.queue("here"), place.queue("also-here"), place.queue("near")
    assert place.worker.begin_run()
    assert place.models["here"].begun.wait(60)
    assert place.worker.begin_run()
    assert not place.worker.begin_run()
    assert [place.state(each) for each in (first, second, remote)] == [
        "running",
        "queued",
        "running",
    ]
    assert not place.models["also-here"].begun.is_set()
    place.models["here"].free.set()
    wait_until(lambda: place.worker.has_room_again)
    assert place.worker.begin_run()
    assert place.models["also-here"].begun.wait(60)


def test_the_run_of_a_person_who_has_none_at_work_finds_room(place: Place):
    own = [place.queue("far") for _ in range(6)]
    other = place.queue("near", owner="bob")
    begun = 0
    while place.worker.begin_run():
        begun += 1
    assert begun == 5
    assert [place.state(each) for each in own].count("running") == 4
    assert place.state(other) == "running"


def test_a_stopped_run_leaves_the_one_beside_it_at_work(place: Place):
    first, second = place.queue("far"), place.queue("near")
    assert place.worker.begin_run()
    assert place.worker.begin_run()
    assert place.models["far"].begun.wait(60)
    assert place.models["near"].begun.wait(60)
    queue.cancel(place.database, first)
    place.models["far"].free.set()
    wait_until(lambda: place.state(first) == "cancelled")
    assert place.state(second) == "running"
    place.models["near"].free.set()
    wait_until(lambda: place.state(second) == "done")


def test_a_worker_that_ends_gives_back_all_of_its_runs(
    place: Place, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(heartbeat, "HEARTBEAT_S", 0.02)
    runs = [place.queue("far"), place.queue("here")]
    assert place.worker.begin_run()
    assert place.worker.begin_run()
    assert all(place.models[name].begun.wait(60) for name in ("far", "here"))
    place.worker.end()
    assert not place.worker.is_at_work
    assert [place.state(each) for each in runs] == ["queued", "queued"]


def test_a_run_that_lost_its_worker_is_done_alone(place: Place):
    lost = place.queue("far")
    queue.claim(place.database, "gone", lost)
    queue.requeue_lost(place.database, worker="gone")
    beside = place.queue("near")
    assert place.worker.begin_run()
    assert place.state(lost) == "running"
    assert not place.worker.begin_run()
    assert place.state(beside) == "queued"


def test_a_run_at_an_endpoint_has_its_place_beside_one_that_computes_here(place: Place):
    place.queue("here")
    assert place.worker.begin_run()
    waiting, remote = place.queue("also-here"), place.queue("near")
    places = queue_places(place.database, UserLimits())
    assert (places[waiting].place, places[remote].place) == (1, 2)
    ahead = queue_ahead(place.database, "local", UserLimits(), computes_here=False)
    assert ahead.runs == 1, "the one that asks an endpoint"


class Answering:
    """Answers one question and waits; a judge that has judged one lets it go on."""

    abilities = frozenset({"generate"})

    def __init__(self, name: str, judged: threading.Event) -> None:
        self.name = self.fingerprint = name
        self.judged = judged

    def answer(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        for index in range(len(requests)):
            yield index, GeneratedText(f"{self.name} says {index}")
            # What is answered is written with the first answer after a while.
            time.sleep(0.2)
            if index == 1:
                assert self.judged.wait(60), "the judge waited for the last answer"

    def close(self) -> None:
        pass


class Judging:
    """A judge that prefers the first answer."""

    fingerprint, abilities, name = "j", frozenset({"generate"}), "judge"

    def __init__(self, judged: threading.Event) -> None:
        self.judged = judged
        self.shown: list[Request] = []

    def answer(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        self.shown += requests
        self.judged.set()
        yield from (
            (index, GeneratedText("It is right.\n[[Answer 1]]")) for index in range(len(requests))
        )

    def close(self) -> None:
        pass


def queue_judged(database: Database) -> str:
    data = capitals()
    asked = RunSpec.model_validate(
        {
            "datasets": [{"path": "capitals.jsonl"}],
            "models": ["one", "two"],
            "judging": {"judges": ["judge"]},
        }
    )
    planned = {
        name: ModelEntry(name, "scripted", options={"rule": rule}, chat=True)
        for name, rule in (("one", "perfect"), ("two", "refusing"), ("judge", "reference-judge"))
    }
    add_dataset(database, data)
    return create_run(database, asked, plan_run(asked, {"capitals.jsonl": data}, planned))


def judged_worker(
    database: Database,
    judge: Judging,
    *,
    name: str = "w",
    backend: str = "openai",
    on_batch: Callable[[], None] = lambda: None,
) -> Worker:
    models: Mapping[str, object] = {
        "one": Answering("one", judge.judged),
        "two": Answering("two", judge.judged),
        "judge": judge,
    }
    entries = {each: ModelEntry(each, "openai", chat=True) for each in ("one", "two")}
    entries["judge"] = ModelEntry("judge", backend, chat=True)
    return Worker(
        database,
        lambda: entries,
        name=name,
        opener=lambda entry: models[entry.name],  # type: ignore[arg-type,return-value]
        on_batch=on_batch,
    )


def check_judged(database: Database, run_id: str, judge: Judging) -> None:
    assert read_run(database, run_id).state == "done"
    counts = [(cell.done, cell.total) for cell in read_cells(database, run_id)]
    assert counts == [(4, 4), (4, 4), (8, 8)]
    assert len(set(judge.shown)) == 8


@pytest.mark.parametrize("backend", ["openai", "scripted"])
def test_a_judge_begins_on_the_first_answers_and_judges_each_once(database: Database, backend: str):
    judge, run_id = Judging(threading.Event()), queue_judged(database)
    assert judged_worker(database, judge, backend=backend).run_once(run_id)
    check_judged(database, run_id, judge)
    assert len(judge.shown) == 8


def test_verdicts_follow_from_the_saved_answers_when_a_worker_is_lost(database: Database):
    judge, run_id = Judging(threading.Event()), queue_judged(database)
    lost_at: list[int] = []

    def lose() -> None:
        verdicts = read_cells(database, run_id)[-1].done
        if verdicts and not lost_at:
            lost_at.append(verdicts)
            queue.requeue_lost(database, worker="first")

    assert judged_worker(database, judge, name="first", on_batch=lose).run_once(run_id)
    assert lost_at[0] < 8
    assert read_run(database, run_id).state == "queued"
    assert judged_worker(database, judge, name="second").run_once(run_id)
    check_judged(database, run_id, judge)
    # What was not written when the worker was lost is requested again, and nothing else.
    assert len(judge.shown) - 8 <= 8 - lost_at[0]


class Unloaded(Judging):
    """A judge that counts how often it was closed."""

    closed = 0

    def close(self) -> None:
        self.closed += 1


def test_a_judge_here_gives_its_turn_to_another_run_while_it_waits_for_answers(
    database: Database,
):
    judge, more = Unloaded(threading.Event()), threading.Event()
    data, asked = dataset(8), spec(models=["here"])
    add_dataset(database, data)
    judged_run = queue_judged(database)
    models: dict[str, object] = {name: Answering(name, more) for name in ("one", "two")}
    models |= {"judge": judge, "here": Held("here", free=True)}
    entries = {each: ModelEntry(each, "openai", chat=True) for each in ("one", "two")}
    entries["judge"] = ModelEntry("judge", "scripted", chat=True)
    entries["here"] = ModelEntry("here", "scripted", options={"rule": "perfect"})
    worker = Worker(
        database,
        lambda: entries,
        name="w",
        opener=lambda entry: models[entry.name],  # type: ignore[arg-type,return-value]
    )
    assert worker.begin_run()
    assert judge.judged.wait(60)
    planned = {"here": replace(CATALOG["perfect"], name="here")}
    plans = [
        replace(plan, entry=entries["here"])
        for plan in plan_run(asked, {asked.datasets[0].key: data}, planned)
    ]
    other = create_run(database, asked, plans)
    try:
        wait_until(worker.begin_run)
        wait_until(lambda: read_run(database, other).state == "done")
        assert read_run(database, judged_run).state == "running"
        assert judge.closed == 1, "two models here would not fit"
        more.set()
        wait_until(lambda: read_run(database, judged_run).state == "done")
    finally:
        more.set()
        worker.end()
    check_judged(database, judged_run, judge)
    assert len(judge.shown) == 8, "what was judged before is not judged again"


def test_a_judge_here_that_nobody_waits_for_stays_loaded(database: Database):
    judge, run_id = Unloaded(threading.Event()), queue_judged(database)
    assert judged_worker(database, judge, backend="scripted").run_once(run_id)
    check_judged(database, run_id, judge)
    assert judge.closed == 1
