"""A peer at work in a process of its own, asked for one round at a time."""

import json
import os
import subprocess
import tempfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.clock import Timing
from benchmarks.environments import PEERS, PeerMissing, interpreter

ALONE = {
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "TOKENIZERS_PARALLELISM": "false",
    "HF_HUB_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
}


@dataclass(frozen=True, slots=True)
class Missing:
    """A peer that cannot run, and why."""

    name: str
    reason: str


class Peer:
    """A running peer; `name` has its version. A round is timed inside its process.

    Imports, loading and preparing of data come before the first round and are not timed.
    """

    def __init__(self, process: "subprocess.Popen[str]", errors: Path) -> None:
        self._process = process
        self._errors = errors
        hail = self._told()
        self.name: str = hail["name"]
        self.built_on: tuple[str, ...] = tuple(hail["built_on"])

    def round(self, job: str) -> tuple[Timing, Any]:
        """Do a job once: how long it took, and its result.

        Raises:
            PeerMissing: the peer failed.
        """
        assert self._process.stdin, "opened with a pipe"
        try:
            self._process.stdin.write(job + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # it has ended, and its last words say why
        told = self._told()
        return Timing(told["cpu"], told["wall"]), told["result"]

    def _told(self) -> dict[str, Any]:
        assert self._process.stdout, "opened with a pipe"
        line = self._process.stdout.readline()
        if not line:
            lines = self._errors.read_text(encoding="utf-8").strip().splitlines()
            raise PeerMissing(lines[-1][:200] if lines else "it ended without a word")
        return json.loads(line)


@contextmanager
def opened(
    name: str, ready: Path | None, work: Mapping[str, Any], *, environment: str = ""
) -> Generator[Peer | Missing]:
    """The peer `peers/run_<name>.py` with its work, in the environment of its own name unless
    another is named; never raises for a peer that cannot run.
    """
    try:
        python = interpreter(environment or name, ready)
    except PeerMissing as error:
        yield Missing(name, str(error))
        return
    with started(name, python, work) as peer:
        yield peer


@contextmanager
def started(name: str, python: Path, work: Mapping[str, Any]) -> Generator[Peer | Missing]:
    """The same with an interpreter that is there."""
    with tempfile.TemporaryDirectory() as folder:
        file, errors = Path(folder) / "work.json", Path(folder) / "errors.txt"
        file.write_text(json.dumps(work), encoding="utf-8")
        with (
            errors.open("w", encoding="utf-8") as log,
            subprocess.Popen(
                [str(python), str(PEERS / f"run_{name}.py"), str(file)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                cwd=folder,
                env={**os.environ, **ALONE},
            ) as process,
        ):
            assert process.stdin, "opened with a pipe"
            try:
                yield _hailed(name, process, errors)
            finally:
                with suppress(BrokenPipeError):  # the job that an ended peer never read
                    process.stdin.close()
                process.kill()


def _hailed(name: str, process: "subprocess.Popen[str]", errors: Path) -> Peer | Missing:
    try:
        return Peer(process, errors)
    except PeerMissing as error:
        return Missing(name, str(error))
