"""What a model's entry adds to each request: fields of the body, headers, and a query.

It is how a provider's own options are set: thinking on or off, an order of providers, the version
of an interface. What evalui decides itself cannot be changed this way, and nothing secret stands
in it: a header's value that names an environment variable ("$NAME") is read from there.
"""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from evalui.errors import ModelError
from evalui.models.endpoint.json_values import Json

# What a request is about, and what its answer is read by.
RESERVED_FIELDS = frozenset(
    {
        *("model", "messages", "prompt", "input", "n", "best_of", "echo", "stop", "suffix"),
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
        its chat template needs.
        """
        if path.startswith("/"):
            needed = {_TEMPLATE_FIELD: self.template} if self.template else {}
            return {**needed, **body} if "messages" in body else body
        whole = {**self.body, **body}
        if self.template and _TEMPLATE_FIELD in body:  # a run states one value, the entry others
            whole[_TEMPLATE_FIELD] = {**self.template, **body[_TEMPLATE_FIELD]}
        return whole

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
    body: Mapping[str, Any],
    headers: Mapping[str, str],
    query: Mapping[str, str],
    key_header: str,
) -> RequestExtras:
    """The extras of an entry, its variables read.

    Raises:
        ModelError: a field is evalui's own, a header or the query holds what can only be a secret,
            a variable is not set, or something cannot be sent.
    """
    check_extras(body, headers, query, key_header)
    values = {name: _header_value(value) for name, value in headers.items()}
    secrets = tuple(values[name] for name, value in headers.items() if value.startswith("$"))
    return RequestExtras(dict(body), values, dict(query), key_header, secrets)


def check_extras(
    body: Mapping[str, Any],
    headers: Mapping[str, str],
    query: Mapping[str, str],
    key_header: str,
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


def _header_value(value: str) -> str:
    if not value.startswith("$"):
        return value
    name = value.removeprefix("$")
    read = os.environ.get(name, "").strip()
    if not read:
        raise ModelError("endpoint-no-key", name=name)
    if not (read.isascii() and read.isprintable()):
        raise ModelError("endpoint-bad-key", name=name)
    return read
