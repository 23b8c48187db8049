"""The keys and values of rows that are being continued, and the prompts that can share them.

Computes with torch. Tokens are at the right end of each row, without a gap, and padding on their
left, so that windows and distances are right whatever the lengths of the other rows are.
"""

import copy
import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
from torch.nn.functional import pad
from transformers.cache_utils import DynamicCache, DynamicLayer, DynamicSlidingWindowLayer

from evalui.models.local.loading import LoadedModel, pad_left
from evalui.models.local.pictures import PictureInputs
from evalui.models.tokenization import TokenIds, common_prefix_length

_SUPPORTED_LAYERS = (DynamicLayer, DynamicSlidingWindowLayer)
_GROUP_COST = 128  # tokens; about the cost of the forward passes of one prefix group more


@dataclass(slots=True)
class KVCache:
    """The keys and values of some rows. `mask` (rows, columns) is true where there is a token.

    `cache` is transformers' own, a layer of keys and values for each layer of the network.
    `offsets` (rows, 1) is how far positions are from the number of tokens before: all the tokens of
    a picture may have as many positions as it has rows.
    """

    cache: Any
    mask: torch.Tensor
    offsets: torch.Tensor

    @property
    def lengths(self) -> torch.Tensor:
        """The number of tokens of each row."""
        return self.mask.sum(dim=-1)

    def select_rows(self, rows: Sequence[int]) -> None:
        """Drop all other rows, and the columns in which no row that is left has a token."""
        kept = torch.tensor(rows, device=self.mask.device)
        self.mask, self.offsets = self.mask[kept], self.offsets[kept]
        for layer in self.cache.layers:
            layer.batch_select_indices(kept)
        self._pad_to(int(self.lengths.max()))

    def _pad_to(self, columns: int) -> None:
        """Add or remove padding on the left until there are so many columns."""
        self.mask = _pad_or_trim(self.mask, columns, dim=-1)
        for layer in self.cache.layers:
            size = columns
            if layer.is_sliding:
                size = min(columns, layer.sliding_window - 1)
                layer.cumulative_length = columns
            layer.keys = _pad_or_trim(layer.keys, size, dim=-2)
            layer.values = _pad_or_trim(layer.values, size, dim=-2)


