"""Connections to servers: never to a refused address, and no exchange beyond its total time.

Redirects are not followed, since nothing here does. The name of a host is resolved once for each
connection, and what was checked is what is connected to: a name that resolves differently the
next time gains nothing.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import httpcore

from evalui.models.endpoint.http.addresses import (
    Resolve,
    allowed_addresses,
    check_url,
    resolve_host,
)
from evalui.models.endpoint.http.proxies import proxy_for

Clock = Callable[[], float]

_KEEPALIVE_S = 5.0  # an unused connection; servers close theirs after a similar time
_WRITE_CHUNK = 2**16  # bytes that are sent between two looks at the clock
_MAX_CONNECTIONS = 1000  # the pool of threads is what limits them


class TotalTimeoutExceeded(httpcore.ReadTimeout):
    """An exchange has lasted longer than one may in total."""


def connection_pool(
    url: str,
    total_s: float,
    *,
    allowed: Sequence[str] = (),
    resolve: Resolve = resolve_host,
    clock: Clock = time.monotonic,
) -> httpcore.ConnectionPool:
    """Connections for requests to a URL, over the proxy that the environment names for it.

    Where there is a proxy, it is the proxy that resolves names, so only addresses that are
    written as such can be refused: this is done where the URL is read.

    Where `allowed` hosts are stated, a proxy is used for those of their names alone.

    Raises:
        ModelError: the proxy is of a kind that cannot be used, or the host is not allowed.
    """
    # Once for all connections: to load the certificates takes longer than a request.
    context = httpcore.default_ssl_context() if url.startswith("https:") else None
    proxy = proxy_for(url)
    if proxy is None:
        return httpcore.ConnectionPool(
            ssl_context=context,
            max_connections=_MAX_CONNECTIONS,
            keepalive_expiry=_KEEPALIVE_S,
            network_backend=CheckedNetworkBackend(total_s, resolve, clock, allowed),
        )
    check_url(url, allowed, resolved_later=False)
    user = (proxy.user, proxy.password)
    return httpcore.HTTPProxy(
        proxy.url,
        proxy_auth=user if any(user) else None,
        ssl_context=context,
        max_connections=_MAX_CONNECTIONS,
        keepalive_expiry=_KEEPALIVE_S,
        network_backend=CheckedNetworkBackend(total_s, None, clock),
    )


class CheckedNetworkBackend(httpcore.NetworkBackend):
    """Opens connections whose exchanges last `total_s` seconds at most.

    `resolve` gives the addresses of a host, each of which is checked, also against what is
    `allowed`; None leaves both to the system, for a proxy of the administrator's.
    """

    def __init__(
        self,
        total_s: float,
        resolve: Resolve | None = resolve_host,
        clock: Clock = time.monotonic,
        allowed: Sequence[str] = (),
    ) -> None:
        self._allowed = allowed
        self._total_s = total_s
        self._resolve = resolve
        self._clock = clock
        self._backend = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        """A connection to the first address of the host that takes one.

        Raises:
            ModelError: every address of the host is refused.
            httpcore.ConnectError, httpcore.ConnectTimeout: none takes a connection.
        """
        failed: Exception = httpcore.ConnectError("no address")
        for address in self._addresses(host, port):
            try:
                stream = self._backend.connect_tcp(
                    address, port, timeout, local_address, socket_options
                )
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                failed = error
            else:
                return _DeadlineStream(stream, self._total_s, self._clock)
        raise failed

    def _addresses(self, host: str, port: int) -> list[str]:
        """Those of the host's addresses that are allowed; raises if none of them may."""
        if self._resolve is None:
            return [host]
        try:
            resolved = self._resolve(host, port)
        except OSError as error:
            raise httpcore.ConnectError(str(error)) from error
        return allowed_addresses(host, resolved, self._allowed)


class _DeadlineStream(httpcore.NetworkStream):
    """A connection on which an exchange, a request and its whole reply, lasts `total_s` at most.

    It begins with what is sent after something was received: HTTP/1.1 takes one at a time.
    """

    def __init__(self, stream: httpcore.NetworkStream, total_s: float, clock: Clock) -> None:
        self._stream = stream
        self._total_s = total_s
        self._clock = clock
        self._deadline = clock() + total_s
        self._has_received = False

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Some bytes of the reply; raises `TotalTimeoutExceeded`."""
        left = self._remaining_time()
        try:
            data = self._stream.read(max_bytes, left if timeout is None else min(timeout, left))
        except httpcore.ReadTimeout:
            self._remaining_time()
            raise
        self._has_received = True
        return data

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Send a part of a request; raises `TotalTimeoutExceeded`."""
        if self._has_received:
            self._has_received = False
            self._deadline = self._clock() + self._total_s
        for start in range(0, len(buffer), _WRITE_CHUNK):
            left = self._remaining_time()
            self._stream.write(
                buffer[start : start + _WRITE_CHUNK],
                left if timeout is None else min(timeout, left),
            )

    def close(self) -> None:
        """End the connection."""
        self._stream.close()

    def start_tls(
        self, ssl_context: Any, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        """The same connection, encrypted."""
        stream = self._stream.start_tls(ssl_context, server_hostname, timeout)
        return _DeadlineStream(stream, self._total_s, self._clock)

    def get_extra_info(self, info: str) -> Any:
        """What the connection knows of itself."""
        return self._stream.get_extra_info(info)

    def _remaining_time(self) -> float:
        left = self._deadline - self._clock()
        if left <= 0:
            raise TotalTimeoutExceeded
        return left
