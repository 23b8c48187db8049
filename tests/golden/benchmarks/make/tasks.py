"""lm-eval's own tasks, reading the files beside: python tasks.py HUB TARGET (see SOURCES.md)."""

import sys
from pathlib import Path

import lm_eval.tasks

ROOT = Path(lm_eval.tasks.__file__).parent
TASKS = {
    "mmlu_anatomy": ("mmlu/default/mmlu_anatomy.yaml", "cais/mmlu/all", ("dev", "test")),
    "commonsense_qa": (
        "commonsense_qa/default.yaml",
        "tau/commonsense_qa/data",
        ("train", "validation"),
    ),
    "gsm8k": ("gsm8k/gsm8k.yaml", "openai/gsm8k/main", ("train", "test")),
    "lambada_openai": (
        "lambada/lambada_openai.yaml",
        "EleutherAI/lambada_openai/default",
        ("test",),
    ),
    "arc_challenge": ("arc/arc_challenge.yaml", "allenai/ai2_arc/ARC-Challenge", ("test",)),
}

UNUSED = {"arc_challenge": ("training_split", "validation_split")}

hub, target = Path(sys.argv[1]).absolute(), Path(sys.argv[2])
target.mkdir(parents=True, exist_ok=True)
here = {name: task for name, task in TASKS.items() if (hub / task[1]).is_dir()}
for name, (file, folder, splits) in here.items():
    files = "".join(
        f"    {split}: {hub}/{folder}/{split}-00000-of-00001.parquet\n" for split in splits
    )
    (target / f"{name}.yaml").write_text(
        f"include: {ROOT / file}\ntask: {name}\ndataset_path: parquet\ndataset_name: null\n"
        f"dataset_kwargs:\n  data_files:\n{files}"
        # The harness opens every split that a task names, those too that it does not use.
        + "".join(f"{key}: null\n" for key in UNUSED.get(name, ()))
    )
