"""Runs of open questions: a small dataset, recorded contestants, a judge by rule."""

from collections.abc import Mapping, Sequence

from evalui.models import ModelEntry
from evalui.runs.contest import CollectedAnswers
from evalui.runs.plan import plan_run
from evalui.runs.spec import RunSpec
from evalui.runs.submit import create_run
from evalui.runs.worker.worker import Worker
from evalui.store.connection import Database
from evalui.store.datasets import add_dataset
from evalui.types import Dataset, Sample

CAPITALS = {"France": "Paris", "Italy": "Rome", "Spain": "Madrid", "Norway": "Oslo"}

CATALOG: Mapping[str, ModelEntry] = {
    name: ModelEntry(name, "scripted", baseline=True, options={"rule": name})
    for name in ("perfect", "refusing", "always-A", "reference-judge", "first-biased-judge")
}


def capitals(*, kind: str = "general_qa") -> Dataset:
    samples = tuple(
        Sample(
            id=f"capitals/{land}",
            question=f"What is the capital of {land}?",
            target=(capital,),
            metadata={"subject": "capitals", "line": str(line)},
        )
        for line, (land, capital) in enumerate(CAPITALS.items(), start=1)
    )
    return Dataset("capitals", kind, samples, sha256="77aa" * 16)  # pyright: ignore[reportArgumentType]


def collected(name: str, **answers: str) -> CollectedAnswers:
    """Answers by land; the key of the dataset is its path."""
    return CollectedAnswers(
        name, "capitals.jsonl", {f"capitals/{land}": (text,) for land, text in answers.items()}
    )


RIGHT = collected("right", **CAPITALS)
WRONG = collected("wrong", France="Lyon", Italy="Milan", Spain="Sevilla", Norway="Bergen")


def open_spec(**fields: object) -> RunSpec:
    values: dict[str, object] = {
        "datasets": [{"path": "capitals.jsonl"}],
        "answers": [{"model": "right", "path": "r"}, {"model": "wrong", "path": "w"}],
        "judging": {"judges": ["reference-judge"]},
    }
    return RunSpec.model_validate(values | fields)


def add_open_run(
    database: Database,
    spec: RunSpec | None = None,
    brought: Sequence[CollectedAnswers] = (RIGHT, WRONG),
) -> str:
    data = capitals()
    add_dataset(database, data)
    asked = spec or open_spec()
    return create_run(database, asked, plan_run(asked, {"capitals.jsonl": data}, CATALOG, brought))


def do_run(database: Database, run_id: str, catalog: Mapping[str, ModelEntry] = CATALOG) -> None:
    assert Worker(database, lambda: catalog).run_once(run_id)
