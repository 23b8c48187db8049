"""Work on long prompts and long lists of tokens, kept off the event loop."""

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")

MANY_TOKENS = 1000  # whose reading takes some milliseconds
MANY_CHARACTERS = 20_000  # of texts whose tokens are arranged


async def beside_loop(work: Callable[[], T], *, is_large: bool) -> T:
    """What work comes to: of large work in a thread, since nothing else would be sent or received
    meanwhile.
    """
    if not is_large:
        return work()
    import asyncio

    return await asyncio.to_thread(work)
