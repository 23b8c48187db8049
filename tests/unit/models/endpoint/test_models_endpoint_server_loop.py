import asyncio
import threading

import pytest

from evalui.models.endpoint.server import LoopThread


def test_what_is_no_longer_waited_for_is_ended():
    ended = threading.Event()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    loop = LoopThread()
    with pytest.raises(TimeoutError):
        loop.call(work(), timeout_s=0.5)
    assert ended.wait(60)
