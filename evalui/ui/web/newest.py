"""Answers that many request at once, each made once."""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class NewestAnswers(Generic[T]):
    """The newest answers, of `most` keys; of those who request the same at once one has it made.

    As `ResultCache.memoize_newest` does for threads, within one event loop: who waits for an answer
    holds no thread. An error is not kept.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[Hashable, tuple[Hashable, asyncio.Future[T]]] = OrderedDict()

    async def find(self, key: Hashable, version: Hashable, make: Callable[[], Awaitable[T]]) -> T:
        """The answer of a key in a version; raises what `make` raises."""
        kept = self._kept.pop(key, None)
        if kept is None or kept[0] != version or _has_failed(kept[1]):
            kept = version, asyncio.ensure_future(make())
        self._kept[key] = kept
        if len(self._kept) > self._most:
            self._kept.popitem(last=False)
        # Who goes away leaves the others their answer.
        return await asyncio.shield(kept[1])


def _has_failed(answer: asyncio.Future[T]) -> bool:
    return answer.done() and (answer.cancelled() or answer.exception() is not None)
