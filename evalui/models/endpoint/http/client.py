"""One server over HTTP: a JSON object goes out, and one comes back or one of three errors.

`httpcore`, the HTTP client, is imported with the first request, not before.
"""

import datetime
import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, cast
from urllib.parse import quote, urljoin, urlsplit

from evalui import __version__
from evalui.errors import ModelError
from evalui.messages import sentence
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
from evalui.types import Usage

if TYPE_CHECKING:
    import httpcore

Json = dict[str, Any]
Post = Callable[[str, Json], Json]
Blame = Literal["server", "answer", "either"]

CONNECT_S = 2.0  # a server that does not take a connection in this time is down
_MAX_RETRY_AFTER_S = 86400.0  # a server that requests more is tried again after a day
MAX_MESSAGE_LENGTH = 300  # characters of a server's own message that are shown
_MAX_TOKEN_COUNT = 2**53  # more than any model reads, or the database adds up
_SURROGATES = re.compile("[\ud800-\udfff]")
REQUEST_TIMEOUT = 408
TOO_MANY_REQUESTS = 429
_AUTH_STATUSES = (401, 403)
_MAX_GET_BYTES = 8 * 2**20  # bytes of what `get` reads: hosted APIs describe hundreds of models
_MAX_ERROR_BYTES = 2**16  # bytes that are read of one; a server's own words come first
_PATH_SAFE_CHARACTERS = "/%:@!$&'()*+,;=~"
# These may pass: too early, conflict, too many, overloaded, and every fault of the server.
_RETRYABLE_STATUSES = (REQUEST_TIMEOUT, 409, 425, TOO_MANY_REQUESTS)
_SERVER_BLAME_STATUSES = (
    TOO_MANY_REQUESTS,
    502,
    503,
    504,
)  # of these, the ones that no request is to blame for


