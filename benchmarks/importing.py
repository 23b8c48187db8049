"""Logs of other harnesses, each by `evalui import` in a process of its own (`--only importing`)."""

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.clock import Timing
from benchmarks.contest import Session
from benchmarks.questions import questions
from benchmarks.rows import Goal, Row
from evalui.types import LETTERS, Sample

GROUP = "importing"
_FULL = 1_000_000  # samples
_SUBJECTS = 57  # tasks of a group, as many as MMLU has
_MB = 1e6
_CONFIGS = {"model_args": {"pretrained": "made-up"}}
_HASH = "0" * 64
Line = Callable[[Sample, random.Random], dict[str, Any]]


def rows(session: Session) -> Iterator[Row]:
    """A log of lm-eval at each size: the probabilities of letters, and written replies."""
    for count in session.scaled(_FULL):
        samples = questions(count)
        for kind, line in (("letters", _letters_line), ("replies", _reply_line)):
            with tempfile.TemporaryDirectory() as folder:
                log = Path(folder) / "log"
                write_log(log, samples, line)
                yield _row(log, Path(folder) / "evalui.sqlite", kind, count)


def write_log(log: Path, samples: Sequence[Sample], line: Line) -> None:
    """Write the log of a group of tasks that share the samples."""
    log.mkdir()
    tasks = [f"made_subject{number}" for number in range(min(_SUBJECTS, len(samples)))]
    rng = random.Random(0)
    for place, task in enumerate(tasks):
        with (log / f"samples_{task}.jsonl").open("w", encoding="utf-8") as lines:
            for doc_id, sample in enumerate(samples[place :: len(tasks)]):
                lines.write(json.dumps({"doc_id": doc_id, **line(sample, rng)}) + "\n")
    results = {
        "results": {task: {"alias": task, "acc,none": 0.25} for task in tasks},
        "groups": {"made": {"alias": "made", "acc,none": 0.25}},
        "group_subtasks": {"made": tasks},
        "configs": {},
        "config": _CONFIGS,
        "n-shot": dict.fromkeys(tasks, 0),
        "lm_eval_version": "0.4.13",
    }
    (log / "results.json").write_text(json.dumps(results), encoding="utf-8")


def _letters_line(sample: Sample, rng: random.Random) -> dict[str, Any]:
    """The log-likelihood of each letter; the prompt stands in the line four times."""
    letters = LETTERS[: len(sample.choices)]
    totals = [-3 * rng.random() for _ in letters]
    best = totals.index(max(totals))
    scored = [[str(total), str(slot == best)] for slot, total in enumerate(totals)]
    prompt = _prompt(sample)
    return {
        **_common(sample, str(sample.target)),
        "arguments": {
            f"gen_args_{slot}": {"arg_0": prompt, "arg_1": f" {letter}"}
            for slot, letter in enumerate(letters)
        },
        "resps": [[each] for each in scored],
        "filtered_resps": scored,
        "metrics": ["acc"],
        "acc": float(best == sample.target),
    }


def _reply_line(sample: Sample, rng: random.Random) -> dict[str, Any]:
    """A sentence that names a letter, and the letter that a filter took from it."""
    letter = rng.choice(LETTERS[: len(sample.choices)])
    reply = f"Of all that is shown, {rng.randrange(10**6)} aside, the answer is {letter}."
    assert isinstance(sample.target, int), "it is a choice"
    target = LETTERS[sample.target]
    return {
        **_common(sample, target),
        "arguments": {"gen_args_0": {"arg_0": _prompt(sample), "arg_1": {"until": ["\n"]}}},
        "resps": [[reply]],
        "filtered_resps": [letter],
        "metrics": ["exact_match"],
        "exact_match": float(letter == target),
    }


def _common(sample: Sample, target: str) -> dict[str, Any]:
    doc = {"question": sample.question, "choices": sample.choices, "answer": sample.target}
    hashes = {"doc_hash": _HASH, "prompt_hash": _HASH, "target_hash": _HASH}
    return {"doc": doc, "target": target, "filter": "none", **hashes}


def _prompt(sample: Sample) -> str:
    options = [f"{letter}. {text}" for letter, text in zip(LETTERS, sample.choices, strict=False)]
    return "\n".join([sample.question, *options, "Answer:"])


# The kernel's own count of a child begins with what its parent holds. Of the processes that read it
# keeps the largest alone: all are taken to be as large.
_IMPORT = """
import resource
import sys
from pathlib import Path
from evalui.cli.main import main
from evalui.harnesses.importing import processes_to_read
code = main(sys.argv[1:])
lines = Path("/proc/self/status").read_text().splitlines()
own = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM"))
largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
print(own + largest * processes_to_read())
sys.exit(code)
"""


def _row(log: Path, store: Path, kind: str, count: int) -> Row:
    size = sum(path.stat().st_size for path in log.iterdir())
    command = [sys.executable, "-c", _IMPORT, "import", str(log), "--database", str(store)]
    began = time.perf_counter()
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout, "it was requested"
        printed = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert not process.returncode, kind
    wall, cpu = time.perf_counter() - began, usage.ru_utime + usage.ru_stime
    peak = int(printed.splitlines()[-1]) * 1024
    return Row(
        GROUP,
        f"import of lm-eval, {kind}",
        count,
        "samples",
        Timing(cpu, wall),
        goal=Goal("wall", 60) if count == _FULL else None,
        found=f"{size / _MB:,.0f} MB of log, {store.stat().st_size / _MB:,.0f} MB of store, "
        f"peak {peak / _MB:,.0f} MB",
    )
