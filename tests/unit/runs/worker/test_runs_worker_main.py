import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest
from runs_examples import CATALOG, add_run, dataset, spec

from evalui.errors import ModelError, Unreachable
from evalui.messages import Sentence
from evalui.models import ModelEntry
from evalui.models.user_catalog import additions_path
from evalui.runs.worker import heartbeat
from evalui.runs.worker import main as worker_main
from evalui.runs.worker.heartbeat import Heartbeat, WorkerStatus
from evalui.runs.worker.main import main, serve
from evalui.runs.worker.model_tests import model_tests, queue_model_test
from evalui.runs.worker.worker import Worker
from evalui.store import queue
from evalui.store.connection import Database
from evalui.store.runs import Lease, read_cells, read_run, read_workers
from evalui.types import Request, Response


def scripted(name: str, **options: object) -> ModelEntry:
    return ModelEntry(name, "scripted", options={"rule": "perfect"} | options)


def wait_until(reached: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not reached():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)


def work(database: Database, catalog: Mapping[str, ModelEntry] = CATALOG) -> bool:
    return Worker(database, lambda: catalog, name="worker-1").run_once()


def test_a_worker_does_all_cells(database: Database) -> None:
    run_id = add_run(database, spec(models=["perfect", "always-A"], mode=["generation", "cloze"]))
    assert work(database)
    assert read_run(database, run_id).state == "done"
    assert [cell.state for cell in read_cells(database, run_id)] == [
        "done",
        "done",
        "done",
        "impossible",
    ]


def test_a_worker_without_work_says_so(database: Database) -> None:
    assert not work(database)


def test_a_model_that_is_gone_fails_its_cells_and_no_others(database: Database) -> None:
    run_id = add_run(database, spec(models=["always-A", "perfect"]))
    assert work(database, {"perfect": CATALOG["perfect"]})
    gone, there = read_cells(database, run_id)
    assert (gone.state, there.state) == ("failed", "done")
    assert gone.error == "Unknown model 'always-A'. Known: perfect."
    assert read_run(database, run_id).state == "failed"


def test_a_model_that_cannot_be_loaded_fails_its_cells(database: Database) -> None:
    run_id = add_run(database, spec(mode=["cloze", "generation"]))
    work(database, {"perfect": scripted("perfect", rule="none")})
    assert [cell.state for cell in read_cells(database, run_id)] == ["failed", "failed"]
    assert "'none' is unknown" in read_cells(database, run_id)[0].error


def test_an_unforeseen_error_is_kept_with_its_traceback(database: Database, tmp_path: Path) -> None:
    run_id = add_run(database)
    work(database, {"perfect": scripted("perfect", log=str(tmp_path / "no" / "folder"))})
    (cell,) = read_cells(database, run_id)
    assert cell.state == "failed"
    assert cell.error.startswith("An unexpected error ended this: FileNotFoundError: ")
    assert cell.traceback.startswith("Traceback (most recent call last)")
    assert "in _log_request" in cell.traceback


def test_a_mended_model_does_what_had_failed_when_the_run_is_resumed(database: Database) -> None:
    run_id = add_run(database, spec(models=["perfect", "always-A"]))
    work(database, {"perfect": CATALOG["perfect"]})
    queue.resume(database, run_id)
    assert work(database)
    assert read_run(database, run_id).state == "done"
    assert all(cell.done == cell.total for cell in read_cells(database, run_id))


def test_a_worker_that_is_to_end_gives_the_run_back(database: Database) -> None:
    run_id = add_run(database, spec(pattern="circular"), dataset(200))
    worker = Worker(
        database, lambda: CATALOG, stopping=lambda: read_cells(database, run_id)[0].done > 0
    )
    assert worker.run_once()
    run = read_run(database, run_id)
    assert (run.state, read_cells(database, run_id)[0].state) == ("queued", "waiting")
    assert 0 < run.done < run.total


def test_ctrl_c_gives_the_run_back(database: Database) -> None:
    run_id = add_run(database)

    def interrupt() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Worker(database, lambda: CATALOG, on_batch=interrupt).run_once()
    assert read_run(database, run_id).state == "queued"


def test_the_lease_is_renewed_while_the_work_is_busy_elsewhere(
    database: Database, lease: Lease
) -> None:
    def beat() -> float:
        row = database.row("SELECT beat FROM run")
        assert row
        return row["beat"]

    before = beat()
    with Heartbeat(database, lease, interval_s=0.05):
        wait_until(lambda: beat() - before > 0.1)


