"""The Arena tab: the leaderboard over all judged runs, or of one of them the standings or duels.

While a run goes on, its standings are drawn again when verdicts have come in.
"""

from evalui.app.leaderboard import has_duels
from evalui.app.open_run_view import OpenRunView
from evalui.app.service import AppService
from evalui.errors import EvaluiError
from evalui.messages import Messages
from evalui.report.html import Html, div, el
from evalui.ui.components.form import Form, field_value
from evalui.ui.components.fragment import Action
from evalui.ui.components.widgets import page_head, segments
from evalui.ui.tabs.arena.arena_view import open_overview
from evalui.ui.tabs.arena.duels import changed_form, duels_page
from evalui.ui.tabs.arena.leaderboard import leaderboard_page

SUBS = ("overview", "duels")
_WATCH_MS = 2000


class ArenaTab:
    """The tab in one language."""

    def __init__(self, service: AppService, t: Messages) -> None:
        self.service = service
        self.t = t

    def render(self, form: Form) -> Html:
        """The leaderboard, or the run of the address."""
        run_id, t = field_value(form, "run"), self.t
        try:
            run = self.service.run(run_id) if run_id else None
        except EvaluiError as error:
            return leaderboard_page(self.service, t, form, t.translate(error.sentence))
        # The report of a run of multiple choice need not be worked out to know that it has none.
        if run is None or not has_duels(self.service, run.id):
            return leaderboard_page(self.service, t, form, run=run)
        part = field_value(form, "arena")
        view = OpenRunView(self.service, t, run.id, part, tab="arena", duels=True)
        # Votes on what the run does not have are no duels.
        if not view.offered:
            return leaderboard_page(self.service, t, form, run=run)
        return self._page(view, form)

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
