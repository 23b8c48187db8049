"""How fast each model was last time, and what it has answered already."""

from collections.abc import Mapping, Sequence

from evalui.modes import MODES
from evalui.runs.cache import deterministic, known_responses
from evalui.runs.cells import CellPlan, work
from evalui.runs.codec import request_key
from evalui.runs.database import Database
from evalui.runs.rows import CellRow
from evalui.runs.spec import ModeSpec
from evalui.types import Dataset

# Making the prompts of more than this takes longer than a person waits for an estimate.
_MOST_LOOKED_UP = 3_000


def put_pace(
    database: Database, model: str, mode: str, shots: int, *, fingerprint: str, rate: float
) -> None:
    """Remember the requests per second of a model in a mode; the latest counts."""
    with database.writing() as connection:
        connection.execute(
            "INSERT OR REPLACE INTO pace VALUES (?, ?, ?, ?, ?)",
            (model, mode, shots, fingerprint, rate),
        )


def rates(database: Database) -> dict[tuple[str, str, int], float]:
    """Requests per second by model, mode and number of shots."""
    return {
        (row["model"], row["mode"], row["shots"]): row["rate"]
        for row in database.rows("SELECT model, mode, shots, rate FROM pace")
    }


def cached(
    database: Database, plans: Sequence[CellPlan], datasets: Mapping[str, Dataset]
) -> tuple[int, ...]:
    """For each plan, how many of its requests are already answered, as far as one can tell.

    A model that has never run here has no known fingerprint and counts as 0, and so does a cell
    of more than 3,000 requests: the answer is for an estimate only. `datasets` are by
    `CellPlan.source`.
    """
    # The rowid grows with every replacement, so the newest fingerprint of a model comes last.
    rows = database.rows("SELECT model, fingerprint FROM pace ORDER BY rowid")
    fingerprints = {row["model"]: row["fingerprint"] for row in rows}
    return tuple(
        _hits(database, plan, datasets[plan.source], fingerprints.get(plan.entry.name, ""))
        for plan in plans
    )


def _hits(database: Database, plan: CellPlan, dataset: Dataset, fingerprint: str) -> int:
    if not fingerprint or plan.impossible or plan.requests > _MOST_LOOKED_UP:
        return 0
    if plan.mode.judging:
        return 0  # what it will be shown is not written yet
    mode = MODES[plan.mode_name]
    samples = dataset.samples[: plan.questions]
    keys = [
        request_key(fingerprint, request)
        for sample, variant in work(plan.mode, plan.pattern, samples, plan.setting)
        for request in mode.plan(sample, variant, plan.setting)
        if deterministic(request)
    ]
    known = known_responses(database, dict.fromkeys(keys))
    return sum(key in known for key in keys)


def left(cells: Sequence[CellRow], known: Mapping[tuple[str, str, int], float]) -> float | None:
    """Seconds until all cells are done at the speeds known; None where a cell was never timed."""
    seconds = [_left(cell, known) for cell in cells if cell.state in ("waiting", "running")]
    told = [second for second in seconds if second is not None]
    return sum(told) if len(told) == len(seconds) else None


def _left(cell: CellRow, known: Mapping[tuple[str, str, int], float]) -> float | None:
    if cell.left is not None:
        return cell.left
    shots = ModeSpec.model_validate_json(cell.plan).shots
    rate = known.get((cell.cell.model, cell.cell.mode, shots))
    return cell.requests * (1 - cell.done / max(1, cell.total)) / rate if rate else None
