"""One server, asked by HTTP: a JSON object goes out, and one comes back or one of three errors.

The `openai` package is imported with the first request, not before.
"""

import datetime
import os
import re
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal, cast

from evalui.errors import ModelError, sentence
from evalui.types import Usage

if TYPE_CHECKING:
    import openai

Json = dict[str, Any]
Post = Callable[[str, Json], Json]
Blame = Literal["server", "answer", "either"]

CONNECT_S = 2.0  # a server that does not take a connection in this time is down
_LONGEST_WAIT_S = 86400.0  # a server that asks for more is asked again after a day
LONGEST = 300  # characters of a server's own words that are worth showing
_ABSURD = 2**53  # more than anybody reads, or the database adds up
_HALVES = re.compile("[\ud800-\udfff]")
TIMED_OUT = 408
TOO_MANY = 429
_NOT_CONNECTED = "ConnectTimeout"  # in whichever HTTP library the client uses
_LOCKED = (401, 403)
# These may pass: too early, conflict, too many, overloaded, and every fault of the server.
_PASSING = (TIMED_OUT, 409, 425, TOO_MANY)
_ELSEWHERE = (TOO_MANY, 502, 503, 504)  # of these, the ones that no request is to blame for


class Faltered(Exception):
    """The server gave no usable answer this time; the same request may succeed later.

    `blame` is "server" if it said so itself or was not there at all, "answer" if it is well but
    this answer cannot be used, and "either" if nobody can tell. `status` is HTTP's, 0 if it was
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


class Declined(Exception):
    """The server turned the request down for good; `status` is 0 if it was not by HTTP."""

    def __init__(self, reason: str, *, status: int = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.status = status


class Server:
    """One base URL. Paths beginning with a slash are at the server's root, others below the URL."""

    def __init__(self, url: str, *, key: str, timeout_s: float) -> None:
        self.url = url
        self._key = key
        self._timeout_s = timeout_s
        self._client: openai.OpenAI | None = None
        self._lock = threading.Lock()  # the client is made once, and the tokens are added up
        self._read = 0
        self._written = 0

    @property
    def spent(self) -> Usage:
        """The tokens it told us of so far, those of unused answers too."""
        with self._lock:
            return Usage(self._read, self._written)

    def post(self, path: str, body: Json) -> Json:
        """The server's answer to a JSON object.

        Raises:
            Faltered: none that can be used, this time.
            Declined: it turns this request down.
            ModelError: it lets nobody in with this key.
        """
        answer = self._ask(lambda client: client.post(self._at(path), cast_to=object, body=body))
        self._count(answer)
        return answer

    def get(self, path: str) -> Json:
        """What lies at a path; raises as `post`."""
        return self._ask(lambda client: client.get(self._at(path), cast_to=object))

    def close(self) -> None:
        """Let the connections go."""
        if self._client is not None:
            self._client.close()

    def _ask(self, call: Callable[["openai.OpenAI"], object]) -> Json:
        client = self._connected()
        import openai

        try:
            answer = call(client)
        except openai.APIStatusError as error:
            raise self._turned_down(error.status_code, error.response.headers, error.body) from None
        except openai.APITimeoutError as error:
            if type(error.__cause__).__name__ == _NOT_CONNECTED:
                raise self._unreachable(error) from None
            raise Faltered(
                sentence("{url} did not answer in time", "endpoint-timeout", url=self.url),
                status=TIMED_OUT,
            ) from None
        except openai.APIConnectionError as error:
            raise self._unreachable(error) from None
        except UnicodeEncodeError:  # half of a character, as JSON may hold it
            raise Declined(
                sentence("the prompt has characters that cannot be sent", "endpoint-unsendable")
            ) from None
        # A body that breaks off, is no JSON, or is nested more deeply than anybody can read.
        except (ValueError, RecursionError, openai.OpenAIError):
            answer = None
        if not isinstance(answer, dict):
            raise Faltered(
                sentence("{url} answers something else than JSON", "endpoint-no-json", url=self.url)
            )
        told = cast(Json, answer)
        if (error := told.get("error")) and not told.get("choices"):
            raise self._turned_down(_status(error), {}, told)
        return told

    def _unreachable(self, error: Exception) -> Faltered:
        reason = self._redacted(str(error.__cause__ or error)) or "connection lost"
        return Faltered(
            sentence(
                "{url} cannot be reached ({reason})",
                "endpoint-unreachable",
                url=self.url,
                reason=reason,
            ),
            blame="server",
        )

    def _turned_down(self, status: int, headers: Mapping[str, str], body: object) -> Exception:
        # Cut last: the beginning of a key would not be recognised.
        told = self._redacted(_words(body))[:LONGEST] or "-"
        if status in _LOCKED:
            return ModelError(
                "{url} refuses the key (HTTP {status}): {told}",
                "endpoint-locked",
                url=self.url,
                status=status,
                told=told,
            )
        reason = sentence(
            "{url} answers HTTP {status}: {told}",
            "endpoint-status",
            url=self.url,
            status=status,
            told=told,
        )
        if status >= 500 or status in _PASSING:
            wait = retry_after(headers.get("retry-after", ""), datetime.datetime.now(datetime.UTC))
            blame = "server" if status in _ELSEWHERE else "either"
            return Faltered(reason, blame=blame, status=status, retry_after_s=wait)
        return Declined(reason, status=status)

    def _connected(self) -> "openai.OpenAI":
        with self._lock:
            if self._client is None:
                import openai

                key = self._key or "none"
                self._client = openai.OpenAI(
                    # Never None: the client would take whatever key the environment has.
                    api_key=key,
                    base_url=self.url,
                    max_retries=0,
                    timeout=openai.Timeout(self._timeout_s, connect=CONNECT_S),
                    organization="",
                    project="",
                    default_headers=_headers(key, openai.Omit()),
                )
            return self._client

    def _at(self, path: str) -> str:
        return self.url.removesuffix("/v1") + path if path.startswith("/") else path

    def _count(self, answer: Json) -> None:
        told = as_object(answer.get("usage"))
        with self._lock:
            self._read += whole(told.get("prompt_tokens"))
            self._written += whole(told.get("completion_tokens"))

    def _redacted(self, text: str) -> str:
        return text.replace(self._key, "***") if self._key else text


