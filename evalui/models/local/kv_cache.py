"""What a network remembers of rows of tokens: the keys and values of its attention.

Computes with torch. Text stands at the right end of each row, without a gap, and padding on its
left, so that windows and distances hold whatever the neighbours' lengths are.
"""

import copy
import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import torch
from torch.nn.functional import pad
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer, DynamicSlidingWindowLayer

from evalui.models.local.loading import LoadedModel, pad_right
from evalui.models.scoring_requests import TokenIds

_SUPPORTED_LAYERS = (DynamicLayer, DynamicSlidingWindowLayer)


@dataclass(slots=True)
class KVCache:
    """The memory of some rows. `mask` (rows, columns) is true where a token stands.

    `cache` is transformers' own, a layer of keys and values for each layer of the network.
    """

    cache: Any
    mask: torch.Tensor

    @property
    def lengths(self) -> torch.Tensor:
        """The number of tokens of each row, which is the position of its next one."""
        return self.mask.sum(dim=-1)

    def select_rows(self, rows: Sequence[int]) -> None:
        """Forget all other rows, and the columns in which no row that is left has a token."""
        kept = torch.tensor(rows, device=self.mask.device)
        self.mask = self.mask[kept]
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
    """Reads rows of tokens with a network that keeps keys and values, a part at a time."""

    def __init__(self, causal: LoadedModel) -> None:
        self._model = causal.model
        self._device = causal.device
        takes = inspect.signature(self._model.forward).parameters
        # Without this a network computes logits at every token, to be thrown away but for one.
        self._last_logits_only: dict[str, int] = (
            {"logits_to_keep": 1} if "logits_to_keep" in takes else {}
        )
        layers: list[Any] = self._empty_cache().layers if "position_ids" in takes else []
        standard = not self._model._is_stateful and _has_standard_attention(self._model.config)
        self.is_supported = (
            bool(layers) and standard and all(type(each) in _SUPPORTED_LAYERS for each in layers)
        )
        # A gap between a shared beginning and the rest of a row would shift a window.
        self.supports_shared_prefix = self.is_supported and not any(
            each.is_sliding for each in layers
        )

    def prefill(
        self, rows: Sequence[TokenIds], after: KVCache | None = None
    ) -> tuple[KVCache, torch.Tensor]:
        """Read the rows, each after the one row of `after`; the logits that follow each."""
        width = max(len(row) for row in rows)
        # The next token is written on the right, so the padding stands on the left.
        ids = pad_right([row[::-1] for row in rows]).flip(1).to(self._device)
        gaps = torch.tensor([[width - len(row)] for row in rows], device=self._device)
        mask = torch.arange(width, device=self._device)[None] >= gaps
        if after is None:
            past = KVCache(self._empty_cache(), mask[:, :0])
        else:
            past = KVCache(_expand_rows(after.cache, len(rows)), after.mask.expand(len(rows), -1))
        logits = self._forward(past, ids, mask)
        if after is not None and min(map(len, rows)) < width:
            _close_gap(past, after.mask.shape[1], gaps)
        return past, logits

    def decode(self, past: KVCache, tokens: Sequence[int]) -> torch.Tensor:
        """Read one token more for each row; the logits that follow."""
        ids = torch.tensor(tokens, device=self._device)[:, None]
        return self._forward(past, ids, torch.ones_like(ids, dtype=torch.bool))

    def _empty_cache(self) -> Any:
        return DynamicCache(config=self._model.config)

    def _forward(self, past: KVCache, ids: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        places = (past.lengths[:, None] + mask.cumsum(dim=-1) - 1).clamp_min(0)
        past.mask = torch.cat([past.mask, mask], dim=-1)
        out = self._model(
            input_ids=ids,
            attention_mask=past.mask.long(),
            position_ids=places,
            past_key_values=past.cache,
            use_cache=True,
            **self._last_logits_only,
        )
        return out.logits[:, -1]


def concat(pasts: Sequence[KVCache]) -> KVCache:
    """The rows of all, in order. The memories given are used up."""
    first, *others = pasts
    if not others:
        return first
    columns = max(past.mask.shape[1] for past in pasts)
    for past in pasts:
        past._pad_to(columns)  # pyright: ignore[reportPrivateUsage] - of this module
    first.mask = torch.cat([past.mask for past in pasts])
    for place, layer in enumerate(first.cache.layers):
        alike = [past.cache.layers[place] for past in pasts]
        layer.keys = torch.cat([each.keys for each in alike])
        layer.values = torch.cat([each.values for each in alike])
    return first


def _has_standard_attention(config: Any) -> bool:
    """Whether all its layers attend to everything before them, or to a window of it."""
    about = config.get_text_config()
    kinds = set(getattr(about, "layer_types", None) or ())
    return not config.is_encoder_decoder and kinds <= {"full_attention", "sliding_attention"}


def _expand_rows(cache: Any, rows: int) -> Any:
    """The cache of one row for many; nothing is copied before a layer grows."""
    repeated = copy.copy(cache)
    repeated.layers = [copy.copy(layer) for layer in cache.layers]
    for layer in repeated.layers:
        layer.keys = layer.keys.expand(rows, -1, -1, -1)
        layer.values = layer.values.expand(rows, -1, -1, -1)
    return repeated


def _close_gap(past: KVCache, beginning: int, gaps: torch.Tensor) -> None:
    """Move the first columns, `beginning` of them, to the right over the gap behind them.

    Positions are in the keys already, so a column may stand anywhere.
    """
    rows, columns = past.mask.shape
    place = torch.arange(columns, device=past.mask.device).expand(rows, -1)
    moved = torch.where(place < beginning + gaps, place - gaps, place) % columns
    past.mask = past.mask.gather(1, moved) & (place >= gaps)
    for layer in past.cache.layers:
        layer.keys = _gather_columns(layer.keys, moved)
        layer.values = _gather_columns(layer.values, moved)


def _gather_columns(states: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
    _, heads, _, size = states.shape
    return states.gather(2, columns[:, None, :, None].expand(-1, heads, -1, size))


def _pad_or_trim(states: torch.Tensor, size: int, *, dim: int) -> torch.Tensor:
    """The last `size` of a dimension, filled up with zeros on the left."""
    more = size - states.shape[dim]
    if more <= 0:
        return states.narrow(dim, -more, size) if more else states
    behind = (0, 0) * (-1 - dim)
    return pad(states, (*behind, more, 0))


_GROUP_COST = 128  # tokens; about what the forward passes of one family more cost


@dataclass(frozen=True, slots=True)
class PrefixGroup:
    """Prompts whose first `shared_length` tokens are the same. `members` are indices, longest
    first.
    """

    shared_length: int
    members: tuple[int, ...]


def group_by_prefix(prompts: Sequence[TokenIds]) -> list[PrefixGroup]:
    """Each prompt in one family, so that as little as possible is computed in all.

    At least one token of a prompt is its own. Those that save nothing are a family that shares
    nothing. The family with the longest prompt comes first.
    """
    order = sorted(range(len(prompts)), key=lambda index: prompts[index])
    common = [_shared_length(prompts[left], prompts[right]) for left, right in pairwise(order)]
    leaves = [_SortedSpan(place, place, 0, ((0, place, place),)) for place in range(len(order))]
    from_first, from_last = dict(enumerate(leaves)), dict(enumerate(leaves))
    # The closest first, so that every group is joined along its shortest common beginning.
    for place in sorted(range(len(common)), key=lambda place: -common[place]):
        left, right = from_last.pop(place), from_first.pop(place + 1)
        joined = _merge(left, right, shared=common[place])
        from_first[joined.first] = from_last[joined.last] = joined
    members: dict[tuple[int, int], list[int]] = {}
    for group in from_first.values():
        for shared, first, last in group.parts:
            kin = members.setdefault((shared, first if shared else 0), [])
            kin += order[first : last + 1]
    found = [
        PrefixGroup(shared, tuple(sorted(kin, key=lambda index: -len(prompts[index]))))
        for (shared, _), kin in members.items()
    ]
    return sorted(found, key=lambda family: -len(prompts[family.members[0]]))


@dataclass(frozen=True, slots=True)
class _SortedSpan:
    """Neighbours in alphabetical order, from `first` to `last`, parted as saves the most tokens.

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
    most = min(len(left), len(right)) - 1
    for place in range(most):
        if left[place] != right[place]:
            return place
    return most
