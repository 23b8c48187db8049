"""The Runs page: the queue, one run in full while it goes on, and what has ended."""

from collections.abc import Callable, Mapping, Sequence

import gradio as gr

from evalui.app.evaluations import delete_run, resume_run, stop_run
from evalui.app.results import list_runs
from evalui.app.run_lists import find_ended, order_queue
from evalui.app.run_progress import live_states
from evalui.app.service import AppService
from evalui.errors import UnknownRun
from evalui.store.runs import ENDED_STATES, LIVE_STATES, RunRow
from evalui.ui.components.action import Action
from evalui.ui.components.form import MAX_FIND
from evalui.ui.components.listing import listing, markup
from evalui.ui.components.templates import fill
from evalui.ui.components.widgets import alert
from evalui.ui.live import follow
from evalui.ui.pages.runs.rows import RunRows
from evalui.ui.screen import Screen

_MOST = 100  # ended runs; what else there is, is looked for
_SEARCHED = 8  # ended runs from which on they can be searched
_CHANGES: Mapping[str, Callable[[AppService, str], None]] = {
    "stop": stop_run,
    "resume": resume_run,
    "delete": delete_run,
}


def page(screen: Screen) -> None:
    """The runs that the person sees: in full that of the address, else the first of the queue."""
    t, service = screen.t, screen.service
    live = live_states(service)
    rows, lines = list_runs(service), RunRows(service, t)
    queue = order_queue(service, rows)
    problem, run = "", queue[0].row if queue else None
    if chosen := screen.value("run"):
        try:
            run = next((row for row in rows if row.id == chosen), None) or service.run(chosen)
        except UnknownRun as error:
            problem = t.translate(error.sentence)
    head = fill(
        "runs/head.html",
        t=t,
        may_start=service.may_start,
        is_empty=not (rows or run),
        is_first=not run or run.state != "done",  # else one reads the results
    )
    with gr.Column(elem_classes="page ev stack runs-page", key="runs"):
        markup(head, key="head")
        if note := alert("bad", problem):
            markup(note)
        if queue:
            _changing(screen, listing(lines.queue(queue, run), key="queue", preserved_by_key=[]))
        if run:
            with gr.Column(elem_classes="card run-in-full", key="run-in-full"):
                queued = next((each for each in queue if each.row.id == run.id), None)
                _changing(
                    screen, listing(lines.run_head(run, queued), key="run", preserved_by_key=[])
                )
                follow(screen, run, live)
        if rows:
            _ended(screen, rows, lines)


def _changing(screen: Screen, lines: gr.HTML) -> None:
    """Let the buttons of markup do what they state to their run."""

    def act(service: AppService, action: Action) -> str:
        run_id, shown = action.value("target"), screen.value("run")
        if change := _CHANGES.get(action.do):
            change(service, run_id)
        if action.do == "delete":
            return screen.address(run="" if run_id == shown else shown)
        return screen.address(run=run_id)

    screen.on_act(lines, act, None, screen.place)


def _ended(screen: Screen, rows: Sequence[RunRow], lines: RunRows) -> None:
    """What has ended, with its search where there is more than a look takes in."""
    t = screen.t
    find, state = screen.value("find"), screen.value("state")
    ended = find_ended(screen.service, rows, find=find, state=state, most=_MOST)
    n_ended = sum(row.state not in LIVE_STATES for row in rows)
    with gr.Column(elem_classes="card ended", key="ended-runs"):
        markup(fill("runs/ended_head.html", title=t("runs.finished")))
        if find or state or n_ended > _SEARCHED:
            states = {each: t(f"runstate.{each}") for each in ENDED_STATES}
            search = fill(
                "questions/search.html",
                t=t,
                label=t("runs.find"),
                longest=MAX_FIND,
                address=screen.address(find=""),
                found=find,
                clear="",
            )
            with gr.Row(elem_classes="filters", key="filters"):
                screen.picker("state", t("runs.state"), {"": t("runs.any_state")} | states)
                markup(search, elem_classes="ev search-part", key="search")
        _changing(screen, listing(lines.ended(ended, n_ended), key="ended", preserved_by_key=[]))
