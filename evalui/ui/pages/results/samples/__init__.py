"""Results, Samples: filters, a list of questions, and one question in full.

The address holds every filter, the opened question, and the way it is shown.
"""

from collections.abc import Sequence

from evalui.app.questions import (
    PAGE_ROWS,
    QuestionReader,
    arena_places,
    listed_models,
    question_groups,
)
from evalui.app.run_labels import mode_label
from evalui.app.run_view import RunView
from evalui.messages import Messages
from evalui.report.html import Html
from evalui.store.question_pages import QuestionFilter
from evalui.store.runs import CellRow
from evalui.ui.components.form import Form
from evalui.ui.components.list_and_reader import ListAndReader, ListContent
from evalui.ui.components.pickers import Words
from evalui.ui.components.question_list import Steps
from evalui.ui.components.question_reader import question_reader
from evalui.ui.components.templates import fill
from evalui.ui.pages.results.samples.address import (
    SamplesAddress,
    changed_form,
    read_address,
)
from evalui.ui.pages.results.samples.answer import answer_in_full
from evalui.ui.pages.results.samples.filters import NAMES, count_filters, offered_filters
from evalui.ui.pages.results.samples.listing import growth, listed_lines
from evalui.ui.pages.results.samples.question import question_in_full


def make_view(t: Messages) -> ListAndReader:
    """The components of the view."""
    labels = {
        name: t("samples.outcome") if name == "outcome" else t(f"samples.{name}") for name in NAMES
    }
    return ListAndReader(
        "samples",
        labels,
        find=t("samples.find"),
        hint=t("samples.find_hint"),
        reader=question_reader,
    )


def content(view: RunView, form: Form) -> ListContent:
    """Filters, list and question as the address in `form` names them."""
    return _Samples(view, form).content()


def changed(view: RunView, form: Form, fields: Form) -> str:
    """The query of the address after one of the `fields` beside the list was changed.

    The question that is opened stays open if it is among those that are listed then. What the
    fields have by the address itself is no change: "".
    """
    reader = QuestionReader(view)
    before = read_address(view.run.id, form)
    shown = reader.cell(before.cell)
    address = read_address(view.run.id, changed_form(form, fields, str(shown.id)))
    row = reader.cell(address.cell)
    if row.id == shown.id and address.wanted == before.wanted:
        return ""
    if address.question and not reader.has_matching(row, address.wanted, address.question):
        address = address.to(question="")
    return address.query


class _Samples:
    """The questions of one address: `row` is the cell that is looked at."""

    def __init__(self, view: RunView, form: Form) -> None:
        self.view = view
        self.t = view.t
        self.reader = QuestionReader(view)
        self.given = read_address(view.run.id, form)
        self.row = self.reader.cell(self.given.cell)
        self.address = self.given.to(cell=str(self.row.id))
        self.models = self.reader.models(self.row)
        self.listed = self.reader.questions(
            self.row,
            self.address.wanted,
            self.models,
            question=self.address.question,
            rows=self.address.rows,
        )

    def content(self) -> ListContent:
        listed, address, t = self.listed, self.address, self.t
        opened = "" if listed.opened is None else address.question or listed.first
        wanted = address.wanted
        clear = address.to(
            wanted=QuestionFilter(sort=wanted.sort), question="", rows=PAGE_ROWS
        ).href
        return ListContent(
            lines=listed_lines(
                t,
                address,
                listed,
                listed_models(self.models, self.row.id),
                subjects=len(self.reader.facets(self.row).subjects) > 1,
            ),
            reader=self._opened(opened) if opened else self._nothing(),
            steps=Steps(
                opened,
                {
                    "previous": _href(address, listed.previous),
                    "following": _href(address, listed.following),
                    **growth(address, listed),
                },
                is_alone=bool(self.given.question),
            ),
            offered=self._filters(),
            find=wanted.find,
            clear=(t("samples.clear"), clear if count_filters(wanted) else ""),
            head=self._phone_head(),
        )

    def _filters(self) -> dict[str, Words]:
        view, row = self.view, self.row
        done = [cell for cell in view.answering_cells if cell.done or cell.id == row.id]
        groups = question_groups(done)
        words = {str(_same_model(group, row).id): self._group(group) for group in groups}
        return offered_filters(
            self.t,
            self.reader.facets(row),
            self.address.wanted,
            model=row.cell.model,
            written=row.cell.gives == "answers",
            groups=Words(words, str(row.id)),
        )

    def _group(self, group: Sequence[CellRow]) -> str:
        """What distinguishes a dataset and mode from the others of the run."""
        several = len({cell.dataset_key for cell in self.view.cells}) > 1
        words = (group[0].cell.dataset if several else "", mode_label(self.t, group[0]))
        return " · ".join(word for word in words if word)

    def _opened(self, sample_id: str) -> Html:
        address = self.address.to(question=sample_id)
        opened = self.reader.open(self.row, self.models, sample_id, address.order)
        if self.row.cell.gives == "answers":
            judged = self.reader.judged(self.row, sample_id)
            arenas = arena_places(self.view.cells)
            content = answer_in_full(self.t, opened, address, judged, arenas)
        else:
            content = question_in_full(self.t, opened, address)
        return fill(
            "questions/reader.html", read=sample_id, content=content, steps=self._phone_steps()
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
            href = address.to(wanted=QuestionFilter(), rows=PAGE_ROWS).href
        return fill("questions/nothing.html", sentence=sentence, word=word, href=href)

    def _phone_head(self) -> Html:
        """On a phone the list, its filters and the question are one below the other's link."""
        t, n = self.t, count_filters(self.address.wanted)
        return fill(
            "questions/phone_head.html",
            back=self.address.to(question="").href,
            word=t("samples.back", n=f"{self.listed.n:,}"),
            filters=t("samples.filter_n", n=n) if n else t("samples.filter"),
        )

    def _phone_steps(self) -> list[tuple[str, str]]:
        t, listed = self.t, self.listed
        place = f"{(listed.position or 0) + 2:,}"
        return [
            (t("samples.previous_question"), _href(self.address, listed.previous)),
            (
                t("samples.next_of", n=f"{listed.n:,}", place=place),
                _href(self.address, listed.following),
            ),
        ]


def _href(address: SamplesAddress, question: str) -> str:
    return address.to(question=question).href if question else ""


def _same_model(group: Sequence[CellRow], row: CellRow) -> CellRow:
    """The cell that a group opens with: the one that is shown, else that of the same model."""
    own = [cell for cell in group if cell.id == row.id]
    same = [cell for cell in group if cell.cell.model == row.cell.model]
    return next(iter([*own, *same, *group]))
