"""What a server's failure means: the same request may succeed later, never, or no request will.

Read from a status, headers and a body, whatever carried them; nothing here sends anything.
"""

import datetime
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, cast
from urllib.parse import urljoin, urlsplit

from evalui.errors import ModelError
from evalui.messages import sentence
from evalui.models.endpoint.json_values import Json, as_list, as_object, replace_surrogates

Blame = Literal["server", "answer", "either"]

MAX_MESSAGE_LENGTH = 300  # characters of a server's own message that are shown
REQUEST_TIMEOUT = 408
NOT_IMPLEMENTED = 501
TOO_MANY_REQUESTS = 429
_MAX_RETRY_AFTER_S = 86400.0  # a server that requests more is tried again after a day
_AUTH_STATUSES = (401, 403)
_PAYMENT_REQUIRED = 402
# These may pass: too early, conflict, too many, and every fault of the server.
_RETRYABLE_STATUSES = (REQUEST_TIMEOUT, 409, 425, TOO_MANY_REQUESTS)
# Of these, the ones in which a server or a gateway speaks of itself. 520 to 524 are Cloudflare's,
# 529 is Anthropic's "overloaded".
_SERVER_BLAME_STATUSES = (TOO_MANY_REQUESTS, 502, 503, 504, 520, 521, 522, 523, 524, 529)
# What providers call an account without money, whatever the status; it does not pass by itself.
_UNPAID_CODES = {
    "1113",  # Zhipu
    "arrearage",  # Alibaba
    "billing_hard_limit_reached",
    "billing_not_active",
    "exceeded_current_quota_error",  # Moonshot
    "insufficient_quota",
}
_TOO_LARGE = re.compile(r"request too large", re.IGNORECASE)  # OpenAI's 429 for a long prompt
_TOO_LONG = re.compile(
    r"context[ _](?:length|size|window)|(?:prompt|input|request)s? (?:is |are )?too (?:long|large)",
    re.IGNORECASE,
)
_MESSAGE_KEYS = ("error", "message", "msg", "detail", "error_msg", "error_description")
_DURATION = re.compile(r"(\d+(?:\.\d+)?)s")
_HTML = re.compile(r"\s*<(?:!doctype|html)", re.IGNORECASE)
_HTML_TITLE = re.compile(r"<title>(.*?)</title>", re.IGNORECASE | re.DOTALL)


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
class ServerReply:
    """What a server sent: a status, headers by their names in lower case, and the body."""

    status: int
    headers: Mapping[str, str]
    content: bytes


def failure_of(
    reply: ServerReply, body: object, url: str, *, redact: Callable[[str], str]
) -> Exception:
    """The error that a reply is, be it by its status or by an error inside a 200.

    `redact` takes secrets out of the server's words. `ModelError` is what no request escapes: a
    refused key, or an account without money.
    """
    status = reply.status
    if 200 <= status < 300:
        status = _embedded_status(body)
    if 300 <= status < 400:
        return _redirect_error(status, reply.headers.get("location", ""), url, redact)
    # Cut last: the beginning of a key would not be recognised.
    message = redact(error_message(body))[:MAX_MESSAGE_LENGTH] or "-"
    if status in _AUTH_STATUSES:
        return ModelError("endpoint-locked", url=url, status=status, told=message)
    if status == _PAYMENT_REQUIRED or _UNPAID_CODES & set(_error_codes(body)):
        return ModelError("endpoint-unpaid", url=url, status=status, told=message)
    if _is_too_long(status, message):
        reason = sentence("error.endpoint-too-long-prompt", url=url, status=status, told=message)
    else:
        reason = sentence("error.endpoint-status", url=url, status=status, told=message)
    is_retryable = status >= 500 or status in _RETRYABLE_STATUSES
    if not is_retryable or (status == TOO_MANY_REQUESTS and _TOO_LARGE.search(message)):
        return RejectedError(reason, status=status)
    blame: Blame = "server" if status in _SERVER_BLAME_STATUSES else "either"
    return RetryableError(
        reason, blame=blame, status=status, retry_after_s=_wait_of(reply.headers, body)
    )


def error_body(content: bytes) -> object:
    """The body of an error: JSON, else a text."""
    try:
        return json.loads(content)
    except (ValueError, RecursionError):
        return content.decode("utf-8", "replace")


def error_message(body: object) -> str:
    """What a server reports of an error, in one line; bodies come in several shapes, also as lists
    of errors, each with the place it is about.
    """
    return replace_surrogates(" ".join(_message_of(body).split()))


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


def _redirect_error(
    status: int, location: str, url: str, redact: Callable[[str], str]
) -> RejectedError:
    # Without the path: where servers send one on to, it may hold a secret.
    try:
        parts = urlsplit(urljoin(url, location))
        place = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}" if location else "-"
    except ValueError:  # no address at all
        place = "-"
    return RejectedError(
        sentence(
            "error.endpoint-redirect",
            url=url,
            status=status,
            place=redact(replace_surrogates(place))[:MAX_MESSAGE_LENGTH],
        ),
        status=status,
    )


def _embedded_status(body: object) -> int:
    """What an error that came with HTTP 200 would have been, as some gateways send them."""
    fields = as_object(as_object(body).get("error"))
    for code in (fields.get("code"), fields.get("status")):
        if type(code) is int and 400 <= code < 600:
            return code
    return 500


def _error_codes(body: object) -> list[str]:
    """The names that an error gives itself, in lower case."""
    errors = [as_object(each) for each in [body, *as_list(body)]]
    errors += [as_object(each.get("error")) for each in errors]
    return [str(each.get(key)).lower() for each in errors for key in ("code", "type") if each]


def _is_too_long(status: int, message: str) -> bool:
    return status == 413 or (400 <= status < 600 and bool(_TOO_LONG.search(message)))


def _message_of(body: object) -> str:
    if isinstance(body, list):
        each = [_message_of(one) for one in cast("list[object]", body)]
        return "; ".join(dict.fromkeys(one for one in each if one))
    if not isinstance(body, dict):
        return _plain_text(str(body)) if body else ""
    fields = cast(Json, body)
    message = next((_message_of(fields[key]) for key in _MESSAGE_KEYS if fields.get(key)), "")
    place = ".".join(str(part) for part in as_list(fields.get("loc")))
    return f"{place}: {message}" if place and message else message


def _plain_text(text: str) -> str:
    """A page of a gateway is told by its title."""
    title = _HTML_TITLE.search(text) if _HTML.match(text) else None
    return title[1] if title else text


def _wait_of(headers: Mapping[str, str], body: object) -> float:
    """The seconds that a server wants to be left alone, wherever it says so."""
    if stated := retry_after(headers.get("retry-after", ""), datetime.datetime.now(datetime.UTC)):
        return stated
    try:
        return max(0.0, min(float(headers.get("retry-after-ms", "")) / 1000, _MAX_RETRY_AFTER_S))
    except ValueError:
        pass
    for error in (as_object(each).get("error") for each in [body, *as_list(body)]):
        for detail in as_list(as_object(error).get("details")):
            # Google's RetryInfo
            if wait := _DURATION.fullmatch(str(as_object(detail).get("retryDelay", ""))):
                return min(float(wait[1]), _MAX_RETRY_AFTER_S)
    return 0.0
