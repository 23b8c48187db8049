"""How much memory a model will take, estimated from the files in its folder.

Reads files only; nothing of the model is loaded.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evalui.errors import ModelError
from evalui.models.base import ModelEntry, traits_of
from evalui.models.local.weights import read_json, text_config

_BYTES: Mapping[str, int] = {"float32": 4, "float16": 2, "bfloat16": 2}


@dataclass(frozen=True, slots=True)
class Footprint:
    """Bytes of a model on its device: its weights, and the keys and values of `tokens` tokens.

    `max_input_tokens` is the longest input in tokens, which may not occur.
    """

    dtype: str
    weights: int
    cache: int
    tokens: int
    max_input_tokens: int

    @property
    def total(self) -> int:
        """Weights and cache."""
        return self.weights + self.cache

    @property
    def peak(self) -> int:
        """The total while one longest input is computed."""
        return self.weights + self.cache // self.tokens * max(self.tokens, self.max_input_tokens)


def footprint(
    entry: ModelEntry, *, parameters: int, token_budget: int, gpu: bool
) -> Footprint | None:
    """The estimate, None if the folder does not state enough (a hub id, no layers or heads).

        weights = parameters * bytes(dtype)
        cache   = 2 * layers * key/value heads * head size * tokens * bytes(dtype)
        tokens  = max(token budget, max_length of the entry)

    The 2 is for keys and values (Shazeer 2019, "Fast Transformer Decoding", counts them so). One
    forward pass has `token_budget` tokens, or one input however long it is. The limit of the entry
    counts as such an input, but not that of the model itself, which few inputs approach; vLLM does
    not start without memory for one input of that length, so there it counts. Activations, and an
    adapter's own weights, are not included and small in comparison.
    `dtype` "auto" is the file's own on a GPU and float32 on a CPU, as the model will be loaded.
    """
    if traits_of(entry).remote:
        return None  # its name at the endpoint may be a folder here, too
    config = _config(Path(entry.path))
    per_token = _values_per_token(config)
    if not per_token or not parameters:
        return None
    dtype = _dtype(entry, config, gpu=gpu)
    size = _BYTES[dtype]
    longest = entry.max_length or _number(config, "max_position_embeddings")
    needed = longest if traits_of(entry).needs_full_length_cache else entry.max_length
    tokens = max(1, token_budget, needed)
    return Footprint(dtype, parameters * size, per_token * tokens * size, tokens, longest)


def _config(folder: Path) -> Mapping[str, Any]:
    """The part of config.json that describes the text network, {} if there is none."""
    if not folder.is_absolute():
        return {}
    try:
        return text_config(read_json(folder / "config.json"))
    except (OSError, ModelError):
        return {}  # which is reported as the problem of the entry


def _values_per_token(config: Mapping[str, Any]) -> int:
    layers = _number(config, "num_hidden_layers")
    heads = _number(config, "num_attention_heads")
    if not layers or not heads:
        return 0
    shared = _number(config, "num_key_value_heads") or heads
    size = _number(config, "head_dim") or _number(config, "hidden_size") // heads
    return 2 * layers * shared * size


def _dtype(entry: ModelEntry, config: Mapping[str, Any], *, gpu: bool) -> str:
    if entry.dtype in _BYTES:
        return entry.dtype
    own = str(config.get("dtype") or config.get("torch_dtype") or "float32")
    return own if gpu and own in _BYTES else "float32"


def _number(config: Mapping[str, Any], name: str) -> int:
    value = config.get(name)
    return value if type(value) is int and value > 0 else 0
