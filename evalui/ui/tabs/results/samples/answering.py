"""The models that answered a question in one mode, with their markers and trials."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Self

from evalui.report.html import Html
from evalui.report.icons import model_name
from evalui.runs.database.records import CellRow, TrialOutcome
from evalui.types import Trial, Variant

_COLOURS = 6  # of models; beyond, they come again


@dataclass(frozen=True, slots=True)
class AnsweringModel:
    """One model in one mode. `place` decides its marker, `trials` are those on one question."""

    row: CellRow
    place: int
    baseline: bool
    trials: tuple[Trial, ...] = ()

    @property
    def name(self) -> str:
        """The model's name."""
        return self.row.cell.model

    @property
    def name_with_marker(self) -> Html:
        """The model as it is named everywhere in the run."""
        return model_name(self.name, self.place, self.baseline)

    @property
    def colour(self) -> str:
        """The colour of its marker."""
        return f"var(--d{0 if self.baseline else self.place % _COLOURS + 1})"

    @property
    def is_written(self) -> bool:
        """Whether it answers in words of its own, and not with one of the options."""
        return self.row.cell.gives == "answers"

    def with_trials(self, trials: tuple[Trial, ...]) -> Self:
        """The same model with its trials on a question."""
        return replace(self, trials=trials)

    def trial(self, variant: Variant) -> Trial | None:
        """Its trial of one order, None if that is not done."""
        return next((trial for trial in self.trials if trial.variant == variant), None)


def answering_models(
    cells: Sequence[CellRow], row: CellRow, baselines: Collection[str]
) -> tuple[AnsweringModel, ...]:
    """The models that answer the questions of a cell in its mode, in the order of the run.

    Markers are those of the whole run: written answers and multiple choice count apart, and what
    cannot run takes no marker among written answers.
    """
    of_a_kind = [
        cell
        for cell in cells
        if cell.cell.gives != "verdicts"
        and (cell.cell.gives == "answers") == (row.cell.gives == "answers")
        and (cell.cell.gives != "answers" or cell.state != "impossible")
    ]
    own = list(dict.fromkeys(c.cell.model for c in of_a_kind if c.cell.model not in baselines))
    group = _group(row)
    return tuple(
        AnsweringModel(
            cell,
            own.index(cell.cell.model) if cell.cell.model in own else 0,
            cell.cell.model in baselines,
        )
        for cell in cells
        if _group(cell) == group and (cell.done or cell == row)
    )


def question_groups(cells: Sequence[CellRow]) -> tuple[tuple[CellRow, ...], ...]:
    """The cells that answered the same questions in the same mode, in the order of the run."""
    groups: dict[tuple[str, str, str], list[CellRow]] = {}
    for cell in cells:
        groups.setdefault(_group(cell), []).append(cell)
    return tuple(map(tuple, groups.values()))


def outcome_of(trial: Trial) -> TrialOutcome:
    """What became of one order of a question."""
    if trial.reading.tied:
        return "tied"
    if trial.choice is None:
        return "unreadable"
    return "right" if trial.correct else "wrong"


def _group(row: CellRow) -> tuple[str, str, str]:
    # Answers that were brought along stand beside those that models wrote.
    label = "" if row.cell.gives == "answers" else row.cell.label
    return row.dataset_key, row.cell.mode, label
