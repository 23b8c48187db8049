"""Measure, print, and write benchmarks/RESULTS.md.

One thread, the median of several rounds, CPU seconds beside wall seconds: shared machines are
noisy, and only the two together tell waiting from working.
"""

import os

os.environ["OMP_NUM_THREADS"] = "1"  # before numpy and torch are loaded

import platform
import random
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path

from evalui.data import load
from evalui.models import open_model, read_catalog
from evalui.modes import MODES, Setting
from evalui.runs.inputs import submit
from evalui.runs.spec import RunSpec
from evalui.runs.store import Store
from evalui.runs.worker import Worker
from evalui.scoring import elo
from evalui.scoring.bias import bias
from evalui.scoring.bradley_terry import rate
from evalui.scoring.circular import score, variants
from evalui.scoring.pairwise import Battle
from evalui.settings import ASSETS
from evalui.types import Outcome, Reading, Trial, Variant

ROUNDS = 3
RESULTS = Path(__file__).with_name("RESULTS.md")


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table: `count` units of work, and the medians of its rounds in seconds."""

    work: str
    count: int
    unit: str
    wall: float
    cpu: float


def main() -> None:
    """Run every benchmark and keep the table."""
    benchmarks = (scoring, biasing, rating, storing, answering, starting)
    rows = [row for benchmark in benchmarks for row in benchmark()]
    lines = [
        f"evalui {version('evalui')}, Python {platform.python_version()}, "
        f"torch {version('torch')}, numpy {version('numpy')}, {platform.machine()}, "
        f"one thread, median of {ROUNDS}.",
        "",
        "| work | size | wall s | CPU s | per CPU second |",
        "|---|---|---|---|---|",
        *(
            f"| {row.work} | {row.count:,} {row.unit} | {row.wall:.3f} | {row.cpu:.3f} "
            f"| {row.count / row.cpu:,.0f} |"
            for row in rows
        ),
    ]
    RESULTS.write_text("# Results\n\n" + "\n".join(lines) + "\n", encoding="utf-8")
    print("\n".join(lines))


def scoring() -> Iterator[Row]:
    """All figures of the circular pattern, trials to percentages."""
    rng = random.Random(0)
    orders = variants(4, "circular")
    for questions in (1_000, 10_000, 50_000):
        trials = [_trial(number, order, rng) for number in range(questions) for order in orders]
        yield _measured(
            "circular figures", len(trials), "trials", partial(score, trials, "circular")
        )


def biasing() -> Iterator[Row]:
    """Every figure of option bias, without and with the permutation test."""
    rng = random.Random(0)
    orders = variants(4, "circular")
    trials = [_trial(number, order, rng) for number in range(13_000) for order in orders]
    for work, drawn in (("bias figures", 0), ("bias figures and tests", 999)):
        yield _measured(work, len(trials), "trials", partial(bias, trials, "circular", draws=drawn))


def rating() -> Iterator[Row]:
    """Elo over 1000 orders and Bradley-Terry with 1000 resamples, of 10,000 battles."""
    for questions in (10_000, 2_000):
        battles = _battles(questions, 10_000 // questions)
        shape = f"battles on {questions:,} questions"
        yield _measured("Elo, 1000 orders", len(battles), shape, partial(elo.permuted, battles))
        yield _measured(
            "Bradley-Terry, 1000 resamples", len(battles), shape, partial(rate, battles)
        )


def storing() -> Iterator[Row]:
    """A whole run on a scripted model: plan, answer, grade, keep trials and responses."""
    sample = load([ASSETS / "samples" / "demo"])
    catalog = read_catalog(ASSETS / "models.toml")
    for limit in (60, 120, 240):
        spec = RunSpec.model_validate(
            {
                "datasets": ["demo"],
                "models": ["noisy"],
                "mode": "multiple_choice",
                "pattern": "all_possible",
                "limit": limit,
            }
        )

        def run(spec: RunSpec = spec) -> None:
            with tempfile.TemporaryDirectory() as folder:
                store = Store(Path(folder) / "store.sqlite")
                submit(store, spec, {"demo": sample}, catalog)
                Worker(store, lambda: catalog).work_once()
                store.close()

        yield _measured("run of a scripted model", limit * 24, "trials", run)


def answering() -> Iterator[Row]:
    """Letter probabilities of the demo model, circular, without worked examples."""
    samples = load([ASSETS / "samples" / "demo"]).dataset.samples
    entry = read_catalog(ASSETS / "models.toml")["demo-late"]
    mode, setting = MODES["multiple_choice"], Setting(shots={})
    model = open_model(replace(entry, device="cpu"))
    for questions in (60, 120, 240):
        requests = [
            request
            for sample in samples[:questions]
            for variant in variants(len(sample.choices), "circular")
            for request in mode.plan(sample, variant, setting)
        ]
        yield _measured(
            "demo-late, letters",
            len(requests),
            "requests",
            lambda asked=requests: list(model.answer(asked)),
        )
    model.close()


def starting() -> Iterator[Row]:
    """Import of the core without the screen, in a fresh process (CPU of the child)."""
    code = "import evalui.modes, evalui.data, evalui.models, evalui.scoring.circular"
    yield _measured(
        "import of the core",
        1,
        "process",
        lambda: subprocess.run([sys.executable, "-c", code], check=True),
    )


def _measured(work: str, count: int, unit: str, action: Callable[[], object]) -> Row:
    walls: list[float] = []
    cpus: list[float] = []
    for _ in range(ROUNDS):
        wall, cpu = time.perf_counter(), _cpu()
        action()
        walls.append(time.perf_counter() - wall)
        cpus.append(_cpu() - cpu)
    return Row(work, count, unit, statistics.median(walls), statistics.median(cpus))


def _cpu() -> float:
    """CPU seconds of this process and its finished children."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def _battles(questions: int, each: int) -> list[Battle]:
    rng = random.Random(0)
    names = [f"model-{number}" for number in range(10)]
    outcomes: tuple[Outcome, ...] = ("a", "b", "tie")
    return [
        Battle(*rng.sample(names, 2), rng.choice(outcomes), f"q{question}")
        for question in range(questions)
        for _ in range(each)
    ]


def _trial(number: int, order: Variant, rng: random.Random) -> Trial:
    target, choice = order.permutation.index(number % 4), rng.randrange(4)
    reading = Reading(choice, float(choice == target), "forced")
    return Trial(f"q/{number}", order, target, "forced", {"forced": reading})


if __name__ == "__main__":
    main()
