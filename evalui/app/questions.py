"""The questions of a run as a page lists and opens them: what is read of the store, and by whom."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

from evalui.app.run_view import RunView, first_real
from evalui.runs.results import SentPrompt, orders_of, read_sent_prompt
from evalui.runs.spec import ModeSpec
from evalui.store.connection import Database
from evalui.store.question_pages import (
    Facets,
    JudgedQuestion,
    ListedQuestion,
    QuestionFilter,
    TrialOutcome,
    read_facets,
    read_judged,
    read_listed,
    read_matching,
    read_place,
    read_question,
)
from evalui.store.runs import CellRow
from evalui.types import Pattern, Sample, Trial, Variant

PAGE_ROWS = 50  # questions that a list shows at a time
_MAX_MODELS = 4  # that have marks in a list


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
    def is_written(self) -> bool:
        """Whether it answers in words of its own, and not with one of the options."""
        return self.row.cell.gives == "answers"

    def with_trials(self, trials: tuple[Trial, ...]) -> Self:
        """The same model with its trials on a question."""
        return replace(self, trials=trials)

    def trial(self, variant: Variant) -> Trial | None:
        """Its trial of one order, None if that is not done."""
        return next((trial for trial in self.trials if trial.variant == variant), None)


@dataclass(frozen=True, slots=True)
class QuestionList:
    """What is listed: a page of the `n` questions that match among `total`.

    `opened` is the place in the file of the opened question, `position` its place among those that
    match, None if it is none of them. `previous` and `following` are the ids of the questions
    before and after it, "" where there is none.
    """

    rows: tuple[ListedQuestion, ...]
    n: int
    total: int
    page: int
    position: int | None
    opened: int | None
    previous: str = ""
    following: str = ""

    @property
    def first(self) -> str:
        """The id of the first row, "" without rows."""
        return self.rows[0].sample.id if self.rows else ""


@dataclass(frozen=True, slots=True)
class OpenedQuestion:
    """A question in full.

    `orders` are those in which its options are shown, `order` the place of the chosen one; `models`
    all models of its mode with their trials, `chosen` the one that is looked at. `sent` is what was
    sent in the chosen order, None where nothing was asked here.
    """

    sample: Sample
    models: tuple[AnsweringModel, ...]
    chosen: AnsweringModel
    orders: tuple[Variant, ...]
    order: int
    sent: SentPrompt | None = None

    @property
    def pattern(self) -> Pattern:
        """The pattern of the orders."""
        return self.chosen.row.cell.pattern

    @property
    def mode(self) -> ModeSpec:
        """The mode in which it was answered."""
        return ModeSpec.model_validate_json(self.chosen.row.plan)


class QuestionReader:
    """Reads the questions of one run, and keeps what one step through a list shares with the next.

    The run is one that the person may see: that is what a `RunView` is made of.
    """

    def __init__(self, run: RunView) -> None:
        self._run = run
        self._database = run.service.database
        self._cache = run.service.cache

    def cell(self, cell_id: str) -> CellRow:
        """The cell of an id, else the first with answers, of a real model if there is one."""
        if not cell_id:
            answered = {row.id: row.cell for row in self._run.answering_cells if row.done}
            cell_id = str(first_real(answered, self._run.baselines) or "")
        return self._run.cell(cell_id)

    def models(self, row: CellRow) -> tuple[AnsweringModel, ...]:
        """The models that answer the questions of a cell in its mode."""
        return answering_models(self._run.cells, row, self._run.baselines)

    def facets(self, row: CellRow) -> Facets:
        """What the questions of a cell can be filtered by."""
        # A cell's row counts its answers: another answer makes it another row, a version of it.
        return self._cache.memoize_newest(_facets)(self._database, row.id, row)

    def questions(
        self,
        row: CellRow,
        wanted: QuestionFilter,
        models: Sequence[AnsweringModel],
        *,
        question: str = "",
        page: int | None = None,
    ) -> QuestionList:
        """What passes the filters: that page, else the one of the question that is named.

        Without one the first of the page is open. `opened` is None if nothing matches or there is
        no such question.
        """
        matching = self._matching(row, wanted)
        place = read_place(self._database, row.id, question) if question else None
        at = matching.index(place) if place in matching else None
        last = max(len(matching) - 1, 0) // PAGE_ROWS
        page = min((at or 0) // PAGE_ROWS if page is None else page, last)
        start, end = page * PAGE_ROWS, (page + 1) * PAGE_ROWS
        if not question and matching:
            place, at = matching[start], start
        beside = {
            "previous": matching[at - 1 : at] if at else (),
            "following": matching[:1] if at is None else matching[at + 1 : at + 2],
        }
        shown = matching[start:end]
        read = read_listed(
            self._database,
            [model.row.id for model in listed_models(models, row.id)],
            [*shown, *(each for places in beside.values() for each in places)],
        )
        ids = {each.place: each.sample.id for each in read}
        return QuestionList(
            rows=read[: len(shown)],
            n=len(matching),
            total=len(self._matching(row, QuestionFilter())),
            page=page,
            position=at,
            opened=place,
            **{name: ids[places[0]] if places else "" for name, places in beside.items()},
        )

    def open(
        self, row: CellRow, models: Sequence[AnsweringModel], sample_id: str, order: int
    ) -> OpenedQuestion:
        """A question with the trials of all models, and the prompt of the order at that place."""
        detail = read_question(self._database, [model.row.id for model in models], sample_id)
        answering = tuple(model.with_trials(detail.trials[model.row.id]) for model in models)
        orders = orders_of(row, detail.sample)
        order = order if order < len(orders) else 0
        recorded = ModeSpec.model_validate_json(row.plan).recorded
        return OpenedQuestion(
            sample=detail.sample,
            models=answering,
            chosen=next(model for model in answering if model.row.id == row.id),
            orders=orders,
            order=order,
            sent=None
            if recorded
            else read_sent_prompt(self._database, row, detail.sample, orders[order]),
        )

    def judged(self, row: CellRow, sample_id: str) -> tuple[JudgedQuestion, ...]:
        """What every judge of the cell's dataset said of the answers to a question."""
        return tuple(
            read_judged(self._database, cell, sample_id)
            for cell in self._run.cells
            if cell.cell.gives == "verdicts" and cell.dataset_key == row.dataset_key
        )

    def _matching(self, row: CellRow, wanted: QuestionFilter) -> tuple[int, ...]:
        return self._cache.memoize_newest(_places)(self._database, row.id, wanted, row)


