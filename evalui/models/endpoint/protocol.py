"""What is said to a server and what it says: JSON read with distrust, errors, replies, thoughts.

HTTP 200 proves nothing. Whatever cannot be used raises `RetryableError` with `blame` "answer"; it
is never taken for an answer. Nothing is sent here.
"""

import base64
import datetime
import json
import os
import re
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast
from urllib.parse import urljoin, urlsplit

from evalui.errors import ModelError
from evalui.messages import sentence
from evalui.pictures import Mark, Picture, has_marks, parts
from evalui.types import GeneratedText, Usage

Json = dict[str, Any]
_SURROGATES = re.compile("[\ud800-\udfff]")
_MAX_TOKEN_COUNT = 2**53  # more than any model reads, or the database adds up
Send = Callable[[str, Json], Awaitable[Json]]
Blame = Literal["server", "answer", "either"]
Api = Literal["auto", "chat", "completions", "decision"]  # which interface may be used
MAX_MESSAGE_LENGTH = 300  # characters of a server's own message that are shown
REQUEST_TIMEOUT = 408
NOT_IMPLEMENTED = 501
TOO_MANY_REQUESTS = 429
_NOT_FOUND = 404
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
    "insufficient_balance_error",  # MiniMax
    "insufficient_quota",
}
_UNPAID = re.compile(r"insufficient (?:account )?balance|credit balance is too low", re.IGNORECASE)
# What MiniMax's errors, which come with HTTP 200, would be by HTTP; others are faults.
_BASE_RESP_STATUSES = {1002: 429, 1004: 401, 1008: 402, 1026: 400, 1027: 400, 1039: 429, 2013: 400}
# Google's quota of a day begins anew at midnight in California, at the latest so far from UTC.
_PACIFIC = datetime.timezone(datetime.timedelta(hours=-8))
_TOO_LARGE = re.compile(r"request too large", re.IGNORECASE)  # OpenAI's 429 for a long prompt
_TOO_LONG = re.compile(
    r"context[ _](?:length|size|window)|(?:prompt|input|request)s? (?:is |are )?too (?:long|large)",
    re.IGNORECASE,
)
_MESSAGE_KEYS = (
    *("error", "message", "msg", "detail", "error_msg", "error_description"),
    *("base_resp", "status_msg"),
)
_DURATION = re.compile(r"(\d+(?:\.\d+)?)s")
_FULL_STOPS = " .。"  # at the end of a message that becomes the end of a sentence of ours
_HTML = re.compile(r"\s*<(?:!doctype|html)", re.IGNORECASE)
_HTML_TITLE = re.compile(r"<title>(.*?)</title>", re.IGNORECASE | re.DOTALL)
# What a request is about, and what its answer is read by.
RESERVED_FIELDS = frozenset(
    {
        *(
            "model",
            "messages",
            "prompt",
            "input",
            "state",
            "questions",
            "question",
            "n",
            "best_of",
            "echo",
            "stop",
            "suffix",
        ),
        *("max_tokens", "max_completion_tokens", "max_output_tokens", "temperature", "seed"),
        *("logprobs", "top_logprobs", "prompt_logprobs", "logprob_token_ids", "response_format"),
        *("return_tokens_as_token_ids", "add_generation_prompt", "continue_final_message"),
    }
)
_RESERVED_HEADERS = frozenset(
    {
        *("accept", "accept-encoding", "connection", "content-length", "content-type", "expect"),
        *("host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"),
    }
)
_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}")
_NAMES_SECRET = re.compile(r"auth|key|token|secret|passw|cookie|credential|signature", re.I)
_TEMPLATE_FIELD = "chat_template_kwargs"
_MAX_LENGTH = 4000  # characters of each of the three
_END = "[DONE]"
STREAMED: Json = {"stream": True, "stream_options": {"include_usage": True}}
_DELTA_TEXTS = ("content", "reasoning_content", "reasoning", "refusal")
_CALLS = ("tool_calls", "function_call")  # that there is one is all that is read of them
# Why a text ends, in the words of several servers. Any other reason is an interruption.
_STOP_REASONS = {
    *("stop", "eos", "eos_token", "stop_sequence", "end_turn"),
    *("normal", "complete", "completed"),
}
_LENGTH_REASONS = {
    *("length", "max_tokens", "model_length", "max_output_tokens"),
    "model_context_window_exceeded",
}
_KNOWN_ENDS = _STOP_REASONS | _LENGTH_REASONS
_FILTER_REASONS = {
    *("blocklist", "content_filter", "prohibited_content", "recitation", "safety", "sensitive"),
    *("refusal", "guardrail_intervened"),
}
_TOOL_REASONS = {"tool_calls", "function_call", "tool_use"}
_TEXT_PARTS = {"text", "output_text"}
_THOUGHT_PARTS = {"thinking", "reasoning"}
_THOUGHT_FIELDS = ("reasoning_content", "reasoning")
RESPONSES_PATH = "responses"
_MIN_TOKENS = 16  # the API refuses fewer
# Chat's names of the longest reply, the newer one first.
LIMIT_FIELDS = ("max_completion_tokens", "max_tokens")
# What the API does not take, or takes under another name.
_OTHER_FIELDS = (
    *("messages", "stop", "seed", "reasoning_effort", "response_format"),
    *LIMIT_FIELDS,
)
_FINISH_REASONS: Mapping[str, str] = {
    "max_output_tokens": "length",
    "content_filter": "content_filter",
}


