"""What models.toml says of a model that is asked over HTTP.

Keys never stand in the catalog: it names the environment variable that holds one.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from evalui.errors import ModelError
from evalui.models.base import ModelEntry

Api = Literal["auto", "chat", "completions"]

# A response may take as many times as long as a pause in it, unless the catalog says otherwise.
_TOTAL_TIMEOUT_FACTOR = 5


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
    from evalui.models.endpoint.options import read_options  # loads pydantic

    if not entry.path:
        raise ModelError("endpoint-no-path")
    options = read_options(entry)
    endpoint = Endpoint(
        model=entry.path,
        urls=options.urls,
        key_env=options.api_key_env,
        api=options.api or "auto",
        concurrency=options.concurrency,
        requests_per_minute=options.requests_per_minute,
        timeout_s=options.timeout_s,
        total_timeout_s=options.total_timeout_s or _TOTAL_TIMEOUT_FACTOR * options.timeout_s,
        retries=options.retries,
        seed=options.seed,
        tokenizer=Path(options.tokenizer).expanduser() if options.tokenizer else None,
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
