"""The time that is said before a run beside the time it takes (`python -m benchmarks.estimates`).

On the shipped samples, with 0 and 5 worked examples, from a worker that has loaded nothing: before
the models were ever timed here, and again after each of them was.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from evalui.models.user_catalog import read_models
from evalui.runs.cells import CellPlan
from evalui.runs.database.connection import Database
from evalui.runs.database.runs import read_run
from evalui.runs.database.throughput import count_cached, loading_times, throughputs
from evalui.runs.estimate import estimate
from evalui.runs.plan import plan_run
from evalui.runs.spec import RunSpec
from evalui.runs.submit import read_datasets, submit
from evalui.settings import ASSETS

MODES = ("multiple_choice", "cloze", "generation")


def main() -> None:
    """Print a line for each run: what was said, what it took, and the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", nargs="+", default=["demo-late", "demo-early"])
    parser.add_argument("--data", type=Path, default=ASSETS / "samples" / "demo")
    given = parser.parse_args()
    print("| modes | shots | timed before | said, s | took, s | CPU, s | said / took |")
    print("|---|---|---|---|---|---|---|")
    for modes in (["multiple_choice"], ["cloze"], ["generation"], list(MODES)):
        for shots in (0, 5):
            for earlier in ((), (5 - shots,), (shots,)):
                _line(given.models, given.data, modes, shots, earlier)


def _line(
    models: Sequence[str], data: Path, modes: Sequence[str], shots: int, earlier: Sequence[int]
) -> None:
    """One run of a fresh store, after runs with the numbers of shots in `earlier`."""
    with tempfile.TemporaryDirectory() as folder:
        for before in earlier:
            _run(Path(folder), models, data, modes, before)
        # A cache that answers would leave nothing to time, and each run has a worker of its own.
        with Database(Path(folder) / "evalui.sqlite").writing() as connection:
            connection.execute("DELETE FROM response")
            connection.execute("DELETE FROM worker")
        said, wall, cpu = _run(Path(folder), models, data, modes, shots)
    timed = f"{earlier[0]}-shot" if earlier else "no"
    print(
        f"| {', '.join(modes)} | {shots} | {timed} | {said:.1f} | {wall:.1f} | {cpu:.1f} "
        f"| {said / wall:.2f} |",
        flush=True,
    )


def _run(
    folder: Path, models: Sequence[str], data: Path, modes: Sequence[str], shots: int
) -> tuple[float, float, float]:
    """Seconds said, of the wall clock, and of the processor, by a worker of its own."""
    spec = RunSpec.model_validate(
        {
            "datasets": [{"path": str(data), "name": "sample", "skip_faulty": True}],
            "models": list(models),
            "modes": [
                {"mode": mode, "shots": shots, "pattern": "circular"}
                if mode != "cloze"
                else {"mode": mode, "shots": shots}
                for mode in modes
            ],
        }
    )
    catalog = read_models(ASSETS / "models.toml", folder / "none.toml")
    loaded = read_datasets(spec)
    datasets = {key: found.dataset for key, found in loaded.items()}
    database = Database(folder / "evalui.sqlite")
    plans: Sequence[CellPlan] = plan_run(spec, datasets, catalog, ())
    said = estimate(
        plans,
        datasets,
        throughputs(database),
        count_cached(database, plans, datasets),
        loading=loading_times(database),
    ).seconds
    assert said is not None, "the shipped models have a speed"
    run_id = submit(database, spec, loaded, catalog)
    began, before = time.monotonic(), os.times()
    command = [sys.executable, "-c", _WORK, str(database.path), run_id]
    subprocess.run(command, check=True)
    after = os.times()
    state = read_run(database, run_id).state
    assert state == "done", state
    database.close()
    spent = after.children_user + after.children_system
    return said, time.monotonic() - began, spent - before.children_user - before.children_system


_WORK = """
import sys
from pathlib import Path
from evalui.models import read_catalog
from evalui.runs.database.connection import Database
from evalui.runs.worker.main import Worker
from evalui.settings import ASSETS
database = Database(Path(sys.argv[1]))
Worker(database, lambda: read_catalog(ASSETS / "models.toml")).run_once(sys.argv[2])
database.close()
"""


if __name__ == "__main__":
    main()
