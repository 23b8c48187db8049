"""Pages of others while one person's large file is read (`python -m benchmarks.upload_load`).

A file of 990,000 questions (26 MB) is uploaded and opened on the Evaluate page while a few others
look at pages, each five times a second. Printed are how long their pages took, how long the file
took, and the memory of the server before and afterwards.
"""

import argparse
import json
import re
import statistics
import tempfile
import threading
import time
import urllib.request
from pathlib import Path

import psutil

from benchmarks.pages import ROOT, Checkout, Server, serving

_ROWS = 990_000
_READERS = 4
_UPLOADS, _LARGE_MB = 20, 49
_INTERVAL_S = 0.2
_SETTLE_S = 5.0
_GOAL_S = 0.3
_TIMEOUT_S = 600
_PAGES = ("/en/runs", "/zh/models", "/en/compare", "/zh/?tab=evaluate")
_BOUNDARY = "evalui-benchmark"


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=_ROWS)
    parser.add_argument("--readers", type=int, default=_READERS)
    parser.add_argument("--uploads", type=int, default=_UPLOADS)
    given = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as name,
        serving(Checkout(ROOT), Path(name), EVALUI_WORKERS="0", EVALUI_TOKEN="false") as server,
    ):
        for page in ("/en/config", *_PAGES):
            server.get(page)
        time.sleep(_SETTLE_S)
        alone = _looks(server, given.readers, threading.Event(), seconds=_SETTLE_S)
        before, ended = _memory(server), threading.Event()
        seconds: list[float] = []
        watching = threading.Thread(
            target=lambda: seconds.extend(_looks(server, given.readers, ended))
        )
        watching.start()
        began = time.perf_counter()
        upload = _upload(server, _csv(given.rows))
        sent = time.perf_counter()
        shown = _shown(server, upload)
        read = time.perf_counter()
        ended.set()
        watching.join()
        time.sleep(_SETTLE_S)
        after = _memory(server)
        print(f"{given.rows:,} rows: sent {sent - began:.1f} s, page {read - sent:.1f} s, {shown}")
        print(f"others' pages before: {_described(alone)}")
        print(f"others' pages meanwhile: {_described(seconds)}; goal 95th < {_GOAL_S:g} s")
        print(f"server before {before[0]:.0f} MB, afterwards {after[0]:.0f} MB")
        print(f"processes that read files afterwards: {after[1]:.0f} MB")
        peak = _many(server, given.uploads)
        print(f"{given.uploads} uploads of {_LARGE_MB} MB at once: at most {peak:.0f} MB")


def _many(server: Server, uploads: int) -> float:
    """The most MB that the server takes while so many large files come at once."""
    threads = [
        threading.Thread(target=_upload, args=(server, bytes([n]) * _LARGE_MB * 2**20))
        for n in range(uploads)
    ]
    for thread in threads:
        thread.start()
    peak = 0.0
    while any(thread.is_alive() for thread in threads):
        peak = max(peak, _memory(server)[0])
        time.sleep(0.05)
    return peak


def _csv(rows: int) -> bytes:
    lines = (f"{n},Q{n}?,1,2,3,5,B" for n in range(rows))
    return "\n".join(("id,question,A,B,C,D,answer", *lines, "")).encode()


def _upload(server: Server, content: bytes) -> str:
    part = 'Content-Disposition: form-data; name="files"; filename="large_val.csv"\r\n\r\n'
    body = f"--{_BOUNDARY}\r\n{part}".encode() + content + f"\r\n--{_BOUNDARY}--\r\n".encode()
    headers = {"Content-Type": f"multipart/form-data; boundary={_BOUNDARY}"}
    request = urllib.request.Request(f"{server.address}/upload", body, headers)
    with urllib.request.urlopen(request, timeout=_TIMEOUT_S) as answer:
        return json.load(answer)["upload"]


def _shown(server: Server, upload: str) -> str:
    """How many questions the page states that can be used."""
    address = f"{server.address}/en/?tab=evaluate&uploads={upload}"
    with urllib.request.urlopen(address, timeout=_TIMEOUT_S) as answer:
        page = answer.read().decode()
    ready = re.search(r"[\d,]+ of [\d,]+[^<·]*", page)
    if ready is None:
        raise RuntimeError(re.sub("<[^>]+>", " ", page)[-2000:])
    return ready[0].strip()


def _looks(
    server: Server, readers: int, ended: threading.Event, *, seconds: float = _TIMEOUT_S
) -> list[float]:
    """The seconds of each page that the others see, until this has ended."""
    taken: list[float] = []
    until = time.monotonic() + seconds

    def look(page: str) -> None:
        while not ended.wait(_INTERVAL_S) and time.monotonic() < until:
            began = time.perf_counter()
            with urllib.request.urlopen(server.address + page, timeout=_TIMEOUT_S) as answer:
                answer.read()
            taken.append(time.perf_counter() - began)

    threads = [
        threading.Thread(target=look, args=(_PAGES[n % len(_PAGES)],)) for n in range(readers)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return taken


def _memory(server: Server) -> tuple[float, float]:
    """MB in the server itself, and in the processes it has started."""
    children = psutil.Process(server.process.pid).children(recursive=True)
    own = server.process.memory_info().rss
    return own / 2**20, sum(child.memory_info().rss for child in children) / 2**20


def _described(seconds: list[float]) -> str:
    last = statistics.quantiles(seconds, n=20)[-1]
    return (
        f"{len(seconds):,} looks, 50th {statistics.median(seconds):.3f} s, 95th {last:.3f} s, "
        f"longest {max(seconds):.3f} s"
    )


if __name__ == "__main__":
    main()
