"""The real server on a port and in a folder of its own, for the tests that look at it."""

import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from evalui.web.address import FILE

ROOT = Path(__file__).parents[2]
SHIPPED = ROOT / "assets" / "models.toml"
TOKEN = "browser-tests-browser-tests-browser-tests"  # of every server here, as if from a restart


@dataclass(frozen=True, slots=True)
class Server:
    """A server that was started; `data` is where it keeps its runs."""

    process: subprocess.Popen[bytes]
    address: str
    models: Path
    data: Path
    log: Path

    def wait(self) -> None:
        """Return when it answers; Gradio, and so the buttons, may take a while longer."""
        for _ in range(240):
            if self.process.poll() is not None:
                break
            try:
                urllib.request.urlopen(f"{self.address}/healthz", timeout=2).close()
            except OSError:
                time.sleep(0.25)  # another process tells nothing when it is ready
            else:
                return
        pytest.fail(f"The server did not start:\n{self.log.read_text(errors='replace')}")

    def wait_for_buttons(self) -> None:
        """Return when it answers and Gradio is there, with a door or without one."""
        self.wait()
        token = {"Authorization": f"Bearer {TOKEN}"}
        config = urllib.request.Request(f"{self.address}/en/config", headers=token)
        with suppress(urllib.error.HTTPError):  # who does not sign in is not let in
            urllib.request.urlopen(config, timeout=120).close()


def admitted(chromium: Any, address: str, **options: Any) -> Any:
    """A context of a browser that has been at the printed address, and so has the cookie."""
    context = chromium.new_context(base_url=address, **options)
    admit(context, address)
    return context


def admit(context: Any, address: str) -> None:
    """Give a context the cookie."""
    assert context.request.get(f"{address}/?token={TOKEN}").status == 200


@contextmanager
def started(folder: Path, *, models: str | Path = SHIPPED, **settings: str) -> Generator[Server]:
    """Start a server with these models, a text or a file, and end it; whoever needs it waits.

    `settings` are further variables of its environment.
    """
    if isinstance(models, str):
        (folder / "models.toml").write_text(models, encoding="utf-8")
        models = folder / "models.toml"
    (folder / "data").mkdir(mode=0o700)
    (folder / "data" / FILE).touch(mode=0o600)
    (folder / "data" / FILE).write_text(TOKEN, encoding="ascii")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = os.environ | {
        "EVALUI_DATA_DIR": str(folder / "data"),
        "EVALUI_MODELS": str(models),
        "EVALUI_PORT": str(port),
        "OMP_NUM_THREADS": "1",
        **settings,
    }
    path = folder / "log"
    with path.open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "app.py"], cwd=ROOT, env=environment, stdout=log, stderr=log
        )
        try:
            yield Server(process, f"http://127.0.0.1:{port}", models, folder / "data", path)
        finally:
            process.terminate()
            process.wait(20)
