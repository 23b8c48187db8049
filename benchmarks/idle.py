"""What an idle server and its worker cost in CPU time (`python -m benchmarks.idle`)."""

import argparse
import os
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

import psutil

_SETTLE_S = 15.0  # after the first answer: what is started late has started


def main() -> None:
    """Print per cent of a core for the server and for each worker."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--port", type=int, default=27860)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "evalui.cli", "serve", "--port", str(given.port)]
        server = subprocess.Popen(command, env=os.environ | {"EVALUI_DATA_DIR": folder})
        try:
            _wait(f"http://127.0.0.1:{given.port}/healthz")
            time.sleep(_SETTLE_S)
            parent = psutil.Process(server.pid)
            watched = {"server": parent} | {
                f"worker {n}": child for n, child in enumerate(parent.children(), 1)
            }
            before = {name: _cpu(process) for name, process in watched.items()}
            time.sleep(given.seconds)
            for name, process in watched.items():
                share = (_cpu(process) - before[name]) / given.seconds
                print(f"{name}: {100 * share:.2f} % of a core over {given.seconds:g} s")
        finally:
            server.terminate()
            server.wait(20)


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return times.user + times.system


def _wait(address: str) -> None:
    for _ in range(600):
        try:
            with urllib.request.urlopen(address, timeout=10):
                return
        except (urllib.error.URLError, TimeoutError):
            time.sleep(0.2)
    raise SystemExit("The server does not answer.")


if __name__ == "__main__":
    main()
