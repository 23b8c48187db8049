"""One exchange with a server, for whoever waits in another thread than the loop's.

It goes over a `Session` of its own, with the same guards as requests to models. `aiohttp`, the HTTP
client, is imported with the first exchange, not before.
"""

from collections.abc import Coroutine, Generator, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from evalui.models.endpoint.http.addresses import Resolve, resolve_host
from evalui.models.endpoint.http.loop import LOOP

if TYPE_CHECKING:
    from aiohttp import ClientResponse

T = TypeVar("T")

_MIN_UPLOAD_RATE = 10_000  # bytes a second; a server that takes fewer is not waited for


class ExchangeFailed(Exception):
    """A server could not be reached, or did not speak to the end. Its text says how."""


class BegunReply:
    """A reply that has begun: `headers` by their names in lower case."""

    def __init__(self, response: "ClientResponse") -> None:
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.headers.items()}
        self._response = response

    def pieces(self) -> Iterator[bytes]:
        """The content as it comes; raises `ExchangeFailed`."""
        while piece := _on_the_loop(self._response.content.readany()):
            yield piece


@contextmanager
def exchange(
    method: str,
    url: str,
    content: bytes = b"",
    *,
    headers: Mapping[str, str],
    timeout_s: float,
    total_s: float,
    connect_s: float,
    allowed: Sequence[str] = (),
    resolve: Resolve = resolve_host,
) -> Generator[BegunReply]:
    """Send a request; the reply has begun, and is to be read within. Redirects are not followed.

    The times and `allowed` are as in `Session`.

    Raises:
        ExchangeFailed: there is no reply, or it does not begin in time.
        ModelError: the address is refused, or the proxy is of a kind that cannot be used.
    """

    async def begin() -> "ClientResponse":
        import asyncio

        from yarl import URL

        from evalui.models.endpoint.http.session import Session

        session = Session(
            url,
            timeout_s=timeout_s,
            total_s=total_s,
            connect_s=connect_s,
            keeps_connections=False,
            headers={"Accept-Encoding": "identity", **headers},
            allowed=allowed,
            resolve=resolve,
        )
        opened.push_async_callback(session.close)
        async with asyncio.timeout(connect_s + timeout_s + len(content) / _MIN_UPLOAD_RATE):
            return await opened.enter_async_context(
                session.exchange(method, URL(url), content or None)
            )

    opened = AsyncExitStack()
    try:
        yield BegunReply(_on_the_loop(begin()))
    finally:
        LOOP.call(opened.aclose())


def _on_the_loop(coroutine: Coroutine[Any, Any, T]) -> T:
    """What a coroutine returns; raises `ExchangeFailed` for what goes wrong with connections."""

    async def translated() -> T:
        import aiohttp

        try:
            return await coroutine
        except (aiohttp.ClientError, TimeoutError) as error:
            raise ExchangeFailed(str(error) or type(error).__name__) from error

    return LOOP.call(translated())
