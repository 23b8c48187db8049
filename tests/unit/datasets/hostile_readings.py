"""What a file could have a reader do, done by functions that a confined process is asked for."""

import logging
import os
import pickle
import signal
import sys
import threading
import time
from pathlib import Path

from evalui.datasets.model import ON_ROWS, Layout
from evalui.errors import SpecError
from evalui.types import Sample

_kept: list[bytes] = []


def take(mb: int) -> int:
    return len(b"x" * (mb * 2**20))


def keep(mb: int) -> int:
    _kept.append(b"x" * (mb * 2**20))
    return mb


def compute() -> int:
    while True:
        pass


def wait() -> int:
    time.sleep(600)
    return 0


def wait_whatever_comes() -> int:
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM, signal.SIGPROF})
    return wait()


def die(number: int) -> int:
    os.kill(os.getpid(), number)
    return 0


def fail() -> int:
    raise ZeroDivisionError("our own mistake")


def refuse(name: str) -> int:
    raise SpecError("file-unread", path=name, reason="closed")


def count(rows: int) -> int:
    ON_ROWS.get()(rows)
    return rows


def print_and_answer() -> str:
    print('answer "printed"')  # noqa: T201 - what it is about
    os.write(1, b'answer "written"\n')
    os.write(2, b"a warning\n")
    logging.getLogger("x").warning("logged")
    return "returned"


def say(content: bytes) -> str:
    """Write into the pipe of answers, as a reader could that a file has taken over."""
    for number in range(3, 10):
        try:
            os.write(number, content)
        except OSError:
            continue
    return "returned"


def flood() -> str:
    while True:
        say(b'part ["x"] []\n' * 1000)


class Bomb:
    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return Path.touch, (Path(self.path),)


def send_pickle(path: str) -> str:
    return say(pickle.dumps(Bomb(path)) + b"\n")


def lie_about_the_type() -> Layout:
    return Sample("1", "?")  # pyright: ignore[reportReturnType] - a lie


def write(path: Path, size: int) -> str:
    try:
        path.write_bytes(b"x" * size)
    except OSError as error:
        return error.strerror or ""
    return "written"


def start_thread() -> str:
    try:
        threading.Thread(target=int).start()
    except RuntimeError as error:
        return str(error)
    return "started"


def status() -> str:
    return Path("/proc/self/status").read_text(encoding="utf-8")


def limits() -> str:
    return Path("/proc/self/limits").read_text(encoding="utf-8")


def environment() -> dict[str, str]:
    return dict(os.environ)


def place() -> tuple[int, str]:
    return os.getpid(), str(Path.cwd())


def modules() -> tuple[str, ...]:
    return tuple(sys.modules)


def sentence_within() -> str:
    return SpecError("file-unread", path="x", reason="closed").sentence


def many(n: int) -> tuple[Sample, ...]:
    return tuple(Sample(str(each), "?") for each in range(n))