def _places(
    database: Database, cell_id: int, wanted: QuestionFilter, row: CellRow
) -> tuple[int, ...]:
    del cell_id  # names what is kept
    return read_matching(database, row, wanted)


def _facets(database: Database, cell_id: int, row: CellRow) -> Facets:
    del cell_id
    return read_facets(database, row)


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


def listed_models(models: Sequence[AnsweringModel], chosen: int) -> tuple[AnsweringModel, ...]:
    """The models that have marks in a list: real ones before scripts, the chosen one always."""
    own = [model for model in models if not model.baseline] or list(models)
    shown = own[:_MAX_MODELS]
    if all(model.row.id != chosen for model in shown):
        last = [model for model in models if model.row.id == chosen]
        shown = [*shown[: _MAX_MODELS - 1], *last]
    return tuple(shown)


def outcome_of(trial: Trial) -> TrialOutcome:
    """What became of one order of a question."""
    if trial.reading.tied:
        return "tied"
    if trial.choice is None:
        return "unreadable"
    return "right" if trial.correct else "wrong"


def arena_places(cells: Sequence[CellRow]) -> Mapping[int, int]:
    """The place among a run's arenas of each judge's cell, by its id.

    Several judges of one dataset have a panel's arena before their own; marks of single answers
    have none.
    """
    groups: dict[tuple[str, str], list[int]] = {}
    for row in cells:
        judging = ModeSpec.model_validate_json(row.plan).judging
        if judging and not judging.rates_single:
            groups.setdefault((row.cell.dataset, row.cell.label), []).append(row.id)
    places, first = dict[int, int](), 0
    for group in groups.values():
        first += len(group) > 1
        places |= {id_: first + place for place, id_ in enumerate(group)}
        first += len(group)
    return places


def _group(row: CellRow) -> tuple[str, str, str]:
    # Answers that were brought along stand beside those that models wrote.
    label = "" if row.cell.gives == "answers" else row.cell.label
    return row.dataset_key, row.cell.mode, label
