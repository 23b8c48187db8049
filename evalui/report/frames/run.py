"""Every frame of a run by name, each made once, when it is first wanted."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from threading import RLock

import pandas as pd

from evalui.report.analyses.base import Report
from evalui.report.frames import arena, choices
from evalui.report.frames.base import Columns, Row, frame
from evalui.scoring.arena.figures import Arena
from evalui.scoring.arena.people import human_arenas


@dataclass(frozen=True, slots=True)
class FrameKind:
    """One frame: its `columns`, and its `rows` of a report; `more`: others stand behind them."""

    columns: Columns
    rows: Callable[[Report], Iterable[Row]]
    more: bool = False


def _arenas(report: Report) -> tuple[Arena, ...]:
    """Those of the judges, then those of the people who voted."""
    return (*report.arenas, *human_arenas(report.people))


KINDS: Mapping[str, FrameKind] = {
    "overview": FrameKind(
        choices.OVERVIEW, lambda report: choices.overview(report.summaries), more=True
    ),
    "readings": FrameKind(choices.READINGS, lambda report: choices.readings(report.summaries)),
    "rules": FrameKind(choices.RULES, lambda report: choices.rules(report.summaries)),
    "groups": FrameKind(choices.GROUPS, lambda report: choices.groups(report.summaries), more=True),
    "positions": FrameKind(choices.POSITIONS, lambda report: choices.positions(report.summaries)),
    "confusion": FrameKind(choices.CONFUSION, lambda report: choices.confusion(report.summaries)),
    "consistency": FrameKind(
        choices.CONSISTENCY, lambda report: choices.consistency(report.summaries)
    ),
    "priors": FrameKind(choices.PRIORS, lambda report: choices.priors(report.summaries)),
    "bias": FrameKind(choices.BIAS, lambda report: choices.bias(report.summaries)),
    "calibration": FrameKind(
        choices.CALIBRATION, lambda report: choices.calibration(report.summaries)
    ),
    "pairs": FrameKind(choices.PAIRS, lambda report: choices.pairs(report.comparisons)),
    "incomparable": FrameKind(
        choices.INCOMPARABLE, lambda report: choices.incomparable(report.comparisons)
    ),
    "ranks": FrameKind(
        choices.RANKS, lambda report: choices.ranks(report.comparisons, report.summaries)
    ),
    "standings": FrameKind(arena.STANDINGS, lambda report: arena.standings(_arenas(report))),
    "dimensions": FrameKind(arena.DIMENSIONS, lambda report: arena.dimensions(_arenas(report))),
    "win_matrix": FrameKind(arena.WIN_MATRIX, lambda report: arena.win_matrix(_arenas(report))),
    "reliability": FrameKind(arena.RELIABILITY, lambda report: arena.reliability(_arenas(report))),
    "duels": FrameKind(arena.DUELS, lambda report: arena.duels(report.arenas)),
    "verdicts": FrameKind(arena.VERDICTS, lambda report: arena.verdicts(report.arenas)),
}


class Frames(Mapping[str, pd.DataFrame]):
    """The frames of a report by name; nobody may change one that is handed out.

    Safe to share between threads.
    """

    def __init__(self, report: Report) -> None:
        self._report = report
        self._made: dict[str, pd.DataFrame] = {}
        self._lock = RLock()  # over `_made`: a frame is made by one thread only

    def __getitem__(self, name: str) -> pd.DataFrame:
        """The frame of a name; raises `KeyError` if there is none."""
        kind = KINDS[name]
        with self._lock:
            if name not in self._made:
                self._made[name] = frame(kind.rows(self._report), kind.columns, more=kind.more)
            return self._made[name]

    def __iter__(self) -> Iterator[str]:
        """The names, in the order of a reader's interest."""
        return iter(KINDS)

    def __len__(self) -> int:
        """How many frames there are, empty ones too."""
        return len(KINDS)
