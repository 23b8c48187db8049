"""What the tests of runs are made of: a small dataset, scripted models, specifications."""

from collections.abc import Mapping, Sequence

from evalui.models import ModelEntry
from evalui.runs.cells import CellPlan
from evalui.runs.plan import plan_run
from evalui.runs.spec import RunSpec
from evalui.runs.submit import create_run
from evalui.store import queue
from evalui.store.connection import Database
from evalui.store.datasets import add_dataset
from evalui.store.response_cache import KeptResponse
from evalui.store.runs import Lease
from evalui.types import Dataset, LabelProbs, Reading, Sample, Trial, Variant


def sample(number: int, *, options: int = 4, subject: str = "sums", naming: bool = False) -> Sample:
    return Sample(
        id=f"{subject}/{number}",
        question=f"What is {number} plus {number}?",
        choices=tuple(str(2 * number + more) for more in range(options)),
        target=number % options,
        metadata={"subject": subject, "line": str(number + 2)},
        refers_to_other_options=naming,
    )


def dataset(
    n: int = 6, *, shots: int = 2, name: str = "sums", samples: Sequence[Sample] = ()
) -> Dataset:
    return Dataset(
        name=name,
        kind="multiple_choice",
        samples=tuple(samples) or tuple(sample(number) for number in range(n)),
        shots=tuple(sample(number) for number in range(100, 100 + shots)),
        sha256="4f1c9ae2" + "0" * 56,
    )


TEMPLATE = {
    "name": "mine.1",
    "language": "en",
    "question": "{question}\n{options}\n",
    "cloze": "{question}\n",
    "answer": "{answer}",
    "unconditional": "",
}
CATALOG: Mapping[str, ModelEntry] = {
    rule: ModelEntry(rule, "scripted", baseline=True, options={"rule": rule})
    for rule in ("perfect", "position-biased", "always-A")
}


def spec(**fields: object) -> RunSpec:
    """One dataset, one model, one mode, unless stated otherwise."""
    values = {"datasets": [{"path": "sums.csv"}], "models": ["perfect"], "mode": "multiple_choice"}
    return RunSpec.model_validate(values | fields)


def plans_of(asked: RunSpec, *datasets: Dataset) -> tuple[CellPlan, ...]:
    known = datasets or (dataset(),)
    keys = [source.key for source in asked.datasets]
    return plan_run(asked, dict(zip(keys, known, strict=True)), CATALOG)


def add_run(
    database: Database, asked: RunSpec | None = None, *datasets: Dataset, worker: str = ""
) -> str:
    asked = asked or spec()
    for given in datasets or (dataset(),):
        add_dataset(database, given)
    return create_run(database, asked, plans_of(asked, *datasets), worker=worker)


def claim_its_run(database: Database) -> Lease:
    """The lease of a run whose only cell has the id 1 and 6 questions in 4 orders."""
    add_run(database, spec(pattern="circular"))
    claimed = queue.claim(database, "worker-1")
    assert claimed
    queue.start_cell(database, claimed.lease, 1, "f")
    return claimed.lease


def trial(
    number: int,
    permutation: tuple[int, ...] = (0, 1, 2, 3),
    *,
    choice: int | None = 0,
    credit: float = 1.0,
    rule: str = "forced",
    tied: bool = False,
    reply: str | None = None,
    target: int = 0,
) -> Trial:
    return Trial(
        sample_id=f"sums/{number}",
        variant=Variant(permutation),
        target=target,
        headline="forced",
        readings={"forced": Reading(choice, credit, rule, tied)},
        reply=reply,
    )


RESPONSE = LabelProbs((-0.1, -2.3, -3.4, -4.5), 0.98, "A")
KEPT = KeptResponse(b"k" * 32, RESPONSE, None)
