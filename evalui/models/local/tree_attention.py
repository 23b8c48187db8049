"""Attention within tries: every token sees its trunk and the path above it, and nothing else.

Takes the place of transformers' own attention during one forward pass over a pack.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import torch

from evalui.models.local.fp32 import onednn_matmul, supports_onednn
from evalui.models.local.prefix_tree import Chunk, TreeBatch

# Pieces share a call if the smallest is no narrower than this share of the largest.
_MIN_SIZE_RATIO = 0.75
_BLOCK_ROWS = 512  # rows whose scores still stay in a core's cache
# What an architecture may hand to its attention without changing a score.
_IGNORED_ARGUMENTS = frozenset({"position_ids", "cache_position", "use_cache"})

KeysValues = tuple[torch.Tensor, torch.Tensor]  # each (1, heads, tokens, size)


class UnsupportedArchitecture(Exception):
    """The architecture asks its attention for what tries cannot have."""


@dataclass(frozen=True, slots=True)
class _ScoreScaling:
    """How a layer makes scores of products: times `scale`, then bent to stay within `cap`."""

    scale: float
    cap: float | None


@dataclass(frozen=True, slots=True)
class _AttentionBlock:
    """Pieces of like shape. Which nodes ask and are seen, (pieces, width), and where each stays.

    `rows` are the places of the real queries in the flattened (pieces, width), `nodes` the nodes
    they belong to. `mask` is added to the scores, (pieces, 1, queries, keys).
    """

    queries: torch.Tensor
    keys: torch.Tensor
    mask: torch.Tensor
    rows: torch.Tensor
    nodes: torch.Tensor


@dataclass(slots=True)
class TreeAttention:
    """What the nodes of one pack see; `prefix` has keys and values by the layer's number.

    `library` is that of the model, see `loading.LoadedModel`.

    Called by the layers in place of their attention. `computed` collects what each layer computed.
    """

    blocks: Sequence[_AttentionBlock]
    prefix: dict[int, KeysValues]
    max_length: int
    library: str = ""
    computed: dict[int, KeysValues] = field(default_factory=dict[int, KeysValues])

    def attend(
        self,
        module: torch.nn.Module,
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        attention_mask: torch.Tensor | None,
        *,
        scaling: float | None = None,
        dropout: float = 0.0,
        softcap: float | None = None,
        sliding_window: int | None = None,
        s_aux: torch.Tensor | None = None,
        **extra: Any,
    ) -> tuple[torch.Tensor, None]:
        """In the form of transformers' attention functions: out comes (1, tokens, heads, size).

        `s_aux` are sinks: a score for each head that takes its share of the softmax and gives no
        value.

        Raises:
            Unfit: the layer cannot see all tokens, or its scores are not plain products.
        """
        del dropout
        _check_supported(attention_mask, extra)
        if sliding_window and self.max_length > sliding_window:
            raise UnsupportedArchitecture("a window shorter than the text")
        layer = int(getattr(module, "layer_idx"))  # noqa: B009 - a Module's attributes are untyped
        self.computed[layer] = key, value
        scoring = _ScoreScaling(query.shape[-1] ** -0.5 if scaling is None else scaling, softcap)
        out = query.new_zeros(query.shape[2], query.shape[1], value.shape[-1])
        total = query.new_zeros(query.shape[2], query.shape[1], dtype=torch.float32)
        for call in self.blocks:
            out[call.nodes], total[call.nodes] = _attend_within(call, query, key, value, scoring)
        if layer in self.prefix:
            # Softmax over two sets of keys is the mean of both, weighted by their sums:
            # e^b / (e^a + e^b) = sigmoid(b - a) for logarithms of sums a and b.
            above, log = _attend_prefix(self.prefix[layer], query, scoring, self.library)
            out = torch.lerp(out, above, torch.sigmoid(log - total)[..., None].to(out.dtype))
            total = torch.logaddexp(total, log) if s_aux is not None else total
        if s_aux is not None:
            out *= torch.sigmoid(total - s_aux)[..., None].to(out.dtype)
        return out[None], None


def build_attention(
    pack: TreeBatch, trunk: dict[int, KeysValues], *, like: torch.Tensor, library: str = ""
) -> TreeAttention:
    """The sight of a pack's nodes, on the device and in the type of the tensor `like`."""
    ends = torch.tensor(pack.subtree_ends, device=like.device)
    return TreeAttention(
        [_attention_block(each, ends, like) for each in _group_by_shape(pack.chunks)],
        trunk,
        max(pack.positions) + 1,
        library,
    )


def _check_supported(mask: torch.Tensor | None, extra: dict[str, Any]) -> None:
    asked = {name for name, given in extra.items() if given is not None and given is not False}
    if mask is not None:
        raise UnsupportedArchitecture("a mask of its own")
    if strange := sorted(asked - _IGNORED_ARGUMENTS):
        raise UnsupportedArchitecture(strange[0])


def _group_by_shape(pieces: Sequence[Chunk]) -> list[list[Chunk]]:
    """Pieces in groups of like width and depth."""
    groups: list[list[Chunk]] = []
    for piece in sorted(pieces, key=lambda each: (-_width(each), -_depth(each))):
        first = groups[-1][0] if groups else piece
        deepest = max(map(_depth, groups[-1])) if groups else 0
        wide = _width(piece) >= _MIN_SIZE_RATIO * _width(first)
        deep = _MIN_SIZE_RATIO * deepest <= _depth(piece) <= max(deepest, 1) / _MIN_SIZE_RATIO
        if groups and wide and deep:
            groups[-1].append(piece)
        else:
            groups.append([piece])
    return groups


