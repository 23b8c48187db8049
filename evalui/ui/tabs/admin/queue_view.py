"""The queue of all: what is at work, what waits for whom, and whether anything is taken."""

from evalui.app.readings import LiveRun
from evalui.app.run_labels import run_label
from evalui.messages import Sentence
from evalui.report.html import Child, Html, div, el, join, span
from evalui.runs.fair_queue.decisions import read_decisions
from evalui.runs.fair_queue.place import QueuePlace, queue_order, queue_places
from evalui.ui.components.format import duration
from evalui.ui.components.widgets import (
    button,
    empty,
    link_button,
    note,
    run_state,
    select,
    table,
    titled,
)
from evalui.ui.tabs.admin.context import AdminPage, heads, verdict
from evalui.ui.tabs.admin.person_form import priorities

_COLUMNS = ("place", "run", "owner", "state", "work", "start", "priority")
_OFFERED = {"open": ("paused", "draining"), "paused": ("open",), "draining": ("open", "paused")}


def queue_view(page: AdminPage) -> Html:
    """Every run that waits or is at work."""
    t = page.t
    state = read_decisions(page.service.database).state
    acts = [button(t(f"admin.do.{each}"), "queue", data_state=each) for each in _OFFERED[state]]
    places = queue_places(page.service.database, page.usual)
    live = sorted(page.live, key=lambda each: queue_order(places.get(each.row.id)))
    rows = [_run(page, each, places.get(each.row.id)) for each in live]
    columns = heads(page, "queue_column", _COLUMNS)
    listed = (
        table(columns, rows, cls="people", repeats=True) if rows else empty(t("admin.queue_empty"))
    )
    return join(
        verdict(page.busy_sentence, *acts),
        None if state == "open" else note("warn", t(f"admin.queue_{state}")),
        titled(
            t("runs.queue"), listed or empty(t("admin.queue_empty")), aside=t("admin.queue_about")
        ),
    )


def _run(page: AdminPage, live: LiveRun, place: QueuePlace | None) -> list[Child]:
    t, row = page.t, live.row
    # One that was set elsewhere stands as its number.
    chosen = {str(live.priority): str(live.priority)} | priorities(page)
    named = t("admin.priority_of", name=row.name)
    priority = select(f"priority:{row.id}", chosen, str(live.priority), aria_label=named)
    start: Child = "–"
    if place and isinstance(place.held, Sentence):
        start = span(t(f"admin.{place.held.key}"), cls="meta")
    elif place and place.starts_in_s is not None:
        start = duration(t, place.starts_in_s)
    return [
        place.place if place and place.place else "–",
        join(
            el("a", row.name, href=f"runs?run={row.id}"),
            div(run_label(t, row), cls="meta"),
        ),
        row.owner,
        t("runs.stopping") if row.cancelling else run_state(t, row.state),
        t("runs.of", done=f"{row.done:,}", total=f"{row.total:,}"),
        start,
        div(priority, cls="field") if row.state == "queued" else "–",
        div(link_button(t("runs.stop"), "stop", data_target=row.id), cls="links"),
    ]
