"""The queue of all: what is at work, what waits for whom, and whether anything is taken."""

from evalui.app.administration import LiveRun, list_queue, read_queue_decisions
from evalui.app.run_labels import run_label
from evalui.app.service import AppService
from evalui.messages import Sentence
from evalui.runs.fair_queue.turns import QueuePlace
from evalui.ui.components.widgets import run_state
from evalui.ui.pages.admin.users import busy_sentence
from evalui.ui.pages.admin.view import Act, Markup, View

_OFFERED = {"open": ("paused", "draining"), "paused": ("open",), "draining": ("open", "paused")}


class QueueView(View):
    """Every run that waits or is at work."""

    name = "queue"
    lists = ("runs",)
    acting = ("runs",)

    def read(self, service: AppService) -> Markup:
        """What each component shows now."""
        t, queue = self.t, list_queue(service)
        state = read_queue_decisions(service).state
        acts = [Act(t(f"admin.do.{each}"), "queue", each) for each in _OFFERED[state]]
        return {
            self.verdict: self.answer(busy_sentence(t, [live for live, _ in queue]), *acts),
            self.made["runs"]: self.fill(
                "queue",
                state=state,
                queue=queue,
                labels={live.row.id: run_label(t, live.row) for live, _ in queue},
                states={live.row.id: run_state(t, live.row.state) for live, _ in queue},
                held={live.row.id: self._held(place) for live, place in queue},
                priorities={live.row.id: self._priority(live) for live, _ in queue},
            ),
        }

    def _held(self, place: QueuePlace | None) -> str:
        """Why a run waits beside its turn."""
        if place and isinstance(place.held, Sentence):
            return self.t(f"admin.{place.held.key}")
        return "–"

    def _priority(self, live: LiveRun) -> str:
        """In words; one that was set elsewhere stands as its number."""
        key = f"admin.priorities.{live.priority}"
        return self.t(key) if key in self.t else str(live.priority)
