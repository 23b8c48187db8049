import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from runs_examples import CATALOG, add_run, dataset, spec

from evalui.errors import Unreachable
from evalui.messages import Sentence
from evalui.models import ModelEntry
from evalui.models.user_catalog import additions_path
from evalui.runs.database.records import Lease
from evalui.runs.database.store import Store
from evalui.runs.worker import heartbeat
from evalui.runs.worker.devices import WorkerStatus, workers
from evalui.runs.worker.main import Heartbeat, Worker, main, serve
from evalui.runs.worker.model_tests import model_tests, queue_model_test
from evalui.types import Request, Response


def scripted(name: str, **options: object) -> ModelEntry:
    return ModelEntry(name, "scripted", options={"rule": "perfect"} | options)


def wait_until(reached: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not reached():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)


def work(store: Store, catalog: Mapping[str, ModelEntry] = CATALOG) -> bool:
    return Worker(store, lambda: catalog, name="worker-1").run_once()


def test_a_worker_does_all_cells(store: Store) -> None:
    run_id = add_run(store, spec(models=["perfect", "always-A"], mode=["generation", "cloze"]))
    assert work(store)
    assert store.run(run_id).state == "done"
    assert [cell.state for cell in store.cells(run_id)] == ["done", "done", "done", "impossible"]


def test_a_worker_without_work_says_so(store: Store) -> None:
    assert not work(store)


def test_a_model_that_is_gone_fails_its_cells_and_no_others(store: Store) -> None:
    run_id = add_run(store, spec(models=["always-A", "perfect"]))
    assert work(store, {"perfect": CATALOG["perfect"]})
    gone, there = store.cells(run_id)
    assert (gone.state, there.state) == ("failed", "done")
    assert gone.error == "Unknown model 'always-A'. Known: perfect."
    assert store.run(run_id).state == "failed"


def test_a_model_that_cannot_be_loaded_fails_its_cells(store: Store) -> None:
    run_id = add_run(store, spec(mode=["cloze", "generation"]))
    work(store, {"perfect": scripted("perfect", rule="none")})
    assert [cell.state for cell in store.cells(run_id)] == ["failed", "failed"]
    assert "'none' is unknown" in store.cells(run_id)[0].error


def test_an_error_nobody_foresaw_is_kept_with_its_traceback(store: Store, tmp_path: Path) -> None:
    run_id = add_run(store)
    work(store, {"perfect": scripted("perfect", log=str(tmp_path / "no" / "folder"))})
    (cell,) = store.cells(run_id)
    assert cell.state == "failed"
    assert cell.error.startswith("FileNotFoundError: ")
    assert cell.traceback.startswith("Traceback (most recent call last)")
    assert "in _append" in cell.traceback


def test_a_mended_model_does_what_had_failed_when_the_run_is_resumed(store: Store) -> None:
    run_id = add_run(store, spec(models=["perfect", "always-A"]))
    work(store, {"perfect": CATALOG["perfect"]})
    store.resume(run_id)
    assert work(store)
    assert store.run(run_id).state == "done"
    assert all(cell.done == cell.total for cell in store.cells(run_id))


def test_a_worker_asked_to_end_gives_the_run_back(store: Store) -> None:
    run_id = add_run(store, spec(pattern="circular"), dataset(200))
    worker = Worker(store, lambda: CATALOG, stopping=lambda: store.cells(run_id)[0].done > 0)
    assert worker.run_once()
    run = store.run(run_id)
    assert (run.state, store.cells(run_id)[0].state) == ("queued", "waiting")
    assert 0 < run.done < run.total


def test_ctrl_c_gives_the_run_back(store: Store) -> None:
    run_id = add_run(store)

    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Worker(store, lambda: CATALOG, on_batch=interrupt).run_once()
    assert store.run(run_id).state == "queued"


def test_the_heart_beats_while_the_work_is_busy_elsewhere(store: Store, lease: Lease) -> None:
    def beat() -> float:
        row = store.database.row("SELECT beat FROM run")
        assert row
        return row["beat"]

    before = beat()
    with Heartbeat(store, lease, interval_s=0.05):
        wait_until(lambda: beat() - before > 0.1)


