"""What the views of one arena share: the run, its arenas, and which of them is shown."""

from collections.abc import Mapping
from functools import cached_property
from urllib.parse import urlencode

from evalui.messages import Messages
from evalui.report.analyses.arena.figures import Arena
from evalui.runs.database.records import RunRow
from evalui.scoring.arena.agreement import Agreement
from evalui.ui.components.html import Html, div, el, join
from evalui.ui.components.widgets import signature_line
from evalui.ui.services.service import Desk
from evalui.ui.tabs.arena.arena_cache import Arenas
from evalui.ui.tabs.runs.progress_table import model_name

LIVE = ("queued", "running")


class ShownArena:
    """One arena of a run as its pages need it; `place` counts the run's arenas from 0."""

    def __init__(self, desk: Desk, t: Messages, arenas: Arenas, run_id: str, place: int) -> None:
        self.t = t
        self.run: RunRow = desk.run(run_id)
        self.baselines = desk.baselines()
        self.rule_based = desk.scripted()
        self.arenas = arenas.of(run_id)
        self.place = place if 0 <= place < len(self.arenas) else 0
        self._source = arenas

    @property
    def live(self) -> bool:
        """Whether verdicts may still come by themselves."""
        return self.run.state in LIVE

    @property
    def arena(self) -> Arena:
        """The arena that is shown; there must be one."""
        return self.arenas[self.place]

    @cached_property
    def with_people(self) -> Agreement | None:
        """How far the arena's judge and people say the same, None without shared duels."""
        return self._source.agreement(self.run.id, self.place)

    @cached_property
    def places(self) -> Mapping[str, int]:
        """The place of each contestant, which decides its marker; baselines take none."""
        own = [name for name in contestants(self.arena) if name not in self.baselines]
        return {name: place for place, name in enumerate(own)}

    def model(self, name: str) -> Html:
        """A contestant with its marker."""
        return model_name(name, self.places.get(name, 0), name in self.baselines)

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


def waiting(shown: ShownArena) -> str:
    """The key of the words for an arena without verdicts."""
    return "arena.waiting" if shown.live else "arena.stopped"


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


def signed_off(shown: ShownArena, sub: str) -> Html:
    """The last line of a view: how its figures were made, and the address of the view."""
    return div(
        signature_line(shown.arena.signature),
        copy_link(shown.t, shown.address(sub)),
        cls="signed",
    )