class RetryableError(Exception):
    """The server gave no usable answer this time; the same request may succeed later.

    `blame` is "server" if it reported so itself or was not there at all, "answer" if it is well but
    this answer cannot be used, and "either" if that is unknown. `status` is HTTP's, 0 if it was
    not by HTTP.
    """

    def __init__(
        self, reason: str, *, blame: Blame = "either", status: int = 0, retry_after_s: float = 0.0
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.blame: Blame = blame
        self.status = status
        self.retry_after_s = retry_after_s


class RejectedError(Exception):
    """The server rejected the request permanently; `status` is 0 if it was not by HTTP."""

    def __init__(self, reason: str, *, status: int = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.status = status


@dataclass(frozen=True, slots=True)
class _HttpReply:
    """What a server sent: a status, headers by their names in lower case, and the body."""

    status: int
    headers: Mapping[str, str]
    content: bytes


class HttpServer:
    """One base URL. Paths beginning with a slash are at the server's root, others below the URL.

    A request fails after `timeout_s` seconds without a byte, and after `total_s` in any case.
    `allowed_hosts` are as in `connection_pool`.
    """

    def __init__(
        self,
        url: str,
        *,
        key: str,
        timeout_s: float,
        total_s: float,
        allowed_hosts: Sequence[str] = (),
    ) -> None:
        self._allowed_hosts = allowed_hosts
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

    def post(self, path: str, body: Json) -> Json:
        """The server's answer to a JSON object.

        Raises:
            RetryableError: none that can be used, this time.
            RejectedError: it rejects this request.
            ModelError: it rejects the API key, or its address is refused.
        """
        try:
            sent = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
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
    ) -> _HttpReply:
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

    def _parse_reply(self, reply: _HttpReply) -> Json:
        if not 200 <= reply.status < 300:
            raise self._status_error(reply.status, reply.headers, _parse_error_body(reply.content))
        try:
            answer: object = json.loads(reply.content)
        except (ValueError, RecursionError):  # no JSON, or nested more deeply than can be read
            answer = None
        if not isinstance(answer, dict):
            raise self._not_json_error()
        parsed = cast(Json, answer)
        if (error := parsed.get("error")) and not parsed.get("choices"):
            raise self._status_error(_embedded_status(error), {}, parsed)
        return parsed

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

    def _status_error(self, status: int, headers: Mapping[str, str], body: object) -> Exception:
        if 300 <= status < 400:
            return self._redirect_error(status, headers.get("location", ""))
        # Cut last: the beginning of a key would not be recognised.
        message = self._redacted(_error_message(body))[:MAX_MESSAGE_LENGTH] or "-"
        if status in _AUTH_STATUSES:
            return ModelError(
                "endpoint-locked",
                url=self.url,
                status=status,
                told=message,
            )
        reason = sentence(
            "error.endpoint-status",
            url=self.url,
            status=status,
            told=message,
        )
        if status >= 500 or status in _RETRYABLE_STATUSES:
            wait = retry_after(headers.get("retry-after", ""), datetime.datetime.now(datetime.UTC))
            blame = "server" if status in _SERVER_BLAME_STATUSES else "either"
            return RetryableError(reason, blame=blame, status=status, retry_after_s=wait)
        return RejectedError(reason, status=status)

    def _redirect_error(self, status: int, location: str) -> RejectedError:
        # Without the path: where servers send one on to, it may hold a secret.
        try:
            parts = urlsplit(urljoin(self.url, location))
            place = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}" if location else "-"
        except ValueError:  # no address at all
            place = "-"
        return RejectedError(
            sentence(
                "error.endpoint-redirect",
                url=self.url,
                status=status,
                place=self._redacted(replace_surrogates(place))[:MAX_MESSAGE_LENGTH],
            ),
            status=status,
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
        return httpcore.URL(
            scheme=parts.scheme.encode(),
            host=host_of(self.url).encode(),
            port=parts.port,
            target=quote(root + path, safe=_PATH_SAFE_CHARACTERS).encode(),
        )

    def _headers(self, *, with_body: bool) -> list[tuple[str, str]]:
        return [
            ("Host", authority(self.url)),
            ("Accept", "application/json"),
            ("Accept-Encoding", ACCEPTED),
            ("Authorization", f"Bearer {self._key or 'none'}"),
            ("User-Agent", f"evalui/{__version__}"),
            *([("Content-Type", "application/json")] if with_body else []),
        ]

    def _timeouts(self) -> dict[str, float]:
        return {"connect": CONNECT_S, "read": self._timeout_s, "write": self._timeout_s}

    def _count_usage(self, answer: Json) -> None:
        usage = as_object(answer.get("usage"))
        with self._lock:
            self._prompt_tokens += token_count(usage.get("prompt_tokens"))
            self._completion_tokens += token_count(usage.get("completion_tokens"))

    def _redacted(self, text: str) -> str:
        return text.replace(self._key, "***") if self._key else text


def retry_after(header: str, now: datetime.datetime) -> float:
    """The seconds that a Retry-After header states: a number or a date (RFC 9110, 10.2.3)."""
    try:
        return max(0.0, min(float(header), _MAX_RETRY_AFTER_S))
    except ValueError:
        from email.utils import parsedate_to_datetime
    try:
        wait = (parsedate_to_datetime(header) - now).total_seconds()
        return max(0.0, min(wait, _MAX_RETRY_AFTER_S))
    except (ValueError, TypeError, OverflowError):  # not a date, or one without a time zone
        return 0.0


def replace_surrogates(text: str) -> str:
    """The text without halves of characters, which JSON may hold and no encoding can write."""
    return _SURROGATES.sub("\ufffd", text)


def token_count(value: object) -> int:
    """The number of tokens that a server reported, 0 if it is none."""
    return value if type(value) is int and 0 < value < _MAX_TOKEN_COUNT else 0


def as_object(value: object) -> Json:
    """The value if it is a JSON object, else an empty one."""
    return cast(Json, value) if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """The value if it is a JSON list, else an empty one."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def _read_reply(response: "httpcore.Response", reservation: ReplyReservation) -> _HttpReply:
    """A reply that has begun; of an error only the beginning."""
    headers = {
        name.decode("latin-1").lower(): value.decode("latin-1") for name, value in response.headers
    }
    pieces = response.iter_stream()
    if 200 <= response.status < 300:
        content = read_all(pieces, headers, reservation)
        check_items(content, reservation.limit)
        return _HttpReply(response.status, headers, content)
    return _HttpReply(response.status, headers, read_beginning(pieces, headers, _MAX_ERROR_BYTES))


def _parse_error_body(content: bytes) -> object:
    """The body of an error: JSON, else a text."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return content.decode("utf-8", "replace")


def _error_message(body: object) -> str:
    """What a server reports of an error, in one line; bodies come in several shapes."""
    while isinstance(body, dict):
        fields = as_object(cast(object, body))
        body = next((fields[key] for key in ("error", "message", "detail") if fields.get(key)), "")
    return replace_surrogates(" ".join(str(body or "").split()))


def _embedded_status(error: object) -> int:
    """What an error that came with HTTP 200 would have been, as some gateways send them."""
    code = as_object(error).get("code")
    return code if type(code) is int and 400 <= code < 600 else 500
