"""Trunks that were computed and are kept: token ids in, whatever stands for them out.

Knows nothing of networks. What is used longest ago goes first when there is too much.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

from evalui.models.logprob_queries import Tokens, common

T = TypeVar("T")


# Every kept trunk is compared with the texts of every call.
_MOST = 128


class Trunks(Generic[T]):
    """A bounded store. `size` tells the bytes of a value; the newest is kept whatever its size.

    Apart from those kept, one trunk may be at hand for what follows at once.
    """

    def __init__(self, limit: int, *, size: Callable[[T], int]) -> None:
        self._limit = limit
        self._size = size
        self._kept: dict[Tokens, T] = {}  # the last used one last
        self._at_hand: dict[Tokens, T] = {}  # one or none

    def __iter__(self) -> Iterator[Tokens]:
        return iter((*self._kept, *self._at_hand))

    def nearest(self, tokens: Tokens) -> tuple[int, T | None]:
        """The trunk that shares most with `tokens`, and how many; (0, None) if none does."""
        at_hand = _longest(tokens, self._at_hand)
        if kept := _longest(tokens, self._kept):
            self._kept[kept] = self._kept.pop(kept)
        if not kept and not at_hand:
            return 0, None
        if common(at_hand, tokens) > common(kept, tokens):
            return common(at_hand, tokens), self._at_hand[at_hand]
        return common(kept, tokens), self._kept[kept]

    def keeps(self, tokens: Tokens) -> bool:
        """Whether a kept trunk begins with `tokens`."""
        return any(trunk[: len(tokens)] == tokens for trunk in self._kept)

    def put(self, tokens: Tokens, value: T) -> None:
        """Keep a trunk; those that it begins with go, as do the oldest over the limit."""
        for trunk in [each for each in self._kept if tokens[: len(each)] == each]:
            del self._kept[trunk]
        self._kept[tokens] = value
        self._at_hand.clear()
        self._shrink()

    def hold(self, tokens: Tokens, value: T) -> None:
        """Have a trunk at hand until another one is put or held."""
        self._at_hand = {tokens: value}
        self._shrink()

    def clear(self) -> None:
        """Give up all of them."""
        self._kept.clear()
        self._at_hand.clear()

    def _shrink(self) -> None:
        while len(self._kept) > 1 and (len(self._kept) > _MOST or self._bytes() > self._limit):
            del self._kept[next(iter(self._kept))]

    def _bytes(self) -> int:
        return sum(map(self._size, (*self._kept.values(), *self._at_hand.values())))


def _longest(tokens: Tokens, trunks: Iterable[Tokens]) -> Tokens:
    """The trunk that shares most with `tokens`, () if none does."""
    best = max(trunks, key=lambda trunk: common(trunk, tokens), default=())
    return best if common(best, tokens) else ()
