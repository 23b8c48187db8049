"""Damaged files of every container are read or refused: no other error, and none takes for ever.

Each container has seeds, and each mutant is drawn by its number, so that it can be drawn again:
EVALUI_FUZZ is how many there are in all, EVALUI_FUZZ_FIRST the first number.
"""

import faulthandler
import os
import random
import signal
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import made_files
import pytest

from evalui.datasets import Limits, load
from evalui.errors import DataError
from evalui.types import Sample

COUNT = int(os.environ.get("EVALUI_FUZZ", "400"))
FIRST = int(os.environ.get("EVALUI_FUZZ_FIRST", "0"))
pytestmark = pytest.mark.timeout(300 + COUNT)
CPU_S = 20  # of one mutant, on a slow machine as well
GOLDEN = Path(__file__).parents[2] / "golden" / "containers"
# A file may ask for a lot of memory, but not for more than these.
LIMITS = Limits(bytes=2**20, unpacked=2**22, lines=20_000, cells=200_000)
PACKED = ("xlsx", "ods", "zip")
PIECES = (
    *(b"", b"\0", b"\xff", b'"', b",", b"\n", b"\r", b"\xef\xbb\xbf", b"\xff\xfe", b"\xd8\x00"),
    *(b"{", b"}", b"[", b"]", b"null", b"NaN", b"1e999", b"-0", b"\\ud800", b'{"a":' * 40),
    *(b"[" * 900, b"9" * 400, b"-1", b"<", b"</", b"<c/>", b"<row", b"&#0;", b"&x;", b"]]>"),
    *(
        b"<!DOCTYPE x [<!ENTITY y 'z'>]>",
        b"xml:space",
        b"99999999999999999999",
        b"\x7f\xff\xff\xff",
    ),
    *(b"\xff\xff\xff\xff", b"PK\x03\x04", b"PK\x05\x06", b"PAR1", b"\x09\x08\x10\x00", b"="),
)


class TooLong(BaseException):
    """A file takes too long; no reader catches it by accident."""


def seeds() -> dict[str, list[bytes]]:
    """Files by their container."""
    found: dict[str, list[bytes]] = {"xls": [path.read_bytes() for path in GOLDEN.glob("*.xls")]}
    for made in made_files.made():
        (name, *others), (content, *_) = made.files, made.files.values()
        if not others and content:
            found.setdefault(name.rpartition(".")[2], []).append(content)
    return found


SEEDS = seeds()
CONTAINERS = ("csv", "jsonl", "json", "xlsx", "xls", "ods", "parquet", "zip")


def spoilt(data: bytes, draw: random.Random) -> bytes:
    """The data with one to four places damaged."""
    for _ in range(draw.choice((1, 1, 2, 4))):
        at, size = draw.randrange(len(data) + 1), draw.choice((1, 1, 2, 4, 9, 40))
        piece = draw.choice(
            (
                draw.choice(PIECES),
                draw.choice(PIECES),
                draw.randbytes(size),
                data[(other := draw.randrange(len(data) + 1)) : other + size],
            )
        )
        end = draw.choice((at, at + len(piece), at + size, at + draw.randrange(300)))
        data = data[:at] + piece + data[end:]
    return data[: draw.randrange(len(data) + 1)] if draw.random() < 0.05 else data


def spoilt_parts(data: bytes, draw: random.Random) -> bytes:
    """The archive with a part damaged, whose checksum is right."""
    packed = BytesIO()
    with zipfile.ZipFile(BytesIO(data)) as old, zipfile.ZipFile(packed, "w") as new:
        chosen = draw.choice(old.infolist())
        for info in old.infolist():
            content = old.read(info)
            new.writestr(info.filename, spoilt(content, draw) if info is chosen else content)
    return packed.getvalue()


def mutant(container: str, number: int) -> bytes:
    draw = random.Random(f"{container} {number}")
    data = draw.choice(SEEDS[container])
    change: Callable[[bytes, random.Random], bytes] = spoilt
    if container in PACKED and draw.random() < 0.7:
        change = spoilt_parts
    return change(data, draw)


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Raise where the processor works longer than that."""

    def stop(*_: Any) -> None:
        raise TooLong(f"more than {seconds} seconds of the processor")

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def check(sample: Sample) -> None:
    assert sample.question.strip()
    if isinstance(sample.target, int):
        assert 0 <= sample.target < len(sample.choices)


def reads_or_refuses(path: Path) -> bool:
    try:
        with at_most(CPU_S):
            loaded = load([path], limits=LIMITS)
    except DataError:
        return False
    assert loaded.n_rows >= len(loaded.dataset.samples)
    for sample in loaded.dataset.samples:
        check(sample)
    return True


def mistake(path: Path) -> str:
    """What went wrong, "" for nothing."""
    try:
        reads_or_refuses(path)
    except (Exception, TooLong) as error:  # noqa: BLE001 - it is told
        return f"{type(error).__name__}: {error}"[:200]
    return ""


def mistake_apart(path: Path) -> str:
    """The same in a process of its own, which pyarrow may end."""
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        faulthandler.disable()
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        os.write(writer, mistake(path).encode())
        os._exit(0)
    os.close(writer)
    with open(reader, encoding="utf-8") as told:  # noqa: PTH123 - a pipe
        said = told.read()
    _, status = os.waitpid(child, 0)
    # pyarrow gives up on some damage; files are read in a confined process for such reasons.
    aborted = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGABRT
    return said if aborted or not status else f"ended with the status {status}"


@pytest.mark.parametrize("container", CONTAINERS)
def test_a_damaged_file_is_read_or_refused(tmp_path: Path, container: str) -> None:
    path = tmp_path / f"set.{container}"
    look = mistake_apart if container == "parquet" else mistake
    failed: dict[str, int] = {}
    for number in range(FIRST, FIRST + COUNT // len(CONTAINERS)):
        path.write_bytes(mutant(container, number))
        if wrong := look(path):
            failed.setdefault(wrong, number)
    assert failed == {}


@pytest.mark.parametrize("container", CONTAINERS)
def test_its_seeds_are_files_that_are_read(tmp_path: Path, container: str) -> None:
    path = tmp_path / f"set.{container}"
    read = 0
    for data in SEEDS[container]:
        path.write_bytes(data)
        read += reads_or_refuses(path)
    assert read >= len(SEEDS[container]) / 2
