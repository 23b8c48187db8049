"""The worker process: takes runs and trials of models from the queue until it is to end."""

import argparse
import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from importlib import import_module
from io import FileIO, RawIOBase
from pathlib import Path

from evalui.errors import ModelError, StoreError
from evalui.logs import configure_log
from evalui.models import Model, ModelEntry
from evalui.models.base import traits_of
from evalui.models.local import import_libraries
from evalui.models.user_catalog import additions_path, read_models
from evalui.runs.cluster.model import model_opener
from evalui.runs.fair_queue.limits import usual_limits
from evalui.runs.worker import model_tests
from evalui.runs.worker.devices import use_device
from evalui.runs.worker.worker import Worker, set_by_signals
from evalui.scoring.texts.tokenizers import load_tokenizers
from evalui.settings import Settings
from evalui.store import queue
from evalui.store.connection import Database
from evalui.store.runs import WORKER_TIMEOUT_S

IDLE_POLL_S = 0.5  # how often an idle worker polls the queue though nobody has written
_WAKE_S = 0.02  # how soon it sees that somebody has; to look costs some microseconds
ORPHAN_GRACE_S = 30.0  # for the batch in hand of a worker whose server is gone
STATUS_INTERVAL_S = 5.0  # how often an idle worker reports its status
WARM_S = 600.0  # without work and without a request, after which imported libraries go
# Whichever way they came in, their memory is held: gigabytes, and some 90 MB with scipy.
_LARGE = frozenset({"torch", "nltk"})

_log = logging.getLogger(__name__)


