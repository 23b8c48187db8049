"""What the views of one arena share: the run, its arenas, and which of them is shown."""

from collections.abc import Mapping
from functools import cached_property
from urllib.parse import urlencode

from evalui.messages import Messages
from evalui.report.analyses.arena.figures import Arena
from evalui.runs.database.records import RunRow
from evalui.scoring.arena.agreement import RaterAgreement
from evalui.ui.components.html import Html, div, el, join
from evalui.ui.components.widgets import model_name, signature_line
from evalui.ui.services.service import AppService
from evalui.ui.tabs.arena.arena_cache import ArenaCache

LIVE = ("queued", "running")


class ArenaView:
    """One arena of a run as its pages need it; `place` counts the run's arenas from 0."""

    def __init__(
        self, service: AppService, t: Messages, arenas: ArenaCache, run_id: str, place: int
    ) -> None:
        self.t = t
        self.run: RunRow = service.run(run_id)
        self.baselines = service.baselines()
        self.rule_based = service.scripted()
        self.arenas = arenas.arenas_of(run_id)
        self.place = place if 0 <= place < len(self.arenas) else 0
        self._cache = arenas

    @property
    def live(self) -> bool:
        """Whether verdicts may still come by themselves."""
        return self.run.state in LIVE

    @property
    def arena(self) -> Arena:
        """The arena that is shown; there must be one."""
        return self.arenas[self.place]

    @cached_property
    def people_agreement(self) -> RaterAgreement | None:
        """How far the arena's judge and people say the same, None without shared duels."""
        return self._cache.agreement(self.run.id, self.place)

    @cached_property
    def marker_places(self) -> Mapping[str, int]:
        """The place of each contestant, which decides its marker; baselines take none."""
        own = [name for name in contestants(self.arena) if name not in self.baselines]
        return {name: place for place, name in enumerate(own)}

    def model(self, name: str) -> Html:
        """A contestant with its marker."""
        return model_name(name, self.marker_places.get(name, 0), name in self.baselines)

    def address(self, sub: str, **more: str) -> str:
        """The address of a view of this arena."""
        here = {"run": self.run.id, "tab": "arena", "sub": sub, "arena": str(self.place)}
        return f"?{urlencode(here | more)}"


def contestants(arena: Arena) -> tuple[str, ...]:
    """The names of those who answered, in the order of the run."""
    return tuple(contestant.name for contestant in arena.contestants)


def chart_head(title: str, about: str) -> Html:
    """What a chart shows, as a sentence if there is one, and how to read it."""
    return join(el("h2", title) if title else None, el("p", about, cls="meta"))


def waiting_key(view: ArenaView) -> str:
    """The key of the words for an arena without verdicts."""
    return "arena.waiting" if view.live else "arena.stopped"


def copy_link(t: Messages, address: str) -> Html:
    """A button that copies the address of what is shown."""
    return el(
        "button",
        t("arena.copy"),
        type="button",
        cls="link",
        data_copy=address,
        data_done=t("arena.copied"),
    )


def signature_footer(view: ArenaView, sub: str) -> Html:
    """The last line of a view: how its figures were made, and the address of the view."""
    return div(
        signature_line(view.arena.signature),
        copy_link(view.t, view.address(sub)),
        cls="signed",
    )
