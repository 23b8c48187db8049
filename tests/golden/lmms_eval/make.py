"""Writes this folder: `python make.py FOLDER`, where lmms-eval is installed.

Tasks on questions of our own, which its dummy model answers by a seed; all else is lmms-eval's.
"""

import random
import sys
from pathlib import Path

from datasets import Dataset, DatasetDict
from lmms_eval.__main__ import cli_evaluate
from lmms_eval.models.simple.dummy import Dummy
from PIL import Image

FOLDER = Path(sys.argv[1])
THINGS = "boat lamp chair kettle bridge tower ladder basket violin drum hammer wagon".split()
UTILS = '''
def picture(doc):
    return [doc["image"].convert("RGB")]


def letters_text(doc, lmms_eval_specific_kwargs=None):
    options = [f"{letter}. {text}" for letter, text in zip("ABCD", doc["options"])]
    return "\\n".join([doc["question"], *options, "Answer with the letter."])


def letters_target(doc):
    return "ABCD"[doc["answer"]]


def yes_results(doc, results):
    said, right = results[0].lower().strip(), doc["right"]
    about = {"question_id": doc["id"], "score": float(said == right), "prediction": said}
    return {"yes_accuracy": about, "yes_ratio": about}


def yes_accuracy(results):
    return sum(each["score"] for each in results) / len(results)


def yes_ratio(results):
    return sum(each["prediction"] == "yes" for each in results) / len(results)
'''
COMMON = """
dataset_path: {folder}/data/{data}
dataset_kwargs:
  load_from_disk: true
test_split: test
task: {task}
output_type: generate_until
doc_to_visual: !function utils.picture
generation_kwargs:
  max_new_tokens: 16
metadata:
  - version: 1.0
"""
EXACT = """
metric_list:
  - metric: exact_match
    aggregation: mean
    higher_is_better: true
    ignore_case: true
    ignore_punctuation: true
"""
LETTERS = """
doc_to_text: !function utils.letters_text
doc_to_target: !function utils.letters_target
"""
TASKS = {
    "seeded_letters_indoor": LETTERS + EXACT,
    "seeded_letters_outdoor": LETTERS + EXACT,
    "seeded_filters": LETTERS
    + EXACT
    + """
filter_list:
  - name: first-letter
    filter:
      - function: regex
        regex_pattern: "([A-D])"
      - function: take_first
  - name: as-it-is
    filter:
      - function: take_first
""",
    "seeded_thoughts": LETTERS + EXACT,
    "seeded_yes": """
doc_to_text: "{{question}} Answer yes or no."
doc_to_target: right
process_results: !function utils.yes_results
metric_list:
  - metric: yes_accuracy
    aggregation: !function utils.yes_accuracy
    higher_is_better: true
  - metric: yes_ratio
    aggregation: !function utils.yes_ratio
    higher_is_better: true
""",
    "seeded_written": 'doc_to_text: "{{question}}"\ndoc_to_target: right\n' + EXACT,
}
GROUP = """
group: seeded_letters
task:
  - seeded_letters_indoor
  - seeded_letters_outdoor
aggregate_metric_list:
  - metric: exact_match
    aggregation: mean
    weight_by_size: true
"""


def rows(task, dice):
    """Eight questions with a picture each."""
    for number in range(8):
        options = dice.sample(THINGS, 4)
        answer = dice.randrange(4)
        asked = {"yes": f"Is there a {options[0]}?", "written": "What is this?"}
        yield {
            "id": f"{task}-{number}",
            "image": Image.new("RGB", (8, 8), tuple(dice.randrange(256) for _ in range(3))),
            "question": asked.get(task.partition("_")[2], f"Which thing is in picture {number}?"),
            "options": options,
            "answer": answer,
            "right": dice.choice(["yes", "no"]) if task == "seeded_yes" else options[answer],
        }


def write_tasks():
    """The questions and the tasks."""
    tasks = FOLDER / "tasks"
    tasks.mkdir()
    (tasks / "utils.py").write_text(UTILS)
    (tasks / "seeded_letters.yaml").write_text(GROUP)
    for seed, (task, about) in enumerate(TASKS.items()):
        data = DatasetDict(test=Dataset.from_list(list(rows(task, random.Random(seed)))))
        data.save_to_disk(FOLDER / "data" / task)
        common = COMMON.format(folder=FOLDER.resolve(), data=task, task=task)
        (tasks / f"{task}.yaml").write_text(common + about)


def replies(model, requests):
    """What the model writes to each request."""
    written = []
    for context, _, _, doc_id, task, split in [each.args for each in requests]:
        doc, dice = model.task_dict[task][split][doc_id], random.Random(f"{task} {doc_id}")
        letter = "ABCD"[doc["answer"] if dice.random() < 0.6 else 0]
        forms = {
            "seeded_filters": [f"{letter}", f"It is {letter}", f"{letter}. I am sure"],
            "seeded_thoughts": [f"<think>Perhaps B.</think>{letter}", f"{letter}"],
            "seeded_yes": ["yes", "no", "Yes"],
            "seeded_written": [doc["right"], "A boat", doc["right"].upper()],
        }
        written.append(dice.choice(forms.get(task, [f"{letter}", f"{letter}.", f"({letter})"])))
    return written


Dummy.generate_until = replies
write_tasks()
sys.argv[1:] = [
    *("--model", "dummy", "--model_args", "model_name=seeded/vlm-7b", "--batch_size", "1"),
    *("--tasks", ",".join(["seeded_letters", *(t for t in TASKS if "letters" not in t)])),
    *("--include_path", str(FOLDER / "tasks"), "--log_samples", "--output_path", str(FOLDER)),
]
cli_evaluate()
