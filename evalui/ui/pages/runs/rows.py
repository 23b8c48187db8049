"""The rows of the Runs page, in the words of a language."""

from collections.abc import Sequence
from dataclasses import dataclass

from evalui.app.results import may_repeat
from evalui.app.run_labels import owned_label
from evalui.app.run_lists import EndedRuns, QueuedRun
from evalui.app.service import AppService
from evalui.messages import Messages
from evalui.report.html import Html
from evalui.store.runs import RunRow
from evalui.ui.components.format import format_time
from evalui.ui.components.progress_document import charge_text, left_text, work_text
from evalui.ui.components.templates import fill
from evalui.ui.components.widgets import RUN_STATE_KINDS, run_state, status
from evalui.ui.pages.runs.outcome import outcome
from evalui.ui.pages.runs.place_text import held_text, place_text

_COUNTS = {"done": "runs.answers", "failed": "runs.kept", "cancelled": "runs.kept"}


@dataclass(frozen=True, slots=True)
class QueueRow:
    """A run of the queue; `left` is the time that one at work still takes."""

    id: str
    name: str
    label: str
    place: str
    state: Html
    work: str
    left: str
    is_shown: bool
    may_stop: bool


@dataclass(frozen=True, slots=True)
class EndedRow:
    """A run that has ended: what came of it, its details, and what may be done with it."""

    id: str
    name: str
    label: str
    when: str
    state: Html
    result: str
    details: tuple[str, ...]
    has_answers: bool
    may_resume: bool
    may_repeat: bool
    may_delete: bool


class RunRows:
    """Makes rows for the person of `service`."""

    def __init__(self, service: AppService, t: Messages) -> None:
        self.service = service
        self.t = t

    def queue(self, queue: Sequence[QueuedRun], shown: RunRow | None) -> Html:
        """The queue; the run that is shown in full has its buttons there."""
        shared = self.service.settings.auth != "token"
        reasons = dict.fromkeys(held_text(self.t, each.place) for each in queue)
        return fill(
            "runs/queue.html",
            t=self.t,
            about=self.t("runs.queue_turns" if shared else "runs.queue_about"),
            held=[why for why in reasons if why],
            rows=[
                self._queued(each, shown is not None and each.row.id == shown.id) for each in queue
            ],
        )

    def run_head(self, run: RunRow, queued: QueuedRun | None) -> Html:
        """The name of the run in full, how far it is or came, and what is to be done with it."""
        t = self.t
        when = format_time(t, run.started) if run.started else ""
        return fill(
            "runs/run_head.html",
            t=t,
            run=run,
            label=owned_label(t, run, self.service.owner),
            state=self._state(queued) if queued else run_state(t, run.state),
            since=place_text(t, queued.place if queued else None)
            if run.state == "queued"
            else t("runs.started", moment=when),
            may_resume=self._may_resume(run),
        )

    def ended(self, ended: EndedRuns, of: int) -> Html:
        """The ended runs that were looked for, `of` those that there are."""
        return fill(
            "runs/ended.html",
            t=self.t,
            rows=[self._ended(row, ended) for row in ended.rows],
            matching=ended.matching,
            of=of,
        )

    def _queued(self, queued: QueuedRun, is_shown: bool) -> QueueRow:
        row, place, t = queued.row, queued.place, self.t
        return QueueRow(
            id=row.id,
            name=row.name,
            label=owned_label(t, row, self.service.owner),
            place=f"{place.place:,}" if place and place.place else "–",
            state=self._state(queued),
            work=work_text(t, row),
            left=left_text(t, queued.seconds_left) if row.state == "running" else "",
            is_shown=is_shown,
            may_stop=self._may_change(row),
        )

    def _state(self, queued: QueuedRun) -> Html:
        row, t = queued.row, self.t
        if row.cancelling:
            return status(RUN_STATE_KINDS[row.state], t("runs.stopping"))
        return (
            status("warn", t("charges.waiting")) if queued.is_waiting else run_state(t, row.state)
        )

    def _ended(self, row: RunRow, ended: EndedRuns) -> EndedRow:
        t, service = self.t, self.service
        key = _COUNTS[row.state] if row.done else "runs.none_kept"
        count = t(key, done=f"{row.done:,}", total=f"{row.total:,}")
        came = outcome(t, ended.cells[row.id], ended.baselines) if row.state == "done" else ""
        charge = ended.charges.get(row.id)
        may_change = not service.settings.read_only and self._may_change(row)
        details = (
            count if came else "",
            charge_text(t, charge) if charge else "",
            t.translate(row.error),
        )
        return EndedRow(
            id=row.id,
            name=row.name,
            label=owned_label(t, row, service.owner),
            when=format_time(t, row.finished or row.created),
            state=run_state(t, row.state),
            result=came or count,
            details=tuple(filter(None, details)),
            has_answers=row.done > 0,
            may_resume=self._may_resume(row),
            may_repeat=may_change and may_repeat(service, row),
            may_delete=may_change,
        )

    def _may_resume(self, row: RunRow) -> bool:
        is_left = row.state in ("failed", "cancelled")
        return is_left and not self.service.settings.read_only and self._may_change(row)

    def _may_change(self, row: RunRow) -> bool:
        return "change" in self.service.deeds(row)
