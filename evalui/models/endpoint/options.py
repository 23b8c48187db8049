"""The options of an endpoint in models.toml, checked by pydantic; loaded when an entry is read."""

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field
from pydantic_core import PydanticCustomError

from evalui.errors import ModelError
from evalui.models.base import ModelEntry
from evalui.models.endpoint.http.addresses import check_url, is_http_url, may_hold_secret
from evalui.models.validation import CheckedTable, InvalidField, InvalidTable, validated

_TOO_MUCH = 1_000_000_000  # no number option means anything from here on


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

    `role` and `notes_zh` belong to other parts of the program.
    """

    base_url: Annotated[str, BeforeValidator(_checked_or_absent)] = ""
    api_key_env: str = ""
    api: Literal["auto", "chat", "completions", ""] = "auto"
    tokenizer: str = ""
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


def read_options(entry: ModelEntry) -> EndpointOptions:
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
    name = "base_url" if wrong.in_list else wrong.name
    return ModelError(
        "endpoint-wrong-option", option=name, expected=wrong.expected, found=repr(wrong.value)
    )
