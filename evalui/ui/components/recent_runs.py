"""A table of runs, each of which leads to a page of its own."""

from collections.abc import Iterable
from urllib.parse import urlencode

from evalui.app.run_labels import owned_label
from evalui.messages import Messages
from evalui.report.html import Html
from evalui.store.runs import RunRow
from evalui.ui.components.format import format_time
from evalui.ui.components.templates import fill


def recent_runs(
    t: Messages, runs: Iterable[RunRow], person: str, *, place: str = "results"
) -> Html:
    """The table as the person sees it, a row for each run; empty without any.

    `place` is the page that a run leads to.
    """
    rows = [
        {
            "name": run.name,
            "href": f"{place}?{urlencode({'run': run.id})}",
            "label": owned_label(t, run, person),
            "done": run.state == "done",
            "state": t(f"runstate.{run.state}"),
            "when": format_time(t, run.created),
        }
        for run in runs
    ]
    return fill("recent_runs.html", t=t, rows=rows) if rows else Html("")