def test_a_run_gets_its_beat_before_anything_for_the_eye(store: Store, lease: Lease) -> None:
    class Noted(WorkerStatus):
        def refresh(self) -> None:
            order.append("eye")

    order: list[str] = []
    beat = store.heartbeat

    def noted(lease: Lease) -> bool:
        order.append("run")
        return beat(lease)

    store.heartbeat = noted
    with Heartbeat(store, lease, status=Noted(store.database, "w"), interval_s=0.05):
        wait_until(lambda: len(order) > 1)
    assert order[:2] == ["run", "eye"]


class Hanging:
    """A model that answers nothing until it is told to stop."""

    name, fingerprint, abilities = "perfect", "f", frozenset({"next_token"})

    def __init__(self) -> None:
        self.asked, self.stopped = threading.Event(), threading.Event()

    def answer(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        del requests
        self.asked.set()
        assert self.stopped.wait(20), "nobody told it to stop"
        raise Unreachable(Sentence("It was told to stop."))
        yield

    def stop(self) -> None:
        self.stopped.set()

    def close(self) -> None: ...


@pytest.mark.parametrize("loses", ["delete", "requeue", "cancel"])
def test_a_model_that_hangs_is_let_go_when_nobody_wants_its_answers(
    store: Store, monkeypatch: pytest.MonkeyPatch, loses: str
) -> None:
    monkeypatch.setattr(heartbeat, "HEARTBEAT_S", 0.02)
    run_id, model = add_run(store), Hanging()
    worker = Worker(store, lambda: CATALOG, name="worker-1", opener=lambda _: model)  # pyright: ignore
    working = threading.Thread(target=worker.run_once)
    working.start()
    assert model.asked.wait(20)
    if loses == "requeue":
        store.requeue_worker("worker-1")
    else:
        getattr(store, loses)(run_id)
    working.join(20)
    assert model.stopped.is_set()
    assert not working.is_alive()


def test_a_worker_serves_until_it_is_told_to_end(store: Store, tmp_path: Path) -> None:
    (tmp_path / "models.toml").write_text(
        '[perfect]\nbackend = "scripted"\noptions = {rule = "perfect"}\n'
    )
    ending = threading.Event()
    serving = threading.Thread(
        target=serve, args=(store, tmp_path / "models.toml"), kwargs={"ending": ending}
    )
    serving.start()
    try:
        run_id = add_run(store)
        wait_until(lambda: store.run(run_id).state == "done")
    finally:
        ending.set()
        serving.join(20)
    assert not serving.is_alive()


def test_a_worker_serves_models_that_were_added_on_the_page(store: Store, tmp_path: Path) -> None:
    (tmp_path / "models.toml").write_text("")
    additions_path(store.database.path).write_text(
        '[perfect]\nbackend = "scripted"\noptions = {rule = "perfect"}\n'
    )
    ending = threading.Event()
    serving = threading.Thread(
        target=serve, args=(store, tmp_path / "models.toml"), kwargs={"ending": ending}
    )
    run_id = add_run(store)
    queue_model_test(store.database, CATALOG["perfect"], "local")
    serving.start()
    try:
        wait_until(lambda: store.run(run_id).state == "done")
        assert len(workers(store.database)) == 1
    finally:
        ending.set()
        serving.join(20)
    assert model_tests(store.database, "local")["perfect"].state == "done"
    assert workers(store.database) == []


def test_a_worker_tells_which_model_of_which_run_it_has(store: Store) -> None:
    run_id, seen = add_run(store, spec(pattern="circular")), set[tuple[str, str, str]]()

    def look() -> None:
        seen.update((row.run, row.model, row.device) for row in workers(store.database))

    Worker(store, lambda: CATALOG, on_batch=look).run_once()
    assert seen == {(run_id, "perfect", "rule")}
    (row,) = workers(store.database)
    assert not row.is_busy


def test_the_heart_tells_that_the_worker_is_there(store: Store) -> None:
    presence = WorkerStatus(store.database, "worker-1")
    presence.update(model="m")
    before = workers(store.database)[0].seen
    with Heartbeat(store, status=presence, interval_s=0.02):
        wait_until(lambda: workers(store.database)[0].seen - before > 0.05)


def test_a_worker_whose_server_is_gone_ends(store: Store, tmp_path: Path) -> None:
    nobody = 2**22 + 1
    serve(store, tmp_path / "models.toml", ending=threading.Event(), parent=nobody)


def test_a_wrong_option_ends_with_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--nope"])
    assert caught.value.code == 2
    assert "--nope" in capsys.readouterr().err
