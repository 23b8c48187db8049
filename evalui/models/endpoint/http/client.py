"""One server over HTTP: a JSON object goes out, and one comes back or one of three errors.

`httpcore`, the HTTP client, is imported with the first request, not before.
"""

import json
import threading
from collections.abc import Callable, Sequence
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
from evalui.models.endpoint.http.addresses import authority, host_of
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
from evalui.models.endpoint.json_values import Json
from evalui.types import Usage
from evalui.version import __version__

if TYPE_CHECKING:
    import httpcore

Post = Callable[[str, Json], Json]

CONNECT_S = 2.0  # a server that does not take a connection in this time is down
_MAX_GET_BYTES = 8 * 2**20  # bytes of what `get` reads: hosted APIs describe hundreds of models
_MAX_ERROR_BYTES = 2**16  # bytes that are read of one; a server's own words come first
_PATH_SAFE_CHARACTERS = "/%:@!$&'()*+,;=~"


class HttpServer:
    """One base URL. Paths beginning with a slash are at the server's root, others below the URL.

    A request fails after `timeout_s` seconds without a byte, and after `total_s` in any case.
    `allowed_hosts` are as in `connection_pool`, `extras` are added to each request.
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
    ) -> None:
        self._allowed_hosts = allowed_hosts
        self._extras = extras or RequestExtras()
        self.url = url
        self._key = key
        self._timeout_s = timeout_s
        self._total_s = total_s
        self._pool: httpcore.ConnectionPool | None = None
        self._lock = threading.Lock()  # the pool is made once, and the tokens are added up
        self._prompt_tokens = 0
        self._completion_tokens = 0

    @property
    def usage(self) -> Usage:
        """The tokens it has reported so far, those of unused answers too."""
        with self._lock:
            return Usage(self._prompt_tokens, self._completion_tokens)

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
        """The server's answer to a JSON object.

        Raises:
            RetryableError: none that can be used, this time.
            RejectedError: it rejects this request.
            ModelError: it rejects the API key, or its address is refused.
        """
        try:
            whole = self._extras.apply(path, body)
            sent = json.dumps(whole, ensure_ascii=False, separators=(",", ":")).encode()
        except UnicodeEncodeError:  # half of a character, as JSON may hold it
            raise RejectedError(sentence("error.endpoint-unsendable")) from None
        answer = self._request("POST", path, sent, reply_byte_limit(body))
        self._count_usage(answer)
        return answer

    def get(self, path: str) -> Json:
        """What lies at a path; raises as `post`."""
        return self._request("GET", path, b"", _MAX_GET_BYTES)

    def close(self) -> None:
        """Let the connections go."""
        if self._pool is not None:
            self._pool.close()

    def _request(self, method: str, path: str, sent: bytes, limit: int) -> Json:
        with REPLY_MEMORY.reserve(limit) as reservation:
            try:
                reply = self._exchange(method, path, sent, reservation)
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
            return self._parse_reply(reply)

    def _exchange(
        self, method: str, path: str, sent: bytes, reservation: ReplyReservation
    ) -> ServerReply:
        """One request and the whole reply to it, of any status."""
        pool = self._connection_pool()
        import httpcore

        from evalui.models.endpoint.http.connection import TotalTimeoutExceeded

        try:
            with pool.stream(
                method,
                self._target(path),
                headers=self._headers(with_body=bool(sent)),
                content=sent or None,
                extensions={"timeout": self._timeouts()},
            ) as response:
                return _read_reply(response, reservation)
        except TotalTimeoutExceeded:
            raise RetryableError(
                sentence(
                    "error.endpoint-overdue",
                    url=self.url,
                    seconds=self._total_s,
                ),
                status=REQUEST_TIMEOUT,
            ) from None
        except (httpcore.ReadTimeout, httpcore.WriteTimeout):
            raise RetryableError(
                sentence("error.endpoint-timeout", url=self.url),
                status=REQUEST_TIMEOUT,
            ) from None
        except (
            httpcore.TimeoutException,
            httpcore.NetworkError,
            httpcore.ProtocolError,
            httpcore.ProxyError,
        ) as error:
            raise self._connection_error(error) from None

    def _parse_reply(self, reply: ServerReply) -> Json:
        if not 200 <= reply.status < 300:
            body = error_body(reply.content)
            raise failure_of(reply, body, self.url, redact=self._redacted)
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

    def _connection_pool(self) -> "httpcore.ConnectionPool":
        with self._lock:
            if self._pool is None:
                from evalui.models.endpoint.http.connection import connection_pool

                self._pool = connection_pool(self.url, self._total_s, allowed=self._allowed_hosts)
            return self._pool

    def _target(self, path: str) -> "httpcore.URL":
        import httpcore

        parts = urlsplit(self.url)
        root = parts.path.removesuffix("/v1") if path.startswith("/") else f"{parts.path}/"
        query = f"?{urlencode(self._extras.query)}" if self._extras.query else ""
        return httpcore.URL(
            scheme=parts.scheme.encode(),
            host=host_of(self.url).encode(),
            port=parts.port,
            target=(quote(root + path, safe=_PATH_SAFE_CHARACTERS) + query).encode(),
        )

    def _headers(self, *, with_body: bool) -> list[tuple[str, str]]:
        carrier = self._extras.key_header
        key = (
            (carrier, self._key) if carrier else ("Authorization", f"Bearer {self._key or 'none'}")
        )
        headers = {
            "User-Agent": f"evalui/{__version__}",
            **{name.title(): value for name, value in self._extras.headers.items()},
        }
        return [
            ("Host", authority(self.url)),
            ("Accept", "application/json"),
            ("Accept-Encoding", ACCEPTED),
            *([key] if self._key or not carrier else []),
            *headers.items(),
            *([("Content-Type", "application/json")] if with_body else []),
        ]

    def _timeouts(self) -> dict[str, float]:
        return {"connect": CONNECT_S, "read": self._timeout_s, "write": self._timeout_s}

    def _count_usage(self, answer: Json) -> None:
        usage = usage_of(answer) or Usage(0, 0)
        with self._lock:
            self._prompt_tokens += usage.prompt_tokens
            self._completion_tokens += usage.completion_tokens

    def _redacted(self, text: str) -> str:
        for secret in filter(None, (self._key, *self._extras.secrets)):
            text = text.replace(secret, "***")
        return text


def _read_reply(response: "httpcore.Response", reservation: ReplyReservation) -> ServerReply:
    """A reply that has begun; of an error only the beginning."""
    headers = {
        name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers
    }
    pieces = response.iter_stream()
    if 200 <= response.status < 300:
        content = read_all(pieces, headers, reservation)
        check_items(content, reservation.limit)
        return ServerReply(response.status, headers, content)
    return ServerReply(response.status, headers, read_beginning(pieces, headers, _MAX_ERROR_BYTES))
