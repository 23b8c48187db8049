"""One server over HTTP, on one event loop: guarded connections, JSON objects, one identity.

Whoever waits for a reply is in another thread: the loop itself only sends and receives. Connections
never lead to a refused address, and no exchange lasts beyond its times. Redirects are not followed,
cookies not kept. The name of a host is resolved once for each connection, or once for those that
begin at the same moment, and what was checked is what is connected to: a name that resolves
differently the next time gains nothing. Imported when something is to be sent: aiohttp takes time.
"""

import asyncio
import socket
import ssl
import threading
import time
from base64 import b64encode
from collections.abc import (
    Awaitable,
    Callable,
    Coroutine,
    Generator,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from contextlib import AsyncExitStack, contextmanager
from io import BytesIO
from typing import Any, TypeVar
from urllib.parse import quote, urlencode, urlsplit

import aiohttp
import certifi
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from evalui.errors import ModelError
from evalui.messages import Sentence, sentence
from evalui.models.endpoint.limits import (
    ACCEPTED,
    REPLY_MEMORY,
    InvalidContentEncoding,
    ReplyReservation,
    ReplyTooLong,
    Resolve,
    allowed_addresses,
    authority,
    check_address,
    check_items,
    check_url,
    host_of,
    literal_ip,
    picture_memory,
    proxy_for,
    read_all,
    read_beginning,
    reply_byte_limit,
    resolve_host,
)
from evalui.models.endpoint.protocol import (
    MAX_MESSAGE_LENGTH,
    REQUEST_TIMEOUT,
    TOO_MANY_REQUESTS,
    Json,
    RejectedError,
    RequestExtras,
    RetryableError,
    ServedModel,
    ServerReply,
    encode,
    error_body,
    failure_of,
    is_error,
    is_same,
    picture_bytes,
    read_answer,
    redacted,
    replace_surrogates,
    served_model,
    usage_of,
)
from evalui.types import Usage
from evalui.version import __version__

T = TypeVar("T")
CONNECT_S = 2.0  # a server that does not take a connection in this time is down
_KEEPALIVE_S = 5.0  # an unused connection; servers close theirs after a similar time
_LARGE_CONTENT_BYTES = 2**20
_STALE_S = 1.0  # within which it shows that a kept connection was closed before it was used
_MIN_UPLOAD_RATE = 10_000  # bytes a second; a server that takes fewer is not waited for
_LOOK_AGAIN_S = 60.0
_OUTAGE = 5  # failures in a row of a server that was connected to; of another one is enough
_MAX_GET_BYTES = 8 * 2**20  # bytes of what `get` reads: hosted APIs describe hundreds of models
_MAX_ERROR_BYTES = 2**16  # bytes that are read of one
_LARGE_REPLY_BYTES = 2**18  # a reply that takes milliseconds to parse
_PATH_SAFE_CHARACTERS = "/%:@!$&'()*+,;=~"


class LoopThread:
    """An event loop that is started when it is needed first, and runs as long as the process."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._lock = threading.Lock()  # two threads must not start two

    def call(self, coroutine: Coroutine[Any, Any, T], timeout_s: float | None = None) -> T:
        """What a coroutine returns or raises; waits for it. Never from the loop itself.

        Who waits no longer, because of a signal, say, ends the coroutine.
        """
        future = asyncio.run_coroutine_threadsafe(coroutine, self._running())
        try:
            return future.result(timeout_s)
        except BaseException:
            future.cancel()
            raise

    def submit(self, function: Callable[[], object]) -> None:
        """Have a function called on the loop soon; what was submitted before is called before."""
        self._running().call_soon_threadsafe(function)

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(
                    target=self._loop.run_forever, name="endpoints", daemon=True
                ).start()
            return self._loop


# One in each process: connections and limits of servers belong to a single loop.
LOOP = LoopThread()


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

    async def exchange(
        self, method: str, target: URL, content: bytes | None
    ) -> aiohttp.ClientResponse:
        """Send a request; the reply has begun, and is to be read within a `with` of it."""
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

    async def close(self) -> None:
        """Let the connections go."""
        await self._session.close()

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


class ExchangeFailed(Exception):
    """A server could not be reached, or did not speak to the end. Its text says how."""


class BegunReply:
    """A reply that has begun: `headers` by their names in lower case."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
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

    async def begin() -> aiohttp.ClientResponse:
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
                await session.exchange(method, URL(url), content or None)
            )

    opened = AsyncExitStack()
    try:
        yield BegunReply(_on_the_loop(begin()))
    finally:
        LOOP.call(opened.aclose())


