"""From nothing to the first page, and the import of all that is not the screen."""

import compileall
import os
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import evalui
from benchmarks.contest import Session, alone
from benchmarks.rows import Goal, Row

GROUP = "starting"
_CORE = "evalui.datasets, evalui.models, evalui.modes, evalui.scoring.choice.circular"
_RUNS = f"{_CORE}, evalui.runs.worker.main, evalui.report.compile"
_LONGEST_S = 60.0


def rows(session: Session) -> Iterator[Row]:
    """Each in a process of its own, its files in the system's cache."""
    # pip compiles what it installs; in a checkout each process might compile it anew.
    compileall.compile_dir(Path(evalui.__file__).parent, quiet=1)
    _import(f"import {_RUNS}, evalui.ui.shell")
    yield alone(
        GROUP,
        "import of the core",
        1,
        "process",
        lambda: _import(f"import {_CORE}"),
        session,
        goal=Goal("cpu", 0.3),
        found="data, models, modes and scoring; Python's own start is counted",
    )
    yield alone(
        GROUP,
        "import of the core, runs and reports",
        1,
        "process",
        lambda: _import(f"import {_RUNS}"),
        session,
        found="all but the screen",
    )
    yield alone(
        GROUP,
        "start of Python alone",
        1,
        "process",
        lambda: _import("pass"),
        session,
    )
    yield alone(
        GROUP,
        "cold start to the first page",
        1,
        "process",
        _first_page,
        session,
        goal=Goal("wall", 5),
        found="evalui serve until / answers 200; the best round",
    )


def _import(code: str) -> None:
    subprocess.run([sys.executable, "-c", code], check=True)


def _first_page() -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen(
            [str(Path(sys.executable).with_name("evalui")), "serve", "--port", str(port)],
            env={
                **os.environ,
                "EVALUI_DATA_DIR": folder,
                "EVALUI_WORKERS": "0",
                "EVALUI_TOKEN": "false",
            },
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            _wait(server, f"http://127.0.0.1:{port}/")
        finally:
            server.terminate()
            server.wait()


def _wait(server: "subprocess.Popen[bytes]", address: str) -> None:
    until = time.monotonic() + _LONGEST_S
    while time.monotonic() < until:
        if server.poll() is not None:
            raise RuntimeError(f"the server ended with {server.returncode}")
        try:
            with urllib.request.urlopen(address, timeout=_LONGEST_S) as page:
                if page.status == 200:
                    return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.02)  # the server tells nobody when it is ready
    raise RuntimeError(f"no page after {_LONGEST_S} s")
