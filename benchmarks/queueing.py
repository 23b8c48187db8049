"""A run of given questions, queued in a store as a server would queue it, and answered."""

from collections.abc import Callable, Iterable, Sequence

from evalui.datasets.model import LoadResult
from evalui.models import read_catalog
from evalui.runs.kept_summaries import summarise_ending
from evalui.runs.spec import RunSpec
from evalui.runs.submit import submit
from evalui.shipped_files import ASSETS
from evalui.store import queue
from evalui.store.connection import Database
from evalui.store.runs import CellRow, read_cells
from evalui.store.trials import write_trials
from evalui.types import Dataset, Pattern, Sample, Trial

_NAME = "bench"


def queue_run(
    database: Database,
    samples: Sequence[Sample],
    models: Sequence[str],
    *,
    mode: str,
    pattern: Pattern,
) -> str:
    """Queue a run of shipped models on the questions; its id."""
    dataset = Dataset(_NAME, "multiple_choice", tuple(samples), sha256="0" * 64)
    spec = RunSpec.model_validate(
        {"datasets": [_NAME], "models": list(models), "mode": mode, "pattern": pattern}
    )
    loaded = {_NAME: LoadResult(dataset, (), len(samples), ())}
    return submit(database, spec, loaded, read_catalog(ASSETS / "models.toml"))


def answer_run(
    database: Database,
    run_id: str,
    batches: Callable[[CellRow], Iterable[Sequence[Trial]]],
) -> None:
    """Write the trials of each cell of a queued run, and keep its summary as a worker does."""
    run = queue.claim(database, _NAME, run_id)
    assert run, "it was queued just now"
    for cell in read_cells(database, run_id):
        queue.start_cell(database, run.lease, cell.id, _NAME)
        for batch in batches(cell):
            write_trials(database, run.lease, cell.id, batch)
        summarise_ending(database, cell)
        queue.finish_cell(database, run.lease, cell.id)
    queue.finish(database, run.lease)
