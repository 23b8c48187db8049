"""A whole run of a scripted model over made-up C-Eval files: what each stage takes.

`python -m benchmarks.scripted_run` prints each stage; `python -m benchmarks --only scripted-run`
the whole alone. The worker's own code runs in this process. Seconds of a stage that another one
begins count for the latter.
"""

import argparse
import csv
import random
import resource
import tempfile
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch

from benchmarks.contest import Session, alone
from benchmarks.rows import Goal, Row
from evalui.datasets.ceval_subjects import SUBJECTS
from evalui.models import Model, ModelEntry, open_model, read_catalog
from evalui.modes import MODES
from evalui.runs import submit as submitting
from evalui.runs.estimate import estimate
from evalui.runs.plan import plan_run
from evalui.runs.spec import RunSpec
from evalui.runs.worker import cell, in_flight, run_at_work
from evalui.runs.worker.worker import Worker
from evalui.settings import ASSETS
from evalui.store.connection import Database
from evalui.store.runs import read_cells, read_run
from evalui.types import Request, Response

GROUP = "scripted-run"
SIZES = (500, 2_000, 12_342)  # questions; as many as C-Eval's test has
_SHOTS = 5  # worked examples of each subject
_LETTERS = "ABCD"
_MIN_RATE = 5_000  # trials per CPU second
_STAGES = (
    "read", "plan", "estimate", "submit", "prompt", "key", "answer", "grade", "store",
    "summary", "other",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of run: the mode, the scripted model, and the number of worked examples."""

    mode: str
    model: str
    shots: int = 0
    pattern: str = "all_possible"

    def __str__(self) -> str:
        shown = "" if MODES[self.mode].shows_options else ", one order"
        return f"{self.mode} by {self.model}, {self.shots}-shot{shown}"


KINDS = (
    Kind("multiple_choice", "position-biased"),
    Kind("multiple_choice", "noisy", shots=_SHOTS),
    Kind("generation", "verbose"),
    Kind("generation", "malformed"),
    Kind("cloze", "noisy"),
)
_WHOLE = KINDS[0]  # of this kind the goal is


def rows(session: Session) -> Iterator[Row]:
    """The goal's kind at every size, the other kinds at the middle one."""
    sizes = SIZES[: len(session.sizes)]
    for kind in KINDS:
        for questions in sizes if kind is _WHOLE else sizes[-2:][:1]:
            with tempfile.TemporaryDirectory() as folder:
                files = write_files(Path(folder) / "made-up", questions)
                yield alone(
                    GROUP,
                    str(kind),
                    _trials(kind, questions),
                    "trials",
                    partial(whole_run, files, kind, Stages()),
                    session,
                    goal=Goal("rate", _MIN_RATE) if questions == SIZES[-1] else None,
                    found="read, planned, answered, graded, stored, summarised",
                )


class Stages:
    """The CPU seconds of each stage of a run."""

    def __init__(self) -> None:
        self.seconds = dict.fromkeys(_STAGES, 0.0)
        self._stage = "other"
        self._since = time.process_time()

    @contextmanager
    def stage(self, name: str) -> Generator[None, None, None]:
        before = self.switch(name)
        try:
            yield
        finally:
            self.switch(before)

    def switch(self, name: str) -> str:
        """Count for this stage from now on; the stage before."""
        now = time.process_time()
        self.seconds[self._stage] += now - self._since
        before, self._stage, self._since = self._stage, name, now
        return before

    def counted(self, name: str, action: Callable[..., Any]) -> Callable[..., Any]:
        """The action, counted for a stage."""

        def act(*values: Any, **named: Any) -> Any:
            before = self.switch(name)
            try:
                return action(*values, **named)
            finally:
                self.switch(before)

        return act

    @contextmanager
    def patched(self, mode: str) -> Generator[None, None, None]:
        """The code of a run with its stages counted."""
        asked = type(MODES[mode])
        with ExitStack() as stack:
            for owner, attribute, name in (
                (submitting, "plan_run", "plan"),
                (asked, "plan", "prompt"),
                (asked, "grade", "grade"),
                (in_flight, "request_key", "key"),
                (cell, "get_responses", "store"),
                (cell, "write_trials", "store"),
                (run_at_work, "summarise_ending", "summary"),
            ):
                counted = self.counted(name, getattr(owner, attribute))
                stack.enter_context(patch.object(owner, attribute, counted))
            yield


def whole_run(folder: Path, kind: Kind, stages: Stages) -> None:
    """A run from its files to its last trial, in a new store."""
    spec = RunSpec.model_validate(
        {
            "version": 2,
            "datasets": [str(folder)],
            "models": [kind.model],
            "mode": kind.mode,
            "pattern": kind.pattern,
            "shots": kind.shots,
        }
    )
    catalog = read_catalog(ASSETS / "models.toml")
    with tempfile.TemporaryDirectory() as store, stages.patched(kind.mode):
        database = Database(Path(store) / "store.sqlite")
        with stages.stage("read"):
            loaded = submitting.read_datasets(spec)
        datasets = {key: upload.dataset for key, upload in loaded.items()}
        with stages.stage("plan"):
            plans = plan_run(spec, datasets, catalog)
        with stages.stage("estimate"):
            estimate(database, plans, datasets)
        with stages.stage("submit"):
            run = submitting.submit(database, spec, loaded, catalog)
        Worker(database, lambda: catalog, opener=partial(_Counted, stages)).run_once()
        (done,) = read_cells(database, run)
        assert read_run(database, run).state == "done", done.error
        assert done.done == done.total == plans[0].total, "every trial is stored"
        database.close()
    stages.switch("other")


class _Counted:
    """A model whose answers are counted for their stage."""

    def __init__(self, stages: Stages, entry: ModelEntry) -> None:
        self._model: Model = open_model(entry)
        self._stages = stages
        self.name = self._model.name
        self.abilities = self._model.abilities
        self.close = self._model.close

    @property
    def fingerprint(self) -> str:
        return self._model.fingerprint

    def __getattr__(self, name: str) -> Any:
        """What a scripted model has beside `Model`, counted as well."""
        if name == "set_answer_key":
            return self._stages.counted("answer", getattr(self._model, name))
        return getattr(self._model, name)

    def answer(self, requests: Sequence[Request]) -> Iterator[tuple[int, Response]]:
        answers = iter(self._model.answer(requests))
        step = self._stages.counted("answer", partial(next, answers, None))
        while (answered := step()) is not None:
            yield answered


def write_files(folder: Path, questions: int) -> Path:
    """Made-up questions in C-Eval's files, spread over its subjects; the folder."""
    folder.mkdir()
    rng = random.Random(0)
    for place, subject in enumerate(SUBJECTS):
        _write_file(folder / f"{subject}_dev.csv", [_row(rng, n) for n in range(_SHOTS)])
        count = len(range(place, questions, len(SUBJECTS)))
        _write_file(folder / f"{subject}_test.csv", [_row(rng, n) for n in range(count)])
    return folder


def _write_file(path: Path, listed: Sequence[dict[str, object]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, ["id", "question", *_LETTERS, "answer"])
        writer.writeheader()
        writer.writerows(listed)


def _row(rng: random.Random, number: int) -> dict[str, object]:
    """A question of some 50 characters with four options of some 10, none like another."""
    place, part, thing, unit = map(rng.choice, (_PLACES, _PARTS, _THINGS, _UNITS))
    first, second, year = (
        rng.randrange(100, 10**6),
        rng.randrange(3, 100),
        rng.randrange(1950, 2025),
    )
    question = (
        f"{year}年，{place}的{part}原有{first}{unit}{thing}，此后每个月增加{second}{unit}，"
        f"若其他条件不变，则一年以后该{part}的{thing}共有____。"
    )
    right = first + 12 * second
    values = [right + step * second for step in rng.sample((-24, -12, -1, 0, 1, 12, 24), 4)]
    if right not in values:
        values[rng.randrange(4)] = right
    options = {
        letter: f"{value}{unit}{thing}" for letter, value in zip(_LETTERS, values, strict=True)
    }
    return {"id": number, "question": question, **options, "answer": _LETTERS[values.index(right)]}


_PLACES = ("某省会城市", "一家沿海企业", "当地的研究所", "该县第三中学", "一座山区小镇")
_PARTS = ("仓库", "图书馆", "实验中心", "资料室", "生产车间")
_THINGS = ("标准零件", "图书资料", "实验样本", "种子", "设备")
_UNITS = ("件", "套", "份", "组", "箱")


def _trials(kind: Kind, questions: int) -> int:
    return questions * (24 if MODES[kind.mode].shows_options else 1)


def main() -> None:
    """Print a line for each kind and size: trials a CPU second, and the seconds of each stage."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scripted_run", description=__doc__)
    parser.add_argument("sizes", nargs="*", type=int, default=SIZES, help="numbers of questions")
    parser.add_argument("--kinds", nargs="+", type=int, default=range(len(KINDS)))
    given = parser.parse_args()
    print("| kind | questions | trials | trials/s | CPU s |", " | ".join(_STAGES), "| peak MB |")
    print("|" + "---|" * (len(_STAGES) + 6))
    for kind, questions in product([KINDS[n] for n in given.kinds], given.sizes):
        with tempfile.TemporaryDirectory() as folder:
            files = write_files(Path(folder) / "made-up", questions)
            stages = Stages()
            whole_run(files, kind, stages)
        spent, trials = sum(stages.seconds.values()), _trials(kind, questions)
        told = " | ".join(f"{seconds:.2f}" for seconds in stages.seconds.values())
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"| {kind} | {questions:,} | {trials:,} | {trials / spent:,.0f} | {spent:.2f} | {told}"
            f" | {peak:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
