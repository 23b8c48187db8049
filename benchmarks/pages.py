"""How soon a page shows its figures (`python -m benchmarks.pages`), of this checkout or of another.

Medians of a few rounds: seconds of the server's CPU and on the wall. A figure is shown when the
page has the name of a model, a share in per cent and a plausible range.
"""

import argparse
import compileall
import os
import re
import shutil
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import psutil

from benchmarks.clock import Timing, median, timed

ROOT = Path(__file__).parents[1]
Measured = Iterator[tuple[str, list[Timing]]]
_PARTS = ("server", "browser")
_VIEWS = ("overview", "samples", "bias")
_REQUESTS = 20
_LONGEST_S = 240.0
_FIGURES = r"""() => {
  const seen = document.body?.innerText ?? "";
  return /demo-late/.test(seen) && /\d %/.test(seen) && /\d–\d/.test(seen);
}"""


@dataclass(frozen=True, slots=True)
class Checkout:
    """A version of evalui, its folder first on Python's path."""

    folder: Path

    def environment(self, data: Path, **settings: str) -> dict[str, str]:
        """The variables for a process of this version that keeps its runs in `data`."""
        return os.environ | {
            "PYTHONPATH": str(self.folder),
            "EVALUI_DATA_DIR": str(data),
            "EVALUI_TOKEN": "false",
            "OMP_NUM_THREADS": "1",
            **settings,
        }


@dataclass(frozen=True, slots=True)
class Server:
    """A server that was just started."""

    process: psutil.Popen
    address: str
    began: float

    def spent(self) -> Timing:
        """Seconds since it was started; CPU is that of its own process, not of its workers."""
        times = self.process.cpu_times()
        return Timing(times.user + times.system, time.perf_counter() - self.began)

    def get(self, path: str, cookie: str = "") -> str:
        """The address that answers 200 for the path, after redirects.

        Raises:
            RuntimeError: there is no answer.
        """
        until = time.monotonic() + _LONGEST_S
        wanted = urllib.request.Request(self.address + path, headers={"Cookie": cookie})
        while time.monotonic() < until and self.process.poll() is None:
            try:
                with urllib.request.urlopen(wanted, timeout=_LONGEST_S) as page:
                    page.read(1)
                    return page.url
            except urllib.error.HTTPError as refused:
                raise RuntimeError(f"{path}: {refused.code}") from refused
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.02)  # the port is not open yet
        raise RuntimeError(f"no answer to {path}")