def as_object(value: object) -> Json:
    """The value if it is a JSON object, else an empty one."""
    return cast(Json, value) if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """The value if it is a JSON list, else an empty one."""
    return cast("list[Any]", value) if isinstance(value, list) else []


def as_text(value: object) -> str:
    """The value if it is a text, else ""; without halves of characters."""
    return replace_surrogates(value) if isinstance(value, str) else ""


def token_count(value: object) -> int:
    """The number of tokens that a server reported, 0 if it is none."""
    return value if type(value) is int and 0 < value < _MAX_TOKEN_COUNT else 0


def replace_surrogates(text: str) -> str:
    """The text without halves of characters, which JSON may hold and no encoding can write."""
    return _SURROGATES.sub("\ufffd", text)


def redacted(text: str, secrets: Iterable[str]) -> str:
    """The text without the secrets, which a server may send back."""
    for secret in filter(None, secrets):
        text = text.replace(secret, "***")
    return text


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


class LockedError(ModelError):
    """The server refuses the key."""


class RejectedError(Exception):
    """The server rejected the request permanently; `status` is 0 if it was not by HTTP."""

    def __init__(self, reason: str, *, status: int = 0) -> None:
        super().__init__(reason)
        self.reason = reason
        self.status = status


@dataclass(frozen=True, slots=True)
class ServerReply:
    """What a server sent: a status, headers (found by their names in lower case), and the body."""

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
    message = redact(error_message(body))[:MAX_MESSAGE_LENGTH].rstrip(_FULL_STOPS) or "-"
    if (
        status == _PAYMENT_REQUIRED
        or _UNPAID_CODES & set(_error_codes(body))
        or _UNPAID.search(message)
    ):
        return ModelError("endpoint-unpaid", url=url, status=status, told=message)
    if status in _AUTH_STATUSES:
        return LockedError("endpoint-locked", url=url, status=status, told=message)
    if status == _NOT_FOUND and (own := _own_interface(body)):
        return RejectedError(sentence(own, url=url), status=status)
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
        return _within_a_day(float(header))
    except ValueError:
        from email.utils import parsedate_to_datetime
    try:
        return _within_a_day((parsedate_to_datetime(header) - now).total_seconds())
    except (ValueError, TypeError, OverflowError):  # not a date, or one without a time zone
        return 0.0


def _within_a_day(seconds: float) -> float:
    return max(0.0, min(seconds, _MAX_RETRY_AFTER_S))


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


def is_error(answer: Json) -> bool:
    """Whether what came with HTTP 200 is an error, as some gateways send them."""
    if answer.get("choices") or answer.get("output"):
        return False
    return bool(answer.get("error") or as_object(answer.get("base_resp")).get("status_code"))