class Warming:
    """Libraries that runs need, imported before there is work for them, and given back when idle.

    Importing them, by `prepare`, takes seconds that a user would wait after the press on Start. The
    server requests it when somebody opens the page that leads there. A worker that holds them and
    has had nothing to do for some minutes ends; its supervisor starts one without them.
    """

    def __init__(
        self,
        prepare: Callable[[], None],
        *,
        holds_libraries: Callable[[], bool] = lambda: not _LARGE.isdisjoint(sys.modules),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._prepare = prepare
        self._holds_libraries = holds_libraries
        self._clock = clock
        self._requested = threading.Event()
        self._last = clock()

    def request(self) -> None:
        """Have the libraries ready soon; from any thread."""
        self._requested.set()

    def follow(self, requests: RawIOBase) -> None:
        """Take each byte of a stream for a request, in a thread that ends with the stream."""

        def read() -> None:
            while requests.read(1):
                self.request()

        threading.Thread(target=read, name="warming", daemon=True).start()

    def touch(self) -> None:
        """Count the time without work from now."""
        self._last = self._clock()

    def prepare(self) -> None:
        """Import what was requested since the last call; a worker without work calls it."""
        if not self._requested.is_set():
            return
        self._requested.clear()
        self._prepare()
        self.touch()

    @property
    def is_over(self) -> bool:
        """Whether the worker holds libraries that nobody has needed for long."""
        return self._holds_libraries() and self._clock() - self._last > WARM_S


def serve(
    database: Database,
    catalog: Path,
    *,
    ending: threading.Event,
    parent: int = 0,
    opener: Callable[[ModelEntry], Model] | None = None,
    warming: Warming | None = None,
    device: str = "",
) -> None:
    """Work on whatever is queued until `ending` is set or the process `parent` is gone.

    Runs are begun beside each other as far as they may. Models come from `catalog` and from the
    additions beside the store. Trials of models come first: each takes a moment, and a user waits
    for it. With `warming` it also ends when it has held libraries for long without need.
    """

    def stopping() -> bool:
        # A server that was killed cannot stop its workers. A new one brings its own.
        return ending.is_set() or bool(parent and os.getppid() != parent)

    settings = Settings()
    worker = Worker(
        database,
        partial(_models, database.path, catalog, settings),
        opener=opener,
        stopping=stopping,
        device=device,
        model_idle_s=settings.model_idle_s,
        usual=usual_limits(settings),
    )
    if not stopping():
        worker.status.update()
    try:
        _work(database, worker, ending=ending, stopping=stopping, warming=warming)
    finally:
        worker.end()
        worker.status.remove()


def _work(
    database: Database,
    worker: Worker,
    *,
    ending: threading.Event,
    stopping: Callable[[], bool],
    warming: Warming | None,
) -> None:
    reported = time.monotonic()
    while not stopping():
        if time.monotonic() - reported > STATUS_INTERVAL_S:
            worker.status.refresh()
            reported = time.monotonic()
        version = 0
        try:
            version = database.version()
            queue.requeue_lost(database, silent_s=WORKER_TIMEOUT_S)
            model_tests.requeue_model_tests(database)
            begun = worker.run_test_once() or worker.begin_run()
            if not begun:
                worker.close_unused_models()
        except StoreError as error:
            _log.warning("%s", error)
            begun = False
        if not begun:
            _wait_for_work(database, ending, version, has_room=lambda: worker.has_room_again)
        busy = begun or worker.is_at_work or worker.models.has_kept
        if warming:
            if busy:
                warming.touch()
            else:
                warming.prepare()
            if warming.is_over:
                break


def _wait_for_work(
    database: Database,
    ending: threading.Event,
    version: int,
    *,
    has_room: Callable[[], bool] = lambda: False,
) -> None:
    """Wait until others have written to the store since it had this version, or there is room for
    what could not begin, or for a while.
    """
    until = time.monotonic() + IDLE_POLL_S
    with suppress(StoreError):  # the next look at the queue reports it
        while time.monotonic() < until and not ending.wait(_WAKE_S):
            if has_room() or database.version() != version:
                return


def main(arguments: Sequence[str] | None = None) -> int:
    """`python -m evalui.runs.worker.main`: work until SIGTERM or SIGINT; the exit code."""
    settings = Settings()
    parser = argparse.ArgumentParser(prog="evalui worker", description="Work on queued runs.")
    parser.add_argument("--database", type=Path, default=settings.database)
    parser.add_argument("--models-file", type=Path, default=settings.models)
    parser.add_argument("--parent", type=int, default=0, help="end when this process is gone")
    parser.add_argument("--device", default="", help="cpu, or a GPU such as cuda:1")
    given = parser.parse_args(arguments)
    use_device(given.device)
    configure_log(logging.INFO, settings.log)
    for chatty in ("httpx", "httpx2"):  # a line for every request to the hub
        logging.getLogger(chatty).setLevel(logging.WARNING)
    ending = set_by_signals()
    if given.parent:
        threading.Thread(target=_end_orphan, args=(given.parent,), daemon=True).start()
    database = Database(given.database)
    try:
        models_of = model_opener(settings)
        models = partial(_models, database.path, given.models_file, settings)
        serve(
            database,
            given.models_file,
            ending=ending,
            parent=given.parent,
            opener=models_of,
            device=given.device,
            warming=_follow_server(settings, models) if given.parent else None,
        )
    finally:
        database.close()
    return 0


def _end_orphan(parent: int) -> None:
    """End this process some time after its server, when its main thread would have ended it unless
    a model hangs. No server could do so: it is none of the next one's own.
    """
    while os.getppid() == parent:
        time.sleep(IDLE_POLL_S)
    time.sleep(ORPHAN_GRACE_S)
    _log.error("The server is gone and the model does not return; this worker ends")
    os._exit(1)


def _models(database: Path, catalog: Path, settings: Settings) -> dict[str, ModelEntry]:
    return read_models(catalog, additions_path(database), settings.endpoint_hosts)


def _follow_server(settings: Settings, models: Callable[[], Mapping[str, ModelEntry]]) -> Warming:
    """Warming that the server requests over standard input; see `_import_for`."""
    warming = Warming(partial(_import_for, settings, models))
    # Not the buffered reader, whose lock the thread would hold when the worker ends; nor its file,
    # which is closed then.
    warming.follow(FileIO(os.dup(sys.stdin.fileno())))
    return warming


def _import_for(settings: Settings, models: Callable[[], Mapping[str, ModelEntry]]) -> None:
    """Import what asks endpoints where one is listed, what cuts written answers into words, and the
    libraries of local models where one is listed; on a cluster they load elsewhere.

    A list that cannot be read has no model; the run that needs it states why.
    """
    with suppress(ModelError):
        traits = [traits_of(entry) for entry in models().values()]
        if any(each.remote for each in traits):
            import_module("evalui.models.endpoint.driver")
        load_tokenizers()
        if settings.engine == "local" and any(each.has_fp32_library for each in traits):
            import_libraries()


if __name__ == "__main__":
    raise SystemExit(main())
