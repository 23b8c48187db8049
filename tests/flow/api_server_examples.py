"""A real server with a worker, for tests that talk to it from outside."""

import os
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple


class ApiServer(NamedTuple):
    """Its address without the token, its token, and a file that holds it."""

    url: str
    token: str
    token_file: Path


@contextmanager
def api_server(folder: Path, **settings: str) -> Iterator[ApiServer]:
    """A server on a free port whose data is in `folder`, until the block ends."""
    variables = {f"EVALUI_{name.upper()}": value for name, value in settings.items()}
    process = subprocess.Popen(
        [sys.executable, "-m", "evalui.cli", "serve", "--port", "0"],
        env=os.environ | {"EVALUI_DATA_DIR": str(folder)} | variables,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout
    try:
        address, _, token = process.stdout.readline().strip().partition("?token=")
        _wait_for(f"{address}healthz")
        yield ApiServer(address.rstrip("/"), token, folder / "access-token")
    finally:
        process.terminate()
        process.communicate(timeout=60)


def _wait_for(address: str) -> None:
    deadline = time.monotonic() + 120
    while True:
        try:
            with urllib.request.urlopen(address, timeout=100):
                return
        except urllib.error.URLError:
            assert time.monotonic() < deadline, "the server did not answer"
            time.sleep(0.05)