def _own_interface(body: object) -> str:
    """The key of the sentence on a server that has an interface of its own alone, by what it
    answers to a path that it lacks; "" of any other.
    """
    whole = as_object(body)
    error = as_object(whole.get("error"))
    if whole.get("type") == "error" and error.get("type") == "not_found_error":
        return "error.endpoint-anthropic"
    if "UnknownOperationException" in str(as_object(whole.get("Output")).get("__type", "")):
        return "error.endpoint-bedrock"
    return ""


def _embedded_status(body: object) -> int:
    """The status that an error with HTTP 200 would have had."""
    if code := as_object(as_object(body).get("base_resp")).get("status_code"):
        return _BASE_RESP_STATUSES.get(code, 500)
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
    """The seconds that a server wants to be left alone, wherever it says so: until the end of a
    day's quota before any shorter wait.
    """
    errors = [as_object(as_object(each).get("error")) for each in [body, *as_list(body)]]
    details = [as_object(each) for error in errors for each in as_list(error.get("details"))]
    quotas = [as_object(each) for part in details for each in as_list(part.get("violations"))]
    if any("PerDay" in str(quota.get("quotaId", "")) for quota in quotas):
        now = datetime.datetime.now(_PACIFIC)
        midnight = datetime.datetime.combine(now.date(), datetime.time(), _PACIFIC)
        return (midnight + datetime.timedelta(days=1) - now).total_seconds()
    if stated := retry_after(headers.get("retry-after", ""), datetime.datetime.now(datetime.UTC)):
        return stated
    try:
        return _within_a_day(float(headers.get("retry-after-ms", "")) / 1000)
    except ValueError:
        pass
    # OpenRouter's moment is in milliseconds since 1970.
    told = [as_object(as_object(error.get("metadata")).get("headers")) for error in errors]
    for name, value in (pair for each in (headers, *told) for pair in each.items()):
        if name.lower() == "x-ratelimit-reset" and re.fullmatch(r"\d{13}", str(value)):
            return _within_a_day(float(value) / 1000 - time.time())
    waits = (_DURATION.fullmatch(str(part.get("retryDelay", ""))) for part in details)
    return next((_within_a_day(float(wait[1])) for wait in waits if wait), 0.0)  # Google


@dataclass(frozen=True, slots=True)
class RequestExtras:
    """`body` is added to each request for text, `headers` and `query` to every request.

    `key_header` is the header that carries the key by itself, as Azure's "api-key"; "" is a bearer
    token. `secrets` are values of headers that no error may show.
    """

    body: Mapping[str, Any] = field(default_factory=dict[str, Any])
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    query: Mapping[str, str] = field(default_factory=dict[str, str])
    key_header: str = ""
    secrets: tuple[str, ...] = field(default=(), repr=False)

    def apply(self, path: str, body: Json) -> Json:
        """The body as it is sent to a path; routes at the server's root take no more than what
        its chat template needs, and the Responses API has names of its own for chat's fields.
        """
        if path.startswith("/"):
            needed = {_TEMPLATE_FIELD: self.template} if self.template else {}
            return {**needed, **body} if "messages" in body else body
        whole = {**self.body, **body}
        if self.template and _TEMPLATE_FIELD in body:  # a run states one value, the entry others
            whole[_TEMPLATE_FIELD] = {**self.template, **body[_TEMPLATE_FIELD]}
        return _as_responses_request(whole) if path == RESPONSES_PATH else whole

    @property
    def template(self) -> Mapping[str, Any]:
        """The values for the chat template, for a prompt that is rendered here."""
        values: Any = self.body.get(_TEMPLATE_FIELD)
        return cast("dict[str, Any]", values) if isinstance(values, dict) else {}

    @property
    def key(self) -> str:
        """What may change an answer, as text; the same for the same extras, "" without any.

        Values of headers that come from variables are secrets and stay out of it.
        """
        headers = {
            name: "" if value in self.secrets else value for name, value in self.headers.items()
        }
        stated = {"body": self.body, "query": self.query, "headers": headers}
        given = {name: each for name, each in stated.items() if each}
        return json.dumps(given, sort_keys=True, ensure_ascii=False) if given else ""


