"""Judged runs in a real store, every verdict written by hand so that its figures can be counted."""

from collections.abc import Callable
from pathlib import Path

from store_examples import open_database

from evalui.app.service import AppService
from evalui.runs.plan import plan_run
from evalui.runs.spec import RunSpec
from evalui.runs.submit import create_run
from evalui.settings import Settings
from evalui.store import queue
from evalui.store.datasets import add_dataset, read_cell_dataset
from evalui.store.runs import CellRow, Lease, read_cells
from evalui.store.trials import write_trials
from evalui.types import (
    OUTCOMES,
    Dataset,
    Message,
    Outcome,
    Reading,
    Sample,
    Trial,
    Variant,
)
from evalui.ui.current_person import current_person

NAMES = ("late", "early", "weak")
CATALOG = """
[late]
backend = "scripted"
options = { rule = "verbose" }

[early]
backend = "scripted"
options = { rule = "noisy" }

[weak]
backend = "scripted"
baseline = true
options = { rule = "refusing" }

[judge]
backend = "scripted"
options = { rule = "reference-judge", role = "judge" }

[second]
backend = "scripted"
options = { rule = "length-biased-judge", role = "judge" }
"""

# What a judge says of (number of the question, first shown, second shown), None if unreadable.
Decide = Callable[[int, str, str], Outcome | None]


def better(number: int, first: str, second: str) -> Outcome | None:
    """The earlier of `NAMES` wins, but weak wins each sixth question: so ratings are finite."""
    if number % 6 == 5 and "weak" in (first, second):
        return "a" if first == "weak" else "b"
    return "a" if NAMES.index(first) < NAMES.index(second) else "b"


def open_desk(folder: Path) -> AppService:
    models = folder / "models.toml"
    models.write_text(CATALOG, encoding="utf-8")
    settings = Settings(data_dir=folder / "data", models=models)
    settings.data_dir.mkdir()
    return AppService(settings, open_database(settings.database)).with_sender(current_person)


def questions(n: int = 12, *, text: str = "", capability: str = "facts") -> Dataset:
    samples = tuple(
        Sample(
            id=f"open/q{number}",
            question=f"Question {number}? {text}",
            target=(f"Reference {number} {text}",),
            metadata={
                "language": "zh" if number % 2 else "en",
                "capability": "style" if number % 3 == 0 else capability,
                "guidance": f"Guidance {number} {text}",
                "file": "open.jsonl",
                "line": str(number + 1),
            },
            history=(Message("user", f"Before {text}"),) if number == 0 else (),
            follow_ups=("And then?",) if number == 0 else (),
        )
        for number in range(n)
    )
    return Dataset("open", "subjective", samples, sha256="5a" * 32)


def add_run(desk: AppService, data: Dataset | None = None, **judging: object) -> str:
    """A queued run of the three models and a judge."""
    data = data or questions()
    add_dataset(desk.database, data)
    spec = RunSpec.model_validate(
        {
            "name": "Open run",
            "datasets": [{"path": "open.jsonl"}],
            "models": list(NAMES),
            "judging": {"judges": ["judge"]} | judging,
        }
    )
    return create_run(
        desk.database, spec, plan_run(spec, {"open.jsonl": data}, desk.models.catalog(), ())
    )


def begin(desk: AppService, run_id: str, *, text: str = "") -> Lease:
    """Claim the run and write what the models answer."""
    claimed = queue.claim(desk.database, "worker", run_id)
    assert claimed is not None
    for row in read_cells(desk.database, run_id):
        if row.cell.mode != "judge":
            _write(desk, claimed.lease, row, [_answer(row, s, text) for s in samples_of(desk, row)])
    return claimed.lease


def judge_some(
    desk: AppService,
    run_id: str,
    lease: Lease,
    decide: Decide = better,
    *,
    of: slice = slice(None),
    text: str = "",
    injected: tuple[int, ...] = (),
) -> None:
    """Write verdicts of each judge on every pair in both orders, or on a part of them."""
    for row in read_cells(desk.database, run_id):
        if row.cell.mode == "judge":
            queue.start_cell(desk.database, lease, row.id, "f")
            trials = [
                _verdict(sample, order, decide(number, *(NAMES[place] for place in order)), text)
                if number not in injected
                else _injected(sample, order)
                for number, sample in enumerate(samples_of(desk, row))
                for order in ((0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1))
            ]
            write_trials(desk.database, lease, row.id, trials[of])


def judged(
    desk: AppService,
    decide: Decide = better,
    *,
    data: Dataset | None = None,
    text: str = "",
    injected: tuple[int, ...] = (),
    **judging: object,
) -> str:
    """A finished run."""
    run_id = add_run(desk, data, **judging)
    lease = begin(desk, run_id, text=text)
    judge_some(desk, run_id, lease, decide, text=text, injected=injected)
    end(desk, run_id, lease)
    return run_id


def end(desk: AppService, run_id: str, lease: Lease) -> None:
    for row in read_cells(desk.database, run_id):
        queue.finish_cell(desk.database, lease, row.id)
    queue.finish(desk.database, lease)


def samples_of(desk: AppService, row: CellRow) -> tuple[Sample, ...]:
    return read_cell_dataset(desk.database, row.id).samples


def _write(desk: AppService, lease: Lease, row: CellRow, trials: list[Trial]) -> None:
    queue.start_cell(desk.database, lease, row.id, "f")
    write_trials(desk.database, lease, row.id, trials)
    queue.finish_cell(desk.database, lease, row.id)


def _answer(row: CellRow, sample: Sample, text: str) -> Trial:
    reply = f"{row.cell.model} answers {sample.id}. {text}"
    turns = (reply, f"{row.cell.model} goes on.") if sample.follow_ups else ()
    readings = {"answer": Reading(0, 0.5, "answered")}
    return Trial(
        sample.id,
        Variant(()),
        0,
        "answer",
        readings,
        reply=turns[-1] if turns else reply,
        turns=turns,
    )


def _verdict(sample: Sample, order: tuple[int, int], said: Outcome | None, text: str) -> Trial:
    choice = None if said is None else OUTCOMES.index(said)
    rule = "unparsed" if choice is None else "announced"
    reply = f"Because of {sample.id}. {text}"
    readings = {"verdict": Reading(choice, 0.5, rule)}
    return Trial(sample.id, Variant(order), 0, "verdict", readings, reply=reply)


def _injected(sample: Sample, order: tuple[int, int]) -> Trial:
    readings = {"verdict": Reading(0, 1.0, "announced")}
    scores = {"injected": (1.0, 0.0)}
    return Trial(sample.id, Variant(order), 0, "verdict", readings, reply="A", scores=scores)
