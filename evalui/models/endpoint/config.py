"""What models.toml states of a model at an endpoint, checked by pydantic.

Loaded when an entry is read: pydantic takes a tenth of a second to import. Keys never stand in the
catalog: it names the environment variable or the encrypted store that holds one.
"""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from evalui.errors import ModelError
from evalui.models.base import ModelEntry, traits_of
from evalui.models.endpoint.keys import read_key
from evalui.models.endpoint.limits import check_url, is_http_url, may_hold_secret
from evalui.models.endpoint.protocol import Api, RequestExtras, read_extras, read_variable
from evalui.models.validation import CheckedTable, InvalidField, InvalidTable, validated

# A response may take as many times as long as a pause in it, unless the catalog states otherwise.
_TOTAL_TIMEOUT_FACTOR = 5
_TOO_MUCH = 1_000_000_000  # no number option means anything from here on


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model at one or several servers, all of which must serve the same weights.

    `model` is its name there, `key` its API key now, "" if none is wanted. `concurrency` and
    `requests_per_minute` (0: no limit) hold for each server. `max_length`, in tokens, is 0 if the
    catalog does not state it. `addresses` is a digest of the entry's addresses in any order, or of
    others whose kept replies count as this model's. A request fails after `timeout_s` seconds
    without a byte, and after `total_timeout_s` in any case. Requests go to `allowed_hosts` alone,
    unless there are none, and have the `extras` of the entry.
    """

    model: str
    urls: tuple[str, ...]
    addresses: str = ""
    key: str = field(default="", repr=False)
    api: Api = "auto"
    concurrency: int = 8
    requests_per_minute: float = 0.0
    timeout_s: float = 60.0
    total_timeout_s: float = 300.0
    retries: int = 3
    seed: int = 0
    tokenizer: Path | None = None
    max_length: int = 0
    allowed_hosts: tuple[str, ...] = ()
    extras: RequestExtras = field(default_factory=RequestExtras)


def read_endpoint(entry: ModelEntry) -> Endpoint:
    """The endpoint that an entry describes.

    Raises:
        ModelError: an option is missing, unknown or of the wrong kind, or the variable that
            should hold the key is not set or holds none, or an address is refused, or the stored
            key cannot be used.
    """
    if not entry.path:
        raise ModelError("endpoint-no-path")
    options = _read_options(entry)
    for url in options.urls:
        check_url(url, options.allowed_hosts)
    return Endpoint(
        model=entry.path,
        urls=options.urls,
        addresses=options.replies_of or _digest(options.urls),
        key=_key(entry.name, options),
        api=_api(entry, options),
        concurrency=options.concurrency,
        requests_per_minute=options.requests_per_minute,
        timeout_s=options.timeout_s,
        total_timeout_s=options.total_timeout_s or _TOTAL_TIMEOUT_FACTOR * options.timeout_s,
        retries=options.retries,
        seed=options.seed,
        tokenizer=Path(options.tokenizer).expanduser() if options.tokenizer else None,
        max_length=entry.max_length,
        allowed_hosts=tuple(options.allowed_hosts),
        extras=read_extras(options.extra_body, options.headers, options.query, options.key_header),
    )


def own_addresses(entry: ModelEntry) -> str:
    """The digest of the addresses of an entry; raises `ModelError` if its options are wrong."""
    return _digest(_read_options(entry).urls)


def _digest(urls: Iterable[str]) -> str:
    """Eight characters that differ for other addresses, from which nobody can read them."""
    return hashlib.sha256("\n".join(sorted(urls)).encode()).hexdigest()[:8]


def _api(entry: ModelEntry, options: "EndpointOptions") -> Api:
    """The interface that may be used, which the entry's backend may decide."""
    if not traits_of(entry).only_decides:
        return options.api or "auto"
    if options.api not in ("", "auto", "decision"):
        raise ModelError(
            "endpoint-wrong-option", option="api", expected="decision", found=repr(options.api)
        )
    return "decision"


