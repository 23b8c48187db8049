"""Results, Samples: filters, a list of questions, and one question in full.

The address holds every filter, the opened question, and the way it is shown.
"""

from collections.abc import Sequence

from evalui.app.questions import (
    QuestionReader,
    arena_places,
    listed_models,
    question_groups,
)
from evalui.app.run_labels import mode_label
from evalui.app.run_view import RunView
from evalui.report.html import Html
from evalui.store.question_pages import QuestionFilter
from evalui.store.runs import CellRow
from evalui.ui.components.pictures import Pictures
from evalui.ui.components.templates import fill
from evalui.ui.pages.results.list_and_reader import Filter, ListAndReader
from evalui.ui.pages.results.samples.address import OF_A_CELL, read_address
from evalui.ui.pages.results.samples.answer import answer_in_full
from evalui.ui.pages.results.samples.filters import count_filters, offered_filters
from evalui.ui.pages.results.samples.listing import listed_lines
from evalui.ui.pages.results.samples.question import question_in_full
from evalui.ui.screen import Screen


def draw(screen: Screen, view: RunView) -> None:
    """Filters, list and question as the address names them."""
    _Samples(screen, view).shown().show(screen)


class _Samples:
    """The questions of one address: `row` is the cell that is looked at."""

    def __init__(self, screen: Screen, view: RunView) -> None:
        self.view, self.t = view, screen.t
        self.reader = QuestionReader(view)
        given = read_address(view.run.id, screen.form)
        self.is_alone = bool(given.question)
        self.row = self.reader.cell(given.cell)
        self.address = given.to(cell=str(self.row.id))
        self.models = self.reader.models(self.row)
        self.listed = self.reader.questions(
            self.row,
            self.address.wanted,
            self.models,
            question=self.address.question,
            page=self.address.page,
        )

    def shown(self) -> ListAndReader:
        listed, address, t = self.listed, self.address, self.t
        opened = "" if listed.opened is None else address.question or listed.first
        wanted = address.wanted
        cleared = QuestionFilter(sort=wanted.sort)
        clear = address.to(wanted=cleared, question="", page=None).href
        return ListAndReader(
            head=self._phone_head(),
            filters=self._groups() | self._filters(),
            drops=("q", "sample", "page"),
            find=t("samples.find"),
            clear=clear if count_filters(wanted) else "",
            lines=listed_lines(
                t,
                address,
                listed,
                listed_models(self.models, self.row.id),
                opened=opened,
                subjects=len(self.reader.facets(self.row).subjects) > 1,
            ),
            reader=self._opened(opened) if opened else self._nothing(),
        )

    def _filters(self) -> dict[str, Filter]:
        row = self.row
        return offered_filters(
            self.t,
            self.reader.facets(row),
            self.address.wanted,
            model=row.cell.model,
            written=row.cell.gives == "answers",
        )

    def _groups(self) -> dict[str, Filter]:
        """The datasets and modes of the run, if there are several."""
        view, row = self.view, self.row
        done = [cell for cell in view.answering_cells if cell.done or cell.id == row.id]
        groups = question_groups(done)
        words = {str(_same_model(group, row).id): self._group(group) for group in groups}
        label = self.t("samples.group")
        # Filters mean nothing for another dataset.
        group = Filter(label, words, str(row.id), drops=OF_A_CELL)
        return {"cell": group} if len(words) > 1 else {}

    def _group(self, group: Sequence[CellRow]) -> str:
        """What distinguishes a dataset and mode from the others of the run."""
        several = len({cell.dataset_key for cell in self.view.cells}) > 1
        words = (group[0].cell.dataset if several else "", mode_label(self.t, group[0]))
        return " · ".join(word for word in words if word)

    def _opened(self, sample_id: str) -> Html:
        address = self.address.to(question=sample_id)
        opened = self.reader.open(self.row, self.models, sample_id, address.order)
        pictures = Pictures.of_run(self.t, self.view.service, self.view.run.id, sample_id)
        if self.row.cell.gives == "answers":
            judged = self.reader.judged(self.row, sample_id)
            arenas = arena_places(self.view.cells)
            content = answer_in_full(self.t, opened, address, pictures, judged, arenas)
        else:
            content = question_in_full(self.t, opened, address, pictures)
        return fill(
            "questions/reader.html",
            alone=self.is_alone,
            read=sample_id,
            content=content,
            steps=self._phone_steps(),
        )

    def _nothing(self) -> Html:
        """Why there is no question, and the way to one."""
        t, address, listed = self.t, self.address, self.listed
        sentence, word, href = t("samples.nothing"), "", ""
        if address.question:
            sentence = t("samples.unknown", id=address.question)
            word, href = t("samples.show_first"), address.to(question="").href
        elif not listed.total:
            sentence = t("samples.unanswered")
        else:
            word = t("samples.clear_all", total=f"{listed.total:,}")
            href = address.to(wanted=QuestionFilter(), page=None).href
        return fill(
            "questions/nothing.html", alone=self.is_alone, sentence=sentence, word=word, href=href
        )

    def _phone_head(self) -> Html:
        """On a phone the list, its filters and the question are one below the other's link."""
        t, n = self.t, count_filters(self.address.wanted)
        return fill(
            "questions/phone_head.html",
            back=self.address.to(question="").href if self.is_alone else "",
            word=t("samples.back", n=f"{self.listed.n:,}"),
            filters=t("samples.filter_n", n=n) if n else t("samples.filter"),
        )

    def _phone_steps(self) -> list[tuple[str, str]]:
        t, listed = self.t, self.listed
        place = f"{(listed.position or 0) + 2:,}"
        return [
            (t("samples.previous_question"), self.address.href_of(listed.previous)),
            (
                t("samples.next_of", n=f"{listed.n:,}", place=place),
                self.address.href_of(listed.following),
            ),
        ]


def _same_model(group: Sequence[CellRow], row: CellRow) -> CellRow:
    """The cell that a group opens with: the one that is shown, else that of the same model."""
    own = [cell for cell in group if cell.id == row.id]
    same = [cell for cell in group if cell.cell.model == row.cell.model]
    return next(iter([*own, *same, *group]))
