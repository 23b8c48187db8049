"""One line of the table, the goal it is held against, and the table."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from benchmarks.clock import Timing


@dataclass(frozen=True, slots=True)
class Goal:
    """What a row must reach.

    `ratio`: the peer's CPU seconds over ours, at least. `rate`: units per CPU second of ours, at
    least. `cpu` and `wall`: seconds of ours, at most. `memory`: megabytes of ours, at most.
    """

    kind: Literal["ratio", "rate", "cpu", "wall", "memory"]
    bound: float

    def __str__(self) -> str:
        match self.kind:
            case "ratio":
                return f"≥ {self.bound:g}x"
            case "rate":
                return f"≥ {self.bound:,.0f}/s"
            case "cpu":
                return f"< {self.bound:g} s CPU"
            case "wall":
                return f"< {self.bound:g} s"
            case "memory":
                return f"< {self.bound:g} MB"


@dataclass(frozen=True, slots=True)
class Row:
    """`count` units of work, done by us and, where there is one, by a peer.

    `group` is the name by which `--only` asks for the row. `theirs` is None without a peer, and
    where the peer could not run; `peer` then says why. `built_on` are the peer's own packages.
    `found` is what was compared or counted beside the seconds; `faulty` marks results that should
    have been equal and were not. `by` are the seconds the ratio is of: where a device computes,
    those of the processor tell nothing. `megabytes` is the most memory of ours, 0 if not measured.
    """

    group: str
    work: str
    count: int
    unit: str
    ours: Timing
    peer: str = ""
    built_on: tuple[str, ...] = ()
    theirs: Timing | None = None
    goal: Goal | None = None
    found: str = ""
    faulty: bool = False
    rounds: tuple[int, int] = (0, 1)
    by: Literal["cpu", "wall"] = "cpu"
    megabytes: float = 0.0

    @property
    def ratio(self) -> float | None:
        """How many times as long the peer took."""
        if self.theirs is None:
            return None
        return getattr(self.theirs, self.by) / getattr(self.ours, self.by)

    @property
    def met(self) -> bool | None:
        """Whether the goal is reached; None without a goal, or where it cannot be told."""
        if self.goal is None:
            return None
        match self.goal.kind:
            case "ratio":
                return None if self.ratio is None else self.ratio >= self.goal.bound
            case "rate":
                return self.count / self.ours.cpu >= self.goal.bound
            case "cpu":
                return self.ours.cpu < self.goal.bound
            case "wall":
                return self.ours.wall < self.goal.bound
            case "memory":
                return self.megabytes < self.goal.bound if self.megabytes else None


_HEAD = (
    "work", "size", "peer", "peer CPU s", "wall", "our CPU s", "wall", "per second", "ratio",
    "goal", "met", "rounds", "beside the seconds",
)  # fmt: skip


def table(rows: Iterable[Row]) -> list[str]:
    """The rows as the lines of a Markdown table."""
    cells = [_cells(row) for row in rows]
    return [_line(_HEAD), "|" + "---|" * len(_HEAD), *map(_line, cells)]


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def _cells(row: Row) -> tuple[str, ...]:
    theirs = (f"{row.theirs.cpu:.3f}", f"{row.theirs.wall:.3f}") if row.theirs else ("", "")
    return (
        row.work,
        f"{row.count:,} {row.unit}",
        row.peer,
        *theirs,
        f"{row.ours.cpu:.3f}",
        f"{row.ours.wall:.3f}",
        f"{row.count / max(getattr(row.ours, row.by), 1e-9):,.0f}",
        "" if row.ratio is None else f"{row.ratio:.1f}x",
        str(row.goal or ""),
        _met(row),
        f"{row.rounds[0]}+{row.rounds[1]}" if row.rounds[0] else f"{row.rounds[1]}",
        ("**NOT EQUAL** " if row.faulty else "") + row.found,
    )


def _met(row: Row) -> str:
    if row.goal is None:
        return ""
    return {None: "not measured", True: "yes", False: "**no**"}[row.met]
