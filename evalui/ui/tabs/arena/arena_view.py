"""The arenas of a run, as its judges and as people saw the duels, and the state of the tab."""

from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple
from urllib.parse import urlencode

from evalui.messages import Messages
from evalui.report.analyses.arena.figures import Arena
from evalui.report.analyses.people.figures import human_arenas
from evalui.report.html import Html, div, el, join
from evalui.report.icons import model_name
from evalui.runs.database.records import CellRow, RunRow
from evalui.runs.database.runs import read_cells
from evalui.runs.database.votes import read_votes
from evalui.runs.spec import JUDGE, OPEN, ModeSpec
from evalui.scoring.arena.agreement import RaterAgreement
from evalui.ui.components.widgets import signature_line
from evalui.ui.services.run_labels import LIVE_STATES
from evalui.ui.services.service import AppService


class ArenaCache:
    """One per tab; safe to share between threads."""

    def __init__(self, service: AppService, t: Messages) -> None:
        self._service = service
        self._t = t

    def arenas_of(self, run_id: str) -> tuple[Arena, ...]:
        """Those of judges first, in the order of the run, then those of people's votes."""
        # The report of a run of multiple choice need not be worked out to know that it has none.
        if not has_duels(self._service, run_id):
            return ()
        report = self._service.report(run_id, self._t.language)
        return (*report.arenas, *human_arenas(report.people))

    def agreement(self, run_id: str, place: int) -> RaterAgreement | None:
        """How far the judge of an arena and people agree; None without shared duels."""
        arenas = self.arenas_of(run_id)
        if place >= len(arenas):
            return None
        people = self._service.report(run_id, self._t.language).people
        signed = arenas[place].signature
        return next((one.agreement for one in people if one.judged.signature == signed), None)


def has_duels(service: AppService, run_id: str) -> bool:
    """Whether a run compares answers two by two, by a judge or by people."""
    cells = read_cells(service.database, run_id)
    if any(cell.cell.mode == JUDGE and _in_pairs(cell) for cell in cells):
        return True
    return any(cell.cell.mode == OPEN for cell in cells) and bool(
        read_votes(service.database, run_id)
    )


def _in_pairs(cell: CellRow) -> bool:
    judging = ModeSpec.model_validate_json(cell.plan).judging
    return judging is not None and not judging.rates_single


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
        return self.run.state in LIVE_STATES

    @property
    def arena(self) -> Arena:
        """The arena that is shown; there must be one."""
        return self.arenas[self.place]

    @cached_property
    def people_agreement(self) -> RaterAgreement | None:
        """How far the arena's judge and people agree, None without shared duels."""
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


class ArenaClientState(NamedTuple):
    """What is shown, kept in the browser as text.

    `place` is the arena's in the run, `revision` the run's, `sub` the open view, `filled` the
    views that show that revision. While the run goes on, nothing is drawn again before
    `refresh_after` (seconds since 1970): a large arena takes longer to work out than verdicts take
    to come in.
    """

    run: str = ""
    place: int = 0
    revision: int = -1
    sub: str = "overall"
    filled: tuple[str, ...] = ()
    refresh_after: float = 0.0