def read_extras(
    body: Mapping[str, Any], headers: Mapping[str, str], query: Mapping[str, str], key_header: str
) -> RequestExtras:
    """The extras of an entry, its variables read.

    Raises:
        ModelError: a field is evalui's own, a header or the query holds what can only be a secret,
            a variable is not set, or something cannot be sent.
    """
    check_extras(body, headers, query, key_header)
    values = {
        name: read_variable(value.removeprefix("$")) if value.startswith("$") else value
        for name, value in headers.items()
    }
    secrets = tuple(values[name] for name, value in headers.items() if value.startswith("$"))
    return RequestExtras(dict(body), values, dict(query), key_header, secrets)


def check_extras(
    body: Mapping[str, Any], headers: Mapping[str, str], query: Mapping[str, str], key_header: str
) -> None:
    """Check what an entry adds to requests, without reading variables; raises as `read_extras`."""
    _check_fields("extra_body", body, RESERVED_FIELDS)
    _check_fields("headers", headers, _RESERVED_HEADERS)
    for name, value in headers.items():
        if _NAMES_SECRET.search(name) and not value.startswith("$"):
            raise ModelError("endpoint-secret-extra", option="headers", name=name)
        if not _TOKEN.fullmatch(name) or not (value.isascii() and value.isprintable()):
            raise ModelError("endpoint-bad-header", name=name)
    for name, value in query.items():
        if _NAMES_SECRET.search(name):
            raise ModelError("endpoint-secret-extra", option="query", name=name)
        if not (name and name.isprintable() and value.isprintable()):
            raise ModelError("endpoint-bad-header", name=name)
    if key_header and (not _TOKEN.fullmatch(key_header) or key_header.lower() in _RESERVED_HEADERS):
        raise ModelError("endpoint-bad-header", name=key_header)


def _check_fields(option: str, table: Mapping[str, Any], reserved: frozenset[str]) -> None:
    for name in table:
        if name.lower() in reserved:
            raise ModelError("endpoint-reserved", option=option, name=name)
    try:
        text = json.dumps(table, allow_nan=False)
    except (TypeError, ValueError):  # a date, which TOML knows, or a number that JSON does not
        raise ModelError("endpoint-no-json-option", option=option) from None
    if len(text) > _MAX_LENGTH:
        raise ModelError("endpoint-long-option", option=option, n=_MAX_LENGTH)


def read_variable(name: str) -> str:
    """The key or header that a variable of the environment holds; raises `ModelError` if it holds
    none that can be sent.
    """
    value = os.environ.get(name, "").strip()
    if not value:
        raise ModelError("endpoint-no-key", name=name)
    if not (value.isascii() and value.isprintable()):
        raise ModelError("endpoint-bad-key", name=name)
    return value


def read_answer(content: bytes) -> Json | None:
    """The object that the body of an answer holds; None if it holds none."""
    try:
        answer: object = json.loads(content)
    except (ValueError, RecursionError):  # no JSON, or nested more deeply than can be read
        return _read_events(content)
    return cast(Json, answer) if isinstance(answer, dict) else None


def usage_of(answer: Json) -> Usage | None:
    """The tokens that an answer reports, None if it reports nothing.

    Thoughts are tokens written: where the total is more than the two parts, the rest is thoughts,
    which some servers (xAI's) leave out of the part.
    """
    usage = as_object(answer.get("usage"))
    if not usage:
        return None
    read = token_count(usage.get("prompt_tokens")) or token_count(usage.get("input_tokens"))
    written = token_count(usage.get("completion_tokens")) or token_count(usage.get("output_tokens"))
    total = token_count(usage.get("total_tokens"))
    return Usage(read, max(written, total - read))


