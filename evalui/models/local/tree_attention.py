"""Attention within prefix trees: every node attends to the common prefix and to its own path.

Replaces transformers' own attention during one forward pass over a batch of trees.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

import torch

from evalui.models.local.fp32 import onednn_matmul, supports_onednn
from evalui.models.local.prefix_tree import Chunk, TreeBatch

# Chunks share a block if the smallest is no narrower than this share of the largest.
_MIN_SIZE_RATIO = 0.75
_BLOCK_ROWS = 512  # queries whose scores still fit in a core's cache
# Arguments that an architecture may pass to its attention and that change no score.
_IGNORED_ARGUMENTS = frozenset({"position_ids", "cache_position", "use_cache", "logits_to_keep"})

KeysValues = tuple[torch.Tensor, torch.Tensor]  # each (1, heads, tokens, size)


class UnsupportedArchitecture(Exception):
    """The architecture needs an attention that cannot be computed over prefix trees."""


@dataclass(frozen=True, slots=True)
class _ScoreScaling:
    """Scores are products times `scale`, then cap * tanh(score / cap) if there is a `cap`."""

    scale: float
    cap: float | None


@dataclass(frozen=True, slots=True)
class _AttentionBlock:
    """Chunks of similar shape, padded and computed in one call.

    `queries` (chunks, width) and `keys` (chunks, depth) are node numbers. `mask` is added to the
    scores, (chunks, 1, width, depth). `rows` are the indices of the queries that are no padding in
    the flattened (chunks * width), `nodes` their nodes.
    """

    queries: torch.Tensor
    keys: torch.Tensor
    mask: torch.Tensor
    rows: torch.Tensor
    nodes: torch.Tensor


@dataclass(slots=True)
class TreeAttention:
    """The attention of the nodes of one batch, called by the layers in place of their own.

    `prefix` has the keys and values of the common prefix by layer number, `computed` collects
    those of the nodes. `max_length` is the longest sequence in tokens. `library` is that of the
    model, see `loading.LoadedModel`.
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
        """The output, (1, tokens, heads, size); a transformers attention function.

        `s_aux` are attention sinks: a score for each head that takes part in the softmax and has
        no value.

        Raises:
            UnsupportedArchitecture: the layer does not attend to all tokens, or its scores are
                not plain products.
        """
        del dropout
        _check_supported(attention_mask, extra)
        if sliding_window and self.max_length > sliding_window:
            raise UnsupportedArchitecture("a window shorter than the sequence")
        layer = int(getattr(module, "layer_idx"))  # noqa: B009 - a Module's attributes are untyped
        self.computed[layer] = key, value
        scoring = _ScoreScaling(query.shape[-1] ** -0.5 if scaling is None else scaling, softcap)
        out = query.new_zeros(query.shape[2], query.shape[1], value.shape[-1])
        total = query.new_zeros(query.shape[2], query.shape[1], dtype=torch.float32)
        for block in self.blocks:
            out[block.nodes], total[block.nodes] = _attend_within(block, query, key, value, scoring)
        if layer in self.prefix:
            # Softmax over two sets of keys is the mean of both, weighted by their sums:
            # e^b / (e^a + e^b) = sigmoid(b - a) for logarithms of sums a and b.
            before, log = _attend_prefix(self.prefix[layer], query, scoring, self.library)
            out = torch.lerp(out, before, torch.sigmoid(log - total)[..., None].to(out.dtype))
            total = torch.logaddexp(total, log) if s_aux is not None else total
        if s_aux is not None:
            out *= torch.sigmoid(total - s_aux)[..., None].to(out.dtype)
        return out[None], None


def build_attention(
    batch: TreeBatch, prefix: dict[int, KeysValues], *, like: torch.Tensor, library: str = ""
) -> TreeAttention:
    """The attention of a batch's nodes, on the device and in the dtype of the tensor `like`."""
    ends = torch.tensor(batch.subtree_ends, device=like.device)
    blocks = [_attention_block(each, ends, like) for each in _group_by_shape(batch.chunks)]
    return TreeAttention(blocks, prefix, max(batch.positions) + 1, library)


def _check_supported(mask: torch.Tensor | None, extra: dict[str, Any]) -> None:
    given = {name for name, value in extra.items() if value is not None and value is not False}
    if mask is not None:
        raise UnsupportedArchitecture("a mask of its own")
    if unknown := sorted(given - _IGNORED_ARGUMENTS):
        raise UnsupportedArchitecture(unknown[0])


