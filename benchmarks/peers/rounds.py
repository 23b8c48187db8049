"""The peer's side: reads the work, then does one round of a job for every line it is sent.

Runs in the peer's own environment and needs nothing but the standard library.
"""

import gc
import json
import os
import resource
import sys
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

Prepared = Callable[[], object]


def work() -> dict[str, Any]:
    """What was handed over on the command line."""
    return json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))


def serve(name: str, built_on: Sequence[str], prepare: Callable[[str], Prepared]) -> None:
    """Answer every job that is named on stdin; `prepare` makes it ready and is not timed.

    `name` has the peer's version, `built_on` are packages whose versions are told beside it.
    """
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # whatever a library prints must not be taken for an answer
    _tell(answers, {"name": name, "built_on": [f"{each} {version(each)}" for each in built_on]})
    ready, job = "", None
    for line in sys.stdin:
        if line.strip() != ready:
            job = None  # frees the memory of the one before
            ready, job = line.strip(), prepare(line.strip())
        assert job is not None
        gc.collect()
        gc.freeze()  # as on the other side: the data that was made is not collected in the round
        wall, cpu = time.perf_counter(), _cpu()
        result = job()
        spent = {"cpu": _cpu() - cpu, "wall": time.perf_counter() - wall}
        gc.unfreeze()
        _tell(answers, {**spent, "result": result})


def _tell(answers: Any, value: object) -> None:
    answers.write(json.dumps(value) + "\n")
    answers.flush()


def _cpu() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime
