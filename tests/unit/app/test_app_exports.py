"""Exports from processes of their own: passed on as they come, ended with their transfer."""

import asyncio
import logging
import sys
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from pathlib import Path

import psutil
import pytest

from evalui.app.exports import ExportFailed, ExportProcesses, export_command
from evalui.cli import main as cli

_ENDLESS = "import os, sys\nsys.stderr.close()\nwhile True: os.write(1, b'x' * 4096)"


def _running(code: str, at_once: int = 2) -> ExportProcesses:
    """Exports by a script, whose arguments are the run, the format and the language."""
    return ExportProcesses(lambda *given: [sys.executable, "-c", code, *given], at_once)


async def _until(reached: Callable[[], bool]) -> None:
    while not reached():
        await asyncio.sleep(0)


def _children() -> list[psutil.Process]:
    """Those of this process, but for the one that reads files for other tests."""
    running = (one for one in psutil.Process().children() if one.status() != psutil.STATUS_ZOMBIE)
    return [one for one in running if "evalui.datasets.sandbox" not in " ".join(one.cmdline())]


def _run(work: Awaitable[None]) -> None:
    async def whole() -> None:
        await asyncio.wait_for(work, 60)

    asyncio.run(whole())


def test_what_a_process_writes_is_passed_on_whole():
    exports = _running("import os\nos.write(1, b'ab' * 100_000)")

    async def work() -> None:
        pieces = [piece async for piece in exports.stream("r", "csv", "en")]
        assert b"".join(pieces) == b"ab" * 100_000

    _run(work())


def test_a_process_that_fails_after_some_bytes_breaks_the_transfer_off(
    caplog: pytest.LogCaptureFixture,
):
    exports = _running("import os\nos.write(1, b'half')\nraise SystemExit(3)")
    got: list[bytes] = []

    async def work() -> None:
        async for piece in exports.stream("r", "xlsx", "en"):
            got.append(piece)

    with caplog.at_level(logging.WARNING), pytest.raises(ExportFailed, match="ended with 3"):
        _run(work())
    assert got == [b"half"]
    assert "Run r was not exported as xlsx: its process ended with 3" in caplog.text


def test_a_process_ends_when_nobody_reads_on():
    exports = _running(_ENDLESS)

    async def work() -> None:
        async with aclosing(exports.stream("r", "zip", "en")) as pieces:
            assert await anext(pieces)
            assert _children()
        await _until(lambda: not _children())

    _run(work())


def test_nothing_is_left_of_what_a_killed_process_had_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    code = f"import tempfile\nheld = tempfile.NamedTemporaryFile(delete=False)\n{_ENDLESS}"
    found: list[Path] = []

    async def work() -> None:
        async with aclosing(_running(code).stream("r", "csv", "en")) as pieces:
            await anext(pieces)
            found.extend(path for path in tmp_path.rglob("*") if path.is_file())

    _run(work())
    assert len(found) == 1
    assert [*tmp_path.iterdir()] == []


def test_a_process_waits_for_its_reader():
    exports = _running(_ENDLESS)

    async def work() -> None:
        async with aclosing(exports.stream("r", "zip", "en")) as pieces:
            await anext(pieces)
            (child,) = _children()
            # The pipe and the reader's buffer are full, and then it sleeps in `write`.
            await _until(lambda: child.status() == psutil.STATUS_SLEEPING)

    _run(work())


def test_one_too_many_waits_until_another_has_ended(tmp_path: Path):
    started = tmp_path / "started"
    touch = f"pathlib.Path({str(started)!r}).touch()"
    second = f"import pathlib, sys\nif sys.argv[1] == 'b': sys.exit({touch})\n"
    exports = _running(second + _ENDLESS, at_once=1)

    async def read_second() -> None:
        async for _ in exports.stream("b", "csv", "en"):
            raise AssertionError("it writes nothing")

    async def work() -> None:
        async with aclosing(exports.stream("a", "csv", "en")) as first:
            await anext(first)
            waiting = asyncio.create_task(read_second())
            await asyncio.sleep(0.5)
            assert not started.exists()
        await waiting
        assert started.exists()

    _run(work())


def test_a_run_whose_id_begins_with_a_dash_is_no_option():
    command = export_command(Path("s"), Path("m"), "-CUxIm_IVW", "csv", "en")
    given = cli._parser(command[3:]).parse_args(command[3:])
    assert (given.run, given.format, given.language) == ("-CUxIm_IVW", "csv", "en")
