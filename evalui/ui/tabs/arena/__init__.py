"""The Arena tab: the runs with duels, and of one of them the standings or its duels.

While a run goes on, the standings are drawn again when verdicts have come in.
"""

from collections.abc import Sequence

from evalui.app.service import AppService
from evalui.errors import EvaluiError
from evalui.messages import Messages
from evalui.report.html import Child, Html, div, el
from evalui.runs.database.records import RunRow
from evalui.runs.database.runs import read_runs
from evalui.ui.components.form import Form, field_value
from evalui.ui.components.format import format_time
from evalui.ui.components.fragment import Action
from evalui.ui.components.widgets import (
    alert,
    empty,
    page_head,
    run_state,
    segments,
    table,
    titled,
)
from evalui.ui.tabs.arena.arena_view import OpenRunView, has_duels, open_overview
from evalui.ui.tabs.arena.duels import changed_form, duels_page

SUBS = ("overview", "duels")
_WATCH_MS = 2000
_RECENT = 20  # runs with duels
_MAX_RUNS_CHECKED = 60  # runs that are searched for some


class ArenaTab:
    """The tab in one language."""

    def __init__(self, service: AppService, t: Messages) -> None:
        self.service = service
        self.t = t

    def render(self, form: Form) -> Html:
        """The runs with duels, or the run of the address."""
        run_id, t = field_value(form, "run"), self.t
        try:
            run = self.service.run(run_id) if run_id else None
        except EvaluiError as error:
            return no_arena_page(self.service, t, t.translate(error.sentence))
        # The report of a run of multiple choice need not be worked out to know that it has none.
        if run is None or not has_duels(self.service, run.id):
            return no_arena_page(self.service, t, run=run)
        view = OpenRunView(self.service, t, run.id, form, tab="arena", duels=True)
        # Votes on what the run does not have are no duels.
        return self._page(view, form) if view.offered else no_arena_page(self.service, t, run=run)

    def act(self, action: Action) -> Html:
        """The tab after a filter."""
        return self.render(changed_form(action))

    def _page(self, view: OpenRunView, form: Form) -> Html:
        t, requested = self.t, field_value(form, "sub")
        sub = requested if requested in SUBS else SUBS[0]
        # A list that is being read must not move.
        watched = view.live and sub != "duels"
        shown = duels_page(view, form) if sub == "duels" else open_overview(view)
        return div(
            page_head(t("arena.title", run=view.run.name), view.facts(), *_ways(view, sub)),
            shown,
            el("span", data_watch=_WATCH_MS) if watched else None,
            cls="stack",
            data_address=view.address(sub).removeprefix("?") if sub != "duels" else None,
        )


def _ways(view: OpenRunView, sub: str) -> list[Html]:
    """The views of the run, and the way to its results."""
    t = view.t
    views = ((t(f"arena.sub.{name}"), view.address(name), name == sub) for name in SUBS)
    results = el("a", t("arena.results"), href=f"?run={view.run.id}&tab=results", cls="btn")
    return [segments(views, t("arena.plain")), results]


def no_arena_page(
    service: AppService, t: Messages, problem: str = "", *, run: RunRow | None = None
) -> Html:
    """The page without an arena: the runs that have one, and what to do to get one."""
    rows = _runs_with_duels(service)
    listed = titled(t("arena.recent"), _listing(t, rows)) if rows else None
    if run is not None:
        results = el("a", t("arena.results"), href=f"?run={run.id}&tab=results", cls="btn")
        none = _empty(t, "arena.none_here", results if run.done else None)
    else:
        none = None if rows else _empty(t, "arena.none")
    return div(
        page_head(run.name if run else t("arena.plain"), t("arena.promise")),
        alert("warn", problem),
        none,
        listed,
        cls="stack",
    )


def _runs_with_duels(service: AppService) -> list[RunRow]:
    rows: list[RunRow] = []
    for row in read_runs(service.database, service.person)[:_MAX_RUNS_CHECKED]:
        if has_duels(service, row.id):
            rows.append(row)
        if len(rows) == _RECENT:
            break
    return rows


def _listing(t: Messages, rows: Sequence[RunRow]) -> Html:
    heads = [t("arena.run"), t("arena.state"), t("arena.when")]
    lines: list[list[Child]] = [
        [
            el("a", row.name, href=f"?run={row.id}&tab=arena"),
            run_state(t, row.state),
            format_time(t, row.created),
        ]
        for row in rows
    ]
    return table(heads, lines)


def _empty(t: Messages, key: str, other: Html | None = None) -> Html:
    start = el("a", t("arena.go"), href="?tab=evaluate", cls="btn pri")
    return titled(t(key), empty(t(f"{key}_about"), div(start, other, cls="ways")))
