"""A run whose answers are written, judged or not, without waiting for models."""

from collections.abc import Callable, Sequence

from evalui.app.service import AppService
from evalui.models.base import ModelEntry
from evalui.runs.plan import plan_run
from evalui.runs.spec import RunSpec
from evalui.runs.submit import create_run
from evalui.store import queue
from evalui.store.datasets import add_dataset
from evalui.store.runs import read_cells
from evalui.store.trials import write_trials
from evalui.types import Dataset, Message, Reading, Sample, Trial, Variant

NAMES = ("late-model", "early-model")
JUDGE = "the-judge"
_JUDGES = {JUDGE: ModelEntry(JUDGE, "scripted", options={"rule": "reference-judge"})}
_CATALOG = {
    name: ModelEntry(name, "scripted", options={"rule": "verbose"}) for name in NAMES
} | _JUDGES


def question(number: int) -> Sample:
    return Sample(
        id=f"talk/{number}",
        question=f"Why {number}?",
        target=(f"Because of {number}.",),
        metadata={"language": "en", "capability": "reasoning", "guidance": "Look at the reason."},
        history=(Message("system", "Be brief."),),
    )


def answer(sample: Sample, side: int) -> str:
    """What the model at `side` wrote."""
    return f"{sample.question} {('Since **so**.', 'I do not know.')[side]}"


def open_run(
    desk: AppService,
    n: int = 12,
    *,
    judged: bool = False,
    written: Callable[[Sample, int], str] = answer,
    samples: Sequence[Sample] = (),
) -> str:
    """A finished run of two models; the judge prefers the first model wherever it stands."""
    dataset = Dataset(
        "talk.jsonl",
        "subjective",
        tuple(samples) or tuple(question(number) for number in range(n)),
        sha256="e" * 64,
    )
    add_dataset(desk.database, dataset)
    values = {
        "name": "Talk",
        "datasets": [{"path": "talk.jsonl"}],
        "models": list(NAMES),
        "modes": [{"mode": "question_answer"}],
        "judging": {"judges": [JUDGE]} if judged else None,
    }
    spec = RunSpec.model_validate(values)
    plans = plan_run(spec, {spec.datasets[0].key: dataset}, _CATALOG)
    run_id = create_run(desk.database, spec, plans)
    claimed = queue.claim(desk.database, "worker", run_id)
    assert claimed
    for cell in read_cells(desk.database, run_id):
        queue.start_cell(desk.database, claimed.lease, cell.id, "f")
        if cell.cell.mode == "judge":
            trials = [_judged(one, order) for one in dataset.samples for order in ((0, 1), (1, 0))]
        else:
            side = NAMES.index(cell.cell.model)
            trials = [_answered(one, written(one, side)) for one in dataset.samples]
        write_trials(desk.database, claimed.lease, cell.id, trials)
        queue.finish_cell(desk.database, claimed.lease, cell.id)
    queue.finish(desk.database, claimed.lease)
    return run_id


def _answered(sample: Sample, text: str) -> Trial:
    reading = Reading(0, 0.5, "answered")
    return Trial(sample.id, Variant(()), 0, "answer", {"answer": reading}, reply=text)


def _judged(sample: Sample, order: tuple[int, int]) -> Trial:
    choice = order.index(0)
    reading = Reading(choice, 1.0 - choice, "quoted")
    return Trial(sample.id, Variant(order), 0, "verdict", {"verdict": reading}, reply="[[A]]")
