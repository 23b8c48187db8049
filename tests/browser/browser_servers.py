"""The real server on a port and in a folder of its own, for the tests that look at it."""

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SHIPPED = ROOT / "assets" / "models.toml"


@dataclass(frozen=True, slots=True)
class Server:
    """A server that was started; `data` is where it keeps its runs."""

    process: subprocess.Popen[bytes]
    address: str
    models: Path
    data: Path
    log: Path

    def wait(self) -> None:
        """Return when it answers."""
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


@contextmanager
def started(folder: Path, *, models: str | Path = SHIPPED, **settings: str) -> Generator[Server]:
    """Start a server with these models, a text or a file, and end it; whoever needs it waits.

    `settings` are further variables of its environment.
    """
    if isinstance(models, str):
        (folder / "models.toml").write_text(models, encoding="utf-8")
        models = folder / "models.toml"
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
