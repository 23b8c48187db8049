"""One run as its pages and views need it."""

from collections.abc import Collection, Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property

from evalui.app.permissions import checks
from evalui.app.results import may_repeat, run_report
from evalui.app.run_labels import mode_label, run_facts
from evalui.app.service import AppService
from evalui.messages import Messages
from evalui.report.analyses.base import Report
from evalui.report.analyses.verdict import with_question
from evalui.report.blocks import Markers, Places
from evalui.scoring.answer_summary import AnswerSummary
from evalui.scoring.cell_summary import Summary
from evalui.store.datasets import fewest_shots
from evalui.store.runs import LIVE_STATES, CellRow, RunRow, read_cells
from evalui.types import Cell, Language

_SHOTS = 5  # worked examples that a repetition with some proposes: as published figures have


def first_real(cells: Mapping[int, Cell], baselines: Collection[str]) -> int | None:
    """The id of the first cell of a model that is no script, else the first; None of none."""
    real = (id_ for id_, cell in cells.items() if cell.model not in baselines)
    return next(real, next(iter(cells), None))


@checks("that the person may see the run, where it has been deleted")
@contextmanager
def still_there(service: AppService, run_id: str) -> Generator[None]:
    """Around several reads of a run, which may be deleted between two of them; "" is of no run.

    Raises:
        UnknownRun: it was.
    """
    try:
        yield
    except (LookupError, StopIteration, ValueError):
        if run_id:
            service.run(run_id)
        raise  # our own mistake


class RunView:
    """One run of those that a person may see; figures are computed when they are first read.

    Raises:
        UnknownRun: they see none of that id.
    """

    def __init__(self, service: AppService, t: Messages, run_id: str) -> None:
        self.run: RunRow = service.run(run_id)
        self.cells: list[CellRow] = read_cells(service.database, run_id)
        self.baselines = service.models.baselines()
        self.service = service
        self.t = t

    @property
    def language(self) -> Language:
        """The language of the page."""
        return self.t.language

    @cached_property
    def report(self) -> Report:
        """All figures of the run."""
        return run_report(self.service, self.run.id, self.t.language)

    @cached_property
    def summaries(self) -> Mapping[int, Summary]:
        """The figures of each multiple-choice cell, by the cell's id, in the order of the run."""
        cells = [cell for cell in self.cells if cell.cell.gives == "choices"]
        return {
            cell.id: summary for cell, summary in zip(cells, self.report.summaries, strict=True)
        }

    @cached_property
    def with_question(self) -> Mapping[int, Summary]:
        """As `summaries`, of the cells that show their question; of all if none does."""
        shown = {summary.cell for summary in with_question(list(self.summaries.values()))}
        return {id_: summary_ for id_, summary_ in self.summaries.items() if summary_.cell in shown}

    @property
    def moment(self) -> float:
        """When the run ended, else began, else was started, in seconds since 1970."""
        return self.run.finished or self.run.started or self.run.created

    def facts(self, moment: str) -> list[str]:
        """What stands beside the name of the run, see `run_facts`."""
        return run_facts(self.t, self.run, self.cells, moment)

    @property
    def answers(self) -> tuple[AnswerSummary, ...]:
        """The figures of the cells of written answers, in the order of the run."""
        return self.report.answers

    @property
    def is_live(self) -> bool:
        """Whether answers are still to come."""
        return self.run.state in LIVE_STATES

    @property
    def has_choices(self) -> bool:
        """Whether the run has multiple-choice cells."""
        return any(cell.cell.gives == "choices" for cell in self.cells)

    @property
    def answering_cells(self) -> list[CellRow]:
        """The cells in which questions are answered: all but those of judges."""
        return [cell for cell in self.cells if cell.cell.gives != "verdicts"]

    @cached_property
    def places(self) -> Places:
        """Where links of the run's blocks lead."""
        return Places(self.run.id, {cell.cell: cell.id for cell in self.cells})

    @cached_property
    def places_with_steps(self) -> Places:
        """The same, and where the next steps begin that the person can take."""
        if not self.service.may_start:
            return self.places
        repeat = f"evaluate?again={self.run.id}" if may_repeat(self.service, self.run) else ""
        shots = min(_SHOTS, fewest_shots(self.service.database, self.run.id)) if repeat else 0
        examples = f"{repeat}&shots={shots}" if shots else ""
        return replace(self.places, repeat=repeat, examples=examples, sample="evaluate")

    def address(self, sub: str, **more: str) -> str:
        """The address of a view of this run, with what decides what it shows."""
        return self.places.view(sub, **more)

    def heading(self, compared: Cell) -> str:
        """What distinguishes the dataset and mode of a cell from the others of the run, "" if
        there are no others.
        """
        kinds = dict.fromkeys((s.cell.dataset, s.cell.label) for s in self.with_question.values())
        if len(kinds) < 2:
            return ""
        same = (compared.dataset, compared.label)
        cell = next(c for c in self.cells if (c.cell.dataset, c.cell.label) == same)
        several = len({dataset for dataset, _ in kinds}) > 1
        parts = [compared.dataset if several else "", mode_label(self.t, cell)]
        return " · ".join(part for part in parts if part)

    @cached_property
    def markers(self) -> Markers:
        """The markers of its multiple-choice models."""
        models = dict.fromkeys(summary.cell.model for summary in self.summaries.values())
        return Markers(tuple(models), self.baselines)

    def cell(self, cell_id: str) -> CellRow:
        """The cell of an id from a form, else the first that has answers."""
        for cell in self.answering_cells:
            if str(cell.id) == cell_id:
                return cell
        return next((cell for cell in self.answering_cells if cell.done), self.answering_cells[0])
