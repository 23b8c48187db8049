"""The arenas of a run: as its judges saw the duels, and as people did."""

from evalui.messages import Messages
from evalui.report.analyses.arena.figures import Arena
from evalui.report.analyses.people.figures import human_arenas
from evalui.runs.database.records import CellRow
from evalui.runs.database.runs import read_cells
from evalui.runs.database.votes import read_votes
from evalui.runs.spec import JUDGE, OPEN, ModeSpec
from evalui.scoring.arena.agreement import RaterAgreement
from evalui.ui.services.service import AppService


class ArenaCache:
    """One per tab; safe to share between threads."""

    def __init__(self, service: AppService, t: Messages) -> None:
        self._service = service
        self._t = t

    def arenas_of(self, run_id: str) -> tuple[Arena, ...]:
        """Those of judges first, in the order of the run, then those of people's votes."""
        # The report of a run of multiple choice need not be worked out to know that it has none.
        if not has_duels(self._service, run_id):
            return ()
        report = self._service.report(run_id, self._t.language)
        return (*report.arenas, *human_arenas(report.people))

    def agreement(self, run_id: str, place: int) -> RaterAgreement | None:
        """How far the judge of an arena and people say the same; None without shared duels."""
        found = self.arenas_of(run_id)
        if place >= len(found):
            return None
        people = self._service.report(run_id, self._t.language).people
        signed = found[place].signature
        return next((one.agreement for one in people if one.judged.signature == signed), None)


def has_duels(service: AppService, run_id: str) -> bool:
    """Whether a run compares answers two by two, by a judge or by people."""
    cells = read_cells(service.database, run_id)
    if any(cell.cell.mode == JUDGE and _in_pairs(cell) for cell in cells):
        return True
    return any(cell.cell.mode == OPEN for cell in cells) and bool(
        read_votes(service.database, run_id)
    )


def _in_pairs(cell: CellRow) -> bool:
    judging = ModeSpec.model_validate_json(cell.plan).judging
    return judging is not None and not judging.rates_single
