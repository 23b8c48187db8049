"""The written answers of a run as its pages need them: its parts, their addresses and documents."""

import re
from collections.abc import Sequence
from functools import cached_property, partial

from evalui.app.leaderboard import run_arenas
from evalui.app.results import run_report
from evalui.app.service import AppService
from evalui.messages import Messages
from evalui.report.analyses.base import OpenContext, Report
from evalui.report.analyses.chosen_metrics import chosen_blocks
from evalui.report.analyses.cost import cost_blocks, replies_blocks
from evalui.report.analyses.open_answers import OpenPart, open_parts, part_blocks
from evalui.report.blocks import Block, Bullets, Places
from evalui.scoring.arena.figures import Arena
from evalui.store.runs import RunRow

_PLACE = re.compile(r"[0-9]{1,9}")


class OpenRunView:
    """The parts of a run of written answers, of which one is shown: at the place `wanted`.

    `duels`: only parts with duels are shown.

    Raises:
        UnknownRun: there is no run of that id.
    """

    def __init__(
        self,
        service: AppService,
        t: Messages,
        run_id: str,
        wanted: str,
        *,
        duels: bool = False,
    ) -> None:
        self.t = t
        self.duels = duels
        self.run: RunRow = service.run(run_id)
        self.service = service
        self._wanted = int(wanted) if _PLACE.fullmatch(wanted) else 0

    @cached_property
    def report(self) -> Report:
        """All figures of the run."""
        return run_report(self.service, self.run.id, self.t.language)

    @cached_property
    def parts(self) -> Sequence[OpenPart]:
        """One for each dataset and judge, and for people who voted on it."""
        return open_parts(self.report, run_arenas(self.report))

    @cached_property
    def offered(self) -> Sequence[int]:
        """The places of the parts that can be shown here; there must be one."""
        return [place for place, one in enumerate(self.parts) if one.arena or not self.duels]

    @property
    def place(self) -> int:
        """The place of the part that is shown."""
        return self._wanted if self._wanted in self.offered else self.offered[0]

    @property
    def part(self) -> OpenPart:
        """The part that is shown."""
        return self.parts[self.place]

    @property
    def arena(self) -> Arena:
        """The arena of the part that is shown; it must have one."""
        arena = self.part.arena
        assert arena is not None, "only parts with duels are opened here"
        return arena

    @cached_property
    def context(self) -> OpenContext:
        """How tables and charts name the models, with links to the duels."""
        return OpenContext(
            self.t.language,
            self.report.answerers,
            self.service.models.baselines(),
            rules=self.service.models.scripted(),
            duels=partial(self.address, "duels"),
        )

    def address(self, sub: str, *, place: int | None = None, **more: str) -> str:
        """The address of a view of a part, that which is shown if no other."""
        shown = self.place if place is None else place
        more = {"arena": str(shown)} | {key: value for key, value in more.items() if value}
        return Places(self.run.id).view(sub, **more)

    def links(self, sub: str) -> Sequence[tuple[str, str, bool]]:
        """Word and address of each part that can be shown, and whether it is; of one alone none."""
        if len(self.offered) < 2:
            return ()
        return [
            (self._label(self.parts[place]), self.address(sub, place=place), place == self.place)
            for place in self.offered
        ]

    def _label(self, part: OpenPart) -> str:
        datasets = {one.dataset for one in self.parts}
        judge = part.label(self.context)
        return " · ".join(filter(None, (part.dataset if len(datasets) > 1 else "", judge)))


def part_document(view: OpenRunView) -> tuple[Block, ...]:
    """The part that is shown: its verdict, its tables and what folds below, cost, signatures."""
    shown = tuple(part_blocks(view.report, view.part, view.context))
    return (
        *shown[:1],  # the verdict
        *chosen_blocks(view.report, view.t.language, {view.part.dataset}),
        *shown[1:],
        *replies_blocks(view.report, view.t.language),
        *cost_blocks(view.report.expenses, view.t.language),
        Bullets(_signatures(view), signatures=True),
    )


def _signatures(view: OpenRunView) -> tuple[str, ...]:
    part = view.part
    if part.arena:
        return (part.arena.signature.replace("|", " · "),)
    cells = [one.cell for one in view.report.answers if one.cell.dataset == part.dataset]
    cells += [part.rated.cell] if part.rated else []
    return tuple(cell.signature.replace("|", " · ") for cell in cells)