def _group_by_shape(chunks: Sequence[Chunk]) -> list[list[Chunk]]:
    """Chunks in groups of similar width and depth."""
    groups: list[list[Chunk]] = []
    for chunk in sorted(chunks, key=lambda each: (-_width(each), -_depth(each))):
        first = groups[-1][0] if groups else chunk
        deepest = max(map(_depth, groups[-1])) if groups else 0
        wide = _width(chunk) >= _MIN_SIZE_RATIO * _width(first)
        deep = _MIN_SIZE_RATIO * deepest <= _depth(chunk) <= max(deepest, 1) / _MIN_SIZE_RATIO
        if groups and wide and deep:
            groups[-1].append(chunk)
        else:
            groups.append([chunk])
    return groups


def _width(chunk: Chunk) -> int:
    return chunk.end - chunk.begin


def _depth(chunk: Chunk) -> int:
    return len(chunk.ancestors) + chunk.end - chunk.begin


def _attention_block(
    chunks: Sequence[Chunk], ends: torch.Tensor, like: torch.Tensor
) -> _AttentionBlock:
    width, depth = max(map(_width, chunks)), max(map(_depth, chunks))
    device = like.device
    own = [_pad_nodes(range(each.begin, each.end), width) for each in chunks]
    queries = torch.tensor(own, device=device)
    keys = torch.tensor(
        [_pad_nodes([*each.ancestors, *range(each.begin, each.end)], depth) for each in chunks],
        device=device,
    )
    # Padding (-1) as a key is masked. A query all of whose keys are masked would be NaN, so a
    # query that is padding attends to the first key; its output is not used.
    visible = (keys[:, None] <= queries[:, :, None]) & (queries[:, :, None] < ends[keys][:, None])
    visible &= (keys >= 0)[:, None]
    visible[..., 0] |= queries < 0
    mask = torch.zeros(visible.shape, dtype=like.dtype, device=device)
    mask = mask.masked_fill_(~visible, -torch.inf)[:, None]
    # Counted on the CPU: on a GPU the count would be a synchronisation.
    real = [(row, node) for row, node in enumerate(chain(*own)) if node >= 0]
    rows, nodes = torch.tensor([*zip(*real, strict=True)], device=device).unbind()
    return _AttentionBlock(queries.clamp_min(0), keys.clamp_min(0), mask, rows, nodes)


def _pad_nodes(nodes: Sequence[int], size: int) -> list[int]:
    return [*nodes, *[-1] * (size - len(nodes))]


def _attend_within(
    block: _AttentionBlock,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    scoring: _ScoreScaling,
) -> tuple[torch.Tensor, torch.Tensor]:
    """(nodes, heads, size) and the logarithm of the sum of each softmax (nodes, heads)."""
    groups = query.shape[1] // key.shape[1]
    queries = _gather_heads(query, block.queries, 1)
    keys, values = _gather_heads(key, block.keys, groups), _gather_heads(value, block.keys, groups)
    out, log = _softmax(queries, keys, values, block.mask, scoring)
    chunks, heads, width, size = out.shape
    flat = out.transpose(1, 2).reshape(chunks * width, heads, size)
    return flat[block.rows], log.transpose(1, 2).reshape(chunks * width, heads)[block.rows]


def _gather_heads(states: torch.Tensor, nodes: torch.Tensor, groups: int) -> torch.Tensor:
    """(1, heads, tokens, size) -> (chunks, heads * groups, width, size)."""
    chosen = states[0].transpose(0, 1).index_select(0, nodes.flatten())
    chosen = chosen.view(*nodes.shape, chosen.shape[1], 1, chosen.shape[2])
    return chosen.expand(-1, -1, -1, groups, -1).flatten(2, 3).transpose(1, 2)


def _attend_prefix(
    prefix: KeysValues, query: torch.Tensor, scoring: _ScoreScaling, library: str
) -> tuple[torch.Tensor, torch.Tensor]:
    """As `_attend_within`, over the prefix, all of which every query attends to."""
    key, value = prefix
    _, heads, tokens, size = query.shape
    shared = key.shape[1]
    queries = query.reshape(1, shared, heads // shared * tokens, size)
    # With torch's own library its fused attention is the faster one.
    if library == "onednn" and supports_onednn(query) and not scoring.cap:
        out, log = _blockwise_attention(queries[0], key[0], value[0], scoring.scale)
    else:
        out, log = _softmax(queries, key, value, None, scoring)
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
