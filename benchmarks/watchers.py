"""Many browsers that watch a growing run: how long a look waits (`python -m benchmarks.watchers`).

Each client does what the script of a page does, every two seconds: it requests how far the run is,
with the tag of what it has. The run is written by this process, ten times a second; the server has
no worker. A look lasts from the first byte sent to the last byte received. With accounts each
client is signed in as one of some people, who are named to vote on the run; else all are the one
person of a local server.
"""

import argparse
import asyncio
import re
import statistics
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path

from benchmarks.clock import Timing
from benchmarks.contest import Session
from benchmarks.pages import ROOT, Checkout, Server, serving
from benchmarks.questions import questions
from benchmarks.queueing import queue_run
from benchmarks.rows import Goal, Row
from benchmarks.storing import answered
from evalui.access import LOCAL_PERSON
from evalui.accounts.people import add_person
from evalui.accounts.sessions import start_session
from evalui.scoring.choice.options import variants
from evalui.store import queue
from evalui.store.connection import Database
from evalui.store.runs import read_cells
from evalui.store.trials import write_trials
from evalui.store.voting.plans import keep_plan
from evalui.web.address import access_token, cookie_of

GROUP = "watching"
_WATCHERS = 200
_PEOPLE = 20  # who share the watchers among them
_SECONDS = 30.0
_QUESTIONS = 1000  # each in four orders, for each of two models
_MODELS = ("demo-late", "demo-early")
_BATCH, _LARGE_BATCH = 10, 4096  # trials, while somebody looks and before
_INTERVAL_S = 0.1  # between batches
_GOAL_S = 0.5
_PLACE = "/live/{run}?lang={language}"
_LOOK_S = 2.0  # as evalui/ui/live.py states
_LANGUAGES = ("en", "zh")


@dataclass(slots=True)
class Watched:
    """What the clients met: seconds of each look, what each was answered, the different pages by
    address and tag, and what went wrong.
    """

    seconds: list[float] = field(default_factory=list[float])
    answers: Counter[str] = field(default_factory=Counter[str])
    pages: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    errors: Counter[str] = field(default_factory=Counter[str])

    def percentile(self, share: float) -> float:
        """The seconds that this share of the looks took at most."""
        return sorted(self.seconds)[min(len(self.seconds) - 1, int(share * len(self.seconds)))]


class Client:
    """One browser: a connection that stays open, and the page that it shows."""

    def __init__(self, port: int, place: str, found: Watched, cookie: str = "") -> None:
        self._port = port
        self._place = place
        self._found = found
        self._cookie = f"Cookie: {cookie}\r\n" if cookie else ""
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self._tag = ""

    async def watch(self, until: float) -> None:
        """Open the page, and look again every two seconds until the moment `until`."""
        await self._look()
        while time.monotonic() < until:
            await asyncio.sleep(_LOOK_S)
            began = time.perf_counter()
            try:
                await self._look()
            except (OSError, asyncio.IncompleteReadError, RuntimeError) as error:
                self._found.errors[str(error) or type(error).__name__] += 1
                self._streams = None
            self._found.seconds.append(time.perf_counter() - began)
        if self._streams:
            self._streams[1].close()

    async def _look(self) -> None:
        """What the script of the page requests."""
        if self._streams is None or self._streams[0].at_eof():  # the server has ended a quiet one
            self._streams = await asyncio.open_connection("127.0.0.1", self._port, limit=2**22)
        reader, writer = self._streams
        seen = f"If-None-Match: {self._tag}\r\n" if self._tag else ""
        fields = f"Host: 127.0.0.1:{self._port}\r\n{self._cookie}{seen}"
        writer.write(f"GET {self._place} HTTP/1.1\r\n{fields}\r\n".encode())
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = re.search(r"content-length: (\d+)", head)
        content = await reader.readexactly(int(length[1])) if length else b""
        status = int(head.split(maxsplit=2)[1])
        if status >= 400:
            raise RuntimeError(f"{status} to {self._place}")
        tag = re.search(r"etag: (\S+)", head)
        self._tag = tag[1] if tag else ""
        self._found.answers["new" if content else "the same"] += 1
        self._found.pages.add((self._place, self._tag))


