"""Runs of written answers to vote on."""

from collections.abc import Iterator, Mapping, Sequence

from runs_examples import CATALOG

from evalui.runs.plan import plan_run
from evalui.runs.spec import RunSpec
from evalui.runs.submit import create_run
from evalui.store import queue
from evalui.store.connection import Database
from evalui.store.datasets import add_dataset
from evalui.store.runs import read_cells
from evalui.store.trials import write_trials
from evalui.types import Dataset, Reading, Sample, Trial, Variant

MODELS = ("perfect", "position-biased", "always-A")


def questions(n: int, *, name: str = "talk", sample: str = "") -> Dataset:
    prefix = sample or name
    samples = tuple(Sample(f"{prefix}/{number}", f"Question {number}?") for number in range(n))
    return Dataset(name, "subjective", samples, sha256=name.encode().hex().ljust(64, "0"))


def answer(sample: Sample, text: str) -> Trial:
    reading = Reading(0 if text else None, 0.0, "answered" if text else "empty")
    return Trial(sample.id, Variant(()), 0, "answer", {"answer": reading}, reply=text)


def open_run(
    database: Database,
    n: int = 20,
    models: Sequence[str] = MODELS[:2],
    *,
    blank: Sequence[str] = (),
    datasets: Sequence[str] = ("talk",),
    sample: str = "",
) -> str:
    """A finished run of written answers; `blank` are questions the last model does not answer.

    The questions are called after their dataset, or after `sample`.
    """
    asked = {name: questions(n, name=name, sample=sample) for name in datasets}
    for dataset in asked.values():
        add_dataset(database, dataset)
    spec = RunSpec.model_validate(
        {
            "datasets": [{"path": name} for name in datasets],
            "models": list(models),
            "mode": "question_answer",
        }
    )
    run_id = create_run(database, spec, plan_run(spec, asked, CATALOG))
    for _ in answering(database, run_id, asked, blank=blank, parts=(n,)):
        pass
    return run_id


def growing_run(database: Database, parts: Sequence[int]) -> Iterator[str]:
    """A run whose models have answered more and more of its questions."""
    asked = {"talk": questions(max(parts))}
    add_dataset(database, asked["talk"])
    spec = RunSpec.model_validate(
        {"datasets": [{"path": "talk"}], "models": list(MODELS), "mode": "question_answer"}
    )
    run_id = create_run(database, spec, plan_run(spec, asked, CATALOG))
    for _ in answering(database, run_id, asked, blank=(), parts=parts):
        yield run_id


def answering(
    database: Database,
    run_id: str,
    asked: Mapping[str, Dataset],
    *,
    blank: Sequence[str],
    parts: Sequence[int],
) -> Iterator[None]:
    """Let the models answer the questions, at each step the first so many."""
    claimed = queue.claim(database, "worker", run_id)
    assert claimed
    cells = read_cells(database, run_id)
    for cell in cells:
        queue.start_cell(database, claimed.lease, cell.id, "f")
    before = 0
    for n in parts:
        for cell in cells:
            model, dataset = cell.cell.model, asked[cell.cell.dataset]
            texts = [
                ""
                if model == cells[-1].cell.model and sample.id in blank
                else f"{sample.id} as {model} has it"
                for sample in dataset.samples
            ]
            trials = [answer(*one) for one in zip(dataset.samples, texts, strict=True)]
            write_trials(database, claimed.lease, cell.id, trials[before:n])
        before = n
        yield
    for cell in cells:
        queue.finish_cell(database, claimed.lease, cell.id)
    queue.finish(database, claimed.lease)
