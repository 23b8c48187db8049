"""A worker is killed while answers are graded and judged."""

import signal
from pathlib import Path

import pytest
from flow_examples import SLOW, Office

from evalui.models import read_catalog
from evalui.runs.contest import CollectedAnswers
from evalui.runs.plan import plan_run
from evalui.runs.spec import RunSpec
from evalui.runs.submit import create_run
from evalui.runs.worker.worker import worker_name
from evalui.store import queue
from evalui.store.datasets import add_dataset
from evalui.store.runs import read_cells
from evalui.types import Dataset, Sample, Trial

QUESTIONS = 200
JUDGED = 2 * QUESTIONS


def queued_run(office: Office) -> str:
    samples = tuple(
        Sample(f"sums/{n}", f"What is {n} plus {n}?", target=(f"It is {2 * n}.",))
        for n in range(QUESTIONS)
    )
    data = Dataset("sums", "general_qa", samples, sha256="77aa" * 16)
    brought = [brings("careful", samples, more=5), brings("hasty", samples, more=2)]
    spec = RunSpec.model_validate(
        {
            "datasets": ["sums.jsonl"],
            "answers": [{"model": found.model, "path": "a"} for found in brought],
            "judging": {"judges": ["judge"]},
        }
    )
    add_dataset(office.database, data)
    catalog = read_catalog(office.models)
    return create_run(office.database, spec, plan_run(spec, {"sums.jsonl": data}, catalog, brought))


def brings(name: str, samples: tuple[Sample, ...], *, more: int) -> CollectedAnswers:
    answers = {s.id: (f"It is {2 * n + n % more}.",) for n, s in enumerate(samples)}
    return CollectedAnswers(name, "sums.jsonl", answers)


def hire(office: Office, *, delay: float) -> None:
    office.models.write_text(
        '[judge]\nbackend = "scripted"\n[judge.options]\nrule = "first-biased-judge"\nseed = 1\n'
        f'delay = {delay}\nlog = "{office.folder / "judge.log"}"\n'
    )


def test_a_killed_judge_goes_on_and_no_verdict_is_lost_or_changed(
    office: Office, tmp_path_factory: pytest.TempPathFactory
) -> None:
    hire(office, delay=SLOW)
    run_id = queued_run(office)
    for share in (0.1, 0.3):
        worker = office.start_worker()
        reached = 2 * QUESTIONS + share * JUDGED
        office.wait_for(run_id, lambda run, reached=reached: run.done >= reached)
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        assert queue.requeue_lost(office.database, worker=worker_name(worker.pid)) == 1
    office.pace(0)
    office.start_worker()
    office.wait_for(run_id, lambda run: run.state == "done")
    trials, asked = undisturbed(tmp_path_factory.mktemp("undisturbed"))
    assert office.trials(run_id) == trials
    assert [cell.done for cell in read_cells(office.database, run_id)] == [
        QUESTIONS,
        QUESTIONS,
        JUDGED,
    ]
    assert set(office.answered("judge")) == asked


def undisturbed(folder: Path) -> tuple[list[tuple[Trial, ...]], set[str]]:
    """The trials when nothing happens, and what the judge was asked."""
    other = Office(folder)
    hire(other, delay=0)
    run_id = queued_run(other)
    other.work_here()
    trials, asked = other.trials(run_id), set(other.answered("judge"))
    other.close()
    return trials, asked
