"""The written answers of a run as its pages need them: its parts, their addresses and documents."""

import re
from collections.abc import Sequence
from functools import cached_property, partial
from urllib.parse import urlencode

from evalui.app.leaderboard import run_arenas
from evalui.app.run_labels import LIVE_STATES
from evalui.app.service import AppService
from evalui.messages import Messages
from evalui.report.analyses.arena.narrative import judged_by
from evalui.report.analyses.base import Report
from evalui.report.analyses.chosen_metrics import chosen_blocks
from evalui.report.analyses.cost import cost_blocks
from evalui.report.analyses.open_answers.context import OpenContext
from evalui.report.analyses.open_run import OpenPart, open_parts, part_blocks
from evalui.report.analyses.overview.places import Places
from evalui.report.blocks import Block, Bullets
from evalui.runs.database.records import RunRow
from evalui.scoring.arena.figures import PEOPLE, Arena

_PLACE = re.compile(r"[0-9]{1,9}")


class OpenRunView:
    """The parts of a run of written answers, of which one is shown: at the place `wanted`.

    `tab` is that of the page, whose addresses keep the part. `duels`: only parts with duels are
    shown.

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
        tab: str = "results",
        duels: bool = False,
    ) -> None:
        self.t = t
        self.tab = tab
        self.duels = duels
        self.run: RunRow = service.run(run_id)
        self._service = service
        self._wanted = int(wanted) if _PLACE.fullmatch(wanted) else 0

    @cached_property
    def report(self) -> Report:
        """All figures of the run."""
        return self._service.report(self.run.id, self.t.language)

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

    @property
    def live(self) -> bool:
        """Whether verdicts may still come by themselves."""
        return self.run.state in LIVE_STATES

    @cached_property
    def context(self) -> OpenContext:
        """How tables and charts name the models, with links to the duels."""
        return OpenContext(
            self.t.language,
            self.report.answerers,
            self._service.baselines(),
            rules=self._service.scripted(),
            duels=partial(self.address, "duels"),
        )

    def address(self, sub: str, *, place: int | None = None, **more: str) -> str:
        """The address of a view of a part, that which is shown if no other."""
        shown = self.place if place is None else place
        more = {"arena": str(shown)} | {key: value for key, value in more.items() if value}
        if self.tab == "results":
            return Places(self.run.id).view(sub, **more)
        return f"?{urlencode({'run': self.run.id, 'tab': self.tab, 'sub': sub} | more)}"

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
        judge = part.label(self.t.language, self.context.rules)
        return " · ".join(filter(None, (part.dataset if len(datasets) > 1 else "", judge)))

    def facts(self) -> str:
        """ "arena-demo · 120 questions · 3 pairs · both orders · 720 verdicts · judge: local"."""
        t, arena = self.t, self.arena
        judge = judged_by(arena, t.language, rule_based=self.context.rules)
        parts = [
            arena.dataset if arena.dataset != self.run.name else "",
            t.count("arena.meta.questions", arena.questions) if arena.questions else "",
            t.count("arena.meta.pairs", arena.pairs) if arena.pairs else "",
            t(f"arena.meta.{arena.orders}") if arena.by != PEOPLE else "",
            _verdicts(t, arena),
            judge,
        ]
        return " · ".join(part for part in parts if part)


def _verdicts(t: Messages, arena: Arena) -> str:
    if arena.done < arena.planned:
        return t("arena.live", done=f"{arena.done:,}", total=f"{arena.planned:,}")
    k = arena.reliability.unreferenced
    count = t.count("arena.meta.verdicts", len(arena.verdicts) - k)
    return f"{count} · {t('arena.meta.unreferenced', k=f'{k:,}')}" if k else count


def part_document(view: OpenRunView) -> tuple[Block, ...]:
    """The part that is shown: its verdict, its tables and what folds below, cost, signatures."""
    shown = tuple(part_blocks(view.report, view.part, view.context))
    return (
        *shown[:1],  # the verdict
        *chosen_blocks(view.report, view.t.language, {view.part.dataset}),
        *shown[1:],
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
