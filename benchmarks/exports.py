"""Files of a large run, each by `evalui export` in a process of its own, read from its pipe."""

import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import psutil

from benchmarks.clock import Timing
from benchmarks.contest import Session
from benchmarks.questions import questions
from benchmarks.queueing import answer_run, queue_run
from benchmarks.rows import Goal, Row
from evalui.scoring.choice.options import variants
from evalui.store.connection import Database
from evalui.types import Reading, Sample, Trial

GROUP = "exports"
_FULL = 1_000_000  # trials
_WORKBOOK = 100_000  # trials, with a goal of its own
_BATCH = 4096
_MODELS = ("noisy", "position-biased")
_ORDERS = 24
_MB = 1e6


def rows(session: Session) -> Iterator[Row]:
    """Each format at each size, with its rate, the first byte and the memory of the process."""
    for trials in session.scaled(_FULL):
        with tempfile.TemporaryDirectory() as folder:
            store = Path(folder) / "evalui.sqlite"
            run_id, count = write_run(store, trials)
            for extension in ("trials.jsonl", "trials.csv", "trials.parquet", "xlsx", "zip"):
                yield _row(store, run_id, count, extension)


def write_run(store: Path, trials: int) -> tuple[str, int]:
    """Write a finished run of two models and 24 orders; its id and the number of its trials."""
    samples = questions(max(1, trials // (_ORDERS * len(_MODELS))))
    database = Database(store)
    run_id = queue_run(database, samples, _MODELS, mode="generation", pattern="all_possible")
    answer_run(database, run_id, lambda _: _batches(samples))
    database.close()
    return run_id, len(samples) * _ORDERS * len(_MODELS)


def _batches(samples: Sequence[Sample]) -> Iterator[list[Trial]]:
    """Every order of every question answered in a sentence, some right and some not readable."""
    rng = random.Random(0)
    orders = variants(4, "all_possible")
    batch: list[Trial] = []
    for sample in samples:
        assert isinstance(sample.target, int), "it is a choice"
        for order in orders:
            target = order.permutation.index(sample.target)
            choice = rng.choice((target, rng.randrange(4), None))
            reading = Reading(choice, float(choice == target), "marker")
            reply = f"Of all that is shown, number {rng.randrange(10**9)} fits: {choice}."
            readings = {"tolerant": reading, "strict": reading}
            batch.append(Trial(sample.id, order, target, "tolerant", readings, reply=reply))
            if len(batch) == _BATCH:
                yield batch
                batch = []
    if batch:
        yield batch


def _row(store: Path, run_id: str, count: int, extension: str) -> Row:
    command = [sys.executable, "-m", "evalui.cli", "export", run_id, extension]
    began = time.perf_counter()
    with subprocess.Popen(
        [*command, "--database", str(store)], stdout=subprocess.PIPE, bufsize=0
    ) as process:
        assert process.stdout, "it was requested"
        size = len(process.stdout.read(1))
        first = sum(psutil.Process(process.pid).cpu_times()[:2])
        while piece := process.stdout.read(2**16):
            size += len(piece)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert not process.returncode, extension
    wall, cpu = time.perf_counter() - began, usage.ru_utime + usage.ru_stime
    workbook = extension == "xlsx" and count <= _WORKBOOK
    return Row(
        GROUP,
        f"export as {extension}",
        count,
        "trials",
        Timing(cpu, wall),
        goal=Goal("cpu", 15) if workbook else None,
        found=f"{size / _MB:,.0f} MB, {size / _MB / cpu:.0f} MB per CPU second, first byte after "
        f"{first:.1f} s of CPU, peak {usage.ru_maxrss * 1024 / _MB:,.0f} MB",
    )
