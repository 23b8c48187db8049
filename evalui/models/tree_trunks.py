"""Trunks that were computed and are kept: token ids in, whatever stands for them out.

Knows nothing of networks. What is used longest ago goes first when there is too much.
"""

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from evalui.models.batches import Tokens, common

T = TypeVar("T")


class Trunks(Generic[T]):
    """A bounded store. `size` tells the bytes of a value; the newest is kept whatever its size."""

    def __init__(self, limit: int, *, size: Callable[[T], int]) -> None:
        self._limit = limit
        self._size = size
        self._kept: dict[Tokens, T] = {}  # the last used one last

    def __iter__(self) -> Iterator[Tokens]:
        return iter(tuple(self._kept))

    def nearest(self, tokens: Tokens) -> tuple[int, T | None]:
        """The kept trunk that shares most with `tokens`, and how many; (0, None) if none does."""
        shared = {trunk: common(trunk, tokens) for trunk in self._kept}
        best = max(shared, key=lambda trunk: shared[trunk], default=())
        if not best or not shared[best]:
            return 0, None
        self._kept[best] = self._kept.pop(best)
        return shared[best], self._kept[best]

    def put(self, tokens: Tokens, value: T) -> None:
        """Keep a trunk; those that it begins with go, as do the oldest over the limit."""
        for trunk in [each for each in self._kept if tokens[: len(each)] == each]:
            del self._kept[trunk]
        self._kept[tokens] = value
        while len(self._kept) > 1 and sum(map(self._size, self._kept.values())) > self._limit:
            del self._kept[next(iter(self._kept))]

    def clear(self) -> None:
        """Give up all of them."""
        self._kept.clear()
