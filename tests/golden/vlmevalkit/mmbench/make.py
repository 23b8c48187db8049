"""Writes this folder: `python make.py CHECKOUT FOLDER`, in an environment of its own.

CHECKOUT is a checkout of VLMEvalKit. Its ImageMCQDataset scores seeded replies by exact matching;
packages that it imports and that this does not need are stand-ins.
"""

import base64
import io
import json
import os
import random
import sys
import types
import warnings
from pathlib import Path

import pandas as pd
from PIL import Image

CHECKOUT, FOLDER = Path(sys.argv[1]), Path(sys.argv[2])
MODEL = "seeded-vlm"
OFFSET = 1_000_000
COLUMNS = ["index", "question", *"ABCD", "answer", "category", "image"]
# "MMBench" in its name makes a set circular, as the rotations among its rows are then graded.
DATASETS = {
    "MMBench_SEEDED": [*COLUMNS, "hint", "l2-category", "split"],
    "MMBench_DEV_SEEDED": [*COLUMNS, "hint", "l2-category"],
    "AI2D_SEEDED": COLUMNS,
}
TOPICS = {
    "attribute_reasoning": ["function_reasoning", "physical_property_reasoning"],
    "coarse_perception": ["image_scene", "image_style", "image_topic"],
    "finegrained_perception (instance-level)": ["object_localization", "ocr"],
    "logic_reasoning": ["future_prediction", "structuralized_imagetext_understanding"],
}
THINGS = (
    "boat lamp chair kettle bridge tower ladder basket violin drum hammer wagon mirror candle "
    "window garden statue fountain lighthouse windmill tractor bicycle umbrella compass anchor"
).split()
# What a model writes: {x} is the letter of its choice, {text} the text there, {y} another letter.
CLEAR = ("{x}", "{x}.", "({x})", "Answer: {x}", "The answer is {x}", "{x}. {text}", "{text}")
OTHER = (
    "The correct answer is **{x}**. Here is why: the picture shows it.",
    "Final answer: {x}",
    "答案是{x}",
    "选{x}。",
    "It could be {x} or {y}.",
    "Not {y}, so {x}.",
    "{x_lower}",
    "I see A {text} here, which is what was meant in the question",
    "The {text} stands on the left.",
    "Sorry, I can't help with images of people yet.",
    "Cannot determine the answer",
    "Z",
    "The picture is too dark.",
    "\\boxed{{{x}}}",
    "Option {x} is right and the others are wrong because of the shadow",
    "",
    "{x}\n\nThe {text} is the only thing that fits.",
    "<think>Perhaps {y}?</think>{x}",
    "Answer: {text}",
    "**{x}**",
)


def questions(dice):
    """Rows as MMBench has them: each question, then its rotations under index + 1,000,000 k."""
    plain = []
    for number in range(90):
        n_options = 2 + number % 3
        topic = dice.choice(sorted(TOPICS))
        texts = dice.sample(THINGS, n_options)
        picture = io.BytesIO()
        colour = tuple(dice.randrange(256) for _ in range(3))
        Image.new("RGB", (8, 8), colour).save(picture, "PNG")
        plain.append(
            {
                "index": 7 + 3 * number,
                "question": f"Which thing stands in picture {number + 1}?",
                "hint": "The picture was taken at noon." if number % 4 == 0 else None,
                **dict(zip("ABCD", texts + [None] * (4 - n_options), strict=True)),
                "answer": "ABCD"[dice.randrange(n_options)],
                "category": dice.choice(TOPICS[topic]),
                "l2-category": topic,
                "split": "dev" if number % 5 else "test",
                "image": base64.b64encode(picture.getvalue()).decode(),
            }
        )
    rows = list(plain)
    for shift in (1, 2, 3):
        for row in plain:
            n_options = sum(row[letter] is not None for letter in "ABCD")
            if shift >= n_options:
                continue
            letters = "ABCD"[:n_options]
            moved = {letters[(at - shift) % n_options]: row[own] for at, own in enumerate(letters)}
            answer = letters[(letters.index(row["answer"]) - shift) % n_options]
            index = row["index"] + OFFSET * shift
            # A picture that another row has is named by that row.
            rows.append({**row, **moved, "index": index, "answer": answer, "image": row["index"]})
    return pd.DataFrame(rows)


