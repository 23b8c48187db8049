"""What models.toml says of a model that is asked over HTTP.

Keys never stand in the catalog: it names the environment variable that holds one.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, cast, get_args
from urllib.parse import urlsplit

from evalui.errors import ModelError
from evalui.messages import Sentence, sentence
from evalui.models.base import ModelEntry
from evalui.models.endpoint.http.addresses import check_url, host_of

Api = Literal["auto", "chat", "completions"]

# The number options: the default, the smallest value, and whether it is a whole number.
_NUMBERS: Mapping[str, tuple[float, float, bool]] = {
    "concurrency": (8, 1, True),
    "requests_per_minute": (0, 0, False),
    "timeout_s": (60, 0.1, False),
    "total_timeout_s": (0, 0, False),
    "retries": (3, 0, True),
    "seed": (0, 0, True),
}
_TEXTS = ("base_url", "api_key_env", "api", "tokenizer", "role", "notes_zh")
_SECRET_MARKERS = "@?#"  # what stands before or after these in an address is nobody's business
_TOTAL_TIMEOUT_FACTOR = (
    5  # an answer may last as many times as long as a pause in it, unless the catalog says
)
_KNOWN = (*_TEXTS, "base_urls", *_NUMBERS)


@dataclass(frozen=True, slots=True)
class Endpoint:
    """A model at one or several servers, all of which must serve the same weights.

    `model` is its name there. `concurrency` and `requests_per_minute` (0: no limit) hold for
    each server. `max_length`, in tokens, is 0 if the catalog does not tell. A request fails after
    `timeout_s` seconds without a byte, and after `total_timeout_s` in any case.
    """

    model: str
    urls: tuple[str, ...]
    key_env: str = ""
    api: Api = "auto"
    concurrency: int = 8
    requests_per_minute: float = 0.0
    timeout_s: float = 60.0
    total_timeout_s: float = 300.0
    retries: int = 3
    seed: int = 0
    tokenizer: Path | None = None
    max_length: int = 0

    @property
    def key(self) -> str:
        """The API key as the environment has it now, "" if none is wanted."""
        return os.environ.get(self.key_env, "").strip() if self.key_env else ""


def read_endpoint(entry: ModelEntry) -> Endpoint:
    """The endpoint that an entry describes.

    Raises:
        ModelError: an option is missing, unknown or of the wrong kind, or the variable that
            should hold the key is not set or holds none, or no model is asked at an address.
    """
    options = entry.options
    if unknown := sorted(set(options) - set(_KNOWN)):
        raise ModelError(
            "endpoint-option",
            option=unknown[0],
            known=", ".join(_KNOWN),
        )
    if not entry.path:
        raise ModelError("endpoint-no-path")
    texts = {name: _text(options, name) for name in _TEXTS}
    numbers = {name: _number(options, name) for name in _NUMBERS}
    api = texts["api"] or "auto"
    if api not in get_args(Api):
        raise _option_error("api", ", ".join(get_args(Api)), api)
    endpoint = Endpoint(
        model=entry.path,
        urls=_urls(options),
        key_env=texts["api_key_env"],
        api=cast(Api, api),
        concurrency=int(numbers["concurrency"]),
        requests_per_minute=numbers["requests_per_minute"],
        timeout_s=numbers["timeout_s"],
        total_timeout_s=numbers["total_timeout_s"] or _TOTAL_TIMEOUT_FACTOR * numbers["timeout_s"],
        retries=int(numbers["retries"]),
        seed=int(numbers["seed"]),
        tokenizer=Path(texts["tokenizer"]).expanduser() if texts["tokenizer"] else None,
        max_length=entry.max_length,
    )
    if endpoint.key_env and not endpoint.key:
        raise ModelError(
            "endpoint-no-key",
            name=endpoint.key_env,
        )
    if not (endpoint.key.isascii() and endpoint.key.isprintable()):
        raise ModelError(
            "endpoint-bad-key",
            name=endpoint.key_env,
        )
    return endpoint


def _text(options: Mapping[str, Any], name: str) -> str:
    value = options.get(name, "")
    if not isinstance(value, str):
        raise _option_error(name, sentence("error.kind-text"), value)
    return value


def _number(options: Mapping[str, Any], name: str) -> float:
    default, least, whole = _NUMBERS[name]
    value = options.get(name, default)
    # type(), not isinstance(): true would pass for a whole number.
    if type(value) not in ((int,) if whole else (int, float)) or not least <= value < 1e9:
        raise _option_error(name, _number_description(least, whole=whole), value)
    return float(value)


def _number_description(least: float, *, whole: bool) -> Sentence:
    if whole:
        return sentence("error.kind-whole-least", least=int(least))
    return sentence("error.kind-least", least=least)


def _urls(options: Mapping[str, Any]) -> tuple[str, ...]:
    several = options.get("base_urls", [])
    if not isinstance(several, list):
        raise _option_error("base_urls", sentence("error.kind-texts"), several)
    one = options.get("base_url")
    found = [*([one] if one else []), *cast("list[Any]", several)]
    if not found:
        raise ModelError(
            "endpoint-no-url",
        )
    for url in found:
        if isinstance(url, str) and any(mark in url for mark in _SECRET_MARKERS):
            raise ModelError(  # without the address: it may hold a password or a key
                "endpoint-secret-url",
            )
        if not isinstance(url, str) or not _is_url(url):
            raise _option_error("base_url", sentence("error.kind-address"), url)
        check_url(url)
    return tuple(dict.fromkeys(str(url).rstrip("/") for url in found))


def _is_url(url: str) -> bool:
    if " " in url or not url.isprintable():  # urlsplit would drop a line break
        return False
    try:
        parts = urlsplit(url)
        port = parts.port
        host = host_of(url)
    except ValueError:  # a port that is no number, or what no name of a host can be
        return False
    return parts.scheme in ("http", "https") and bool(host and port != 0)


def _option_error(option: str, expected: str, found: object) -> ModelError:
    return ModelError(
        "endpoint-wrong-option",
        option=option,
        expected=expected,
        found=repr(found),
    )