class Hanging:
    """A model that answers nothing until it is stopped."""

    name, fingerprint, abilities = "perfect", "f", frozenset({"next_token"})

    def __init__(self) -> None:
        self.asked, self.stopped = threading.Event(), threading.Event()

    def answer(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        del requests
        self.asked.set()
        assert self.stopped.wait(60), "it was not stopped"
        raise Unreachable(Sentence("It was stopped."))
        yield

    def stop(self) -> None:
        self.stopped.set()

    def close(self) -> None: ...


class Closable(Hanging):
    """A model that may be closed, and is not to be used."""

    def __init__(self) -> None:
        super().__init__()
        self.closed = False

    def answer(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        del requests
        raise ModelError(Sentence("It answers nothing."))

    def close(self) -> None:
        self.closed = True


def test_a_lease_is_renewed_before_the_status(
    database: Database, lease: Lease, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Noted(WorkerStatus):
        def refresh(self) -> None:
            order.append("eye")

    order: list[str] = []
    beat = queue.heartbeat

    def noted(database: Database, lease: Lease) -> bool:
        order.append("run")
        return beat(database, lease)

    monkeypatch.setattr(queue, "heartbeat", noted)
    with Heartbeat(database, lease, status=Noted(database, "w"), interval_s=0.05):
        wait_until(lambda: len(order) > 1)
    assert order[:2] == ["run", "eye"]


@pytest.mark.parametrize("loses", ["delete", "requeue", "cancel"])
def test_a_model_that_hangs_is_stopped_when_its_answers_are_not_wanted(
    database: Database, monkeypatch: pytest.MonkeyPatch, loses: str
) -> None:
    monkeypatch.setattr(heartbeat, "HEARTBEAT_S", 0.02)
    run_id, model = add_run(database), Hanging()
    worker = Worker(database, lambda: CATALOG, name="worker-1", opener=lambda _: model)  # pyright: ignore
    working = threading.Thread(target=worker.run_once)
    working.start()
    assert model.asked.wait(60)
    if loses == "requeue":
        queue.requeue_lost(database, worker="worker-1")
    else:
        {"delete": queue.delete, "cancel": queue.cancel}[loses](database, run_id)
    working.join(60)
    assert model.stopped.is_set()
    assert not working.is_alive()


def test_a_worker_serves_until_it_is_to_end(database: Database, tmp_path: Path) -> None:
    (tmp_path / "models.toml").write_text(
        '[perfect]\nbackend = "scripted"\noptions = {rule = "perfect"}\n'
    )
    ending = threading.Event()
    serving = threading.Thread(
        target=serve, args=(database, tmp_path / "models.toml"), kwargs={"ending": ending}
    )
    serving.start()
    try:
        run_id = add_run(database)
        wait_until(lambda: read_run(database, run_id).state == "done")
    finally:
        ending.set()
        serving.join(60)
    assert not serving.is_alive()


def test_a_worker_serves_models_that_were_added_on_the_page(
    database: Database, tmp_path: Path
) -> None:
    (tmp_path / "models.toml").write_text("")
    additions_path(database.path).write_text(
        '[perfect]\nbackend = "scripted"\noptions = {rule = "perfect"}\n'
    )
    ending = threading.Event()
    serving = threading.Thread(
        target=serve, args=(database, tmp_path / "models.toml"), kwargs={"ending": ending}
    )
    run_id = add_run(database)
    queue_model_test(database, CATALOG["perfect"], "local")
    serving.start()
    try:
        wait_until(lambda: read_run(database, run_id).state == "done")
        assert len(read_workers(database)) == 1
    finally:
        ending.set()
        serving.join(60)
    assert model_tests(database, "local")["perfect"].state == "done"
    assert read_workers(database) == []


def test_a_worker_tells_which_model_of_which_run_it_has(database: Database) -> None:
    run_id, seen = add_run(database, spec(pattern="circular")), set[tuple[str, str, str]]()

    def look() -> None:
        seen.update((row.run, row.model, row.device) for row in read_workers(database))

    Worker(database, lambda: CATALOG, on_batch=look).run_once()
    assert seen == {(run_id, "perfect", "rule")}
    (row,) = read_workers(database)
    assert not row.is_busy


def test_the_heartbeat_reports_that_the_worker_is_there(database: Database) -> None:
    presence = WorkerStatus(database, "worker-1")
    presence.update(model="m")
    before = read_workers(database)[0].seen
    with Heartbeat(database, status=presence, interval_s=0.02):
        wait_until(lambda: read_workers(database)[0].seen - before > 0.05)


def test_a_worker_whose_server_is_gone_ends(database: Database, tmp_path: Path) -> None:
    gone = 2**22 + 1
    serve(database, tmp_path / "models.toml", ending=threading.Event(), parent=gone)


def test_a_wrong_option_ends_with_code_2(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["--nope"])
    assert caught.value.code == 2
    assert "--nope" in capsys.readouterr().err


def test_a_run_that_is_queued_wakes_an_idle_worker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(worker_main, "IDLE_POLL_S", 6000.0)  # no test lasts so long
    store, other = Database(tmp_path / "store"), Database(tmp_path / "store")
    version = store.version()
    threading.Timer(0.05, lambda: add_run(other)).start()
    worker_main._wait_for_work(store, threading.Event(), version)
    store.close()
    other.close()
