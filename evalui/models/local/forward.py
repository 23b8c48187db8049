"""Forward passes of a causal language model: token ids in, log-probabilities out.

Over padded rows, which any architecture can compute, and over prefix trees, in which each shared
token is computed once. Computes with torch; knows neither texts nor requests.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Generic, TypeVar

import torch
from transformers.modeling_utils import AttentionInterface

from evalui.models.base import is_out_of_memory
from evalui.models.local.loading import LoadedModel, check_finite, pad_right, to_list
from evalui.models.local.prefix_tree import TreeBatch, linear_batch
from evalui.models.local.tree_attention import (
    KeysValues,
    TreeAttention,
    UnsupportedArchitecture,
    build_attention,
)
from evalui.models.scoring_requests import LogprobBatch, TokenIds
from evalui.models.tokenization import common_prefix_length

T = TypeVar("T")
LayerStates = dict[int, KeysValues]

_PREFIX_CHUNK_TOKENS = 1024  # tokens of a prefix computed in one forward pass
_MAX_ENTRIES = 128  # of a prefix cache: each entry is compared with the prefix of every batch


class OutOfMemory(Exception):
    """The device has too little memory for a batch; a smaller one may fit."""


@dataclass(frozen=True, slots=True)
class LogprobResult:
    """For each of `LogprobBatch.lookups`: its natural log-probability, and the most probable token
    at its position.
    """

    logprobs: tuple[float, ...]
    best: tuple[int, ...]


class PaddedNetwork:
    """Computes log-probabilities row by row, rows padded to one width."""

    def __init__(self, loaded: LoadedModel) -> None:
        self._loaded = loaded
        self._model = loaded.model
        self._device = loaded.device
        # torch's fused attention omits the cap on scores without an error (Gemma 2).
        if getattr(self._model.config.get_text_config(), "attn_logit_softcapping", None):
            self._model.set_attn_implementation("eager")

    def compute_logprobs(
        self, batch: LogprobBatch, arguments: Mapping[str, Any] = MappingProxyType({})
    ) -> LogprobResult:
        """The results of the batch's lookups, in one forward pass.

        A row longer than `LoadedModel.rope_safe_length` must be the only one. `arguments` are what
        the network takes beside the tokens: pictures, or a cache that the rows continue.

        Raises:
            OutOfMemory: the device has too little memory.
            ModelError: the network computes NaN.
        """
        rows = torch.tensor([row for row, _ in batch.logit_positions], device=self._device)
        columns = torch.tensor([column for _, column in batch.logit_positions], device=self._device)

        def at_positions(states: torch.Tensor) -> torch.Tensor:
            return states[rows, columns][None]

        # Padding is on the right, where causal attention does not reach it.
        ids = pad_right(batch.rows).to(self._device)
        with torch.inference_mode(), raise_oom():
            if ids.shape[1] > self._loaded.rope_safe_length:
                assert len(batch.rows) == 1, "its positions would depend on the other rows"
                self._loaded.reset_rope()
            with narrow_head_input(self._model, at_positions):
                logits: torch.Tensor = self._model(
                    input_ids=ids, **{"use_cache": False, **arguments}
                ).logits
            return gather_logprobs(logits[0].float(), batch.lookups)


@contextmanager
def narrow_head_input(
    model: Any, narrow: Callable[[torch.Tensor], torch.Tensor]
) -> Generator[None]:
    """Pass the model's output head only what `narrow` selects of its input.

    The head is the most expensive layer of a small network with a large vocabulary. What an
    architecture does to the logits afterwards (scaling, capping) still happens.
    """

    def narrowed(_: torch.nn.Module, inputs: tuple[torch.Tensor, ...]) -> torch.Tensor:
        return narrow(inputs[0])

    hook = model.get_output_embeddings().register_forward_pre_hook(narrowed)
    try:
        yield
    finally:
        hook.remove()


@contextmanager
def raise_oom() -> Generator[None]:
    """Raise `OutOfMemory` where torch reports that memory is exhausted."""
    try:
        yield
    except RuntimeError as error:
        if not is_out_of_memory(error):
            raise
        raise OutOfMemory from error


def gather_logprobs(logits: torch.Tensor, lookups: Sequence[tuple[int, int]]) -> LogprobResult:
    """The results of `lookups`, each (row, token), in `logits` (rows, vocabulary) in float32.

    Raises:
        ModelError: a logit is NaN.
    """
    total = check_finite(torch.logsumexp(logits, dim=-1))
    rows = torch.tensor([row for row, _ in lookups], device=logits.device)
    tokens = torch.tensor([token for _, token in lookups], device=logits.device)
    logprobs = logits[rows, tokens] - total[rows]
    best = logits.argmax(dim=-1)[rows]
    return LogprobResult(tuple(to_list(logprobs)), tuple(to_list(best)))


class TreeNetwork:
    """Computes log-probabilities over batches of prefix trees, and caches their common prefixes.

    `prefix_cache_bytes` limits the memory of the cached keys and values.
    """

    def __init__(self, loaded: LoadedModel, *, prefix_cache_bytes: int) -> None:
        self._model = loaded.model
        self._device = loaded.device
        self._library = loaded.library
        self.prefix_cache = PrefixCache[LayerStates](prefix_cache_bytes, size=_n_bytes)

    def compute_logprobs(self, batch: TreeBatch) -> LogprobResult:
        """The results of the batch's lookups, in one forward pass after that of its prefix.

        Raises:
            ModelError: the network computes NaN.
            OutOfMemory: the device has too little memory.
            UnsupportedArchitecture: it cannot be computed over prefix trees.
        """
        prefix = self.prefix_states(batch.prefix, cacheable_length=batch.cacheable_length)
        logits, _ = self._forward(batch, prefix)
        return gather_logprobs(logits, batch.lookups)

    def prefix_states(self, tokens: TokenIds, *, cacheable_length: int) -> LayerStates:
        """Keys and values of a prefix, computed from the longest cached part of it.

        Its first `cacheable_length` tokens are cached, the whole prefix is pinned.
        """
        if not tokens:
            return {}
        known, layers = self.prefix_cache.longest_match(tokens)
        layers = _truncate(layers, known) if layers else {}
        begin = known
        while known < len(tokens):
            end = min(len(tokens), known + _PREFIX_CHUNK_TOKENS)
            _, computed = self._forward(linear_batch(tokens[:end], known), layers)
            layers, known = _concat(layers, computed), end
        if cacheable_length and not self.prefix_cache.has_prefix(tokens[:cacheable_length]):
            self.prefix_cache.insert(
                tokens[:cacheable_length], _clone(_truncate(layers, cacheable_length))
            )
        if max(begin, cacheable_length) < len(tokens):
            self.prefix_cache.pin(tokens, layers)
        return layers

    def _forward(self, batch: TreeBatch, prefix: LayerStates) -> tuple[torch.Tensor, LayerStates]:
        """Logits (logit nodes, vocabulary), and keys and values of each layer."""
        nodes = torch.tensor(batch.logit_nodes or (0,), device=self._device)

        def at_nodes(states: torch.Tensor) -> torch.Tensor:
            return states[:, nodes]

        like = torch.empty(0, dtype=self._model.dtype, device=self._device)
        attention = build_attention(batch, prefix, like=like, library=self._library)
        with (
            torch.inference_mode(),
            narrow_head_input(self._model, at_nodes),
            self._use_attention(attention),
            raise_oom(),
        ):
            logits: torch.Tensor = self._model(
                input_ids=torch.tensor([batch.tokens], device=self._device),
                position_ids=torch.tensor([batch.positions], device=self._device),
                use_cache=False,
            ).logits
        if not attention.computed or (prefix and attention.computed.keys() != prefix.keys()):
            raise UnsupportedArchitecture(
                "it does not compute attention where transformers lets others do it"
            )
        return logits[0].float(), attention.computed

    @contextmanager
    def _use_attention(self, attention: TreeAttention) -> Generator[None]:
        """Make the layers call `attention`. A name without a mask function gets no masks."""
        name = f"evalui_tree_{id(self)}"
        config = self._model.config
        before = config._attn_implementation
        AttentionInterface.register(name, attention.attend)
        config._attn_implementation = name
        try:
            yield
        finally:
            config._attn_implementation = before
            # There is no public way to unregister a name, and this one would keep tensors alive.
            AttentionInterface._global_mapping.pop(name)  # pyright: ignore[reportPrivateUsage]


def _n_bytes(layers: LayerStates) -> int:
    return sum(each.numel() * each.element_size() for pair in layers.values() for each in pair)


def _truncate(layers: LayerStates, length: int) -> LayerStates:
    return {at: (key[:, :, :length], value[:, :, :length]) for at, (key, value) in layers.items()}


def _clone(layers: LayerStates) -> LayerStates:
    return {at: (key.clone(), value.clone()) for at, (key, value) in layers.items()}


def _concat(first: LayerStates, second: LayerStates) -> LayerStates:
    # A copy, since what a layer computed may be a view of a larger tensor.
    if not first:
        return {at: (key.contiguous(), value.contiguous()) for at, (key, value) in second.items()}
    return {
        at: (torch.cat([first[at][0], key], dim=2), torch.cat([first[at][1], value], dim=2))
        for at, (key, value) in second.items()
    }


class PrefixCache(Generic[T]):
    """Values by prefix, the least recently used evicted first; knows nothing of networks.

    `size` gives the bytes of a value, `limit` the bytes of all; the newest entry stays whatever its
    size. Apart from the entries one prefix may be pinned for the batches that follow at once.
    """

    def __init__(self, limit: int, *, size: Callable[[T], int]) -> None:
        self._limit = limit
        self._size = size
        self._entries: dict[TokenIds, T] = {}  # the most recently used last
        self._pinned: dict[TokenIds, T] = {}  # one or none

    def __iter__(self) -> Iterator[TokenIds]:
        return iter((*self._entries, *self._pinned))

    def longest_match(self, tokens: TokenIds) -> tuple[int, T | None]:
        """(tokens shared, value) of the prefix that shares most with `tokens`, else (0, None)."""
        pinned = _longest_match(tokens, self._pinned)
        if entry := _longest_match(tokens, self._entries):
            self._entries[entry] = self._entries.pop(entry)
        if not entry and not pinned:
            return 0, None
        if common_prefix_length(pinned, tokens) > common_prefix_length(entry, tokens):
            return common_prefix_length(pinned, tokens), self._pinned[pinned]
        return common_prefix_length(entry, tokens), self._entries[entry]

    def has_prefix(self, tokens: TokenIds) -> bool:
        """Whether an entry begins with `tokens`."""
        return any(entry[: len(tokens)] == tokens for entry in self._entries)

    def insert(self, tokens: TokenIds, value: T) -> None:
        """Add an entry; removes the entries it begins with, and the oldest over the limit."""
        for entry in [each for each in self._entries if tokens[: len(each)] == each]:
            del self._entries[entry]
        self._entries[tokens] = value
        self._pinned.clear()
        self._evict()

    def pin(self, tokens: TokenIds, value: T) -> None:
        """Hold a prefix until another one is inserted or pinned."""
        self._pinned = {tokens: value}
        self._evict()

    def clear(self) -> None:
        """Remove all entries and the pinned prefix."""
        self._entries.clear()
        self._pinned.clear()

    def _evict(self) -> None:
        while len(self._entries) > 1 and (
            len(self._entries) > _MAX_ENTRIES or self._total_bytes() > self._limit
        ):
            del self._entries[next(iter(self._entries))]

    def _total_bytes(self) -> int:
        return sum(map(self._size, (*self._entries.values(), *self._pinned.values())))


def _longest_match(tokens: TokenIds, prefixes: Iterable[TokenIds]) -> TokenIds:
    """The prefix that shares most with `tokens`, () if none shares any."""
    best = max(prefixes, key=lambda prefix: common_prefix_length(prefix, tokens), default=())
    return best if common_prefix_length(best, tokens) else ()