def _width(piece: Chunk) -> int:
    return piece.end - piece.begin


def _depth(piece: Chunk) -> int:
    return len(piece.ancestors) + piece.end - piece.begin


def _attention_block(
    pieces: Sequence[Chunk], ends: torch.Tensor, like: torch.Tensor
) -> _AttentionBlock:
    wide, deep = max(map(_width, pieces)), max(map(_depth, pieces))
    at = like.device
    asking = [_pad_nodes(range(p.begin, p.end), wide) for p in pieces]
    queries = torch.tensor(asking, device=at)
    keys = [_pad_nodes([*p.ancestors, *range(p.begin, p.end)], deep) for p in pieces]
    keys = torch.tensor(keys, device=at)
    # A node that fills up (-1) is asked for nothing and seen by nobody, except that a query that
    # sees no key at all would be NaN: let it see the first.
    seen = (keys[:, None] <= queries[:, :, None]) & (queries[:, :, None] < ends[keys][:, None])
    seen &= (keys >= 0)[:, None]
    seen[..., 0] |= queries < 0
    mask = torch.zeros(seen.shape, dtype=like.dtype, device=at)
    mask = mask.masked_fill_(~seen, -torch.inf)[:, None]
    # Counted here: a GPU would have to be waited for to know how many there are.
    real = [(row, node) for row, node in enumerate(chain(*asking)) if node >= 0]
    rows, nodes = torch.tensor([*zip(*real, strict=True)], device=at).unbind()
    return _AttentionBlock(queries.clamp_min(0), keys.clamp_min(0), mask, rows, nodes)


def _pad_nodes(nodes: Sequence[int], size: int) -> list[int]:
    return [*nodes, *[-1] * (size - len(nodes))]


def _attend_within(
    call: _AttentionBlock,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    scoring: _ScoreScaling,
) -> tuple[torch.Tensor, torch.Tensor]:
    """(nodes, heads, size) and the logarithm of the sum of each softmax (nodes, heads)."""
    groups = query.shape[1] // key.shape[1]
    asks = _gather_heads(query, call.queries, 1)
    sees, gives = _gather_heads(key, call.keys, groups), _gather_heads(value, call.keys, groups)
    out, log = _softmax(asks, sees, gives, call.mask, scoring)
    pieces, heads, width, size = out.shape
    flat = out.transpose(1, 2).reshape(pieces * width, heads, size)
    return flat[call.rows], log.transpose(1, 2).reshape(pieces * width, heads)[call.rows]


def _gather_heads(states: torch.Tensor, nodes: torch.Tensor, groups: int) -> torch.Tensor:
    """(1, heads, tokens, size) -> (pieces, heads * groups, width, size)."""
    chosen = states[0].transpose(0, 1).index_select(0, nodes.flatten())
    chosen = chosen.view(*nodes.shape, chosen.shape[1], 1, chosen.shape[2])
    return chosen.expand(-1, -1, -1, groups, -1).flatten(2, 3).transpose(1, 2)


def _attend_prefix(
    trunk: KeysValues, query: torch.Tensor, scoring: _ScoreScaling, library: str
) -> tuple[torch.Tensor, torch.Tensor]:
    """As `_attend_within`, over the trunk, which every query sees whole."""
    key, value = trunk
    _, heads, tokens, size = query.shape
    shared = key.shape[1]
    asks = query.reshape(1, shared, heads // shared * tokens, size)
    # With torch's own library its fused attention is the faster one.
    if library == "onednn" and supports_onednn(query) and not scoring.cap:
        out, log = _blockwise_attention(asks[0], key[0], value[0], scoring.scale)
    else:
        out, log = _softmax(asks, key, value, None, scoring)
    log = log.reshape(heads, tokens).transpose(0, 1)
    return out.reshape(heads, tokens, value.shape[-1]).transpose(0, 1), log


def _blockwise_attention(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, scale: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """As `_softmax` without a mask, (heads, tokens, size), by oneDNN."""
    out = query.new_empty(*query.shape[:2], value.shape[-1])
    log = query.new_empty(query.shape[:2])
    for head in range(len(query)):
        keys, values = key[head] * scale, value[head].T.contiguous()
        for begin in range(0, query.shape[1], _BLOCK_ROWS):
            block = slice(begin, begin + _BLOCK_ROWS)
            scores = onednn_matmul(query[head, block], keys)
            shares = torch.softmax(scores, dim=-1)
            out[head, block] = onednn_matmul(shares, values)
            # The largest share is e^(largest score) / sum.
            log[head, block] = scores.amax(-1) - shares.amax(-1).log()
    return out, log


def _softmax(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    mask: torch.Tensor | None,
    scoring: _ScoreScaling,
) -> tuple[torch.Tensor, torch.Tensor]:
    """softmax(scores + mask) value, and the logarithm of the softmax's sum in float32."""
    if query.device.type == "cpu" and query.shape[-1] == value.shape[-1] and not scoring.cap:
        return torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(
            query, key, value, attn_mask=mask, scale=scoring.scale
        )
    scores = torch.matmul(query, key.transpose(-1, -2)).float() * scoring.scale
    scores = torch.tanh(scores / scoring.cap) * scoring.cap if scoring.cap else scores
    scores = scores if mask is None else scores + mask
    log = torch.logsumexp(scores, dim=-1)
    return torch.matmul(torch.exp(scores - log[..., None]).to(value.dtype), value), log
