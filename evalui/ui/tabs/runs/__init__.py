"""The Runs tab: the queue, one run in full, and what is finished.

The page shows the state of the store; the script requests it again while a run can change.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple
from urllib.parse import urlencode

from evalui.app.evaluations import delete_run, resume_run, stop_run
from evalui.app.run_labels import LIVE_STATES, owned_label
from evalui.app.service import AppService
from evalui.errors import EvaluiError, UnknownRun
from evalui.messages import Messages
from evalui.report.html import Child, Html, div, el, join, span
from evalui.runs.database.records import RunRow
from evalui.runs.database.runs import (
    read_cells,
    read_cells_of,
    read_revision,
    read_runs,
)
from evalui.runs.database.throughput import remaining_seconds
from evalui.runs.database.usage import Catalog, TokenCost, cell_costs, model_waits, run_costs
from evalui.runs.fair_queue.limits import usual_limits
from evalui.runs.fair_queue.place import QueuePlace, queue_order, queue_places
from evalui.ui.components.form import Form, field_value
from evalui.ui.components.format import duration, format_time
from evalui.ui.components.fragment import Action
from evalui.ui.components.widgets import (
    RUN_STATE_KINDS,
    alert,
    bar,
    button,
    empty,
    link_button,
    note,
    page_head,
    run_state,
    status,
    table,
    titled,
)
from evalui.ui.tabs.runs.outcome import outcome
from evalui.ui.tabs.runs.place_text import held_text, place_text, start_text
from evalui.ui.tabs.runs.progress_table import (
    charge_text,
    progress_table,
    run_charges_card,
    waiting_cells,
)

_MAX_FINISHED = 100  # finished runs
_POLL_MS = 1000
QueuePlaces = Mapping[str, QueuePlace]  # by the id of the run
_CHANGES: Mapping[str, Callable[[AppService, str], None]] = {
    "stop": stop_run,
    "resume": resume_run,
    "delete": delete_run,
}


class RunsNotice(NamedTuple):
    """What the last click left to show: a problem, or the run whose deletion waits for another."""

    problem: str = ""
    confirming: str = ""


class RunsTab:
    """The tab in one language."""

    def __init__(self, service: AppService, t: Messages) -> None:
        self.service = service
        self.t = t

    def render(self, form: Form) -> Html:
        """The page with the run of the address in full."""
        chosen = field_value(form, "run")
        return self._page(chosen, self._missing(chosen))

    def act(self, action: Action) -> Html | None:
        """The page after a click or a poll of a notice; None if a poll finds what it left."""
        chosen = field_value(action.form, "run")
        if action.do == "poll":
            return self._polled(chosen, action)
        try:
            chosen, problem = self._perform(action, chosen), ""
        except EvaluiError as error:
            problem = self.t.translate(error.sentence)
        confirming = action.value("target") if action.do == "ask" else ""
        return self._page(chosen, RunsNotice(problem, confirming))

    def _polled(self, chosen: str, action: Action) -> Html | None:
        if action.value("seen") == str(read_revision(self.service.database)):
            return None
        return self._page(chosen, RunsNotice(action.value("problem"), action.value("confirming")))

    def _missing(self, chosen: str) -> RunsNotice:
        """That the run which the address names is not there, if so."""
        if chosen:
            try:
                self.service.run(chosen)
            except UnknownRun as error:
                return RunsNotice(self.t.translate(error.sentence))
        return RunsNotice()

    def _page(self, chosen: str, notice: RunsNotice) -> Html:
        # Read before the page is drawn: what changes meanwhile is news to the next poll.
        revision = read_revision(self.service.database)
        rows, t, catalog = self._rows(), self.t, self._catalog()
        new = el("a", t("runs.new"), href="?tab=evaluate", cls="btn pri")
        new = new if self.service.may_start else None
        head = page_head(t("runs.title"), t("runs.promise"), new)
        problem = alert("bad", notice.problem)
        address = urlencode({"run": chosen, "tab": "runs"} if chosen else {"tab": "runs"})
        if not rows:
            return div(head, problem, self._empty(), cls="stack", data_address=address)
        live = [row for row in reversed(rows) if row.state in LIVE_STATES]
        usual = usual_limits(self.service.settings)
        places = queue_places(self.service.database, usual) if live else {}
        running = sorted(live, key=lambda row: queue_order(places.get(row.id)))
        shown = next((row for row in rows if row.id == chosen), running[0] if running else None)
        return div(
            div(head, data_live=len(live)),  # the script shows the number beside the tab's name
            problem,
            self._queue(running, places, shown) if running else None,
            # Keyed, so that what is unfolded stays when the queue above it comes or goes.
            div(self._run(shown, places, catalog), data_key=shown.id) if shown else None,
            div(
                self._finished(
                    [row for row in rows if row.state not in LIVE_STATES],
                    catalog,
                    notice.confirming,
                ),
                data_key="finished",
            ),
            _poll(revision, notice) if live else None,
            cls="stack",
            data_address=address,
        )

    def _rows(self) -> list[RunRow]:
        return read_runs(self.service.database, self.service.person)

    def _perform(self, action: Action, chosen: str) -> str:
        """Do what a button states to its run; the run to show from then on."""
        change = _CHANGES.get(action.do)
        if change is None:
            return chosen
        run_id = self.service.run(action.value("target")).id
        change(self.service, run_id)
        if action.do == "delete":
            return "" if run_id == chosen else chosen
        return run_id

    def _empty(self) -> Html:
        t = self.t
        if not self.service.may_start:
            return titled(t("runs.none"), empty(t("runs.none_shared")))
        go = el("a", t("runs.new"), href="?tab=evaluate", cls="btn")
        return titled(t("runs.none"), empty(t("runs.none_about"), go))

    def _queue(self, live: Sequence[RunRow], places: QueuePlaces, shown: RunRow | None) -> Html:
        t = self.t
        lines = [self._queued(row, places.get(row.id), row is shown) for row in live]
        opened = live.index(shown) if shown in live else None
        listed = table(
            self._heads("place", "run", "state", "work", "time"),
            lines,
            opened=opened,
            cls="inset runs-list",
        )
        shared = self.service.settings.auth != "token"
        about = t("runs.queue_turns" if shared else "runs.queue_about")
        reasons = dict.fromkeys(held_text(t, places.get(row.id)) for row in live)
        held = [note("warn", why) for why in reasons if why]
        return titled(t("runs.queue"), div(*held, listed, cls="stack"), aside=about)

    def _heads(self, *names: str) -> list[Child]:
        """The heads of a list of runs, the last of them unseen."""
        heads = [self.t(f"runs.{name}") for name in names]
        return [*heads, span(self.t("runs.actions"), cls="hidden")]

    def _queued(self, row: RunRow, place: QueuePlace | None, shown: bool) -> list[Child]:
        t = self.t
        left = remaining_seconds(self.service.database, row.id)
        time = t("runs.left", time=duration(t, left)) if left is not None else t("cost.unknown")
        return [
            place.place or "–" if place else "–",
            self._run_label(row),
            self._state(row),
            t("runs.of", done=f"{row.done:,}", total=f"{row.total:,}"),
            join(time, div(start_text(t, place), cls="meta") if place else None),
            None  # they stand with the run in full
            if shown
            else div(
                _show_link(t("runs.show"), row),
                link_button(t("runs.stop"), "stop", data_target=row.id)
                if self._may_change(row)
                else None,
                cls="links",
            ),
        ]

    def _run_label(self, row: RunRow) -> Html:
        """The run's name, and what distinguishes it from others of the same file."""
        label = owned_label(self.t, row, self.service.owner)
        return join(el("b", row.name), div(label, cls="meta"))

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
            return self.service.models.all_models()
        except EvaluiError:
            return {}

    def _run(self, row: RunRow, places: QueuePlaces, catalog: Catalog) -> Html:
        t, database, place = self.t, self.service.database, places.get(row.id)
        waiting = model_waits(database, row.id)
        # A cell whose model does not answer is not running, and has no throughput.
        cells = [
            replace(cell, state="waiting") if cell.id in waiting else cell
            for cell in read_cells(self.service.database, row.id)
        ]
        live = row.state in LIVE_STATES
        stop = (
            button(t("runs.stop"), "stop", data_target=row.id)
            if live and not row.cancelling and self._may_change(row)
            else None
        )
        read = el("a", t("runs.results"), href=f"?run={row.id}&tab=results", cls="btn")
        progress = t("runs.of", done=f"{row.done:,}", total=f"{row.total:,}")
        share = row.done / row.total if row.total else 0.0
        return titled(
            row.name,
            div(owned_label(t, row, self.service.owner), cls="whole meta"),
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
                span(f"{self._since(row, place)} · {progress}", cls="meta"),
                stop,
                read if row.done else None,
            ),
        )

    def _since(self, row: RunRow, place: QueuePlace | None) -> str:
        if row.state != "queued" and row.started:
            return self.t("runs.started", moment=format_time(self.t, row.started))
        return place_text(self.t, place)

    def _finished(self, rows: Sequence[RunRow], catalog: Catalog, confirming: str) -> Html:
        t = self.t
        if not rows:
            return titled(t("runs.finished"), el("p", t("runs.finished_none"), cls="dim"))
        shown = rows[:_MAX_FINISHED]
        charges = run_costs(self.service.database, self.service.owner, catalog)
        cells = read_cells_of(self.service.database, [row.id for row in shown])
        baselines = frozenset(entry.name for entry in catalog.values() if entry.baseline)
        lines = [
            self._ended(
                row,
                outcome(t, cells[row.id], baselines) if row.state == "done" else "",
                charges,
                confirming=row.id == confirming,
            )
            for row in shown
        ]
        heads = self._heads("when", "run", "state", "result")
        return titled(t("runs.finished"), table(heads, lines, cls="runs-list"))

    def _ended(
        self, row: RunRow, result: str, charges: Mapping[str, TokenCost], *, confirming: bool
    ) -> Sequence[Child]:
        t = self.t
        key = {"done": "runs.answers", "failed": "runs.kept", "cancelled": "runs.kept"}[row.state]
        count = t(
            key if row.done else "runs.none_kept", done=f"{row.done:,}", total=f"{row.total:,}"
        )
        return [
            span(format_time(t, row.finished or row.created), cls="dim nw"),
            self._run_label(row),
            run_state(t, row.state),
            join(
                result or count,
                div(count, cls="meta") if result else None,
                div(charge_text(t, charges[row.id]), cls="meta") if row.id in charges else None,
                div(t.translate(row.error), cls="meta") if row.error else None,
            ),
            self._links(row, confirming),
        ]

    def _may_change(self, row: RunRow) -> bool:
        return "change" in self.service.deeds(row)

    def _links(self, row: RunRow, confirming: bool) -> Html:
        t = self.t
        if confirming:
            sure = link_button(t("runs.delete_sure"), "delete", data_target=row.id)
            return div(sure, link_button(t("runs.keep"), "keep"), cls="links")
        resumable = row.state in ("failed", "cancelled")
        seen = (
            el("a", t("runs.open"), href=f"?run={row.id}&tab=results") if row.done else None,
            _show_link(t("runs.cells"), row),
        )
        if self.service.settings.read_only or not self._may_change(row):
            return div(*seen, cls="links")
        repeat = el("a", t("runs.repeat"), href=f"?again={row.id}")
        return div(
            *seen,
            link_button(t("runs.resume"), "resume", data_target=row.id) if resumable else None,
            repeat if self.service.may_repeat(row) else None,
            link_button(t("runs.delete"), "ask", data_target=row.id),
            cls="links",
        )


def _show_link(word: str, row: RunRow) -> Html:
    return el("a", word, href=f"?run={row.id}&tab=runs")


def _poll(revision: int, notice: RunsNotice) -> Html:
    """Has the script look at the page again; a notice, which stands in no address, is sent along
    in an action, so that it stays.
    """
    if notice == RunsNotice():
        return div(data_watch=_POLL_MS)
    return div(
        data_poll=_POLL_MS,
        data_seen=revision,
        data_problem=notice.problem,
        data_confirming=notice.confirming,
    )
