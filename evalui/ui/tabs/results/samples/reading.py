"""What the view reads from the store: the list around a question, and the question itself."""

from collections.abc import Sequence

from evalui.runs.database.connection import Database
from evalui.runs.database.question_pages import (
    Facets,
    JudgedQuestion,
    orders_of,
    read_facets,
    read_judged,
    read_listed,
    read_matching,
    read_place,
    read_question,
    read_sent_prompt,
)
from evalui.runs.database.records import CellRow, QuestionFilter
from evalui.runs.results_cache import ResultCache
from evalui.runs.spec import ModeSpec
from evalui.ui.tabs.results.samples.address import PAGE_ROWS, SamplesAddress
from evalui.ui.tabs.results.samples.answering import AnsweringModel
from evalui.ui.tabs.results.samples.listing import QuestionList, listed_models
from evalui.ui.tabs.results.samples.question import OpenedQuestion


class QuestionReader:
    """Reads from the store, and keeps what one step through a list shares with the next."""

    def __init__(self, database: Database, cache: ResultCache) -> None:
        self._database = database
        # A cell's row counts its answers: another answer makes it another row, a version of it.
        self._places = cache.memoize_newest(self._read_matching)
        self._facets = cache.memoize_newest(self._read_facets)

    def facets(self, row: CellRow) -> Facets:
        """What the questions of a cell can be filtered by."""
        return self._facets(row.id, row)

    def question_list(
        self,
        row: CellRow,
        address: SamplesAddress,
        models: Sequence[AnsweringModel],
    ) -> QuestionList:
        """The list that an address names, around the question it names, else from the first on.

        `opened` is None if nothing matches or there is no such question.
        """
        matching = self._matching(row, address.wanted)
        place = self._place(row, address, matching)
        at = matching.index(place) if place in matching else None
        start = (at or 0) // PAGE_ROWS * PAGE_ROWS if (at or 0) >= address.rows else 0
        end = start + (PAGE_ROWS if start else address.rows)
        beside = {
            "previous": matching[at - 1 : at] if at else (),
            "following": matching[:1] if at is None else matching[at + 1 : at + 2],
            "beyond": matching[end : end + 1],
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
            start=start,
            position=at,
            opened=place,
            **{name: ids[places[0]] if places else "" for name, places in beside.items()},
        )

    def has_matching(self, row: CellRow, address: SamplesAddress) -> bool:
        """Whether the filters of an address let the question pass that it names."""
        place = self._place(row, address, ())
        return place is not None and place in self._matching(row, address.wanted)

    def opened_question(
        self,
        row: CellRow,
        address: SamplesAddress,
        models: Sequence[AnsweringModel],
        sample_id: str,
    ) -> OpenedQuestion:
        """A question with the trials of all models, and the prompt of the chosen order."""
        detail = read_question(self._database, [model.row.id for model in models], sample_id)
        answering = tuple(model.with_trials(detail.trials[model.row.id]) for model in models)
        orders = orders_of(row, detail.sample)
        order = address.order if address.order < len(orders) else 0
        recorded = ModeSpec.model_validate_json(row.plan).recorded
        return OpenedQuestion(
            sample=detail.sample,
            address=address.to(question=sample_id),
            models=answering,
            chosen=next(model for model in answering if model.row.id == row.id),
            orders=orders,
            order=order,
            sent=None
            if recorded
            else read_sent_prompt(self._database, row, detail.sample, orders[order]),
        )

    def judged(
        self, cells: Sequence[CellRow], row: CellRow, sample_id: str
    ) -> tuple[JudgedQuestion, ...]:
        """What every judge of the cell's dataset said of the answers to a question."""
        return tuple(
            read_judged(self._database, cell, sample_id)
            for cell in cells
            if cell.cell.gives == "verdicts" and cell.dataset_key == row.dataset_key
        )

    def _matching(self, row: CellRow, wanted: QuestionFilter) -> tuple[int, ...]:
        return self._places(row.id, wanted, row)

    def _read_matching(self, cell_id: int, wanted: QuestionFilter, row: CellRow) -> tuple[int, ...]:
        del cell_id  # names what is kept
        return read_matching(self._database, row, wanted)

    def _read_facets(self, cell_id: int, row: CellRow) -> Facets:
        del cell_id
        return read_facets(self._database, row)

    def _place(self, row: CellRow, address: SamplesAddress, matching: Sequence[int]) -> int | None:
        if address.question:
            return read_place(self._database, row.id, address.question)
        return matching[0] if matching else None