def _read_events(content: bytes) -> Json | None:
    """The answer that a stream of events adds up to; None if this is none."""
    chunks = list(_event_objects(content))
    if not chunks:
        return None
    whole: Json = {}
    choices: dict[int, Json] = {}
    for chunk in chunks:
        whole |= {key: value for key, value in chunk.items() if key != "choices" and value}
        for place, choice in enumerate(map(as_object, as_list(chunk.get("choices")))):
            index = choice.get("index", place)
            _add_choice(choices.setdefault(index if type(index) is int else place, {}), choice)
    return whole | ({"choices": list(choices.values())} if choices else {})


def _event_objects(content: bytes) -> Iterator[Json]:
    for line in content.decode("utf-8", "replace").splitlines():
        name, colon, data = line.partition(":")
        if name != "data" or not colon or data.strip() == _END:
            continue
        try:
            yield as_object(json.loads(data))
        except (ValueError, RecursionError):
            return  # broken off: what is missing shows, since no reason to end is stated


def _add_choice(whole: Json, piece: Json) -> None:
    """Add a piece of a choice to what came of it before."""
    whole.setdefault("index", piece.get("index", 0))
    if reason := piece.get("finish_reason"):
        whole["finish_reason"] = reason
    if "text" in piece:  # completions
        whole["text"] = whole.get("text", "") + str(piece["text"] or "")
    if logprobs := as_object(piece.get("logprobs")):
        known = as_object(whole.setdefault("logprobs", {}))
        for key, listed in logprobs.items():
            known[key] = [*as_list(known.get(key)), *as_list(listed)]
    delta = as_object(piece.get("delta")) or as_object(piece.get("message"))
    if delta:
        message = as_object(whole.setdefault("message", {}))
        for key in _DELTA_TEXTS:
            if isinstance(delta.get(key), str):
                message[key] = message.get(key, "") + delta[key]
            elif isinstance(delta.get(key), list):
                message[key] = [*as_list(message.get(key)), *delta[key]]
        message |= {key: delta[key] for key in _CALLS if delta.get(key)}


def choices(answer: Json, count: int = 1) -> list[Json]:
    """The server's answers to `count` prompts, in the order of the prompts; of several to a single
    one the first.
    """
    listed = as_list(answer.get("choices"))
    if not listed:
        raise invalid_response(sentence("error.endpoint-no-choice"))
    parsed = [as_object(choice) for choice in listed]
    by_index = {str(each.get("index", place)): each for place, each in enumerate(parsed)}
    if (len(listed) != count > 1) or any(str(place) not in by_index for place in range(count)):
        raise invalid_response(
            sentence("error.endpoint-choice-count", found=len(listed), count=count)
        )
    return [by_index[str(place)] for place in range(count)]


def response_format(json_schema: str) -> Json:
    """The field by which OpenAI's chat makes a model write what fits a JSON schema."""
    named = {"name": "reply", "schema": json.loads(json_schema), "strict": True}
    return {"type": "json_schema", "json_schema": named}


def read_text(answer: Json, stop: Sequence[str]) -> GeneratedText:
    """What the model wrote, up to the first of the stop texts, and apart from it its thoughts.

    Raises:
        RejectedError: the server withheld the text, all tokens went into thoughts, or the text
            stands in the field of thoughts.
    """
    (choice,) = choices(answer)
    reason = str(choice.get("finish_reason")).lower()
    if reason in _FILTER_REASONS:
        raise RejectedError(sentence("error.endpoint-filtered"))
    message = as_object(choice.get("message"))
    # Some state the reason of a reply all the same, OpenAI among them.
    if reason in _TOOL_REASONS or message.get("tool_calls") or message.get("function_call"):
        raise RejectedError(sentence("error.endpoint-calls-tool"))
    # Without a reason it is unknown whether this is all of the text.
    if reason not in _KNOWN_ENDS:
        told = reason[:MAX_MESSAGE_LENGTH] if choice.get("finish_reason") else "-"
        raise invalid_response(sentence("error.endpoint-broken-off", reason=told))
    text, thoughts = read_message(choice)
    if reason in _LENGTH_REASONS and _has_no_visible_text(choice, text, thoughts):
        raise RejectedError(sentence("error.endpoint-only-thoughts"))
    if thoughts and not (text or "").strip():
        raise RejectedError(sentence("error.endpoint-answer-in-thoughts"))
    usage = usage_of(answer)
    wrote_nothing = usage is not None and usage.completion_tokens == 0
    if text is None or (wrote_nothing and not text.strip()):
        raise invalid_response(sentence("error.endpoint-no-text"))
    ends = [place for place in map(text.find, stop) if place >= 0]
    stopped = bool(ends) or reason in _STOP_REASONS
    return GeneratedText(
        text[: min(ends, default=len(text))],
        usage,
        finish_reason="stop" if stopped else "length",
        thoughts=thoughts,
    )


