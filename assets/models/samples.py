"""Write the demo questions in C-Eval's format: assets/samples/demo/<subject>_dev.csv and _val.csv.

    python assets/models/samples.py

The questions follow from the seed alone, so the files can be checked against this function.
"""

import csv
import io
import random
from collections.abc import Mapping, Sequence
from pathlib import Path

import world

from evalui.types import LETTERS, Sample

FOLDER = Path(__file__).parent.parent / "samples" / "demo"
SEED = 20
N_DEV, N_VAL = 5, 20
COLUMNS = ("id", "question", *LETTERS[: world.N_OPTIONS], "answer", "explanation")


def main() -> None:
    """Write all files."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, text in files().items():
        (FOLDER / name).write_text(text, encoding="utf-8", newline="")
    print(f"wrote {len(files())} files to {FOLDER}")


def files() -> Mapping[str, str]:
    """The text of each file by its name."""
    return {
        f"{subject.name}_{split}.csv": _table(samples)
        for subject in world.SUBJECTS
        for split, samples in questions(subject).items()
    }


def questions(subject: world.Subject) -> Mapping[str, tuple[Sample, ...]]:
    """A subject's dev and val questions: all different, their right letters balanced."""
    # A string seeds the same on every machine and in every process; hash() would not.
    rng = random.Random(f"{SEED} {subject.name}")
    golds = [*_balanced(rng, N_DEV), *_balanced(rng, N_VAL)]
    drawn: dict[str, Sample] = {}
    while len(drawn) < len(golds):
        sample = world.sample(rng, subject, gold=golds[len(drawn)])
        drawn.setdefault(sample.question, sample)
    everything = tuple(drawn.values())
    return {"dev": everything[:N_DEV], "val": everything[N_DEV:]}


def _balanced(rng: random.Random, n: int) -> list[int]:
    golds = [i % world.N_OPTIONS for i in range(n)]
    rng.shuffle(golds)
    return golds


def _table(samples: Sequence[Sample]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for i, sample in enumerate(samples):
        explanation = sample.metadata["explanation"]
        row = (i, sample.question, *sample.choices, world.letter(sample), explanation)
        writer.writerow(row)
    return out.getvalue()


if __name__ == "__main__":
    main()