def _key(name: str, options: "EndpointOptions") -> str:
    """The key as the environment or the store has it now, "" if none is wanted."""
    if options.key_store:
        if len(options.urls) != 1 or options.api_key_env:  # it was entered for one address
            raise ModelError("key-other-address")
        return read_key(Path(options.key_store), name, options.urls[0])
    return read_variable(options.api_key_env) if options.api_key_env else ""


def _checked_address(url: object) -> object:
    if isinstance(url, str) and may_hold_secret(url):
        raise ModelError("endpoint-secret-url")  # without the address: it may hold a key
    if not isinstance(url, str) or not is_http_url(url):
        raise PydanticCustomError("address", "no http address")
    check_url(url)
    return url.rstrip("/")


def _checked_or_absent(url: object) -> object:
    """One address, or "" where only `base_urls` is given."""
    return _checked_address(url) if url and isinstance(url, str) else url


class EndpointOptions(CheckedTable):
    """The `options` of an entry. All times in seconds; 0 requests per minute are no limit.

    `key_store` is the file of keys that were entered, see `keys`. Requests go to `allowed_hosts`
    alone, see `limits.check_address`; none: to all. `extra_body`, `headers`, `query` and
    `key_header` are as in `RequestExtras`. `replies_of` is the digest of other addresses whose kept
    replies count as this model's. `role` and `notes_zh` belong to other parts of the program.
    """

    base_url: Annotated[str, BeforeValidator(_checked_or_absent)] = ""
    api_key_env: str = ""
    key_store: str = ""
    allowed_hosts: list[str] = Field(default_factory=list[str])
    api: Literal[Api, ""] = "auto"
    tokenizer: str = ""
    extra_body: dict[str, Any] = Field(default_factory=dict[str, Any])
    headers: dict[str, str] = Field(default_factory=dict[str, str])
    query: dict[str, str] = Field(default_factory=dict[str, str])
    key_header: str = ""
    replies_of: str = Field(default="", pattern=r"^([0-9a-f]{8})?$")
    role: str = ""
    notes_zh: str = ""
    base_urls: list[Annotated[str, BeforeValidator(_checked_address)]] = Field(
        default_factory=list[str]
    )
    concurrency: int = Field(default=8, ge=1, lt=_TOO_MUCH)
    requests_per_minute: float = Field(default=0.0, ge=0, lt=_TOO_MUCH)
    timeout_s: float = Field(default=60.0, ge=0.1, lt=_TOO_MUCH)
    total_timeout_s: float = Field(default=0.0, ge=0, lt=_TOO_MUCH)
    retries: int = Field(default=3, ge=0, lt=_TOO_MUCH)
    seed: int = Field(default=0, ge=0, lt=_TOO_MUCH)

    @property
    def urls(self) -> tuple[str, ...]:
        """All addresses, each once, without a slash at the end."""
        return tuple(dict.fromkeys([*([self.base_url] if self.base_url else []), *self.base_urls]))


def _read_options(entry: ModelEntry) -> EndpointOptions:
    """The options of the entry.

    Raises:
        ModelError: one is unknown, of a wrong type or out of its range, or an address is missing
            or refused.
    """
    try:
        options = validated(EndpointOptions, entry.options)
    except InvalidTable as error:
        raise _option_error(error.field) from None
    if not options.urls:
        raise ModelError("endpoint-no-url")
    return options


def _option_error(wrong: InvalidField) -> ModelError:
    if wrong.problem == "extra_forbidden":
        known = ", ".join(EndpointOptions.model_fields)
        return ModelError("endpoint-option", option=wrong.name, known=known)
    name = "base_url" if wrong.in_list and wrong.name == "base_urls" else wrong.name
    return ModelError(
        "endpoint-wrong-option", option=name, expected=wrong.expected, found=repr(wrong.value)
    )
