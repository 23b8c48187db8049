"""From Start to the first saved answer: a run at an endpoint, queued for a worker that waits.

    python -m benchmarks.first_answer --rounds 5

Written answers to English questions, from a server that answers after 20 ms. The worker is asked
to have its libraries ready, as the Evaluate page does; `--cold` leaves that out. Each round has a
worker, a store and a server of its own.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import psutil

from benchmarks.endpoints import fake_server
from evalui.models import read_catalog
from evalui.runs.plan import plan_run
from evalui.runs.spec import RunSpec
from evalui.runs.submit import create_run
from evalui.runs.worker.supervisor import WorkerSupervisor
from evalui.store.connection import Database
from evalui.store.datasets import add_dataset
from evalui.store.runs import read_run
from evalui.types import Dataset, Sample

_QUESTIONS = 12
_LOOK_S = 0.002
_LONGEST_S = 120.0
_REST_S, _RESTS = 0.5, 3  # a worker that computes nothing for so long, so often, waits
_IDLE_CPU_S = 0.03  # seconds of CPU in that time that are nothing


def main() -> None:
    """Print a line for each round, and the medians."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cold", action="store_true", help="the worker is not asked to be ready")
    parser.add_argument("--ready-s", type=float, default=6.0, help="seconds that it has for that")
    given = parser.parse_args()
    ready_s = 0.0 if given.cold else given.ready_s
    found = [_round(ready_s) for _ in range(given.rounds)]
    for wall, cpu, megabytes in found:
        print(
            f"{wall:.3f} s, {cpu:.2f} s of CPU of the worker, {megabytes:.0f} MB before", flush=True
        )
    walls, cpus, sizes = zip(*found, strict=True)
    middle = [statistics.median(each) for each in (walls, cpus, sizes)]
    print("medians: {:.3f} s, {:.2f} s of CPU, {:.0f} MB".format(*middle))


def _round(ready_s: float) -> tuple[float, float, float]:
    """Seconds from the run in the store to its first saved answers, CPU of the worker meanwhile,
    and its memory before.
    """
    with tempfile.TemporaryDirectory() as name, fake_server() as server:
        folder = Path(name)
        models = folder / "models.toml"
        models.write_text(
            '[fake]\nbackend = "openai"\npath = "fake"\nchat = true\n'
            f'options = {{ base_url = "{server.url("fixed")}", api = "chat" }}\n',
            encoding="utf-8",
        )
        with closing(Database(folder / "evalui.sqlite")) as database:
            workers = WorkerSupervisor(database, models)
            workers.start()
            try:
                worker = _started(folder)
                _wait_until_idle(worker)
                if ready_s:
                    workers.warm()
                    time.sleep(ready_s)  # as long as a form is filled in
                    _wait_until_idle(worker)
                return _measured(database, models, worker)
            finally:
                workers.stop()


def _started(folder: Path) -> psutil.Process:
    """The worker of a store."""
    end = time.monotonic() + _LONGEST_S
    while time.monotonic() < end:
        for each in psutil.Process().children():
            if str(folder) in " ".join(each.cmdline()):
                return each
        time.sleep(_LOOK_S)
    raise SystemExit("no worker started")


def _wait_until_idle(worker: psutil.Process) -> None:
    """Wait until a worker has done what it does at its start, or was asked for."""
    rests, before = 0, -1.0
    while rests < _RESTS:
        now = _cpu(worker)
        rests = rests + 1 if now - before < _IDLE_CPU_S else 0
        before = now
        time.sleep(_REST_S)


def _cpu(worker: psutil.Process) -> float:
    return sum(worker.cpu_times()[:2])


def _measured(
    database: Database, models: Path, worker: psutil.Process
) -> tuple[float, float, float]:
    samples: Sequence[Sample] = [
        Sample(f"q/{n}", f"Question {n}: what is it?", target=("It is the answer B.",))
        for n in range(_QUESTIONS)
    ]
    data = Dataset("open", "general_qa", tuple(samples), sha256="5" * 64)
    spec = RunSpec.model_validate(
        {"datasets": ["open.jsonl"], "models": ["fake"], "mode": "question_answer"}
    )
    plans = plan_run(spec, {"open.jsonl": data}, read_catalog(models))
    add_dataset(database, data)
    megabytes = worker.memory_info().rss / 2**20
    cpu = _cpu(worker)
    began = time.perf_counter()
    run_id = create_run(database, spec, plans)
    while not read_run(database, run_id).done:
        if time.perf_counter() - began > _LONGEST_S:
            raise SystemExit("no answer was saved")
        time.sleep(_LOOK_S)
    wall = time.perf_counter() - began
    return wall, _cpu(worker) - cpu, megabytes


if __name__ == "__main__":
    main()