def main() -> None:
    """Print what the clients met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--watchers", type=int, default=_WATCHERS)
    parser.add_argument("--seconds", type=float, default=_SECONDS)
    parser.add_argument("--questions", type=int, default=_QUESTIONS)
    parser.add_argument(
        "--written", type=int, default=0, help="trials of the second model at first"
    )
    given = parser.parse_args()
    for people in (0, _PEOPLE):
        row = measure(given.watchers, given.seconds, given.questions, people, given.written)
        print(f"{row.count} {row.unit}: {row.found}; server CPU {row.ours.cpu:.1f} s")


def rows(session: Session) -> Iterator[Row]:
    """Watchers of a run that changes ten times a second."""
    seconds = _SECONDS if session.rounds > 1 else _SECONDS / 6
    sizes = tuple(session.scaled(_WATCHERS))
    for watchers in sizes:
        yield measure(watchers, seconds, _QUESTIONS)
    yield measure(sizes[-1], seconds, _QUESTIONS, _PEOPLE)


def measure(watchers: int, seconds: float, size: int, people: int = 0, written: int = 0) -> Row:
    """One round; seconds on the wall are the 95th percentile of a look, CPU is the server's.

    `people` have accounts on the server; with 0 it is one of a single user. `written` trials of the
    model that answers are there before anybody looks.
    """
    with tempfile.TemporaryDirectory() as name:
        data = Path(name) / "data"
        with closing(Database(data / "evalui.sqlite")) as database:
            run_id, grow = _run(database, size, written)
            cookies = _sign_in(database, run_id, people) or [""]
            door = {"EVALUI_TOKEN": "true", "EVALUI_AUTH": "password"} if people else {}
            with serving(Checkout(ROOT), data, EVALUI_WORKERS="0", **door) as server:
                server.get("/en/config", cookies[0])  # Gradio is imported
                places = [_PLACE.format(run=run_id, language=each) for each in _LANGUAGES]
                asyncio.run(_watch(server, places, len(places), 0.0, cookies))
                before = server.spent()
                with _growing(grow):
                    found = asyncio.run(_watch(server, places, watchers, seconds, cookies))
                spent = server.spent()
    share = (spent.cpu - before.cpu) / (spent.wall - before.wall)
    told = ", ".join(f"{n:,} {kind}" for kind, n in sorted(found.answers.items()))
    return Row(
        GROUP,
        "looks at a growing run, 95th percentile",
        watchers,
        f"watchers of {people} people" if people else "watchers",
        Timing(spent.cpu - before.cpu, found.percentile(0.95)),
        goal=Goal("wall", _GOAL_S) if watchers == _WATCHERS else None,
        found=f"50th {statistics.median(found.seconds):.3f} s, 95th {found.percentile(0.95):.3f} s,"
        f" longest {max(found.seconds):.3f} s; {len(found.seconds):,} looks in {seconds:g} s:"
        f" {told}, {len(found.pages)} different;"
        f" {found.errors.total()} errors {dict(found.errors) or ''};"
        f" server {100 * share:.0f} % of a core",
        faulty=bool(found.errors),
    )


def _sign_in(database: Database, run_id: str, people: int) -> list[str]:
    """The cookies of people who have signed in and, named to vote on it, may see the run."""
    names = [f"person-{number}" for number in range(people)]
    for name in names:
        add_person(database, name, "reader", by=LOCAL_PERSON)
    keep_plan(database, run_id, names, 1)
    cookie, _ = cookie_of(access_token(database.path.parent))
    return [f"{cookie}={start_session(database, name)}" for name in names]


async def _watch(
    server: Server,
    places: Sequence[str],
    watchers: int,
    seconds: float,
    cookies: Sequence[str],
) -> Watched:
    found, port = Watched(), int(server.address.rpartition(":")[2])
    until = time.monotonic() + seconds
    async with asyncio.TaskGroup() as group:
        for number, place in enumerate(islice(cycle(places), watchers)):
            cookie = cookies[number // len(places) % len(cookies)]  # each looks at every page
            group.create_task(Client(port, place, found, cookie).watch(until))
            await asyncio.sleep(1 / watchers)  # people do not come at the same moment
    return found


def _run(database: Database, size: int, written: int) -> tuple[str, Iterator[None]]:
    """A run of two models, the first of which is done; each step of the second writes a batch."""
    samples = questions(size)
    run_id = queue_run(database, samples, _MODELS, mode="multiple_choice", pattern="circular")
    run = queue.claim(database, "bench")
    assert run, "it was queued just now"
    pairs = [(sample, order) for sample in samples for order in variants(4, "circular")]
    first, second = read_cells(database, run_id)

    def write(cell_id: int, start: int, end: int, batch: int) -> Generator[None]:
        for at in range(start, end, batch):
            for trials, responses in answered([pairs[at : min(end, at + batch)]]):
                write_trials(database, run.lease, cell_id, trials, responses)
            yield

    for cell, end in ((first, len(pairs)), (second, written)):
        queue.start_cell(database, run.lease, cell.id, "bench")
        for _ in write(cell.id, 0, end, _LARGE_BATCH):
            pass
    queue.finish_cell(database, run.lease, first.id)
    return run_id, write(second.id, written, len(pairs), _BATCH)


@contextmanager
def _growing(steps: Iterator[None]) -> Generator[None]:
    """A thread that takes a step ten times a second."""
    ended = threading.Event()

    def grow() -> None:
        for _ in steps:
            if ended.wait(_INTERVAL_S):
                return

    thread = threading.Thread(target=grow)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


if __name__ == "__main__":
    main()