def main() -> None:
    """Print one line for each measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkout", type=Path, default=ROOT, help="the version to measure")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="+", choices=_PARTS, default=_PARTS)
    given = parser.parse_args()
    checkout = Checkout(given.checkout.resolve())
    compileall.compile_dir(checkout.folder / "evalui", quiet=1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run_id = _make_run(checkout, folder)
        page = f"/?run={run_id}&tab=results"
        measures: list[Measured] = []
        if "server" in given.only:
            measures.append(_server(checkout, folder / "data", page, given.rounds))
        if "browser" in given.only:
            measures.append(_browser(checkout, folder, page, given.rounds))
        for measure, taken in chain.from_iterable(measures):
            middle = median(taken)
            walls = ", ".join(f"{each.wall:.2f}" for each in taken)
            print(
                f"{measure}: CPU {middle.cpu:.3f} s, wall {middle.wall:.3f} s ({walls})", flush=True
            )


def _make_run(checkout: Checkout, folder: Path) -> str:
    """The id of a finished run of the sample, in the data folder `folder`/data."""
    out, data = folder / "out", folder / "data"
    command = [sys.executable, "-m", "evalui.cli", "run", "examples/sample.json", "--out", str(out)]
    environment = checkout.environment(data)
    subprocess.run(command, cwd=checkout.folder, env=environment, check=True)
    data.mkdir(mode=0o700, exist_ok=True)
    shutil.copy(out / "evalui.sqlite", data / "evalui.sqlite")
    with closing(sqlite3.connect(data / "evalui.sqlite")) as store:
        (run_id,) = store.execute("SELECT id FROM run").fetchone()
    return run_id


def _server(checkout: Checkout, data: Path, page: str, rounds: int) -> Measured:
    alone = [sys.executable, "-c", "import gradio"]
    taken = [timed(lambda: subprocess.run(alone, check=True))[0] for _ in range(rounds)]
    yield "import gradio alone", taken
    starts = [_start(checkout, data, "/") for _ in range(rounds)]
    yield "start to the first byte of the first page", [first for first, _ in starts]
    yield "start to the answer to actions", [later for _, later in starts]
    starts = [_start(checkout, data, page) for _ in range(rounds)]
    yield "start to the first byte of a run's page", [first for first, _ in starts]
    with serving(checkout, data, EVALUI_WORKERS="0") as server:
        for view in _VIEWS:
            yield f"warm GET, {view}", _warm(server, f"{page}&sub={view}")


def _browser(checkout: Checkout, folder: Path, page: str, rounds: int) -> Measured:
    with serving(checkout, folder / "data", EVALUI_WORKERS="0") as server:

        def opened(tab: Any) -> None:
            tab.goto(server.address + page, wait_until="commit")

        yield "permalink to the first figure", [_shown(server, opened) for _ in range(rounds)]
    yield (
        "sample's button to the first figure",
        [_tried(checkout, folder, n) for n in range(rounds)],
    )


@contextmanager
def serving(checkout: Checkout, data: Path, **settings: str) -> Generator[Server]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "evalui.cli", "serve", "--port", str(port)]
    began = time.perf_counter()
    process = psutil.Popen(
        command,
        cwd=checkout.folder,
        env=checkout.environment(data, **settings),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield Server(process, f"http://127.0.0.1:{port}", began)
    finally:
        process.terminate()
        process.wait(30)


def _start(checkout: Checkout, data: Path, path: str) -> tuple[Timing, Timing]:
    """From the start to the first byte of the page, and until Gradio answers."""
    with serving(checkout, data, EVALUI_WORKERS="0") as server:
        server.get(path)
        first = server.spent()
        server.get("/en/config")
        return first, server.spent()


def _warm(server: Server, path: str) -> list[Timing]:
    server.get("/en/config")
    address = server.get(path)
    taken: list[Timing] = []
    for n in range(_REQUESTS + 2):
        before = server.spent()
        with urllib.request.urlopen(address) as page:
            page.read()
        after = server.spent()
        if n >= 2:
            taken.append(Timing(after.cpu - before.cpu, after.wall - before.wall))
    # The system counts CPU in hundredths of a second: the mean tells more than the median.
    cpu = statistics.mean(each.cpu for each in taken)
    return [Timing(cpu, statistics.median(each.wall for each in taken))]


def _shown(server: Server, go: Callable[[Any], object], first: str = "") -> Timing:
    """From `go` to the first figure, in a browser that has been nowhere before."""
    from playwright.sync_api import sync_playwright

    server.get("/en/config")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        tab = browser.new_page(viewport={"width": 1280, "height": 900}, locale="en-GB")
        tab.set_default_timeout(_LONGEST_S * 1000)
        if first:
            tab.goto(server.address + first)
            _sample(tab).wait_for()
        before = server.spent()
        go(tab)
        tab.wait_for_function(_FIGURES)
        after = server.spent()
        browser.close()
    return Timing(after.cpu - before.cpu, after.wall - before.wall)


def _tried(checkout: Checkout, folder: Path, n: int) -> Timing:
    """From the press of the sample's button to the first figure; the worker is a new process."""
    data = folder / f"tried-{n}"
    data.mkdir(mode=0o700)
    with serving(checkout, data) as server:
        return _shown(server, _try_sample, first="/en/")


def _sample(tab: Any) -> Any:
    return tab.get_by_role("button", name=re.compile("Try (it with a|the) sample"))


def _try_sample(tab: Any) -> None:
    """Press the button, and what else a version demands before its results."""
    _sample(tab).click()
    start = tab.get_by_role("button", name="Start evaluation")
    tab.wait_for_function(
        """() => /[?&]run=/.test(location.search)
          || [...document.querySelectorAll("button")].some(
            (each) => each.innerText.trim() == "Start evaluation" && !each.disabled
              && each.offsetParent)"""
    )
    if "run=" not in tab.url:
        start.click()
        tab.wait_for_url("**run=**")
    if "results" not in tab.url:
        tab.get_by_role("tab", name="Results").or_(tab.get_by_role("link", name="Results")).click()


if __name__ == "__main__":
    main()
