"""What a network finds probable, computed over packs of tries.

Computes with torch. It knows neither texts nor requests.
"""

from collections.abc import Generator
from contextlib import contextmanager

import torch
from transformers import AttentionInterface

from evalui.models.local.loading import LoadedModel
from evalui.models.local.padded_forward import (
    LogprobResult,
    gather_logprobs,
    narrow_head_input,
    raise_oom,
)
from evalui.models.local.tree.attention import (
    KeysValues,
    TreeAttention,
    UnsupportedArchitecture,
    build_attention,
)
from evalui.models.local.tree.prefix_cache import PrefixCache
from evalui.models.local.tree.prefix_tree import TreeBatch, linear_batch
from evalui.models.logprob_queries import TokenIds

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
