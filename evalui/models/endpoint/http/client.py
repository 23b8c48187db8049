"""One server over HTTP: a JSON object goes out, and one comes back or one of three errors.

`aiohttp`, the HTTP client, is imported with the first request, not before.
"""

import json
from collections.abc import AsyncIterable, Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode, urlsplit

from evalui.messages import sentence
from evalui.models.endpoint.answers import read_answer, usage_of
from evalui.models.endpoint.extras import RequestExtras
from evalui.models.endpoint.failures import (
    REQUEST_TIMEOUT,
    RejectedError,
    RetryableError,
    ServerReply,
    error_body,
    failure_of,
)
from evalui.models.endpoint.http.addresses import authority, host_of, literal_ip
from evalui.models.endpoint.http.loop import LOOP
from evalui.models.endpoint.http.response_limits import (
    ACCEPTED,
    REPLY_MEMORY,
    InvalidContentEncoding,
    ReplyReservation,
    ReplyTooLong,
    check_items,
    read_all,
    read_beginning,
    reply_byte_limit,
)
from evalui.models.endpoint.identity import ServerIdentity
from evalui.models.endpoint.json_values import Json
from evalui.types import Usage
from evalui.version import __version__

if TYPE_CHECKING:
    from aiohttp import ClientResponse
    from yarl import URL

    from evalui.models.endpoint.http.session import Session

Send = Callable[[str, Json], Awaitable[Json]]

_MAX_GET_BYTES = 8 * 2**20  # bytes of what `get` reads: hosted APIs describe hundreds of models
_MAX_ERROR_BYTES = 2**16  # bytes that are read of one; a server's own words come first
_LARGE_REPLY_BYTES = 2**18  # a reply that takes milliseconds to parse
_PATH_SAFE_CHARACTERS = "/%:@!$&'()*+,;=~"


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
        self.usage = Usage(0, 0)  # the tokens it has reported so far, those of unused answers too

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
        """As `send`, for whoever waits in another thread than the loop's."""
        return LOOP.call(self.send(path, body))

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
        try:
            whole = self._extras.apply(path, body)
            sent = json.dumps(whole, ensure_ascii=False, separators=(",", ":")).encode()
        except UnicodeEncodeError:  # half of a character, as JSON may hold it
            raise RejectedError(sentence("error.endpoint-unsendable")) from None
        answer = await self._request("POST", path, sent, reply_byte_limit(body))
        if used := usage_of(answer):
            self.usage += used
        return answer

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
                import asyncio

                # Nothing else would be sent or received meanwhile.
                return await asyncio.to_thread(self._parse_reply, reply, limit)
            except ReplyTooLong:
                raise RetryableError(
                    sentence(
                        "error.endpoint-too-long",
                        url=self.url,
                        limit=limit / 2**20,
                    ),
                    blame="answer",
                ) from None
            except InvalidContentEncoding:
                raise self._not_json_error() from None

    async def _exchange(
        self, method: str, path: str, sent: bytes | None, reservation: ReplyReservation
    ) -> ServerReply:
        """One request and the whole reply to it, of any status."""
        import aiohttp

        try:
            session = self._opened_session()
            async with session.exchange(method, self._target(path), sent) as response:
                return await _read_reply(response, reservation)
        except aiohttp.ConnectionTimeoutError as error:
            raise self._connection_error(error) from None
        except aiohttp.ServerTimeoutError:
            raise RetryableError(
                sentence("error.endpoint-timeout", url=self.url),
                status=REQUEST_TIMEOUT,
            ) from None
        except TimeoutError:
            raise RetryableError(
                sentence(
                    "error.endpoint-overdue",
                    url=self.url,
                    seconds=self._total_s,
                ),
                status=REQUEST_TIMEOUT,
            ) from None
        except aiohttp.ClientError as error:
            raise self._connection_error(error) from None

    def _parse_reply(self, reply: ServerReply, limit: int) -> Json:
        if not 200 <= reply.status < 300:
            body = error_body(reply.content)
            raise failure_of(reply, body, self.url, redact=self._redacted)
        check_items(reply.content, limit)
        answer = read_answer(reply.content)
        if answer is None:
            raise self._not_json_error()
        if answer.get("error") and not (answer.get("choices") or answer.get("output")):
            raise failure_of(reply, answer, self.url, redact=self._redacted)
        return answer

    def _not_json_error(self) -> RetryableError:
        return RetryableError(sentence("error.endpoint-no-json", url=self.url))

    def _connection_error(self, error: Exception) -> RetryableError:
        reason = self._redacted(str(error)) or "connection lost"
        return RetryableError(
            sentence(
                "error.endpoint-unreachable",
                url=self.url,
                reason=reason,
            ),
            blame="server",
        )

    def _opened_session(self) -> "Session":
        if self._session is None:
            from evalui.models.endpoint.http.session import Session

            self._session = Session(
                self.url,
                timeout_s=self._timeout_s,
                total_s=self._total_s,
                headers=self._headers(),
                allowed=self._allowed_hosts,
            )
        return self._session

    def _target(self, path: str) -> "URL":
        """The address of a path, made once for each of the few that there are."""
        if path not in self._targets:
            from yarl import URL

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

    def _redacted(self, text: str) -> str:
        for secret in filter(None, (self._key, *self._extras.secrets)):
            text = text.replace(secret, "***")
        return text


async def _read_reply(response: "ClientResponse", reservation: ReplyReservation) -> ServerReply:
    """A reply that has begun; of an error only the beginning."""
    headers = {name.lower(): value for name, value in response.headers.items()}
    pieces = response.content.iter_any()
    read = read_all if 200 <= response.status < 300 else _read_error
    return ServerReply(response.status, headers, await read(pieces, headers, reservation))


async def _read_error(
    pieces: AsyncIterable[bytes], headers: Mapping[str, str], _: ReplyReservation
) -> bytes:
    return await read_beginning(pieces, headers, _MAX_ERROR_BYTES)
