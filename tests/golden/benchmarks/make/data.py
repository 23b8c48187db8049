"""Lay small parts of published sets out as on the hub: python data.py REALDATA TARGET [ARC].

REALDATA has mmlu/ and csqa/ as published (MIT); the GSM8K and LAMBADA rows were written for this
project. With a third folder, ARC-Challenge's dev questions (arc/, CC BY-SA: not kept here) go there.
"""

import csv
import json
import sys
from pathlib import Path

import pyarrow
from pyarrow import parquet

ROWS = 40
SUMS = (
    (3, 4),
    (10, 5),
    (7, 9),
    (12, 30),
    (8, 8),
    (21, 9),
    (2, 6),
    (15, 14),
    (1, 6),
    (40, 2),
    (5, 5),
    (13, 8),
)
ENDINGS = (  # a text, of which the last word is to be told
    "Anna put the kettle on the stove and waited for the water to boil. She poured the water",
    "The dog ran after the ball. It came back with the ball",
    "He looked for his keys all morning. In the end he found his keys",
    "Every evening the old man fed the birds in the park. One day there were no birds",
    "The train to the coast was late, so Mia read a book. When it came she closed the book",
    "Tom asked his sister for the red pen. She gave him the pen",
)


def main(source: Path, target: Path) -> None:
    """Write the four sets."""
    for split in ("dev", "test"):
        rows = [
            {"question": q, "subject": "anatomy", "choices": options, "answer": "ABCD".index(right)}
            for q, *options, right in csv.reader(
                (source / f"mmlu/{split}/anatomy_{split}.csv").open()
            )
        ]
        put(target / f"cais/mmlu/all/{split}-00000-of-00001.parquet", rows)
    lines = (source / "csqa/dev_rand_split.jsonl").read_text("utf-8").splitlines()
    for split, chosen in (("validation", lines[:ROWS]), ("train", lines[ROWS : ROWS + 5])):
        questions = [json.loads(line) for line in chosen]
        put(
            target / f"tau/commonsense_qa/data/{split}-00000-of-00001.parquet",
            [commonsense(each) for each in questions],
        )

    sums = [
        {
            "question": f"Tom has {a} apples and gets {b} more. How many apples does he have?",
            "answer": f"He has {a} + {b} = <<{a}+{b}={a + b}>>{a + b} apples.\n#### {a + b}",
        }
        for a, b in SUMS
    ]
    put(target / "openai/gsm8k/main/train-00000-of-00001.parquet", sums[4:])
    put(target / "openai/gsm8k/main/test-00000-of-00001.parquet", sums[:4])
    texts = [{"text": text} for text in ENDINGS]
    put(target / "EleutherAI/lambada_openai/default/test-00000-of-00001.parquet", texts)


def arc(source: Path, target: Path) -> None:
    """Write the dev questions of ARC-Challenge in the place of the test split."""
    lines = (source / "arc/ARC-Challenge-Dev.jsonl").read_text("utf-8").splitlines()
    rows = []
    for each in map(json.loads, lines):
        options = each["question"]["choices"]
        choices = {name: [option[name] for option in options] for name in ("text", "label")}
        own = {"id": each["id"], "question": each["question"]["stem"]}
        rows.append({**own, "choices": choices, "answerKey": each["answerKey"]})
    path = target / "allenai/ai2_arc/ARC-Challenge/test-00000-of-00001.parquet"
    put(path, rows, most=len(rows))


def commonsense(row: dict) -> dict:
    """A row as the hub has it."""
    question = row["question"]
    return {
        "id": row["id"],
        "question": question["stem"],
        "question_concept": question["question_concept"],
        "choices": {
            name: [option[name] for option in question["choices"]] for name in ("label", "text")
        },
        "answerKey": row["answerKey"],
    }


def put(path: Path, rows: list[dict], *, most: int = ROWS) -> None:
    """Write rows as Parquet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pyarrow.Table.from_pylist(rows[:most]), path)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
    if len(sys.argv) > 3:
        arc(Path(sys.argv[1]), Path(sys.argv[3]))
