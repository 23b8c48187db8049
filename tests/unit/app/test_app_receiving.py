"""Files of a form go to the disk piece by piece."""

import asyncio
import tracemalloc
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from evalui.app.receiving import FormFiles
from evalui.errors import DataError

KIND = "multipart/form-data; boundary=cut"


def part(name: str, content: bytes, field: str = "files") -> bytes:
    named = f'; filename="{name}"' if name else ""
    head = f'--cut\r\nContent-Disposition: form-data; name="{field}"{named}\r\n'
    return head.encode() + b"Content-Type: text/csv\r\n\r\n" + content + b"\r\n"


def read(folder: Path, body: bytes, size: int = 7, limit: int = 10**9) -> dict[str, bytes]:
    async def pieces() -> AsyncIterator[bytes]:
        for start in range(0, len(body), size):
            yield body[start : start + size]

    sent = asyncio.run(FormFiles(KIND, folder, limit).read(pieces()))
    return {name: path.read_bytes() for name, path in sent}


@pytest.mark.parametrize("size", [1, 7, 64, 10**6])
def test_files_come_whole_however_the_body_is_cut(tmp_path: Path, size: int):
    body = part("题.csv", b"a\r\n--cu\r\nb") + part("", b"text", "note") + part("e.csv", b"")
    body += part("x.csv", b"not ours", "others") + b"--cut--\r\n"
    assert read(tmp_path, body, size) == {"题.csv": b"a\r\n--cu\r\nb", "e.csv": b""}
    assert len(list(tmp_path.iterdir())) == 2


def test_what_is_sent_is_never_in_memory(tmp_path: Path):
    async def pieces() -> AsyncIterator[bytes]:
        for field in ("files", "note"):  # a field that is no file may be as long
            named = '; filename="a.csv"' if field == "files" else ""
            head = f'--cut\r\nContent-Disposition: form-data; name="{field}"{named}\r\n\r\n'
            yield head.encode()
            for _ in range(512):
                yield b"x" * 2**16
            yield b"\r\n"
        yield b"--cut--\r\n"

    tracemalloc.start()
    try:
        ((_, path),) = asyncio.run(FormFiles(KIND, tmp_path, 10**9).read(pieces()))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert path.stat().st_size == 2**25
    assert peak < 2**22


def test_files_over_the_limit_are_broken_off(tmp_path: Path):
    with pytest.raises(DataError, match="is incomplete"):
        read(tmp_path, part("a.csv", b"x" * 100) + b"--cut--\r\n", limit=50)
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 50


@pytest.mark.parametrize(
    "body",
    [
        b"no form at all",
        part("a.csv", b"x")[:-5],
        b"--cut\r\n" + b"X: " + b"y" * 10_000 + b"\r\n\r\nz\r\n--cut--\r\n",
    ],
)
def test_a_form_that_is_none_or_breaks_off_is_refused(tmp_path: Path, body: bytes):
    with pytest.raises(DataError, match="is incomplete"):
        read(tmp_path, body)


@pytest.mark.parametrize("kind", ["", "text/csv", "multipart/form-data", 'x; boundary="'])
def test_what_is_no_form_is_refused(tmp_path: Path, kind: str):
    with pytest.raises(DataError, match="multipart"):
        FormFiles(kind, tmp_path, 100)


def test_too_many_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("evalui.app.receiving._MAX_FILES", 2)
    body = b"".join(part(f"{n}.csv", b"x") for n in range(3)) + b"--cut--\r\n"
    with pytest.raises(DataError, match="at most 2 files"):
        read(tmp_path, body)


def test_too_many_parts_of_any_kind_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("evalui.app.receiving._MAX_FILES", 2)
    body = b"--cut\r\n\r\n\r\n" * 3 + b"--cut--\r\n"
    with pytest.raises(DataError, match="at most 2 files"):
        read(tmp_path, body)
