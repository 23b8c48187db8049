"""What the views of the Admin tab share."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from evalui.app.people import list_people
from evalui.app.queue import list_live_runs
from evalui.app.readings import LiveRun, PersonUse
from evalui.app.service import AppService
from evalui.messages import Messages
from evalui.report.html import Child, Html, div, el, span
from evalui.runs.fair_queue.limits import UserLimits, usual_limits
from evalui.ui.components.form import Form, field_value
from evalui.ui.components.widgets import bar, card

_NEARLY = 0.9  # of a limit


@dataclass(frozen=True)
class AdminPage:
    """One page: its form, and what several of its parts read, once. `confirming` is a team whose
    removal waits for another click.
    """

    service: AppService
    t: Messages
    form: Form
    confirming: str = ""

    @cached_property
    def usual(self) -> UserLimits:
        """The limits of everybody who has none of their own."""
        return usual_limits(self.service.settings)

    @cached_property
    def people(self) -> list[PersonUse]:
        """Everybody with an account."""
        return list_people(self.service)

    @cached_property
    def live(self) -> list[LiveRun]:
        """The runs of all that wait or are at work."""
        return list(list_live_runs(self.service))

    @property
    def busy_sentence(self) -> str:
        """How many runs are at work and wait."""
        running = sum(each.row.state == "running" for each in self.live)
        jobs = self.t.count("admin.running_jobs", running)
        return self.t("admin.jobs", running=jobs, waiting=len(self.live) - running)

    def value(self, name: str) -> str:
        """A single parameter of the address or field of the page."""
        return field_value(self.form, name)


def verdict(text: str, *acts: Child) -> Html:
    """The one sentence of a view, and its buttons."""
    return div(
        div(el("h1", text), cls="headline"), div(*acts, cls="acts") if acts else None, cls="answer"
    )


def figure_card(title: str, figure: str, about: str, share: float | None) -> Html:
    """A figure of the whole server, with how much of it is used."""
    shown = meter(share) if share is not None else None
    return card(el("h3", title), el("p", el("b", figure), " ", span(about, cls="meta")), shown)


def meter(share: float) -> Html:
    """A thin bar, which warns where little is left."""
    return div(bar(share), cls="full" if share >= _NEARLY else None)


def heads(page: AdminPage, of: str, names: Sequence[str]) -> list[Child]:
    """The columns of a table, and a last one of links, whose name is only read aloud."""
    prefix = f"admin.{of}." if of else "admin."
    return [*(page.t(prefix + each) for each in names), span(page.t("runs.actions"), cls="hidden")]


def of_limit(
    page: AdminPage, key: str, used: float, limit: float | None, unit: float = 1.0
) -> Html:
    """What a person used of a limit; `key` has a sentence with and one without a limit."""
    t, shown = page.t, f"{used / unit:.1f}"
    if limit is None:
        return span(t(f"admin.{key}_unlimited", used=shown), cls="nw")
    words = t(f"admin.{key}_of", used=shown, limit=f"{limit / unit:g}")
    return div(div(words, cls="nw"), meter(used / limit if limit else 1.0), cls="used")


def disclosures(*sections: tuple[str, str, str, Sequence[Child]]) -> Html:
    """Sections that fold: each its id, name, finding and content."""
    return el(
        "section",
        *(
            el(
                "details",
                el("summary", el("b", name), span(finding, cls="finding")),
                div(*inside, cls="in"),
                id=key,
            )
            for key, name, finding, inside in sections
        ),
        cls="disc",
    )
