"""A server with judges, and finished runs of open questions whose answers were brought along."""

import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from browser_servers import started

from evalui.models import read_catalog
from evalui.runs.contest import CollectedAnswers
from evalui.runs.plan import plan_run
from evalui.runs.spec import RunSpec
from evalui.runs.submit import create_run
from evalui.runs.worker.worker import Worker
from evalui.store.connection import Database
from evalui.store.datasets import add_dataset
from evalui.store.runs import read_run
from evalui.types import Dataset, Sample

CONTESTANTS = ("numbat", "quokka", "wombat")  # in the order of the run, the best first
JUDGES = ("reference-judge", "first-biased-judge")
QUESTIONS = 12
MODELS = """
[steady]
backend = "scripted"
options = { rule = "noisy" }

[wordy]
backend = "scripted"
options = { rule = "verbose" }

[reference-judge]
backend = "scripted"
baseline = true
options = { rule = "reference-judge", role = "judge" }

[first-biased-judge]
backend = "scripted"
baseline = true
options = { rule = "first-biased-judge", role = "judge" }
"""


@dataclass(frozen=True, slots=True)
class Hall:
    """A running server and, beside it, the store it works on."""

    address: str
    models: Path
    database: Database

    def start(self, name: str, samples: Sequence[Sample], written: Mapping[str, Any]) -> str:
        """Queue a run of existing answers, judged by all judges; its id."""
        source = f"{name}.jsonl"
        dataset = Dataset(name, "subjective", tuple(samples), sha256=name.encode().hex()[:64])
        brought = [CollectedAnswers(model, source, answers) for model, answers in written.items()]
        spec = RunSpec.model_validate(
            {
                "name": name,
                "datasets": [source],
                "answers": [{"model": model, "path": "brought"} for model in written],
                "judging": {"judges": list(JUDGES)},
            }
        )
        plans = plan_run(spec, {source: dataset}, read_catalog(self.models), brought)
        add_dataset(self.database, dataset)
        return create_run(self.database, spec, plans)

    def wait(self, run_id: str) -> str:
        """Judge all answers of a run, unless the server's worker has it already; its id."""
        Worker(self.database, lambda: read_catalog(self.models)).run_once(run_id)
        deadline = time.monotonic() + 60
        while (run := read_run(self.database, run_id)).state != "done":
            assert run.state in ("queued", "running"), run.error
            assert time.monotonic() < deadline, "the run did not end in time"
            time.sleep(0.05)  # the store tells nobody when a run has ended
        return run_id


def question(number: int) -> Sample:
    """The square of a number, its reference one sentence."""
    return Sample(
        id=f"squares/{'en' if number % 2 else 'cn'}-{number}",
        question=f"What is the square of {number}? Write $x_{{{number}}}^2$ as a sentence.",
        target=(f"The square of {number} is {number * number}.",),
        metadata={
            "language": "en" if number % 2 else "zh",
            "capability": "sums" if number < QUESTIONS // 2 else "words",
            "guidance": "The number decides.",
            "subject": "squares",
            "file": "squares.jsonl",
            "line": str(number + 1),
        },
    )


def answer(model: str, number: int) -> str:
    """What a contestant wrote; all three differ, and the first is always right."""
    right = f"The square of {number} is {number * number}."
    texts = {
        "numbat": f"{right} So $x_{{{number}}}^2 = {number * number}$.",
        "quokka": f"1. {right}\n2. That is **all**."
        if number % 3
        else f"I do not know {number} yet.",
        "wombat": right if number % 4 == 0 else f"Perhaps {number + 1}, who can tell.",
    }
    return texts[model]


def answers(model: str) -> dict[str, tuple[str, ...]]:
    """All of a contestant's answers by the id of the question."""
    return {question(number).id: (answer(model, number),) for number in range(QUESTIONS)}


def contest(hall: Hall) -> str:
    """A finished run of three contestants and two judges, of whom one favours the first answer."""
    samples = [question(number) for number in range(QUESTIONS)]
    return hall.wait(hall.start("squares", samples, {name: answers(name) for name in CONTESTANTS}))


def look_at_pair(page: Any) -> None:
    """Wait until a press is a vote: the page answers, and its pair was there for over 200 ms."""
    page.wait_for_selector("body[data-ready]")
    page.wait_for_timeout(260)


def overflow(page: Any) -> int:
    """By how many pixels the page is wider than its window."""
    return page.evaluate("document.documentElement.scrollWidth - innerWidth")


@contextmanager
def open_hall(folder: Path, models: str = MODELS, **settings: str) -> Generator[Hall]:
    """Start a server on an empty folder, and end it; its models are not those of other tests.

    `settings` are further variables of its environment.
    """
    with started(folder, models=models, **settings) as server:
        server.wait_for_buttons()
        database = Database(server.data / "evalui.sqlite")
        yield Hall(server.address, server.models, database)
        database.close()
