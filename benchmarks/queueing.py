"""A run of given questions, queued in a store as a server would queue it."""

from collections.abc import Sequence

from evalui.datasets.base import LoadResult
from evalui.models import read_catalog
from evalui.runs.database.connection import Database
from evalui.runs.spec import RunSpec
from evalui.runs.submit import submit
from evalui.shipped_files import ASSETS
from evalui.types import Dataset, Pattern, Sample

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
