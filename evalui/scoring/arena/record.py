"""An arena as a store keeps it: its figures without what they were computed from."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeVar, overload

from evalui.scoring.arena.figures import Arena
from evalui.scoring.arena.verdicts import (
    battles_from_verdicts,
    joint_error,
    joint_state,
    panel_verdicts,
    verdicts_of,
)
from evalui.types import CellResult, Interval, Verdict

T = TypeVar("T")


class Deferred(Sequence[T]):
    """`n` things that are made when one of them is first looked at."""

    def __init__(self, n: int, make: Callable[[], Sequence[T]]) -> None:
        self._n = n
        self._make = make

    @cached_property
    def _made(self) -> Sequence[T]:
        return self._make()

    def __len__(self) -> int:
        """How many there are, without making them."""
        return self._n

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...

    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        """One, or several."""
        return self._made[index]

    def __iter__(self) -> Iterator[T]:
        """All of them."""
        return iter(self._made)


@dataclass(frozen=True, slots=True)
class ArenaRecord:
    """The `arena` without verdicts, battles, answers and questions; `battles` is their number.

    `shares` are those of the arena, each with the two models.
    """

    arena: Arena
    battles: int
    shares: tuple[tuple[str, str, Interval], ...]

    @classmethod
    def of(cls, arena: Arena) -> "ArenaRecord":
        """What is kept of an arena."""
        bare = replace(arena, verdicts=(), battles=(), contestants=(), samples={}, shares={})
        shares = tuple((*pair, share) for pair, share in arena.shares.items())
        return cls(bare, len(arena.battles), shares)

    def arena_of(self, results: Sequence[CellResult]) -> Arena:
        """The arena of these cells of judges, whose trials are read where verdicts are wanted."""
        first, kept = results[0], self.arena

        def read_verdicts() -> tuple[Verdict, ...]:
            each = [verdicts_of(result) for result in results]
            return panel_verdicts(each) if len(each) > 1 else each[0]

        verdicts = Deferred(kept.done, read_verdicts)
        return replace(
            kept,
            verdicts=verdicts,
            battles=Deferred(
                self.battles,
                lambda: battles_from_verdicts(verdicts, kept.conflict, strong=kept.strong),
            ),
            contestants=first.contestants,
            samples=first.samples,
            state=joint_state(results),
            error=joint_error(results),
            shares={(one, other): share for one, other, share in self.shares},
        )
