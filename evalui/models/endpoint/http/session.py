"""Connections of the event loop: never to a refused address, and no exchange beyond its times.

Redirects are not followed, cookies not kept. The name of a host is resolved once for each
connection, or once for those that begin at the same moment, and what was checked is what is
connected to: a name that resolves differently the next time gains nothing.
"""

import asyncio
import socket
import ssl
import time
from base64 import b64encode
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from io import BytesIO
from typing import Any

import aiohttp
import certifi
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from evalui.models.endpoint.http.addresses import (
    Resolve,
    allowed_addresses,
    check_address,
    check_url,
    resolve_host,
)
from evalui.models.endpoint.http.proxies import proxy_for

CONNECT_S = 2.0  # a server that does not take a connection in this time is down
_KEEPALIVE_S = 5.0  # an unused connection; servers close theirs after a similar time
_LARGE_CONTENT_BYTES = 2**20
_STALE_S = 1.0  # within which it shows that a kept connection was closed before it was used


class Session:
    """Sends requests to the server of one URL, over the proxy that the environment names for it.

    An exchange fails after `timeout_s` seconds without a byte, and after `total_s` in any case; a
    connection has `connect_s`, `CONNECT_S` unless stated. Connections are kept for the next
    exchange; without `keeps_connections` each exchange has its own, and nothing is sent twice.
    Where there is a proxy, it is the proxy that resolves names, so only addresses that are
    written as such can be refused, and where `allowed` hosts are stated, it is used for those of
    their names alone. To be made and used on the loop.

    Raises:
        ModelError: the proxy is of a kind that cannot be used, or the host is not allowed.
    """

    def __init__(
        self,
        url: str,
        *,
        timeout_s: float,
        total_s: float,
        headers: Mapping[str, str],
        connect_s: float = 0.0,
        keeps_connections: bool = True,
        allowed: Sequence[str] = (),
        resolve: Resolve = resolve_host,
    ) -> None:
        proxy, is_tls = proxy_for(url), url.startswith("https:")
        check_url(url, allowed, resolved_later=proxy is None)
        self._keeps_connections = keeps_connections
        self._proxy: dict[str, Any] = {"proxy": proxy.url} if proxy else {}
        if proxy and (proxy.user or proxy.password):
            pair = f"{proxy.user}:{proxy.password}".encode()
            basic = f"Basic {b64encode(pair).decode()}"
            if is_tls:  # to the proxy alone, when a tunnel is opened
                self._proxy["proxy_headers"] = {"Authorization": basic}
            else:
                headers = {**headers, "Proxy-Authorization": basic}
        checked = _CheckedConnections(resolve, allowed)
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=0,  # who sends counts what is in flight
                # Once for all connections: to load the certificates takes longer than a request.
                ssl=_tls_context() if is_tls else True,
                keepalive_timeout=_KEEPALIVE_S if keeps_connections else None,
                force_close=not keeps_connections,
                use_dns_cache=False,
                resolver=None if proxy else checked,
                # It sees addresses that are written as such too, which are not resolved.
                socket_factory=None if proxy else checked.open_socket,
            ),
            timeout=aiohttp.ClientTimeout(
                total=total_s, sock_connect=connect_s or CONNECT_S, sock_read=timeout_s
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
            headers=headers,
        )

    @asynccontextmanager
    async def exchange(
        self, method: str, target: URL, content: bytes | None
    ) -> AsyncGenerator[aiohttp.ClientResponse]:
        """Send a request; the reply has begun, and is to be read within."""
        async with await self._sent(method, target, content) as response:
            yield response

    async def close(self) -> None:
        """Let the connections go."""
        await self._session.close()

    async def _sent(
        self, method: str, target: URL, content: bytes | None
    ) -> aiohttp.ClientResponse:
        began = time.monotonic()
        try:
            return await self._send(method, target, content)
        except aiohttp.ClientConnectorError:
            raise
        except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError):
            # A server may close a kept connection at the moment at which it is used again. That is
            # no failure of the server, and aiohttp repeats no POST.
            if not self._keeps_connections or time.monotonic() - began > _STALE_S:
                raise
            return await self._send(method, target, content)

    async def _send(
        self, method: str, target: URL, content: bytes | None
    ) -> aiohttp.ClientResponse:
        # aiohttp warns of large bytes, of which it sends a copy at once, and takes files in pieces.
        data = BytesIO(content) if content and len(content) > _LARGE_CONTENT_BYTES else content
        return await self._session.request(
            method, target, data=data, allow_redirects=False, **self._proxy
        )


class _CheckedConnections(AbstractResolver):
    """Resolves names to those of their addresses that may be connected to, and opens sockets."""

    def __init__(self, resolve: Resolve, allowed: Sequence[str]) -> None:
        self._resolve = resolve
        self._allowed = allowed
        self._lookups: dict[tuple[str, int], asyncio.Future[Sequence[str]]] = {}

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """The addresses of a host; raises `ModelError` if all of them are refused."""
        del family  # of either kind
        resolved = await self._look_up(host, port)
        if not resolved:
            raise OSError("no address")
        return [
            ResolveResult(
                hostname=host,
                host=address,
                port=port,
                family=socket.AF_INET6 if ":" in address else socket.AF_INET,
                proto=0,
                flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
            )
            for address in allowed_addresses(host, resolved, self._allowed)
        ]

    async def _look_up(self, host: str, port: int) -> Sequence[str]:
        """The addresses; those who look the same up at the same time share one look."""
        key = host, port
        if key not in self._lookups:
            loop = asyncio.get_running_loop()
            self._lookups[key] = loop.run_in_executor(None, self._resolve, host, port)
            self._lookups[key].add_done_callback(lambda _: self._lookups.pop(key, None))
        return await asyncio.shield(self._lookups[key])

    def open_socket(self, address: Any) -> socket.socket:
        """A socket for an address that may be connected to; raises `ModelError` for another.

        No `OSError`: after one the next address would be tried.
        """
        family, kind, protocol, _, place = address
        check_address(str(place[0]), str(place[0]))
        return socket.socket(family, kind, protocol)

    async def close(self) -> None:
        """Nothing is held."""


def _tls_context() -> ssl.SSLContext:
    """As httpx has it: the system's authorities and those of the `certifi` package."""
    context = ssl.create_default_context()
    context.load_verify_locations(certifi.where())
    return context
