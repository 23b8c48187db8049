"""The Runs tab: the queue, one run in full, and what is finished.

The page shows the state of the store; it is read again each second while something can change.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import gradio as gr

from evalui.errors import EvaluiError, UnknownRun
from evalui.messages import Messages
from evalui.report.html import Child, Html, div, el, join, span
from evalui.runs.database import queue
from evalui.runs.database.records import RunRow
from evalui.runs.database.runs import queue_position, read_cells, read_revision, read_runs
from evalui.runs.database.throughput import remaining_seconds
from evalui.runs.database.usage import Catalog, TokenCost, cell_costs, model_waits, run_costs
from evalui.ui.components.component_tabs import QUIET, SKIP, html_fragment, on_action
from evalui.ui.components.form import dump_client_state, load_client_state
from evalui.ui.components.format import duration, format_time
from evalui.ui.components.fragment import Action
from evalui.ui.components.widgets import (
    RUN_STATE_KINDS,
    bar,
    button,
    link_button,
    note,
    page_head,
    run_state,
    status,
    table,
    titled,
)
from evalui.ui.services.run_labels import LIVE_STATES, run_label
from evalui.ui.services.service import AppService
from evalui.ui.tabs.runs.progress_table import (
    charge_text,
    progress_table,
    run_charges_card,
    waiting_cells,
)

_MAX_FINISHED = 100  # finished runs


class RunsNotice(NamedTuple):
    """What came of the last click, kept in the browser as text.

    Only clicks write it, and the tab opens without it. `confirming` is the run whose
    deletion waits for a second click.
    """

    problem: str = ""
    confirming: str = ""


class RunsClientState(NamedTuple):
    """What the browser shows: the state of the store, the run in full, and the notice.

    A tick that was on its way during a click draws the page without the click. It writes
    so here, and the next one sees that the page is not what it should be.
    """

    revision: int = -1
    chosen: str = ""
    notice: str = ""


class RunsTab:
    """The tab in one language."""

    def __init__(self, service: AppService, t: Messages) -> None:
        self.service = service
        self.t = t
        self.outputs: list[Any] = []

    def build(self) -> None:
        """Lay out the tab; the browser keeps which run is shown, the notice and the state."""
        with gr.Column(elem_classes="page"):
            whole = html_fragment("runs-pane")
        chosen = gr.Textbox(visible=False)
        notice = gr.Textbox(visible=False)
        seen = gr.Textbox(visible=False)
        timer = gr.Timer(1.0, active=False)
        self.outputs = [whole, chosen, notice, seen, timer]
        on_action(whole, self.answer, inputs=[chosen], outputs=self.outputs)
        parts = [chosen, notice, seen], [whole, seen, timer]
        ticked = timer.tick(self.tick, *parts, trigger_mode="once", **QUIET)
        # Should the tick have undone a click, the next one comes at once.
        ticked.then(self.tick, *parts, **QUIET)

    def answer(self, chosen: str, act: Action) -> tuple[Any, ...]:
        """What the page shows after a click: stop, resume, delete or another run."""
        try:
            chosen, problem = self._perform(act, chosen), ""
        except EvaluiError as error:
            problem = self.t.translate(error.sentence)
        notice = RunsNotice(problem, act.value("run") if act.do == "ask" else "")
        seen = RunsClientState(
            read_revision(self.service.database), chosen, dump_client_state(notice)
        )
        return (
            self.show(chosen, notice),
            chosen,
            dump_client_state(notice),
            dump_client_state(seen),
            self.timer(),
        )

    def tick(self, chosen: str, notice: str, state: str) -> tuple[Any, ...]:
        """The page if it is not what it should be, else only whether the timer goes on.

        It goes on after news: the next tick looks whether a click was undone meanwhile.
        """
        now = RunsClientState(read_revision(self.service.database), chosen, notice)
        if now == load_client_state(RunsClientState, state):
            # Sent each time: one that was on its way may stop what a click has started.
            return SKIP, SKIP, self.timer()
        return (
            self.show(chosen, load_client_state(RunsNotice, notice)),
            dump_client_state(now),
            gr.Timer(active=True),
        )

    def open(self, chosen: str) -> tuple[Any, ...]:
        """Pane, notice, what it shows, and timer when the tab is opened."""
        missing = self._missing(chosen)
        notice = dump_client_state(missing)
        # Read before the page is drawn: what changes meanwhile is news to the next tick.
        seen = RunsClientState(read_revision(self.service.database), chosen, notice)
        return self.show(chosen, missing), notice, dump_client_state(seen), self.timer()

    def blind_voting_outputs(self) -> tuple[Any, ...]:
        """The same for an annotator, who votes without knowing names, until the tab is opened."""
        return SKIP, SKIP, SKIP, SKIP

    def _missing(self, chosen: str) -> RunsNotice:
        """That the run which an address or another window named is not there, if so."""
        if chosen:
            try:
                self.service.run(chosen)
            except UnknownRun as error:
                return RunsNotice(self.t.translate(error.sentence))
        return RunsNotice()

    def timer(self) -> gr.Timer:
        """A timer that ticks only while a run can change."""
        return gr.Timer(active=self.live_count() > 0)

    def live_count(self) -> int:
        """Runs that wait or run."""
        return sum(row.state in LIVE_STATES for row in self._rows())

    def show(self, chosen: str, notice: RunsNotice = RunsNotice()) -> Html:  # noqa: B008 (it cannot change)
        """The whole page."""
        rows, t, catalog = self._rows(), self.t, self._catalog()
        new = el("button", t("runs.new"), type="button", cls="btn pri", data_tab="tab-evaluate")
        head = page_head(t("runs.title"), t("runs.promise"), new)
        problem = div(note("bad", notice.problem), role="alert") if notice.problem else None
        if not rows:
            return div(head, problem, self._empty(), cls="stack")
        live = [row for row in reversed(rows) if row.state in LIVE_STATES]
        running = sorted(live, key=lambda row: row.state != "running")
        shown = next((row for row in rows if row.id == chosen), running[0] if running else None)
        return div(
            div(head, data_live=len(live)),  # the script shows the number beside the tab's name
            problem,
            self._queue(running, shown) if running else None,
            self._run(shown, catalog) if shown else None,
            self._finished(
                [row for row in rows if row.state not in LIVE_STATES], catalog, notice.confirming
            ),
            cls="stack",
        )

    def _rows(self) -> list[RunRow]:
        return read_runs(self.service.database, self.service.owner)

    def _perform(self, act: Action, chosen: str) -> str:
        run_id = act.value("run")
        if act.do not in ("show", "stop", "resume", "delete"):
            return chosen
        run_id = self.service.run(run_id).id
        if act.do == "stop":
            queue.cancel(self.service.database, run_id)
        elif act.do == "resume":
            queue.resume(self.service.database, run_id)
        elif act.do == "delete":
            queue.delete(self.service.database, run_id)
        return run_id if act.do != "delete" else ""

    def _empty(self) -> Html:
        t = self.t
        go = el("button", t("runs.new"), type="button", cls="btn", data_tab="tab-evaluate")
        return titled(
            t("runs.none"), div(el("p", t("runs.none_about"), cls="dim"), go, cls="empty")
        )

    def _queue(self, live: Sequence[RunRow], shown: RunRow | None) -> Html:
        t = self.t
        lines = [self._queued(row, row is shown) for row in live]
        heads = [t(f"runs.{name}") for name in ("place", "run", "state", "work", "time")]
        top = el(
            "tr",
            *(el("th", head, scope="col") for head in heads),
            el("th", span(t("runs.actions"), cls="hidden")),
        )
        body = el("table", el("thead", top), el("tbody", *lines), cls="inset runs-list")
        return titled(t("runs.queue"), div(body, cls="scroll"), aside=t("runs.queue_about"))

    def _queued(self, row: RunRow, shown: bool) -> Html:
        t = self.t
        place = queue_position(self.service.database, row.id)
        left = remaining_seconds(self.service.database, row.id)
        time = t("runs.left", time=duration(t, left)) if left is not None else t("cost.unknown")
        cells: list[Child] = [
            "–" if place is None else place + 1,
            self._run_label(row),
            self._state(row),
            t("runs.of", done=f"{row.done:,}", total=f"{row.total:,}"),
            time,
            div(
                None if shown else link_button(t("runs.show"), "show", data_run=row.id),
                link_button(t("runs.stop"), "stop", data_run=row.id),
                cls="links",
            ),
        ]
        return el("tr", *(el("td", cell) for cell in cells), cls="sel" if shown else None)

    def _run_label(self, row: RunRow) -> Html:
        """The run's name, and what distinguishes it from others of the same file."""
        return join(el("b", row.name), div(run_label(self.t, row), cls="meta"))

    def _state(self, row: RunRow) -> Html:
        t = self.t
        if row.cancelling:
            return status(RUN_STATE_KINDS[row.state], t("runs.stopping"))
        if model_waits(self.service.database, row.id):
            return status("warn", t("charges.waiting"))
        return run_state(t, row.state)

    def _catalog(self) -> Catalog:
        """The models with their prices; none while the administrator's file is broken.

        The Models page shows what is wrong with it, and a run must be stopped all the same.
        """
        try:
            return self.service.catalog()
        except EvaluiError:
            return {}

    def _run(self, row: RunRow, catalog: Catalog) -> Html:
        t, database = self.t, self.service.database
        waiting = model_waits(database, row.id)
        # A cell whose model does not answer is not running, and has no throughput.
        cells = [
            replace(cell, state="waiting") if cell.id in waiting else cell
            for cell in read_cells(self.service.database, row.id)
        ]
        live = row.state in LIVE_STATES
        stop = (
            button(t("runs.stop"), "stop", data_run=row.id) if live and not row.cancelling else None
        )
        read = el("a", t("runs.results"), href=f"?run={row.id}&tab=results", cls="btn")
        started = (
            t("runs.started", moment=format_time(t, row.started))
            if row.started
            else t("runs.waits")
        )
        progress = t("runs.of", done=f"{row.done:,}", total=f"{row.total:,}")
        share = row.done / row.total if row.total else 0.0
        return titled(
            row.name,
            div(run_label(t, row), cls="whole meta"),
            div(bar(share, label=row.name), cls="whole"),
            div(note("bad", t.translate(row.error)), cls="whole")
            if row.error and row.state == "failed"
            else None,
            waiting_cells(t, cells, waiting),
            progress_table(
                t,
                cells,
                frozenset(entry.name for entry in catalog.values() if entry.baseline),
                at_work=row.state == "running" and not waiting,
                unreached=waiting,
            ),
            run_charges_card(t, cells, cell_costs(database, row.id, catalog)),
            aside=join(
                span(f"{started} · {progress}", cls="meta"), stop, read if row.done else None
            ),
        )

    def _finished(self, rows: Sequence[RunRow], catalog: Catalog, confirming: str) -> Html:
        t = self.t
        if not rows:
            return titled(t("runs.finished"), el("p", t("runs.finished_none"), cls="dim"))
        charges = run_costs(self.service.database, self.service.owner, catalog)
        lines = [
            self._ended(row, charges, confirming=row.id == confirming)
            for row in rows[:_MAX_FINISHED]
        ]
        heads = [t(f"runs.{name}") for name in ("when", "run", "state", "result")]
        return titled(
            t("runs.finished"),
            table([*heads, span(t("runs.actions"), cls="hidden")], lines, cls="runs-list"),
        )

    def _ended(
        self, row: RunRow, charges: Mapping[str, TokenCost], *, confirming: bool
    ) -> Sequence[Child]:
        t = self.t
        key = {"done": "runs.answers", "failed": "runs.kept", "cancelled": "runs.kept"}[row.state]
        result = t(key, done=f"{row.done:,}", total=f"{row.total:,}")
        return [
            span(format_time(t, row.finished or row.created), cls="dim"),
            self._run_label(row),
            run_state(t, row.state),
            join(
                result,
                div(charge_text(t, charges[row.id]), cls="meta") if row.id in charges else None,
                div(t.translate(row.error), cls="meta") if row.error else None,
            ),
            self._links(row, confirming),
        ]

    def _links(self, row: RunRow, confirming: bool) -> Html:
        t = self.t
        if confirming:
            sure = link_button(t("runs.delete_sure"), "delete", data_run=row.id)
            return div(sure, link_button(t("runs.keep"), "keep"), cls="links")
        resumable = row.state in ("failed", "cancelled")
        return div(
            el("a", t("runs.open"), href=f"?run={row.id}&tab=results") if row.done else None,
            link_button(t("runs.resume"), "resume", data_run=row.id) if resumable else None,
            link_button(t("runs.cells"), "show", data_run=row.id),
            el("a", t("runs.repeat"), href=f"?again={row.id}"),
            link_button(t("runs.delete"), "ask", data_run=row.id),
            cls="links",
        )
