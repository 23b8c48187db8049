"""The Results tab: one run, at its own address, in five views."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from evalui.app.leaderboard import has_duels
from evalui.app.run_labels import LIVE_STATES, owned_label
from evalui.app.service import AppService
from evalui.errors import UnknownRun
from evalui.messages import Messages
from evalui.report.html import Html, div, el, join, span
from evalui.runs.database.records import RunRow
from evalui.runs.database.runs import read_runs
from evalui.runs.upkeep.retention import announced_deletion
from evalui.ui.components.form import Form, field_value
from evalui.ui.components.format import format_time
from evalui.ui.components.fragment import Action
from evalui.ui.components.widgets import (
    note,
    page_head,
    status,
    table,
    titled,
)
from evalui.ui.tabs.results import (
    bias,
    calibration,
    duels,
    health,
    overview,
    report,
    statistics,
)
from evalui.ui.tabs.results.run_view import RunView
from evalui.ui.tabs.results.samples import SamplesView

VIEWS = ("overview", "samples", "bias", "statistics", "report")
JUDGED_VIEWS = ("overview", "duels", "samples", "annotate", "report")  # of written answers alone
# Views that are reached from others, and the one of `VIEWS` they belong to.
_WITHIN = {"calibration": "statistics", "health": "overview"}
_ELSEWHERE = {"annotate": "annotate"}  # tabs of their own
_RECENT = 10
_WATCH_MS = 2000  # milliseconds between looks at a run that is not finished
_FIRST_WATCH_MS = 500  # the same while it has no answer, and somebody waits for its first figure


@dataclass(frozen=True, slots=True)
class SubView:
    """One view of a run: everything it shows, whose root may carry the address of what is shown.

    `act` gives the view after an action, None if it stays as it is; without it another form is
    all that an action can change.
    """

    render: Callable[[RunView, Form], Html]
    act: Callable[[RunView, Action], Html | None] | None = None


class ResultsTab:
    """The tab in one language; the address is its whole state."""

    def __init__(self, service: AppService, t: Messages) -> None:
        self.service = service
        self.t = t
        samples = SamplesView(service, t)
        self.views: Mapping[str, SubView] = {
            "overview": SubView(overview.render, overview.act),
            "bias": SubView(bias.render),
            "calibration": SubView(calibration.render),
            "health": SubView(health.render),
            "statistics": SubView(statistics.render),
            "duels": SubView(duels.render, duels.act),
            "samples": SubView(samples.render, samples.act),
            "report": SubView(report.render, report.act),
        }

    def render(self, form: Form) -> Html:
        """The run of the address in the view it names, else the newest runs."""
        run_id = field_value(form, "run")
        if not run_id:
            return self._without_run("")
        try:
            view = RunView(self.service, self.t, run_id)
        except UnknownRun as error:
            return self._without_run(self.t.translate(error.sentence))
        name = self._name(view, form)
        return self._framed(view, name, self.views[name].render(view, form))

    def act(self, action: Action) -> Html | None:
        """The tab after an action, None if it leaves it as it is."""
        view = RunView(self.service, self.t, field_value(action.form, "run"))
        name = self._name(view, action.form)
        shown = self.views[name]
        content = shown.act(view, action) if shown.act else shown.render(view, action.form)
        return None if content is None else self._framed(view, name, content)

    def _name(self, view: RunView, form: Form) -> str:
        # Written answers have no positions and are not right or wrong.
        offered = self._offered(view)
        requested = field_value(form, "sub")
        known = requested in offered or (view.has_choices and requested in _WITHIN)
        return requested if known and requested in self.views else VIEWS[0]

    def _offered(self, view: RunView) -> tuple[str, ...]:
        """The views of a run; of answers that were only marked one by one none shows duels."""
        if view.has_choices:
            return VIEWS
        duels = has_duels(self.service, view.run.id)
        return tuple(each for each in JUDGED_VIEWS if duels or each != "duels")

    # ------------------------------------------------------------ the frame

    def _framed(self, view: RunView, name: str, content: Html) -> Html:
        pause = _WATCH_MS if view.run.done else _FIRST_WATCH_MS
        return div(
            div(
                el("b", view.run.name),
                span(" · ".join(view.facts(format_time(self.t, view.moment))), cls="meta"),
                self._subtabs(view, name),
                cls="runline",
            ),
            self._unfinished(view.run, name),
            self._deletion(view.run),
            content,
            cls="results",
            data_watch=pause if view.is_live else None,
        )

    def _deletion(self, run: RunRow) -> Html | None:
        """When the run will be deleted, from two weeks before."""
        service = self.service
        at = announced_deletion(service.database, service.settings.retention_days, run)
        if at is None:
            return None
        return note("warn", self.t("upkeep.deletion", date=format_time(self.t, at)))

    def _subtabs(self, view: RunView, name: str) -> Html:
        current = _WITHIN.get(name, name)
        links = (
            el(
                "a",
                self.t(f"tab.{each}"),
                href=f"?run={view.run.id}&tab={_ELSEWHERE[each]}"
                if each in _ELSEWHERE
                else view.address(each),
                aria_current="page" if each == current else None,
            )
            for each in self._offered(view)
        )
        return el("nav", *links, cls="sub", aria_label=self.t("results.views"))

    def _unfinished(self, run: RunRow, name: str) -> Html | None:
        t = self.t
        if run.state == "failed":
            return note("bad", t.translate(run.error)) if run.error else None
        if run.state not in LIVE_STATES:
            return None
        watch = el("a", t("results.watch"), href=f"runs?run={run.id}")
        if run.state == "queued" and not run.done:
            return note("na", t("results.queued_of"), " ", watch)
        if name == VIEWS[0]:
            return div(watch)  # its sentence says how far the run is
        progress = t("results.live_of", done=f"{run.done:,}", total=f"{run.total:,}")
        return note("na", progress, " ", watch)

    def _without_run(self, problem: str) -> Html:
        t = self.t
        rows = [row for row in read_runs(self.service.database, self.service.person) if row.done]
        links = [
            [
                join(
                    el("a", row.name, href=f"?run={row.id}&tab=results"),
                    div(owned_label(t, row, self.service.owner), cls="meta"),
                ),
                status("ok" if row.state == "done" else "na", t(f"runstate.{row.state}")),
                format_time(t, row.created),
            ]
            for row in rows[:_RECENT]
        ]
        heads = [t("runs.run"), t("runs.state"), t("runs.when")]
        listed = (
            table(heads, links, cls="runs-list")
            if links
            else el("p", t("results.nothing"), cls="dim")
        )
        return div(
            page_head(t("results.title"), t("results.promise")),
            div(note("warn", problem), role="alert") if problem else None,
            titled(t("results.recent"), listed),
            cls="stack",
        )