def content_of(text: str, pictures: Mapping[str, Picture]) -> str | list[Json]:
    """The content of a turn in chat: its text, or its texts and pictures in their order.

    `pictures` are by id; a mark of any other stays text. A picture is encoded when it is sent, see
    `encode`. Blank texts are left out, since some servers refuse them beside pictures.
    """
    if not (pictures and has_marks(text)):
        return text
    content: list[Json] = []
    for part in parts(text):
        if isinstance(part, Mark) and part.id in pictures:
            content.append({"type": "image_url", "image_url": {"url": pictures[part.id]}})
        elif str(part).strip():
            content.append({"type": "text", "text": str(part)})
    return content


def picture_bytes(body: Json) -> int:
    """The size of all pictures in the turns of a request."""
    turns = map(as_object, [*as_list(body.get("messages")), *as_list(body.get("input"))])
    return sum(
        len(picture.body)
        for turn in turns
        for part in map(as_object, as_list(turn.get("content")))
        if isinstance(picture := _picture_of(part), Picture)
    )


def encode(body: Json) -> bytes:
    """A request as JSON, its pictures as data URLs (RFC 2397).

    Raises:
        UnicodeEncodeError: it holds half of a character.
    """
    return _AS_JSON.encode(body).encode()


def _picture_of(part: Json) -> object:
    address = part.get("image_url")
    return address if isinstance(address, Picture) else as_object(address).get("url")


def _data_url(value: object) -> str:
    assert isinstance(value, Picture), "all else in a request is plain JSON"
    return f"data:{value.media_type};base64,{base64.b64encode(value.body).decode()}"


_AS_JSON = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_data_url)


def reported_model(answer: Json) -> str:
    """The name under which the server answered, "" if it gives none."""
    return as_text(answer.get("model"))


def invalid_response(reason: str) -> RetryableError:
    """The error of an answer that cannot be used."""
    return RetryableError(reason, blame="answer")


def first_text(choice: Json) -> str:
    """The text of a choice, "" if it has none."""
    return read_message(choice)[0] or ""


def read_message(choice: Json) -> tuple[str | None, str]:
    """The text of a choice, None if it has none, and its thoughts."""
    text = choice.get("text")
    if isinstance(text, str):
        return replace_surrogates(text), ""
    message = as_object(choice.get("message"))
    fields = [as_text(message.get(key)) for key in _THOUGHT_FIELDS]
    thoughts = next((each for each in fields if each), "")
    # A refusal in words is what the model wrote.
    for key in ("content", "refusal"):
        content = message.get(key)
        if isinstance(content, str):
            return replace_surrogates(content), thoughts
        if isinstance(content, list):
            parts = [as_object(part) for part in as_list(message[key])]
            written = [_part_text(part) for part in parts if part.get("type") in _TEXT_PARTS]
            inside = [_part_text(part) for part in parts if part.get("type") in _THOUGHT_PARTS]
            return "".join(written) if written else None, thoughts or "\n\n".join(inside)
    return None, thoughts


def _part_text(part: Json) -> str:
    """The text of one part of a content; thoughts may have parts of their own."""
    for key in ("text", "thinking", "reasoning", "summary"):
        if isinstance(part.get(key), str):
            return replace_surrogates(part[key])
        if isinstance(part.get(key), list):
            return "\n\n".join(_part_text(as_object(each)) for each in as_list(part[key]))
    return ""


