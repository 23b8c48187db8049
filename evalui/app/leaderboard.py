"""The leaderboard: the models of all judged runs and votes that one may see, rated together."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime

from evalui.app.permissions import requires
from evalui.app.results import run_report
from evalui.app.service import AppService
from evalui.report.analyses.base import Report
from evalui.runs.spec import ModeSpec
from evalui.scoring.arena.figures import Arena
from evalui.scoring.arena.people import human_arenas
from evalui.scoring.arena.pooled import PoolChoices, PoolFilter, pool_arenas, pool_choices
from evalui.store.connection import Database
from evalui.store.runs import ENDED_STATES, CellRow, RunRow, read_cells, read_runs
from evalui.store.voting.votes import read_votes


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """The arena of all `runs` that count, newest first, and by what it can be filtered."""

    arena: Arena
    runs: tuple[RunRow, ...]
    choices: PoolChoices


@dataclass(frozen=True, slots=True)
class _JudgedRuns:
    """Runs by id and revision, which is what figures of them are kept under."""

    versions: tuple[tuple[str, int], ...]
    service: AppService = field(compare=False, repr=False)


@requires("see")
def leaderboard(
    service: AppService,
    chosen: PoolFilter | None = None,
    *,
    since: date | None = None,
    until: date | None = None,
) -> Leaderboard:
    """The ended runs that compare answers two by two, begun on these days or between them.

    Days are those of UTC. Without any run or verdict the arena has no standings.
    """
    runs = tuple(
        run
        for run in judged_runs(service)
        if run.state in ENDED_STATES and _within(run.created, since, until)
    )
    key = _JudgedRuns(tuple((run.id, run.revision) for run in runs), service)
    arena, choices = service.cache.memoize(_pool)(key, chosen or PoolFilter())
    return Leaderboard(arena, runs, choices)


@requires("see")
def judged_runs(service: AppService) -> Sequence[RunRow]:
    """The runs of the person that compare answers two by two, newest first, live ones too."""
    runs = read_runs(service.database, service.person)
    return [run for run in runs if _has_duels_kept(service, run)]


@requires("see", "run_id")
def has_duels(service: AppService, run_id: str) -> bool:
    """Whether a run compares answers two by two, by a judge or by people."""
    return _has_duels_kept(service, service.run(run_id))


def run_arenas(report: Report) -> tuple[Arena, ...]:
    """The arenas of a run: those of its judges, then people's own."""
    return (*report.arenas, *human_arenas(report.people))


def _pool(judged: _JudgedRuns, chosen: PoolFilter) -> tuple[Arena, PoolChoices]:
    arenas = [
        arena
        for run_id, _ in judged.versions
        for arena in run_arenas(run_report(judged.service, run_id, "en"))
    ]
    return pool_arenas(arenas, chosen), pool_choices(arenas)


def _has_duels_kept(service: AppService, run: RunRow) -> bool:
    return service.cache.memoize(_has_duels)(service.database, run.id, run.revision)


def _has_duels(database: Database, run_id: str, revision: int) -> bool:
    del revision  # part of the key: a vote may be the first
    cells = read_cells(database, run_id)
    if any(cell.cell.gives == "verdicts" and _in_pairs(cell) for cell in cells):
        return True
    answered = any(cell.cell.gives == "answers" for cell in cells)
    return answered and bool(read_votes(database, run_id))


def _within(moment: float, since: date | None, until: date | None) -> bool:
    day = datetime.fromtimestamp(moment, UTC).date()
    return (since is None or since <= day) and (until is None or day <= until)


def _in_pairs(cell: CellRow) -> bool:
    judging = ModeSpec.model_validate_json(cell.plan).judging
    return judging is not None and not judging.rates_single
