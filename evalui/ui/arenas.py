"""The arenas of a run: as its judges saw the duels, and as people did."""

from functools import lru_cache

from evalui.report.arena import Arena, arena
from evalui.report.votes import PeopleFigures, people_figures
from evalui.runs.rows import CellRow
from evalui.runs.spec import JUDGE, OPEN, ModeSpec
from evalui.scoring.agreement import Agreement
from evalui.types import CellResult
from evalui.ui.desk import Desk
from evalui.ui.text import Text

_KEPT = 8  # judges whose comparison with people stays in memory


class Arenas:
    """One per tab; safe to share between threads."""

    def __init__(self, desk: Desk, t: Text) -> None:
        self._desk = desk
        self._t = t
        # Each look at the page would draw a thousand samples again.
        self._compared = lru_cache(maxsize=_KEPT)(self._compare)

    def of(self, run_id: str) -> tuple[Arena, ...]:
        """Those of judges first, in the order of the run, then those of people's votes."""
        judged = self._judged(run_id)
        found: list[Arena] = []
        for row in self._voted(run_id):
            places = [at for at, one in enumerate(judged) if one.dataset == row.cell.dataset]
            figures = self._figures(run_id, row, places[0] if places else None)
            if figures.human is not None:
                found.append(figures.human)
        return (*judged, *found)

    def agreement(self, run_id: str, place: int) -> Agreement | None:
        """How far the judge of an arena and people say the same; None without shared duels."""
        judged = self._judged(run_id)
        if place >= len(judged):
            return None
        rows = [row for row in self._voted(run_id) if row.cell.dataset == judged[place].dataset]
        return self._figures(run_id, rows[0], place).agreement if rows else None

    def _judged(self, run_id: str) -> tuple[Arena, ...]:
        # A run of multiple choice has none, and its report need not be worked out to know it.
        cells = self._desk.store.cells(run_id)
        if not any(cell.cell.mode == JUDGE for cell in cells):
            return ()
        return self._desk.report(run_id, self._t.language).arenas

    def _voted(self, run_id: str) -> list[CellRow]:
        """One cell of written answers for each dataset that people voted on."""
        voted = {vote.dataset for vote in self._desk.store.votes(run_id) if vote.verdict}
        cells = [cell for cell in self._desk.store.cells(run_id) if cell.cell.mode == OPEN]
        first = {cell.dataset_key: cell for cell in reversed(cells)}
        return [
            cell for cell in cells if cell is first[cell.dataset_key] and cell.dataset_key in voted
        ]

    def _figures(self, run_id: str, row: CellRow, place: int | None) -> PeopleFigures:
        return self._compared(run_id, self._desk.run(run_id).revision, row.id, place)

    def _compare(
        self, run_id: str, revision: int, cell_id: int, place: int | None
    ) -> PeopleFigures:
        del revision  # part of the key: another revision, other votes
        row = next(cell for cell in self._desk.store.cells(run_id) if cell.id == cell_id)
        judged = self._unjudged(row) if place is None else self._judged(run_id)[place]
        return people_figures(judged, self._desk.store.verdicts(run_id, row.dataset_key))

    def _unjudged(self, row: CellRow) -> Arena:
        """An arena without verdicts, for answers that only people compared."""
        result = self._desk.store.result(row.run_id, row.id)
        everybody = self._desk.store.contestants(row)
        return arena(
            CellResult(result.cell, result.samples, (), 0, contestants=everybody, orders="random")
        )


def has_duels(desk: Desk, run_id: str) -> bool:
    """Whether a run compares answers two by two, by a judge or by people."""
    cells = desk.store.cells(run_id)
    if any(cell.cell.mode == JUDGE and _in_pairs(cell) for cell in cells):
        return True
    return any(cell.cell.mode == OPEN for cell in cells) and bool(desk.store.votes(run_id))


def _in_pairs(cell: CellRow) -> bool:
    judging = ModeSpec.model_validate_json(cell.plan).judging
    return judging is not None and not judging.rates_single