def _on_the_loop(coroutine: Coroutine[Any, Any, T]) -> T:
    """What a coroutine returns; raises `ExchangeFailed` for what goes wrong with connections."""

    async def translated() -> T:
        try:
            return await coroutine
        except (aiohttp.ClientError, TimeoutError) as error:
            raise ExchangeFailed(str(error) or type(error).__name__) from error

    return LOOP.call(translated())


class ServerIdentity:
    """The model `path` of one server, called `name` here; `known` is what was served when it was
    probed.

    Everything is done on the event loop.
    """

    def __init__(self, name: str, path: str, known: Iterable[ServedModel]) -> None:
        self._name, self._path = name, path
        self._known = tuple(known)
        self._fingerprints: list[str] = []  # of its answers, each once
        self._failures = 0  # in a row
        self._outages = 0
        self._checked_outages = 0  # after which `/models` was read
        self._is_back = False  # no answer since the last outage had a fingerprint
        self._checked_at = time.monotonic()
        self._other: ModelError | None = None

    @property
    def changes(self) -> tuple[Sentence, ...]:
        """That its answers have named several fingerprints."""
        if len(self._fingerprints) < 2:
            return ()
        n, first, last = len(self._fingerprints), self._fingerprints[0], self._fingerprints[-1]
        return (sentence("error.endpoint-drift", model=self._name, n=n, first=first, last=last),)

    async def watch(
        self, request: Callable[[], Awaitable[Json]], listing: Callable[[], Awaitable[Json]]
    ) -> Json:
        """The answer to a request, if it is of the model that was probed; raises as `request`, and
        `ModelError` if another model has come.
        """
        await self._check_listing(listing)
        try:
            answer = await request()
        except RetryableError as error:
            self._record_failure(error)
            raise
        self._failures = 0
        if self._checked_outages < self._outages:  # of others, while this one was on its way
            await self._check_listing(listing)
        self._check_fingerprint(answer)
        return answer

    def _record_failure(self, error: RetryableError) -> None:
        if error.blame == "answer" or error.status == TOO_MANY_REQUESTS:
            return
        self._failures += 1
        if (error.blame == "server" and not error.status) or self._failures >= _OUTAGE:
            self._outages += 1

    async def _check_listing(self, listing: Callable[[], Awaitable[Json]]) -> None:
        if self._other:
            raise self._other
        outages, now = self._outages, time.monotonic()
        is_after_outage = self._checked_outages < outages
        if not is_after_outage and now - self._checked_at < _LOOK_AGAIN_S:
            return
        self._checked_at = now
        # A server that listed nothing of its model when it was probed need not be asked for it.
        if any(known != ServedModel() for known in self._known):
            found = await self._listed(listing, must_answer=is_after_outage)
            if found and not any(is_same(known, found) for known in self._known):
                before = ", ".join(str(known) for known in self._known)
                self._raise_other(before, str(found))
        if is_after_outage:
            self._checked_outages, self._is_back = max(self._checked_outages, outages), True

    async def _listed(
        self, listing: Callable[[], Awaitable[Json]], *, must_answer: bool
    ) -> ServedModel | None:
        """What is listed of the model now; None if nothing is, or that is not to be known."""
        try:
            return served_model(await listing(), self._path)
        except (RejectedError, ModelError):  # a key may be good for replies alone
            return None
        except RetryableError:
            if must_answer:
                raise
            return None  # whether it is away shows with the request

    def _check_fingerprint(self, answer: Json) -> None:
        name = answer.get("system_fingerprint")
        if not isinstance(name, str) or not name:
            return
        name = replace_surrogates(name)[:MAX_MESSAGE_LENGTH]
        known = self._fingerprints
        # One that has named several before is of a provider that changes it.
        if self._is_back and len(known) == 1 and name not in known:
            self._raise_other(f"system_fingerprint {known[0]}", f"system_fingerprint {name}")
        self._is_back = False
        if name not in known:
            known.append(name)

    def _raise_other(self, before: str, now: str) -> None:
        self._other = ModelError("endpoint-swapped", model=self._name, before=before, now=now)
        raise self._other


