"""Three small Inspect tasks on invented questions, answered by mockllm."""
import json
from pathlib import Path
from inspect_ai import Task, task
from inspect_ai.dataset import Sample, MemoryDataset
from inspect_ai.scorer import choice, match, includes
from inspect_ai.solver import generate, multiple_choice

DATA = Path(__file__).parent / "data"
def rows(name):
    return [json.loads(l) for l in (DATA / f"{name}.jsonl").open()]

@task
def geography(shuffle: bool = False):
    samples = [Sample(id=r["id"], input=r["question"], choices=r["choices"], target=r["letter"], metadata={"subject": "geography"}) for r in rows("geography")]
    dataset = MemoryDataset(samples, name="geography")
    if shuffle:
        dataset.shuffle_choices(seed=42)
    return Task(dataset=dataset, solver=multiple_choice(), scorer=choice())

@task
def arithmetic():
    samples = [Sample(id=r["id"], input=r["question"], target=r["text"]) for r in rows("arithmetic")]
    return Task(dataset=MemoryDataset(samples, name="arithmetic"), solver=generate(), scorer=[match(numeric=True), includes()])