class CachedModel:
    """A network that computes rows of tokens part by part, with their keys and values cached.

    `is_supported`: its layers have keys and values as `KVCache` handles them.
    `supports_shared_prefix`: rows may share those of a common beginning.
    """

    def __init__(self, loaded: LoadedModel) -> None:
        self._model = loaded.model
        self._device = loaded.device
        parameters = inspect.signature(self._model.forward).parameters
        self._cache_name = cache_name(self._model)
        # Without this a network computes the logits of every token, of which one is needed.
        self._last_logits_only: dict[str, int] = (
            {"logits_to_keep": 1} if "logits_to_keep" in parameters else {}
        )
        layers: list[Any] = []
        if "position_ids" in parameters:
            layers = DynamicCache(config=self._model.config).layers
        standard = not self._model._is_stateful and _has_standard_attention(self._model.config)
        self.is_supported = (
            bool(layers) and standard and all(type(each) in _SUPPORTED_LAYERS for each in layers)
        )
        # Padding between a shared beginning and the rest of a row would shift a window.
        self.supports_shared_prefix = self.is_supported and not any(
            each.is_sliding for each in layers
        )

    def prefill(
        self, rows: Sequence[TokenIds], after: KVCache | None = None
    ) -> tuple[KVCache, torch.Tensor]:
        """The cache of the rows, each continuing the one row of `after`, and (rows, vocabulary)
        logits of the next token.
        """
        # The next token is appended on the right, so the padding is on the left.
        ids, mask = pad_left(rows, self._device)
        if after is None:
            cache = KVCache(
                DynamicCache(config=self._model.config), mask[:, :0], torch.zeros_like(ids[:, :1])
            )
        else:
            cache = KVCache(
                expand_rows(after.cache, len(rows)),
                after.mask.expand(len(rows), -1),
                after.offsets.expand(len(rows), -1),
            )
        logits = self._forward(cache, ids, mask)
        if after is not None and min(map(len, rows)) < mask.shape[1]:
            _close_gap(cache, after.mask.shape[1], (~mask).sum(dim=-1, keepdim=True))
        return cache, logits

    def prefill_with_pictures(self, text: PictureInputs) -> tuple[KVCache, torch.Tensor]:
        """The cache of a text with pictures, and (1, vocabulary) logits of the next token."""
        arguments = text.arguments(self._device, self._model.dtype)
        cache = DynamicCache(config=self._model.config)
        out = self._model(
            **arguments, use_cache=True, **{self._cache_name: cache}, **self._last_logits_only
        )
        ids = arguments["input_ids"]
        deltas = (getattr(module, "rope_deltas", None) for module in self._model.modules())
        offsets = next((each for each in deltas if each is not None), torch.zeros_like(ids[:, :1]))
        return KVCache(cache, torch.ones_like(ids, dtype=torch.bool), offsets), out.logits[:, -1]

    def decode(self, cache: KVCache, tokens: Sequence[int]) -> torch.Tensor:
        """Append one token to each row; returns the (rows, vocabulary) logits that follow."""
        ids = torch.tensor(tokens, device=self._device)[:, None]
        return self._forward(cache, ids, torch.ones_like(ids, dtype=torch.bool))

    def _forward(self, cache: KVCache, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        positions = (cache.lengths[:, None] + mask.cumsum(dim=-1) - 1 + cache.offsets).clamp_min(0)
        cache.mask = torch.cat([cache.mask, mask], dim=-1)
        out = self._model(
            input_ids=ids,
            attention_mask=cache.mask.long(),
            position_ids=positions,
            use_cache=True,
            **{self._cache_name: cache.cache},
            **self._last_logits_only,
        )
        return out.logits[:, -1]


def cache_name(model: Any) -> str:
    """The argument of a forward pass that is its cache."""
    # `past_key_values` until transformers 5.24, and gone from 5.40 on.
    return "cache" if "cache" in inspect.signature(model.forward).parameters else "past_key_values"


def concat(caches: Sequence[KVCache]) -> KVCache:
    """The rows of all, in order. The caches given must not be used afterwards."""
    first, *others = caches
    if not others:
        return first
    columns = max(cache.mask.shape[1] for cache in caches)
    for cache in caches:
        cache._pad_to(columns)  # pyright: ignore[reportPrivateUsage] - of this module
    first.mask = torch.cat([cache.mask for cache in caches])
    first.offsets = torch.cat([cache.offsets for cache in caches])
    for at, layer in enumerate(first.cache.layers):
        layers = [cache.cache.layers[at] for cache in caches]
        layer.keys = torch.cat([each.keys for each in layers])
        layer.values = torch.cat([each.values for each in layers])
    return first


def _has_standard_attention(config: Any) -> bool:
    """Whether all layers attend to all tokens before, or to a window of them."""
    kinds = set(getattr(config.get_text_config(), "layer_types", None) or ())
    return not config.is_encoder_decoder and kinds <= {"full_attention", "sliding_attention"}


def expand_rows(cache: Any, rows: int) -> Any:
    """The cache of one row, repeated; nothing is copied before a layer grows."""
    repeated = copy.copy(cache)
    repeated.layers = [copy.copy(layer) for layer in cache.layers]
    for layer in repeated.layers:
        layer.keys = layer.keys.expand(rows, -1, -1, -1)
        layer.values = layer.values.expand(rows, -1, -1, -1)
    return repeated


def _close_gap(cache: KVCache, beginning: int, gaps: torch.Tensor) -> None:
    """Move the first `beginning` columns to the right over the padding after them.

    `gaps` (rows, 1) is the padding of each row. The keys contain their positions already, so the
    order of the columns does not matter.
    """
    rows, columns = cache.mask.shape
    column = torch.arange(columns, device=cache.mask.device).expand(rows, -1)
    moved = torch.where(column < beginning + gaps, column - gaps, column) % columns
    cache.mask = cache.mask.gather(1, moved) & (column >= gaps)
    for layer in cache.cache.layers:
        layer.keys = _gather_columns(layer.keys, moved)
        layer.values = _gather_columns(layer.values, moved)


def _gather_columns(states: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
    _, heads, _, size = states.shape
    return states.gather(2, columns[:, None, :, None].expand(-1, heads, -1, size))


def _pad_or_trim(states: torch.Tensor, size: int, *, dim: int) -> torch.Tensor:
    """The last `size` of a dimension, padded with zeros on the left."""
    more = size - states.shape[dim]
    if more <= 0:
        return states.narrow(dim, -more, size) if more else states
    later = (0, 0) * (-1 - dim)
    return pad(states, (*later, more, 0))


@dataclass(frozen=True, slots=True)
class PrefixGroup:
    """Prompts with the same first `shared_length` tokens; `members` are indices, longest first."""

    shared_length: int
    members: tuple[int, ...]


def group_by_prefix(prompts: Sequence[TokenIds]) -> list[PrefixGroup]:
    """Each prompt in one group, so that the fewest tokens are computed in all.

    At least one token of a prompt is not shared. Prompts for which sharing saves nothing are a
    group with `shared_length` 0. The group with the longest prompt comes first.
    """
    order = sorted(range(len(prompts)), key=lambda index: prompts[index])
    common = [_shared_length(prompts[left], prompts[right]) for left, right in pairwise(order)]
    leaves = [_SortedSpan(at, at, 0, ((0, at, at),)) for at in range(len(order))]
    from_first, from_last = dict(enumerate(leaves)), dict(enumerate(leaves))
    # The closest first, so that every span is merged along its shortest common beginning.
    for at in sorted(range(len(common)), key=lambda at: -common[at]):
        left, right = from_last.pop(at), from_first.pop(at + 1)
        merged = _merge(left, right, shared=common[at])
        from_first[merged.first] = from_last[merged.last] = merged
    members: dict[tuple[int, int], list[int]] = {}
    for span in from_first.values():
        for shared, first, last in span.parts:
            members.setdefault((shared, first if shared else 0), []).extend(order[first : last + 1])
    groups = [
        PrefixGroup(shared, tuple(sorted(own, key=lambda index: -len(prompts[index]))))
        for (shared, _), own in members.items()
    ]
    return sorted(groups, key=lambda group: -len(prompts[group.members[0]]))


@dataclass(frozen=True, slots=True)
class _SortedSpan:
    """The sorted prompts `first` to `last`, divided so that the most tokens are saved.

    Each part is (tokens shared, first, last).
    """

    first: int
    last: int
    saved: int
    parts: tuple[tuple[int, int, int], ...]


def _merge(left: _SortedSpan, right: _SortedSpan, *, shared: int) -> _SortedSpan:
    together = (right.last - left.first) * shared - _GROUP_COST
    apart = left.saved + right.saved
    if together >= apart:
        return _SortedSpan(left.first, right.last, together, ((shared, left.first, right.last),))
    return _SortedSpan(left.first, right.last, apart, left.parts + right.parts)


def _shared_length(left: TokenIds, right: TokenIds) -> int:
    """The length of the longest common beginning that leaves a token of each."""
    return common_prefix_length(left[:-1], right[:-1])