class HttpServer:
    """One base URL. Paths beginning with a slash are at the server's root, others below the URL.

    A request fails after `timeout_s` seconds without a byte, and after `total_s` in any case.
    `allowed_hosts` are as in `Session`, `extras` are added to each request. With an `identity` an
    answer of another model than it knows is refused.
    """

    def __init__(
        self,
        url: str,
        *,
        key: str,
        timeout_s: float,
        total_s: float,
        allowed_hosts: Sequence[str] = (),
        extras: RequestExtras | None = None,
        identity: ServerIdentity | None = None,
    ) -> None:
        self.identity = identity
        self._allowed_hosts = allowed_hosts
        self._extras = extras or RequestExtras()
        self.url = url
        self._key = key
        self._timeout_s = timeout_s
        self._total_s = total_s
        self._session: Session | None = None
        self._targets: dict[str, URL] = {}
        self.usage = Usage(0, 0)  # the tokens that answers to `post` have reported so far

    def at(self, url: str) -> "HttpServer":
        """The same for another base URL."""
        return HttpServer(
            url,
            key=self._key,
            timeout_s=self._timeout_s,
            total_s=self._total_s,
            allowed_hosts=self._allowed_hosts,
            extras=self._extras,
        )

    def post(self, path: str, body: Json) -> Json:
        """As `send`, for whoever waits in another thread than the loop's. Counts its tokens."""

        async def counted() -> Json:
            answer = await self.send(path, body)
            self.usage += usage_of(answer) or Usage(0, 0)
            return answer

        return LOOP.call(counted())

    def get(self, path: str) -> Json:
        """What lies at a path; raises as `send`, and waits as `post`."""
        return LOOP.call(self._read(path))

    async def send(self, path: str, body: Json) -> Json:
        """The server's answer to a JSON object.

        Raises:
            RetryableError: none that can be used, this time.
            RejectedError: it rejects this request.
            ModelError: it rejects the API key, its address is refused, or another model than
                before has come.
        """
        if self.identity is None:
            return await self._send(path, body)
        return await self.identity.watch(
            lambda: self._send(path, body), lambda: self._read("models")
        )

    async def _read(self, path: str) -> Json:
        return await self._request("GET", path, None, _MAX_GET_BYTES)

    async def _send(self, path: str, body: Json) -> Json:
        whole, limit = self._extras.apply(path, body), reply_byte_limit(body)
        async with picture_memory(size := picture_bytes(whole)):
            try:
                # Nothing else would be sent or received while pictures are encoded.
                sent = await asyncio.to_thread(encode, whole) if size else encode(whole)
            except UnicodeEncodeError:  # half of a character, as JSON may hold it
                raise RejectedError(sentence("error.endpoint-unsendable")) from None
            return await self._request("POST", path, sent, limit)

    def close(self) -> None:
        """Let the connections go."""
        if self._session is not None:
            LOOP.call(self._session.close())
            self._session = None

    async def _request(self, method: str, path: str, sent: bytes | None, limit: int) -> Json:
        with REPLY_MEMORY.reserve(limit) as reservation:
            try:
                reply = await self._exchange(method, path, sent, reservation)
                if len(reply.content) < _LARGE_REPLY_BYTES:
                    return self._parse_reply(reply, limit)
                # Nothing else would be sent or received meanwhile.
                return await asyncio.to_thread(self._parse_reply, reply, limit)
            except ReplyTooLong:
                raise RetryableError(
                    sentence("error.endpoint-too-long", url=self.url, limit=limit / 2**20),
                    blame="answer",
                ) from None
            except InvalidContentEncoding as error:
                raise self._encoding_error(str(error)) from None

    async def _exchange(
        self, method: str, path: str, sent: bytes | None, reservation: ReplyReservation
    ) -> ServerReply:
        """One request and the whole reply to it, of any status."""
        try:
            session = self._opened_session()
            async with await session.exchange(method, self._target(path), sent) as response:
                pieces = response.content.iter_any()
                if 200 <= response.status < 300:
                    content = await read_all(pieces, response.headers, reservation)
                else:  # a server's own words come first
                    content = await read_beginning(pieces, response.headers, _MAX_ERROR_BYTES)
                return ServerReply(response.status, response.headers, content)
        except aiohttp.ConnectionTimeoutError as error:
            raise self._connection_error(error) from None
        except aiohttp.ClientResponseError:
            raise RetryableError(sentence("error.endpoint-no-http", url=self.url)) from None
        except aiohttp.ServerTimeoutError:
            raise RetryableError(
                sentence("error.endpoint-timeout", url=self.url, seconds=self._timeout_s),
                status=REQUEST_TIMEOUT,
            ) from None
        except TimeoutError:
            raise RetryableError(
                sentence("error.endpoint-overdue", url=self.url, seconds=self._total_s),
                status=REQUEST_TIMEOUT,
            ) from None
        except aiohttp.ClientError as error:
            raise self._connection_error(error) from None

    def _parse_reply(self, reply: ServerReply, limit: int) -> Json:
        if not 200 <= reply.status < 300:
            body = error_body(reply.content)
            raise failure_of(reply, body, self.url, redact=self.redacted)
        check_items(reply.content, limit)
        answer = read_answer(reply.content)
        if answer is None:
            raise self._not_json_error()
        if is_error(answer):
            raise failure_of(reply, answer, self.url, redact=self.redacted)
        return answer

    def _not_json_error(self) -> RetryableError:
        return RetryableError(sentence("error.endpoint-no-json", url=self.url))

    def _encoding_error(self, encoding: str) -> RetryableError:
        """Of a body in an encoding that was not asked for, or that breaks off."""
        if not encoding:
            return self._not_json_error()
        told = self.redacted(replace_surrogates(encoding))[:MAX_MESSAGE_LENGTH]
        return RetryableError(sentence("error.endpoint-encoding", url=self.url, encoding=told))

    def _connection_error(self, error: Exception) -> RetryableError:
        reason = self.redacted(str(error)) or "connection lost"
        return RetryableError(
            sentence("error.endpoint-unreachable", url=self.url, reason=reason), blame="server"
        )

    def _opened_session(self) -> Session:
        if self._session is None:
            self._session = Session(
                self.url,
                timeout_s=self._timeout_s,
                total_s=self._total_s,
                headers=self._headers(),
                allowed=self._allowed_hosts,
            )
        return self._session

    def _target(self, path: str) -> URL:
        """The address of a path, made once for each of the few that there are."""
        if path not in self._targets:
            parts = urlsplit(self.url)
            root = parts.path.removesuffix("/v1") if path.startswith("/") else f"{parts.path}/"
            host = host_of(self.url)
            self._targets[path] = URL.build(
                scheme=parts.scheme,
                host=literal_ip(host) or host,  # a number, say, is an address too
                port=parts.port,
                path=quote(root + path, safe=_PATH_SAFE_CHARACTERS),
                query_string=urlencode(self._extras.query),
                encoded=True,
            )
        return self._targets[path]

    def _headers(self) -> dict[str, str]:
        carrier = self._extras.key_header
        key = (
            (carrier, self._key) if carrier else ("Authorization", f"Bearer {self._key or 'none'}")
        )
        return {
            "Host": authority(self.url),
            "Accept": "application/json",
            "Accept-Encoding": ACCEPTED,
            "Content-Type": "application/json",
            **dict([key] if self._key or not carrier else []),
            "User-Agent": f"evalui/{__version__}",
            **{name.title(): value for name, value in self._extras.headers.items()},
        }

    def redacted(self, text: str) -> str:
        """The text without the secrets that requests carry."""
        return redacted(text, (self._key, *self._extras.secrets))
