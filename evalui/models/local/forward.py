"""What a network finds probable: token ids in, log-probabilities out.

Computes with torch. It knows neither texts nor requests.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import torch
from transformers import AttentionInterface

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


class OutOfMemory(Exception):
    """The device has too little memory for a batch; a smaller one may fit."""


@dataclass(frozen=True, slots=True)
class LogprobResult:
    """For each of `LogprobBatch.lookups`: its natural log-probability, and the best token."""

    logprobs: tuple[float, ...]
    best: tuple[int, ...]


class PaddedNetwork:
    """Reads with a causal language model."""

    def __init__(self, causal: LoadedModel) -> None:
        self._causal = causal
        self._model = causal.model
        self._device = causal.device
        # The fused attention of torch leaves out the cap on scores without a word (Gemma 2).
        if getattr(self._model.config.get_text_config(), "attn_logit_softcapping", None):
            self._model.set_attn_implementation("eager")

    def compute_logprobs(self, batch: LogprobBatch) -> LogprobResult:
        """Look up what the batch asks for in one forward pass.

        A row longer than the network is steady must be alone.

        Raises:
            Full: the device has too little memory.
            ModelError: the network computes NaN.
        """
        rows = torch.tensor([row for row, _ in batch.logit_positions], device=self._device)
        columns = torch.tensor([column for _, column in batch.logit_positions], device=self._device)

        def only_places(states: torch.Tensor) -> torch.Tensor:
            return states[rows, columns][None]

        # Padding stands on the right, where a causal network cannot see it.
        ids = pad_right(batch.rows).to(self._device)
        with torch.inference_mode(), raise_oom():
            if ids.shape[1] > self._causal.rope_safe_length:
                assert len(batch.rows) == 1, "positions would follow the neighbours' lengths"
                self._causal.reset_rope()
            with narrow_head_input(self._model, only_places):
                logits: torch.Tensor = self._model(input_ids=ids, use_cache=False).logits
            return gather_logprobs(logits[0].float(), batch.lookups)


@contextmanager
def narrow_head_input(
    model: Any, narrow: Callable[[torch.Tensor], torch.Tensor]
) -> Generator[None]:
    """Give the model's output head only what `narrow` leaves of its input.

    The head is the dearest layer of a small network with a large vocabulary. Narrowing its input
    leaves whatever an architecture does to the logits afterwards in force.
    """

    def only(_: torch.nn.Module, inputs: tuple[torch.Tensor, ...]) -> torch.Tensor:
        return narrow(inputs[0])

    hook = model.get_output_embeddings().register_forward_pre_hook(only)
    try:
        yield
    finally:
        hook.remove()


@contextmanager
def raise_oom() -> Generator[None]:
    """Turn what torch raises for want of memory into `OutOfMemory`."""
    try:
        yield
    except torch.OutOfMemoryError as error:
        raise OutOfMemory from error
    except RuntimeError as error:
        if "can't allocate memory" not in str(error):  # what the allocator of a CPU says
            raise
        raise OutOfMemory from error


def gather_logprobs(logits: torch.Tensor, lookups: Sequence[tuple[int, int]]) -> LogprobResult:
    """What is `lookups` for as (place, token); `logits` is (places, vocabulary) in float32."""
    total = check_finite(torch.logsumexp(logits, dim=-1))
    places = torch.tensor([place for place, _ in lookups], device=logits.device)
    tokens = torch.tensor([token for _, token in lookups], device=logits.device)
    logprobs = logits[places, tokens] - total[places]
    best = logits.argmax(dim=-1)[places]
    return LogprobResult(tuple(to_list(logprobs)), tuple(to_list(best)))


_PREFIX_CHUNK_TOKENS = 1024  # tokens of a trunk computed at once
LayerStates = dict[int, KeysValues]


class TreeNetwork:
    """Reads packs with a causal language model and keeps the trunks they hang on.

    `trunk_bytes` bounds the memory of the kept trunks.
    """

    def __init__(self, causal: LoadedModel, *, prefix_cache_bytes: int) -> None:
        self._model = causal.model
        self._device = causal.device
        self._library = causal.library
        self.prefix_cache = PrefixCache[LayerStates](prefix_cache_bytes, size=_n_bytes)

    def compute_logprobs(self, pack: TreeBatch) -> LogprobResult:
        """Look up what the pack asks for in one forward pass, after its trunk if that is new.

        Raises:
            ModelError: the network computes NaN.
            Full: the device has too little memory.
            Unfit: the architecture cannot be computed over tries.
        """
        logits, _ = self._forward(
            pack, self.prefix_states(pack.prefix, cacheable_length=pack.cacheable_length)
        )
        return gather_logprobs(logits, pack.lookups)

    def prefix_states(self, tokens: TokenIds, *, cacheable_length: int) -> LayerStates:
        """Keys and values of a trunk, from the nearest one there is.

        Its first `cacheable_length` tokens are kept; all of it is at hand until the next one.
        """
        if not tokens:
            return {}
        known, layers = self.prefix_cache.longest_match(tokens)
        layers = _truncate(layers, known) if layers else {}
        begin = known
        while known < len(tokens):
            until = min(len(tokens), known + _PREFIX_CHUNK_TOKENS)
            _, seen = self._forward(linear_batch(tokens[:until], known), layers)
            layers, known = _concat(layers, seen), until
        if cacheable_length and not self.prefix_cache.has_prefix(tokens[:cacheable_length]):
            self.prefix_cache.insert(
                tokens[:cacheable_length], _clone(_truncate(layers, cacheable_length))
            )
        if max(begin, cacheable_length) < len(tokens):
            self.prefix_cache.pin(tokens, layers)
        return layers

    def _forward(self, pack: TreeBatch, trunk: LayerStates) -> tuple[torch.Tensor, LayerStates]:
        """Logits (places, vocabulary) at the places, and keys and values of each layer."""
        places = torch.tensor(pack.logit_nodes or (0,), device=self._device)

        def only_places(states: torch.Tensor) -> torch.Tensor:
            return states[:, places]

        like = torch.empty(0, dtype=self._model.dtype, device=self._device)
        view = build_attention(pack, trunk, like=like, library=self._library)
        with (
            torch.inference_mode(),
            narrow_head_input(self._model, only_places),
            self._use_attention(view),
            raise_oom(),
        ):
            logits: torch.Tensor = self._model(
                input_ids=torch.tensor([pack.tokens], device=self._device),
                position_ids=torch.tensor([pack.positions], device=self._device),
                use_cache=False,
            ).logits
        if not view.computed or (trunk and view.computed.keys() != trunk.keys()):
            raise UnsupportedArchitecture(
                "it does not compute attention where transformers lets others do it"
            )
        return logits[0].float(), view.computed

    @contextmanager
    def _use_attention(self, view: TreeAttention) -> Generator[None]:
        """Let the layers attend by `view`. A name without a mask function gets no masks."""
        name = f"evalui_tree_{id(self)}"
        config = self._model.config
        before = config._attn_implementation
        AttentionInterface.register(name, view.attend)
        config._attn_implementation = name
        try:
            yield
        finally:
            config._attn_implementation = before
            # There is no way to take a name back, and this one would keep the tensors alive.
            AttentionInterface._global_mapping.pop(name)  # pyright: ignore[reportPrivateUsage]


def _n_bytes(layers: LayerStates) -> int:
    return sum(each.numel() * each.element_size() for pair in layers.values() for each in pair)


def _truncate(layers: LayerStates, length: int) -> LayerStates:
    return {at: (key[:, :, :length], value[:, :, :length]) for at, (key, value) in layers.items()}


def _clone(layers: LayerStates) -> LayerStates:
    return {at: (key.clone(), value.clone()) for at, (key, value) in layers.items()}


def _concat(above: LayerStates, below: LayerStates) -> LayerStates:
    # A copy, since what a layer computed may be a view of much more.
    if not above:
        return {at: (key.contiguous(), value.contiguous()) for at, (key, value) in below.items()}
    return {
        at: (torch.cat([above[at][0], key], dim=2), torch.cat([above[at][1], value], dim=2))
        for at, (key, value) in below.items()
    }


T = TypeVar("T")


# Every kept trunk is compared with the texts of every call.
_MAX_ENTRIES = 128


class PrefixCache(Generic[T]):
    """A bounded store. `size` tells the bytes of a value; the newest is kept whatever its size.

    Apart from those kept, one trunk may be at hand for what follows at once.
    """

    def __init__(self, limit: int, *, size: Callable[[T], int]) -> None:
        self._limit = limit
        self._size = size
        self._entries: dict[TokenIds, T] = {}  # the last used one last
        self._pinned: dict[TokenIds, T] = {}  # one or none

    def __iter__(self) -> Iterator[TokenIds]:
        return iter((*self._entries, *self._pinned))

    def longest_match(self, tokens: TokenIds) -> tuple[int, T | None]:
        """The trunk that shares most with `tokens`, and how many; (0, None) if none does."""
        at_hand = _longest_match(tokens, self._pinned)
        if kept := _longest_match(tokens, self._entries):
            self._entries[kept] = self._entries.pop(kept)
        if not kept and not at_hand:
            return 0, None
        if common_prefix_length(at_hand, tokens) > common_prefix_length(kept, tokens):
            return common_prefix_length(at_hand, tokens), self._pinned[at_hand]
        return common_prefix_length(kept, tokens), self._entries[kept]

    def has_prefix(self, tokens: TokenIds) -> bool:
        """Whether a kept trunk begins with `tokens`."""
        return any(trunk[: len(tokens)] == tokens for trunk in self._entries)

    def insert(self, tokens: TokenIds, value: T) -> None:
        """Keep a trunk; those that it begins with go, as do the oldest over the limit."""
        for trunk in [each for each in self._entries if tokens[: len(each)] == each]:
            del self._entries[trunk]
        self._entries[tokens] = value
        self._pinned.clear()
        self._evict()

    def pin(self, tokens: TokenIds, value: T) -> None:
        """Have a trunk at hand until another one is put or held."""
        self._pinned = {tokens: value}
        self._evict()

    def clear(self) -> None:
        """Give up all of them."""
        self._entries.clear()
        self._pinned.clear()

    def _evict(self) -> None:
        while len(self._entries) > 1 and (
            len(self._entries) > _MAX_ENTRIES or self._total_bytes() > self._limit
        ):
            del self._entries[next(iter(self._entries))]

    def _total_bytes(self) -> int:
        return sum(map(self._size, (*self._entries.values(), *self._pinned.values())))


def _longest_match(tokens: TokenIds, trunks: Iterable[TokenIds]) -> TokenIds:
    """The trunk that shares most with `tokens`, () if none does."""
    best = max(trunks, key=lambda trunk: common_prefix_length(trunk, tokens), default=())
    return best if common_prefix_length(best, tokens) else ()