def replies(table, dice, others):
    """A reply to each row: some questions are known, in some the first option is liked."""
    manner = {}
    for index in table["index"]:
        of_question = [dice.choice(CLEAR)] if dice.random() < 0.6 else [*CLEAR, *others]
        manner.setdefault(index % OFFSET, (dice.random(), of_question))
    written = []
    for _, row in table.iterrows():
        letters = [letter for letter in "ABCD" if isinstance(row[letter], str)]
        knows, forms = manner[row["index"] % OFFSET]
        right = row["answer"]
        choice = right if dice.random() < 0.55 + 0.6 * knows else letters[0]
        other = dice.choice([letter for letter in letters if letter != choice])
        written.append(
            dice.choice(forms).format(
                x=choice, y=other, x_lower=choice.lower(), text=row[choice]
            )
        )
    return written


class StandIn(types.ModuleType):
    """A module that has whatever is imported from it."""

    __path__ = ()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return None


def import_vlmevalkit():
    """Its modules without the packages' own imports of all models and sets."""
    for name in ("vlmeval", "vlmeval.dataset"):
        package = types.ModuleType(name)
        package.__path__ = [str(CHECKOUT / name.replace(".", "/"))]
        sys.modules[name] = package
    for name in ("vlmeval.api", "vlmeval.dataset.utils.spatial457", "vlmeval.dataset.utils.vqa_eval"):
        sys.modules[name] = StandIn(name)
    from vlmeval.dataset.image_mcq import ImageMCQDataset
    from vlmeval.dataset.utils.multiple_choice import prefetch_answer

    return ImageMCQDataset, prefetch_answer


def main():
    """Write the questions, the replies, and what VLMEvalKit makes of them."""
    warnings.simplefilter("ignore")
    os.environ["LMUData"] = str(FOLDER)
    image_mcq, prefetch_answer = import_vlmevalkit()
    from vlmeval.smp import dump

    (FOLDER / MODEL).mkdir()
    for seed, (dataset, columns) in enumerate(DATASETS.items()):
        dice = random.Random(seed)
        table = questions(dice)
        if dataset.startswith("AI2D"):
            table = table[table["index"] < OFFSET]
        table = table.drop(columns=[name for name in table.columns if name not in columns])
        table.to_csv(FOLDER / f"{dataset}.tsv", sep="\t", index=False)
        asked = image_mcq(dataset)
        # As vlmeval/inference.py ends: the questions without pictures, and a column of replies.
        result = asked.data.copy()
        others = () if dataset == "MMBench_DEV_SEEDED" else OTHER
        result["prediction"] = [str(reply) for reply in replies(table, dice, others)]
        result.pop("image")
        path = FOLDER / MODEL / f"{MODEL}_{dataset}.xlsx"
        dump(result, str(path))
        for suffix in ("tsv", "json") if dataset.startswith("AI2D") else ():
            other = FOLDER / suffix / MODEL  # what PRED_FORMAT chooses
            other.mkdir(parents=True)
            dump(result, str(other / f"{MODEL}_{dataset}.{suffix}"))
        print(asked.evaluate(str(path), model="exact_matching"))
        kept = pd.read_excel(path)
        kept["prediction"] = [str(reply) for reply in kept["prediction"]]
        read = {int(row["index"]): prefetch_answer(row) or "" for _, row in kept.iterrows()}
        (FOLDER / f"{dataset}_readings.json").write_text(json.dumps(read, indent=0) + "\n")
    for path in (FOLDER / MODEL).glob("*.pkl"):
        path.unlink()


main()
