"""Worker processes, the runs they do, and ways to count what was computed."""

import re
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from evalui.access import LOCAL
from evalui.models import read_catalog
from evalui.runs.plan import plan_run
from evalui.runs.results import read_results
from evalui.runs.spec import RunSpec
from evalui.runs.submit import create_run
from evalui.runs.worker.worker import Worker
from evalui.store.connection import Database
from evalui.store.datasets import add_dataset
from evalui.store.runs import RunRow, read_run
from evalui.types import Dataset, Sample, Trial

SLOW = 0.01  # seconds a request takes a model, so that a run is not over before it is disturbed
QUESTIONS = 200
TRIALS = 4 * QUESTIONS


def dataset(n: int = QUESTIONS) -> Dataset:
    samples = tuple(
        Sample(
            id=f"sums/{number}",
            question=f"What is {number} plus {number}?",
            choices=tuple(str(2 * number + more) for more in range(4)),
            target=number % 4,
            metadata={"subject": "sums"},
        )
        for number in range(n)
    )
    return Dataset("sums", "multiple_choice", samples, sha256="4f1c9ae2" * 8)


class Office:
    """A data folder with a store, a catalog whose models count their calls, and its workers."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.models = folder / "models.toml"
        self.database = Database(folder / "evalui.sqlite")
        self.processes: list[subprocess.Popen[bytes]] = []

    def hire(self, name: str = "biased", *, delay: float = 0.001, log: str = "") -> None:
        """Add a model to the catalog that no other equals; it logs each request it answers."""
        seed = self.models.read_text().count("backend") if self.models.exists() else 0
        with self.models.open("a") as file:
            file.write(
                f'[{name}]\nbackend = "scripted"\n[{name}.options]\nrule = "position-biased"\n'
                f'seed = {seed}\ndelay = {delay}\nlog = "{log or self.folder / (name + ".log")}"\n'
            )

    def pace(self, delay: float) -> None:
        """How long each request takes the models, from the next claim of a run on."""
        told = re.sub(r"(?m)^delay = .*$", f"delay = {delay}", self.models.read_text())
        new = self.models.with_suffix(".new")
        new.write_text(told)
        new.replace(self.models)  # at no moment is it empty

    def queue(
        self,
        *models: str,
        pattern: str = "circular",
        n: int = QUESTIONS,
        owner: str = LOCAL,
    ) -> str:
        spec = RunSpec.model_validate(
            {
                "datasets": ["sums.csv"],
                "models": list(models or ("biased",)),
                "mode": "multiple_choice",
                "pattern": pattern,
            }
        )
        data = dataset(n)
        plans = plan_run(spec, {"sums.csv": data}, read_catalog(self.models))
        add_dataset(self.database, data, owner)
        return create_run(self.database, spec, plans, owner)

    def start_worker(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "evalui.runs.worker.main"]
        command += ["--database", str(self.database.path)]
        command += ["--models-file", str(self.models)]
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        self.processes.append(process)
        return process

    def work_here(self) -> bool:
        return Worker(self.database, lambda: read_catalog(self.models), name="here").run_once()

    def answered(self, name: str = "biased") -> list[str]:
        """One line for each request the model has answered, in all its lives."""
        log = self.folder / f"{name}.log"
        return log.read_text().splitlines() if log.exists() else []

    def trials(self, run_id: str) -> list[tuple[Trial, ...]]:
        return [tuple(result.trials) for result in read_results(self.database, run_id)]

    def wait_for(self, run_id: str, reached: Callable[[RunRow], bool]) -> RunRow:
        wait_until(lambda: reached(read_run(self.database, run_id)))
        return read_run(self.database, run_id)

    def close(self) -> None:
        for process in self.processes:
            process.kill()
            process.wait()
        self.database.close()


def undisturbed_trials(folder: Path) -> list[tuple[Trial, ...]]:
    """The trials of a run of all questions when nothing happens to it."""
    opened = Office(folder)
    opened.hire(delay=0)
    run_id = opened.queue()
    opened.work_here()
    trials = opened.trials(run_id)
    opened.close()
    assert [len(cell) for cell in trials] == [TRIALS]
    return trials


def wait_until(wanted: Callable[[], bool], seconds: float = 60.0) -> None:
    """Return when `wanted` is true."""
    deadline = time.monotonic() + seconds
    while not wanted():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)
