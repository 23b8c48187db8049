"""Results, Samples: filters, a list of questions, and one question in full.

The address is the whole state: every filter, the opened question, and the way it is shown.
"""

from collections.abc import Sequence

from evalui.app.run_labels import mode_label
from evalui.app.run_view import RunView, first_real
from evalui.app.service import AppService
from evalui.messages import Messages
from evalui.report.html import Child, Html, div, el, span
from evalui.runs.database.records import CellRow, QuestionFilter
from evalui.ui.components.form import Form
from evalui.ui.components.fragment import Action
from evalui.ui.components.widgets import card
from evalui.ui.tabs.results.samples.address import (
    PAGE_ROWS,
    SamplesAddress,
    changed_form,
    read_address,
)
from evalui.ui.tabs.results.samples.answering import (
    AnsweringModel,
    answering_models,
    question_groups,
)
from evalui.ui.tabs.results.samples.duels import arena_places
from evalui.ui.tabs.results.samples.filters import count_filters, filter_bar
from evalui.ui.tabs.results.samples.listing import QuestionList, listed_models, question_list
from evalui.ui.tabs.results.samples.open import answer_card
from evalui.ui.tabs.results.samples.question import question_card
from evalui.ui.tabs.results.samples.reading import QuestionReader

_TOGGLE = "show-filters"  # opens the filters on a phone


class SamplesView:
    """The view in one language."""

    def __init__(self, service: AppService, t: Messages) -> None:
        self.service = service
        self.t = t
        self._reader = QuestionReader(service.database, service.cache)

    def act(self, run: RunView, action: Action) -> Html | None:
        """The view after a field was changed; None for anything else.

        The question that is opened stays open if it is among those that are listed then.
        """
        if action.do != "set":
            return None
        form = changed_form(action.form, action.value("name"))
        address = read_address(run.run.id, form)
        if not self._reader.has_matching(_shown_cell(run, address.cell), address):
            form = {**form, "q": "", "sample": ""}
        return self.render(run, form)

    def render(self, run: RunView, form: Form) -> Html:
        """Filters, list and question as the address in `form` names them."""
        given = read_address(run.run.id, form)
        row = _shown_cell(run, given.cell)
        address, models = given.to(cell=str(row.id)), self._models(run, row)
        listed = self._reader.question_list(row, address, models)
        opened = "" if listed.opened is None else address.question or listed.first
        return div(
            el("input", type="hidden", name="opened", value=opened),
            el(
                "input",
                type="checkbox",
                id=_TOGGLE,
                cls="hidden",
                aria_label=self.t("samples.filter"),
            ),
            self._phone_head(address, listed),
            self._filters(run, row, address),
            div(
                question_list(
                    self.t,
                    address,
                    listed,
                    listed_models(models, row.id),
                    subjects=len(self._reader.facets(row).subjects) > 1,
                ),
                self._opened(run, row, address, models, listed, opened),
                cls="reader",
            ),
            cls="samples opened" if given.question else "samples",
            data_address=given.query,
            data_question=opened,
        )

    def _models(self, run: RunView, row: CellRow) -> tuple[AnsweringModel, ...]:
        return answering_models(run.cells, row, run.baselines)

    def _filters(self, run: RunView, row: CellRow, address: SamplesAddress) -> Html:
        done = [cell for cell in run.answering_cells if cell.done or cell.id == row.id]
        groups = question_groups(done)
        return filter_bar(
            self.t,
            address,
            self._reader.facets(row),
            model=row.cell.model,
            written=row.cell.gives == "answers",
            groups={str(_same_model(group, row).id): self._group(run, group) for group in groups},
            group=str(row.id),
        )

    def _group(self, run: RunView, group: Sequence[CellRow]) -> str:
        """What distinguishes a dataset and mode from the others of the run."""
        several = len({cell.dataset_key for cell in run.cells}) > 1
        words = (group[0].cell.dataset if several else "", mode_label(self.t, group[0]))
        return " · ".join(word for word in words if word)

    def _opened(
        self,
        run: RunView,
        row: CellRow,
        address: SamplesAddress,
        models: Sequence[AnsweringModel],
        listed: QuestionList,
        sample_id: str,
    ) -> Html:
        if not sample_id:
            return self._nothing(address, listed)
        opened = self._reader.opened_question(row, address, models, sample_id)
        if row.cell.gives == "answers":
            judged = self._reader.judged(run.cells, row, sample_id)
            shown = answer_card(self.t, opened, judged, arena_places(run.cells))
        else:
            shown = question_card(self.t, opened)
        return div(shown, self._phone_steps(address, listed), cls="col-r")

    def _nothing(self, address: SamplesAddress, listed: QuestionList) -> Html:
        """Why there is no question, and the way to one."""
        t = self.t
        if address.question:
            return _empty(
                t("samples.unknown", id=address.question),
                el("a", t("samples.show_first"), href=address.to(question="").href),
            )
        if not listed.total:
            return _empty(t("samples.unanswered"))
        clear = address.to(wanted=QuestionFilter(), rows=PAGE_ROWS).href
        words = t("samples.clear_all", total=f"{listed.total:,}")
        return _empty(t("samples.nothing"), el("a", words, href=clear))

    def _phone_head(self, address: SamplesAddress, listed: QuestionList) -> Html:
        """On a phone the list, its filters and the question are one below the other's link."""
        t, n = self.t, count_filters(address.wanted)
        back = el(
            "a", el("b", t("samples.back", n=f"{listed.n:,}")), href=address.to(question="").href
        )
        words = t("samples.filter_n", n=n) if n else t("samples.filter")
        return div(
            span(back, cls="back"), el("label", words, for_=_TOGGLE, cls="btn"), cls="phone-head"
        )

    def _phone_steps(self, address: SamplesAddress, listed: QuestionList) -> Html:
        t, at = self.t, listed.position
        following = t("samples.next_of", n=f"{listed.n:,}", place=f"{(at or 0) + 2:,}")
        return div(
            _step(address, listed.previous, t("samples.previous_question"), "k"),
            _step(address, listed.following, following, "j"),
            cls="phone-steps",
        )


def _shown_cell(run: RunView, cell_id: str) -> CellRow:
    """The cell of an address, else the first with answers, of a real model if there is one."""
    if not cell_id:
        answered = {row.id: row.cell for row in run.answering_cells if row.done}
        cell_id = str(first_real(answered, run.baselines) or "")
    return run.cell(cell_id)


def _step(address: SamplesAddress, question: str, words: str, key: str) -> Html | None:
    if not question:
        return None
    return el("a", words, href=address.to(question=question).href, cls="btn", data_hotkey=key)


def _empty(sentence: str, way: Child = None) -> Html:
    return card(div(el("p", sentence, " ", way), cls="empty"), cls="qa")


def _same_model(group: Sequence[CellRow], row: CellRow) -> CellRow:
    """The cell that a group opens with: the one that is shown, else that of the same model."""
    own = [cell for cell in group if cell.id == row.id]
    same = [cell for cell in group if cell.cell.model == row.cell.model]
    return next(iter([*own, *same, *group]))