def _has_no_visible_text(choice: Json, text: str | None, thoughts: str) -> bool:
    """Whether a reply that was cut off has no visible word: some servers hide the thoughts that
    took its place. A text that goes on with a prompt has none.
    """
    is_reply = "text" not in choice
    return is_reply and not (text or "").strip() and (not text or bool(thoughts))


def _as_responses_request(body: Json) -> Json:
    """A request to chat in the form of the Responses API. Nothing is kept at the server."""
    sent = {field: value for field, value in body.items() if field not in _OTHER_FIELDS}
    limit = next((body[field] for field in LIMIT_FIELDS if field in body), _MIN_TOKENS)
    whole: Json = {
        "input": [{**turn, "content": _as_input(turn["content"])} for turn in body["messages"]],
        "max_output_tokens": max(_MIN_TOKENS, limit),
        "store": False,
        **sent,
    }
    if effort := body.get("reasoning_effort"):
        whole["reasoning"] = {**as_object(body.get("reasoning")), "effort": effort}
    if form := as_object(body.get("response_format")):
        described = {"type": form["type"], **as_object(form.get("json_schema"))}
        whole["text"] = {**as_object(body.get("text")), "format": described}
    return whole


def _as_input(content: str | list[Json]) -> str | list[Json]:
    """The content of a turn in the form of the Responses API."""
    if isinstance(content, str):
        return content
    return [
        {"type": "input_text", "text": part["text"]}
        if part["type"] == "text"
        else {"type": "input_image", "image_url": _picture_of(part)}
        for part in content
    ]


def as_chat_answer(answer: Json) -> Json:
    """An answer of the Responses API in the form of chat's; without a choice if it has no output.

    A status that says neither that the reply is whole nor why it was cut is no reason to end.
    """
    if "output" not in answer:
        return answer
    content: list[object] = []
    thoughts: list[object] = []
    reason = "stop" if answer.get("status") == "completed" else None
    if answer.get("status") == "incomplete":
        why = str(as_object(answer.get("incomplete_details")).get("reason"))
        reason = _FINISH_REASONS.get(why)
    for item in map(as_object, as_list(answer["output"])):
        kind = item.get("type")
        if kind == "message":
            content += as_list(item.get("content"))
        elif kind == "reasoning":
            listed = as_list(item.get("summary")) + as_list(item.get("content"))
            thoughts += [as_object(part) | {"type": "reasoning"} for part in listed]
        else:
            reason = "tool_calls"
    refusals = [as_object(part).get("refusal") for part in content]
    refusal = next((each for each in refusals if each), None)
    message: Json = {"role": "assistant", "content": [*thoughts, *content] or None}
    if refusal is not None:
        message = {"role": "assistant", "content": None, "refusal": refusal}
    choice = {"index": 0, "message": message, "finish_reason": reason}
    return answer | {"choices": [choice]}


@dataclass(frozen=True, slots=True)
class ServedModel:
    """What `/models` lists of a model: `root` is where its weights are, `max_length` is in tokens;
    "" and 0 if it says nothing.
    """

    root: str = ""
    max_length: int = 0

    def __str__(self) -> str:
        """The two as a server lists them."""
        return f"root {self.root or '-'}, max_model_len {self.max_length or '-'}"


def served_model(listing: Json, model: str) -> ServedModel | None:
    """What the answer of `/models` says of one of them; None if it does not list it."""
    listed = (as_object(each) for each in as_list(listing.get("data")))
    own = next((each for each in listed if each.get("id") == model), None)
    if own is None:
        return None
    root = replace_surrogates(str(own.get("root") or ""))[:MAX_MESSAGE_LENGTH]
    return ServedModel(root, token_count(own.get("max_model_len")))


def is_same(known: ServedModel, found: ServedModel) -> bool:
    """What was not known is no difference."""
    return known.root in ("", found.root) and known.max_length in (0, found.max_length)
