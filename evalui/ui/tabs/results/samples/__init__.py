"""Results, Samples: filters, a page of questions from the database, and one question in full."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args
from urllib.parse import urlencode

import gradio as gr

from evalui.messages import Messages
from evalui.report.html import Html, div, el, span
from evalui.runs.database.question_pages import (
    has_question,
    read_facets,
    read_question,
    read_question_page,
    read_sent_prompts,
)
from evalui.runs.database.records import CellRow, Facets, OutcomeFilter, QuestionPage
from evalui.runs.spec import ModeSpec
from evalui.types import LETTERS
from evalui.ui.components.form import Form, field_value, parse_whole_number
from evalui.ui.components.format import short_id
from evalui.ui.components.fragment import Action, html_fragment, on_action
from evalui.ui.components.widgets import card, field, paged_list, select
from evalui.ui.services.service import AppService
from evalui.ui.tabs.results.run_view import RunView
from evalui.ui.tabs.results.samples import open
from evalui.ui.tabs.results.samples.open import AnswerFilters, AnswerLine
from evalui.ui.tabs.results.samples.question import question_card

PAGE_SIZE = 100
_OUTCOMES: Mapping[str, OutcomeFilter] = {name: name for name in get_args(OutcomeFilter)}
_MAX_SEARCH_LENGTH = 200  # characters; SQLite refuses very long patterns
_DOTS = {"right": "●", "wrong": "○", "unreadable": "–", "tied": "◐"}


@dataclass(frozen=True, slots=True)
class Filters:
    """What the list shows. Slots count from 0; `page` too."""

    outcome: OutcomeFilter = ""
    subject: str = ""
    rule: str = ""
    gold: int | None = None
    picked: int | None = None
    find: str = ""
    page: int = 0


class SamplesView:
    """The view in one language. The form in the browser is its whole state."""

    def __init__(self, service: AppService, t: Messages) -> None:
        self.service = service
        self.t = t
        self.outputs: list[Any] = []

    def build(self, run_id: gr.Textbox) -> None:
        """Lay out the one pane."""
        whole = html_fragment("samples-pane")
        self.outputs = [whole]
        on_action(whole, self.answer, inputs=[run_id], outputs=[whole])

    def answer(self, run_id: str, act: Action) -> Html:
        """The page after a filter, a step or a click on a question."""
        form = act.form | {name: act.value(name) for name in ("page", "sample") if act.value(name)}
        if act.do == "set":
            form |= {"page": "0", "sample": ""}
        if act.do == "set" and act.value("name") == "cell":
            form |= dict.fromkeys(("subject", "capability", "rule", "gold", "picked"), "")
        return self.show(run_id, form)

    def show(self, run_id: str, form: Form | None = None) -> Html:
        """Filters, list and the opened question of a run."""
        form = form or {}
        view, t, database = RunView(self.service, self.t, run_id), self.t, self.service.database
        row, filters = view.cell(field_value(form, "cell")), read_filters(form)
        if open.is_open(row):
            return self._answers(view, row, form, filters.page)
        page = read_question_page(
            database,
            row.id,
            outcome=filters.outcome,
            subject=filters.subject,
            rule=filters.rule,
            gold_slot=filters.gold,
            picked_slot=filters.picked,
            find=filters.find,
            offset=filters.page * PAGE_SIZE,
            limit=PAGE_SIZE,
        )
        ids = [line.sample_id for line in page.rows]
        opened = field_value(form, "sample")
        if not has_question(
            database, row.id, opened
        ):  # none was requested, or the link is an old one
            opened = ids[0] if ids else ""
        bar = filter_bar(t, row, _cells(view), read_facets(database, row.id), filters)
        return div(
            bar,
            div(listing(t, page, filters, opened), self._question(row, opened), cls="two-pane"),
            cls="stack",
        )

    def _answers(self, view: RunView, row: CellRow, form: Form, page: int) -> Html:
        """The same for written answers: few filters, and an answer beside its reference."""
        t, result = self.t, self.service.result(row)
        filters = open.read_answer_filters(form, page)
        filtered = open.filter_answers(result, filters)
        lines = {line.sample.id: line for line in open.filter_answers(result, AnswerFilters())}
        opened = field_value(form, "sample")
        if opened not in lines:
            first = filtered[filters.page * PAGE_SIZE : filters.page * PAGE_SIZE + 1]
            opened = first[0].sample.id if first else ""
        return div(
            open.filter_bar(t, row, _cells(view), result, filters),
            div(
                open.listing(t, filtered, filters, opened, page_size=PAGE_SIZE),
                self._answer(row, lines[opened])
                if opened
                else card(div(t("samples.nothing"), cls="empty")),
                cls="two-pane",
            ),
            cls="stack",
        )

    def _answer(self, row: CellRow, line: AnswerLine) -> Html:
        mode = ModeSpec.model_validate_json(row.plan)
        prompts = (
            () if mode.recorded else read_sent_prompts(self.service.database, row, line.sample.id)
        )
        address = _address(row, line.sample.id)
        return open.open_detail(self.t, line, prompts, mode, address=address)

    def _question(self, row: CellRow, sample_id: str) -> Html:
        if not sample_id:
            return card(div(self.t("samples.nothing"), cls="empty"))
        database = self.service.database
        return question_card(
            self.t,
            read_question(database, row.id, sample_id),
            read_sent_prompts(database, row, sample_id),
            row.cell.pattern,
            address=_address(row, sample_id),
        )


def read_filters(form: Form) -> Filters:
    """The filters of a form or an address; what cannot be understood filters nothing."""
    return Filters(
        outcome=_OUTCOMES.get(field_value(form, "outcome"), ""),
        subject=field_value(form, "subject"),
        rule=field_value(form, "rule"),
        gold=_slot(field_value(form, "gold")),
        picked=_slot(field_value(form, "picked")),
        find=field_value(form, "find").strip()[:_MAX_SEARCH_LENGTH],
        page=parse_whole_number(field_value(form, "page")) or 0,
    )


def filter_bar(
    t: Messages,
    row: CellRow,
    cells: Mapping[str, str],
    facets: Facets,
    filters: Filters,
) -> Html:
    """A field per filter. The page starts again from the first when one changes."""
    any_ = {"": t("samples.any")}
    slots = any_ | {str(slot): LETTERS[slot] for slot in range(facets.n_options)}
    outcomes = {name: t(f"outcome.{name or 'all'}") for name in _OUTCOMES}
    subjects = any_ | {name: name for name in facets.subjects if name}
    rules = any_ | {name: name for name in facets.rules}
    fields = [
        field(t("samples.cell"), select("cell", cells, str(row.id))),
        field(t("samples.outcome"), select("outcome", outcomes, filters.outcome)),
        field(t("samples.subject"), select("subject", subjects, filters.subject))
        if len(subjects) > 2
        else None,
        field(t("samples.rule"), select("rule", rules, filters.rule)),
        field(t("samples.gold"), select("gold", slots, _text(filters.gold))),
        field(t("samples.picked"), select("picked", slots, _text(filters.picked))),
        field(
            t("samples.find"),
            el(
                "input",
                type="search",
                name="find",
                value=filters.find,
                placeholder=t("samples.find_hint"),
            ),
        ),
    ]
    return div(*fields, cls="fields")


def listing(t: Messages, page: QuestionPage, filters: Filters, opened: str) -> Html:
    """The questions of one page; arrow keys move between them."""
    items = [
        el(
            "li",
            el(
                "button",
                span(short_id(row.sample_id), cls="mono id"),
                span(row.question, cls="q"),
                span(
                    *(_DOTS[outcome] for outcome in row.outcomes),
                    cls="dots",
                    title=_outcomes_label(t, row.outcomes),
                ),
                span(row.subject, cls="meta") if row.subject else None,
                type="button",
                data_do="open",
                data_sample=row.sample_id,
                aria_current="true" if row.sample_id == opened else None,
            ),
        )
        for row in page.rows
    ]
    return paged_list(
        t,
        "samples",
        items,
        first=filters.page * PAGE_SIZE,
        total=page.total,
        page=filters.page,
        opened=("sample", opened),
        legend=el("p", t("samples.legend"), cls="meta pad"),
    )


def _cells(view: RunView) -> Mapping[str, str]:
    return {str(cell.id): view.label(cell) for cell in view.answering_cells if cell.done}


def _address(row: CellRow, sample_id: str) -> str:
    address = {"run": row.run_id, "sub": "samples", "cell": row.id, "sample": sample_id}
    return f"?{urlencode(address)}"


def _outcomes_label(t: Messages, outcomes: tuple[str, ...]) -> str:
    return t("list.comma").join(t(f"outcome.{outcome}") for outcome in outcomes)


def _slot(text: str) -> int | None:
    slot = parse_whole_number(text)
    return None if slot is None or slot >= len(LETTERS) else slot


def _text(slot: int | None) -> str:
    return "" if slot is None else str(slot)
