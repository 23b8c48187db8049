"""The Runs page: the queue, one run in full while it goes on, and what has ended.

The run in full looks for itself how far it is (`run_progress`), and lets the rest of the page
follow where that changes: a run began or ended, or another one got further.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

import gradio as gr

from evalui.app.evaluations import delete_run, resume_run, stop_run
from evalui.app.results import list_runs
from evalui.app.run_lists import QueuedRun, find_ended, order_queue
from evalui.app.run_progress import progress_version, read_progress
from evalui.app.service import AppService
from evalui.errors import EvaluiError, UnknownRun
from evalui.report.html import Html
from evalui.store.runs import ENDED_STATES, LIVE_STATES, RunRow
from evalui.ui.components.action import Action
from evalui.ui.components.address import address, leads_to, read_query
from evalui.ui.components.form import Form, field_value
from evalui.ui.components.listing import bar, listing, markup
from evalui.ui.components.progress_document import progress_document, progress_tag
from evalui.ui.components.run_progress import run_progress, shown_progress
from evalui.ui.components.templates import fill
from evalui.ui.components.widgets import alert
from evalui.ui.pages.context import EVENTS, PageContext
from evalui.ui.pages.runs.rows import RunRows

_NAME = "runs"
_MOST = 100  # ended runs; what else there is, is looked for
_SEARCHED = 8  # ended runs from which on they can be searched
_CHANGES: Mapping[str, Callable[[AppService, str], None]] = {
    "stop": stop_run,
    "resume": resume_run,
    "delete": delete_run,
}
Updates = dict[Any, Any]  # of components


def make_page(context: PageContext) -> None:
    """The page, where Gradio is to draw it."""
    RunsPage(context).wire()


class RunsPage:
    """Its components, and what changes them."""

    def __init__(self, context: PageContext) -> None:
        t = context.t
        self.context = context
        self.address = address(f"{t(f'tab.{_NAME}')} · {t('app.name')}", t.language)
        self.bar = bar()
        with gr.Column(elem_classes="page ev stack runs-page"):
            self.head = markup()
            self.notice = markup(visible=False)
            self.queue = listing()
            with gr.Column(visible=False, elem_classes="card run-in-full") as self.run:
                self.run_head = listing()
                self.progress = run_progress(t)
            with gr.Column(visible=False, elem_classes="card ended") as self.ended:
                markup(fill("runs/ended_head.html", title=t("runs.finished")))
                with gr.Row(visible=False, elem_classes="search") as self.search:
                    self.find = gr.Textbox(
                        show_label=False,
                        label=t("runs.find"),
                        placeholder=t("runs.find"),
                        container=False,
                        scale=3,
                    )
                    states = [(t(f"runstate.{state}"), state) for state in ENDED_STATES]
                    self.state = gr.Dropdown(
                        [(t("runs.any_state"), ""), *states],
                        value="",
                        show_label=False,
                        label=t("runs.state"),
                        container=False,
                        scale=1,
                    )
                self.listed = listing()
        # The run that the address names, for events: the server keeps nothing of a visitor.
        self.chosen = gr.Textbox(visible="hidden", elem_classes="hidden-field")

    def wire(self) -> None:
        """Say what happens on which event."""
        fields = [self.chosen, self.find, self.state]
        lists = [self.ended, self.search, self.listed]
        shown = [self.bar, self.head, self.queue, self.run, self.run_head, self.progress, *lists]
        self.address.open(
            self._open,
            None,
            [*shown, *fields, self.notice],
            api_name=f"{_NAME}_open",
            trigger_mode="multiple",
            **EVENTS,
        )
        for name, pressed in (
            ("queue", self.queue),
            ("run", self.run_head),
            ("ended", self.listed),
        ):
            pressed.act(
                self._act,
                fields,
                [*shown, self.address, self.chosen, self.notice],
                api_name=f"{_NAME}_act_{name}",
                trigger_mode="multiple",
                **EVENTS,
            )
        self.progress.follow(
            self._follow,
            fields,
            shown,
            api_name=f"{_NAME}_follow",
            trigger_mode="multiple",
            **EVENTS,
        )
        gr.on(
            [self.find.change, self.state.input],  # a change is pasting, too
            self._search,
            fields,
            [self.address, *lists],
            api_name=f"{_NAME}_search",
            trigger_mode="multiple",
            **EVENTS,
        )

    def _open(self, event: gr.EventData, request: gr.Request) -> Updates:
        """What an address shows."""
        service = self.context.service(request)
        sent: Any = event._data  # pyright: ignore[reportPrivateUsage] # no other name
        form = read_query(sent.get("query") if sent else "")
        chosen, find, state = (field_value(form, name) for name in ("run", "find", "state"))
        state = state if state in ENDED_STATES else ""
        try:
            notice = None
            if chosen:
                service.run(chosen)
        except UnknownRun as error:
            notice = alert("bad", self.context.t.translate(error.sentence))
        return {
            **self._page(service, chosen, find, state),
            self.chosen: chosen,
            self.find: find,
            self.state: state,
            self.notice: _shown(notice),
        }

    def _act(
        self, event: gr.EventData, request: gr.Request, chosen: object, find: object, state: object
    ) -> Updates:
        """Do what a button of a run states."""
        service, run_id = self.context.service(request), _text(chosen)
        action = Action.read(event._data)  # pyright: ignore[reportPrivateUsage] # no other name
        try:
            run_id, notice = self._changed(service, action, run_id), None
        except EvaluiError as error:
            notice = alert("bad", self.context.t.translate(error.sentence))
        query = _query(run_id, _text(find), _text(state))
        return {
            **self._page(service, run_id, _text(find), _text(state)),
            self.address: leads_to(query) if run_id != _text(chosen) else gr.skip(),
            self.chosen: run_id,
            self.notice: _shown(notice),
        }

    def _changed(self, service: AppService, action: Action, chosen: str) -> str:
        """Do what a button states to its run; the run to show from then on."""
        change, run_id = _CHANGES.get(action.do), action.value("target")
        if change is None:
            return chosen
        change(service, run_id)
        if action.do == "delete":
            return "" if run_id == chosen else chosen
        return run_id

    def _follow(self, request: gr.Request, chosen: object, find: object, state: object) -> Updates:
        """The page as it is now."""
        service = self.context.service(request)
        return self._page(service, _text(chosen), _text(find), _text(state))

    def _search(self, request: gr.Request, chosen: object, find: object, state: object) -> Updates:
        """The ended runs that are looked for, which the address states from then on."""
        service = self.context.service(request)
        query = _query(_text(chosen), _text(find), _text(state))
        ended = self._ended(service, list_runs(service), _text(find), _text(state))
        return {self.address: leads_to(query, replaces=True), **ended}

    def _page(self, service: AppService, chosen: str, find: str, state: str) -> Updates:
        """Everything that can change by itself, with the run in full that is chosen."""
        rows, t = list_runs(service), self.context.t
        queue = order_queue(service, rows)
        run = _in_full(service, chosen, queue)
        lines = RunRows(service, t)
        given = {"run": chosen, "find": find, "state": state}
        form: Form = {name: value for name, value in given.items() if value}
        empty = "" if rows or run else fill("runs/empty.html", t=t, may_start=service.may_start)
        return {
            self.bar: self.context.bar(service, _NAME, form),
            self.head: fill("runs/head.html", t=t, may_start=service.may_start, empty=empty),
            self.queue: gr.update(value=lines.queue(queue, run), visible=bool(queue)),
            **self._run(service, run, queue),
            **self._ended(service, rows, find, state),
        }

    def _run(self, service: AppService, run: RunRow | None, queue: Sequence[QueuedRun]) -> Updates:
        """The run in full, which goes on by itself."""
        if run is None:
            return {
                self.run: gr.update(visible=False),
                self.run_head: gr.update(visible=False),
                self.progress: "",
            }
        t = self.context.t
        # Read before the run: what changes meanwhile is news to the next look.
        version = progress_version(service, run.id)
        document = progress_document(t, read_progress(service, run.id), version)
        queued = next((each for each in queue if each.row.id == run.id), None)
        return {
            self.run: gr.update(visible=True),
            self.run_head: gr.update(value=RunRows(service, t).run_head(run, queued), visible=True),
            self.progress: shown_progress(t.language, document, progress_tag(version)),
        }

    def _ended(self, service: AppService, rows: Sequence[RunRow], find: str, state: str) -> Updates:
        """The list of what has ended, with its search where there is more than a look takes in."""
        n_ended = sum(row.state not in LIVE_STATES for row in rows)
        ended = find_ended(service, rows, find=find, state=state, most=_MOST)
        searched = bool(find or state) or n_ended > _SEARCHED
        return {
            self.ended: gr.update(visible=bool(rows)),
            self.search: gr.update(visible=searched),
            self.listed: gr.update(
                value=RunRows(service, self.context.t).ended(ended, n_ended), visible=True
            ),
        }


def _in_full(service: AppService, chosen: str, queue: Sequence[QueuedRun]) -> RunRow | None:
    """The run that is chosen if the person sees it, else the first of the queue."""
    if chosen:
        try:
            return service.run(chosen)
        except UnknownRun:
            pass  # the page states it where it was opened
    return queue[0].row if queue else None


def _query(run_id: str, find: str, state: str) -> str:
    """The query of an address of the page."""
    given = {"run": run_id, "find": find, "state": state}
    return urlencode({name: value for name, value in given.items() if value})


def _shown(notice: Html | None) -> Any:
    return gr.update(value=notice or Html(""), visible=notice is not None)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
