"""Exports of larger runs: each is made by a process of its own, and passed on as it is made.

What is sent waits in a pipe of some kB until the browser takes it, so neither process holds the
file. The process ends with the transfer.
"""

import asyncio
import logging
import os
import sys
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from anyio import CancelScope

from evalui.report.analyses.base import Report
from evalui.scoring.trial_columns import columns_of
from evalui.store.connection import Database
from evalui.store.runs import read_cells
from evalui.store.trials import read_some_trials
from evalui.types import Language

_SAMPLED_TRIALS = 1024  # of a run, to estimate the size of its files: fewer pack otherwise
_AT_ONCE = 2  # processes; further exports wait
_PIECE = 2**16  # bytes

_log = logging.getLogger(__name__)


class ExportFailed(Exception):
    """An export ended before it was whole; its transfer is broken off, so that this is seen."""


class ExportProcesses:
    """The exports of this server, so many at once; further ones wait.

    `command` is what writes a run, of this id, as this format, in this language.
    """

    def __init__(self, command: Callable[[str, str, str], list[str]], at_once: int = _AT_ONCE):
        self._command = command
        self._slots = asyncio.Semaphore(at_once)

    async def stream(self, run_id: str, extension: str, language: str) -> AsyncGenerator[bytes]:
        """A run as a file, as it is written; the process is killed when nobody reads on.

        Raises:
            ExportFailed: the command failed; what was written is not the whole file.
        """
        command = self._command(run_id, extension, language)
        try:
            async with self._slots, aclosing(_output(command)) as pieces:
                async for piece in pieces:
                    yield piece
        except ExportFailed as error:
            _log.warning("Run %s was not exported as %s: %s", run_id, extension, error)
            raise


async def _output(command: Sequence[str]) -> AsyncGenerator[bytes]:
    # A process that is killed leaves its temporary files, which hold answers: they lie in a folder
    # that ends here.
    with TemporaryDirectory(prefix="evalui-export-", ignore_cleanup_errors=True) as folder:
        process = await asyncio.create_subprocess_exec(
            *command,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            env={**os.environ, "TMPDIR": folder},
        )
        assert process.stdout, "it was requested"
        try:
            while piece := await process.stdout.read(_PIECE):
                yield piece
            if code := await process.wait():
                raise ExportFailed(f"its process ended with {code}")
        finally:
            if process.returncode is None:
                process.kill()
            with CancelScope(shield=True):  # the transfer may be cancelled already
                await process.communicate()


def export_command(
    database: Path, models: Path, run_id: str, extension: str, language: str
) -> list[str]:
    """What writes a run to standard output."""
    return [
        *(sys.executable, "-m", "evalui.cli", "export"),
        *("--database", str(database), "--models-file", str(models), "--language", language),
        *("--", run_id, extension),  # an id may begin with a dash
    ]


def estimate_sizes(
    database: Database, report: Report, run_id: str, language: Language
) -> Mapping[str, int]:
    """About how many bytes each file of a run has, by its extension."""
    from evalui.report.write.sizes import about_sizes

    cells = read_cells(database, run_id)
    share = max(48, _SAMPLED_TRIALS // len(cells))
    sample = [
        # As objects, which hold their texts: each is read once, and written many times.
        replace(result, trials=columns_of(read_some_trials(database, cell.id, share).build()))
        for result, cell in zip(report.results, cells, strict=True)
    ]
    return about_sizes(report, sample, [cell.done for cell in cells], language)