def retry_after(header: str, now: datetime.datetime) -> float:
    """The seconds that a Retry-After header asks for: a number or a date (RFC 9110, 10.2.3)."""
    try:
        return max(0.0, min(float(header), _LONGEST_WAIT_S))
    except ValueError:
        from email.utils import parsedate_to_datetime
    try:
        wait = (parsedate_to_datetime(header) - now).total_seconds()
        return max(0.0, min(wait, _LONGEST_WAIT_S))
    except (ValueError, TypeError, OverflowError):  # not a date, or one without a time zone
        return 0.0


def mended(text: str) -> str:
    """The text without halves of characters, which JSON may hold and nobody can write down."""
    return _HALVES.sub("\ufffd", text)


def whole(value: object) -> int:
    """The number of tokens a server told, 0 if it is none."""
    return value if type(value) is int and 0 < value < _ABSURD else 0


def as_object(value: object) -> Json:
    """The value if it is a JSON object, else an empty one."""
    return cast(Json, value) if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """The value if it is a JSON list, else an empty one."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def _words(body: object) -> str:
    """What a server says of an error, in one line; bodies come in several shapes."""
    while isinstance(body, dict):
        told = as_object(cast(object, body))
        body = next((told[key] for key in ("error", "message", "detail") if told.get(key)), "")
    return mended(" ".join(str(body or "").split()))


def _status(error: object) -> int:
    """What an error that came with HTTP 200 would have been, as some gateways send them."""
    code = as_object(error).get("code")
    return code if type(code) is int and 400 <= code < 600 else 500


def _headers(key: str, omit: "openai.Omit") -> Any:
    """Those of every request, without what `OPENAI_CUSTOM_HEADERS` tells the client to send: it is
    meant for one server, and may replace the key.
    """
    told = os.environ.get("OPENAI_CUSTOM_HEADERS", "")
    names = {line.partition(":")[0].strip() for line in told.split("\n") if ":" in line}
    others = {name: omit for name in names if name.lower() != "authorization"}
    return others | {"Authorization": f"Bearer {key}"}
