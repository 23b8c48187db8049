"""Trunks that were computed and are kept: token ids in, whatever stands for them out.

Knows nothing of networks. What is used longest ago goes first when there is too much.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Generic, TypeVar

from evalui.models.logprob_queries import TokenIds, common_prefix_length

T = TypeVar("T")


# Every kept trunk is compared with the texts of every call.
_MAX_ENTRIES = 128


class PrefixCache(Generic[T]):
    """A bounded store. `size` tells the bytes of a value; the newest is kept whatever its size.

    Apart from those kept, one trunk may be at hand for what follows at once.
    """

    def __init__(self, limit: int, *, size: Callable[[T], int]) -> None:
        self._limit = limit
        self._size = size
        self._entries: dict[TokenIds, T] = {}  # the last used one last
        self._pinned: dict[TokenIds, T] = {}  # one or none

    def __iter__(self) -> Iterator[TokenIds]:
        return iter((*self._entries, *self._pinned))

    def longest_match(self, tokens: TokenIds) -> tuple[int, T | None]:
        """The trunk that shares most with `tokens`, and how many; (0, None) if none does."""
        at_hand = _longest_match(tokens, self._pinned)
        if kept := _longest_match(tokens, self._entries):
            self._entries[kept] = self._entries.pop(kept)
        if not kept and not at_hand:
            return 0, None
        if common_prefix_length(at_hand, tokens) > common_prefix_length(kept, tokens):
            return common_prefix_length(at_hand, tokens), self._pinned[at_hand]
        return common_prefix_length(kept, tokens), self._entries[kept]

    def has_prefix(self, tokens: TokenIds) -> bool:
        """Whether a kept trunk begins with `tokens`."""
        return any(trunk[: len(tokens)] == tokens for trunk in self._entries)

    def insert(self, tokens: TokenIds, value: T) -> None:
        """Keep a trunk; those that it begins with go, as do the oldest over the limit."""
        for trunk in [each for each in self._entries if tokens[: len(each)] == each]:
            del self._entries[trunk]
        self._entries[tokens] = value
        self._pinned.clear()
        self._evict()

    def pin(self, tokens: TokenIds, value: T) -> None:
        """Have a trunk at hand until another one is put or held."""
        self._pinned = {tokens: value}
        self._evict()

    def clear(self) -> None:
        """Give up all of them."""
        self._entries.clear()
        self._pinned.clear()

    def _evict(self) -> None:
        while len(self._entries) > 1 and (
            len(self._entries) > _MAX_ENTRIES or self._total_bytes() > self._limit
        ):
            del self._entries[next(iter(self._entries))]

    def _total_bytes(self) -> int:
        return sum(map(self._size, (*self._entries.values(), *self._pinned.values())))


def _longest_match(tokens: TokenIds, trunks: Iterable[TokenIds]) -> TokenIds:
    """The trunk that shares most with `tokens`, () if none does."""
    best = max(trunks, key=lambda trunk: common_prefix_length(trunk, tokens), default=())
    return best if common_prefix_length(best, tokens) else ()
