"""Queries in, log-probabilities out: over prefix trees if the architecture allows, else by rows.

Decides how large a batch the device can take, and checks that both ways agree.
"""

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import psutil
import torch

from evalui.errors import ModelError
from evalui.messages import sentence
from evalui.models.local.forward import LogprobResult, OutOfMemory, PaddedNetwork, TreeNetwork
from evalui.models.local.fp32 import use_onednn
from evalui.models.local.loading import LoadedModel, empty_cache, out_of_memory
from evalui.models.local.prefix_tree import TreeBatch, plan_tree_batches
from evalui.models.local.tree_attention import UnsupportedArchitecture
from evalui.models.scoring_requests import LogprobBatch, LogprobQuery, TokenIds, plan_batches

# A device that cannot hold a batch of so many tokens is too small for the model.
_MIN_BATCH_TOKENS = 64
_BATCH_SHARE, _CACHE_SHARE = 0.25, 0.125  # shares of the free memory
# Of cached prefixes. The examples of a few subjects take less, and older ones are not used again.
_MAX_CACHE_BYTES = 2**32
# In natural logarithms: rounding alone makes 1e-5 in float32, and 32 units of the last place of a
# coarser type. Attention to a token too many or too few makes more in any trained network.
_TOLERANCE, _ULPS = 1e-3, 32
# What torch and transformers raise when an architecture lacks what is requested of it.
_UNSUPPORTED_ERRORS = (TypeError, ValueError, KeyError, IndexError, AttributeError, RuntimeError)
_PREFIX_TOKENS = 24  # tokens that all probes of the self check begin with
Queries = Sequence[LogprobQuery]
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TokenLogprobs:
    """For each lookup of a query, in order: its log-probability, and the most probable token."""

    query: LogprobQuery
    logprobs: tuple[float, ...]
    best: tuple[int, ...]


class Scorer:
    """Computes log-probabilities with a causal language model, over prefix trees if they agree.

    `note` states in a sentence why it computes row by row, "" if over prefix trees.

    Raises:
        ModelError: the device cannot hold even a small batch, or the network computes NaN.
    """

    def __init__(self, loaded: LoadedModel, *, token_budget: int) -> None:
        if loaded.library == "onednn":
            use_onednn(loaded.model)
        self._loaded = loaded
        self._padded_network = PaddedNetwork(loaded)
        self._tree_network = TreeNetwork(loaded, prefix_cache_bytes=prefix_cache_bytes(loaded))
        self._budget = min(token_budget, max_batch_tokens(loaded))
        self._max_tree_length = max_tree_length(loaded)
        try:
            self.note = mismatch_reason(self._padded_network, self._tree_network, loaded)
        except OutOfMemory as error:
            raise out_of_memory(_MIN_BATCH_TOKENS) from error
        if self.note:
            _LOG.warning("%s", self.note)

    def score(self, queries: Sequence[LogprobQuery]) -> Iterator[TokenLogprobs]:
        """The log-probabilities of each query, in any order.

        Batches are halved when the device runs out of memory.

        Raises:
            ModelError: the device cannot hold even a small batch, or the network computes NaN.
        """
        longest = 0 if self.note else self._max_tree_length
        fit = {each.key: each for each in queries if len(each.tokens) <= longest}
        rest = {each.key: each for each in queries if len(each.tokens) > longest}
        try:
            yield from self._halve_batch_on_oom(fit, self._by_tree)
        except UnsupportedArchitecture as error:
            _LOG.warning("Scoring row by row from now on, because of %s.", error)
            self._max_tree_length = 0
        yield from self._halve_batch_on_oom(fit | rest, self._row_by_row)

    def _halve_batch_on_oom(
        self,
        pending: dict[int, LogprobQuery],
        compute: Callable[[Queries], Iterator[TokenLogprobs]],
    ) -> Iterator[TokenLogprobs]:
        """Computes the pending queries and removes them; halves the budget after `OutOfMemory`."""
        while pending:
            try:
                for scored in compute(tuple(pending.values())):
                    del pending[scored.query.key]
                    yield scored
            except OutOfMemory as error:
                if self._budget <= _MIN_BATCH_TOKENS:
                    raise out_of_memory(self._budget) from error
                self._budget //= 2
                self._tree_network.prefix_cache.clear()
                empty_cache(self._loaded.device)

    def _by_tree(self, queries: Queries) -> Iterator[TokenLogprobs]:
        for batch in plan_tree_batches(
            queries,
            cached_prefixes=self._tree_network.prefix_cache,
            token_budget=self._budget,
            max_logit_rows=self._loaded.max_logit_rows,
        ):
            yield from _token_logprobs(batch, self._tree_network.compute_logprobs(batch))

    def _row_by_row(self, queries: Queries) -> Iterator[TokenLogprobs]:
        for batch in plan_batches(
            queries,
            token_budget=self._budget,
            max_logit_rows=self._loaded.max_logit_rows,
            rope_safe_length=self._loaded.rope_safe_length,
        ):
            yield from _token_logprobs(batch, self._padded_network.compute_logprobs(batch))


def _token_logprobs(
    batch: TreeBatch | LogprobBatch, result: LogprobResult
) -> Iterator[TokenLogprobs]:
    for query, own in batch.query_slices:
        yield TokenLogprobs(query, result.logprobs[own], result.best[own])


def max_tree_length(loaded: LoadedModel) -> int:
    """The longest sequence in tokens that may be computed in a prefix tree.

    In a longer one some layer does not attend to all tokens, or positions depend on the other
    sequences of the batch. 0 if attention scores depend on the index in the batch (Llama 4), which
    in a tree is not the position.
    """
    config = loaded.model.config.get_text_config()
    if getattr(config, "attn_temperature_tuning", False):
        return 0
    limits = [
        getattr(config, "attention_chunk_size", None),
        getattr(config, "sliding_window", None) if _has_sliding_window(config) else None,
    ]
    return min([loaded.rope_safe_length, *(int(limit) for limit in limits if limit)])


def mismatch_reason(plain: PaddedNetwork, tree: TreeNetwork, loaded: LoadedModel) -> str:
    """Why the model must be computed row by row, in one sentence; "" if prefix trees agree.

    Computes a few sequences both ways: with a common prefix, branches, and different lengths.

    Raises:
        OutOfMemory: the device has too little memory for a hundred tokens.
        ModelError: the network computes NaN.
    """
    if not max_tree_length(loaded):
        return _custom_attention_reason(loaded)
    probes = _probes(int(loaded.model.config.get_text_config().vocab_size))
    expected = _row_by_row(plain, probes, loaded.rope_safe_length)
    try:
        by_tree = _by_tree(tree, probes)
    except (UnsupportedArchitecture, ModelError, *_UNSUPPORTED_ERRORS) as error:
        _LOG.info("Not over prefix trees: %s", error)
        return _custom_attention_reason(loaded)
    finally:
        tree.prefix_cache.clear()
    difference = max(abs(expected[at] - by_tree[at]) for at in expected)
    tolerance = max(_TOLERANCE, _ULPS * torch.finfo(loaded.model.dtype).eps)
    if not difference <= tolerance:  # NaN, too, is a mismatch
        return sentence("error.tree-differs", off=f"{difference:.2g}")
    return ""


def _custom_attention_reason(loaded: LoadedModel) -> str:
    return sentence("error.no-tree", kind=str(loaded.model.config.model_type))


def _has_sliding_window(config: Any) -> bool:
    kinds = getattr(config, "layer_types", None) or ()
    return not kinds or any(kind != "full_attention" for kind in kinds)


def _probes(vocabulary: int) -> list[LogprobQuery]:
    """Fixed sequences that look arbitrary: with and without a common prefix and branches."""
    # Small ids are letters and common words in any vocabulary, and never those of an image.
    limit = max(2, min(vocabulary, 1000))

    def some(seed: int, length: int) -> TokenIds:
        return tuple((seed * 7919 + at * (at + seed) * 31 + 17) % limit for at in range(length))

    prefix = some(1, _PREFIX_TOKENS)
    rows = [prefix + some(2, 9) + some(seed, seed) for seed in (3, 5, 8)]
    rows += [prefix + some(11, 17), some(13, 12), prefix + some(2, 9)]
    ids = some(17, 12)
    return [
        LogprobQuery(key, row, ((len(row) - 1, ids), (len(row), ids)))
        for key, row in enumerate(rows)
    ]


def _row_by_row(
    plain: PaddedNetwork, probes: list[LogprobQuery], rope_safe_length: int
) -> dict[tuple[int, int], float]:
    batches = plan_batches(
        probes, token_budget=1024, max_logit_rows=1024, rope_safe_length=rope_safe_length
    )
    return _by_lookup((batch, plain.compute_logprobs(batch)) for batch in batches)


def _by_tree(tree: TreeNetwork, probes: list[LogprobQuery]) -> dict[tuple[int, int], float]:
    tree.prefix_states(probes[0].tokens[:_PREFIX_TOKENS], cacheable_length=_PREFIX_TOKENS)
    batches = plan_tree_batches(
        probes, cached_prefixes=tree.prefix_cache, token_budget=1024, max_logit_rows=1024
    )
    return _by_lookup((batch, tree.compute_logprobs(batch)) for batch in batches)


def _by_lookup(
    results: Iterable[tuple[TreeBatch | LogprobBatch, LogprobResult]],
) -> dict[tuple[int, int], float]:
    """The log-probabilities by (query's key, number of the lookup)."""
    return {
        (scored.query.key, at): logprob
        for batch, result in results
        for scored in _token_logprobs(batch, result)
        for at, logprob in enumerate(scored.logprobs)
    }


def max_batch_tokens(loaded: LoadedModel) -> int:
    """How many tokens one forward pass may have: a quarter of the free memory.

    While a layer computes, a token has about twelve vectors of the model's width (residual,
    norms, queries, keys, values, outputs) and four of the width between its linear layers.
    """
    config = loaded.model.config.get_text_config()
    width = int(config.hidden_size)
    inner = int(getattr(config, "intermediate_size", None) or 4 * width)
    token = (12 * width + 4 * inner) * loaded.model.dtype.itemsize
    return max(1, int(_free_bytes(loaded.device) * _BATCH_SHARE) // token)


def prefix_cache_bytes(loaded: LoadedModel) -> int:
    """How many bytes of keys and values may be cached: an eighth of the free memory, limited."""
    return min(_MAX_CACHE_BYTES, int(_free_bytes(loaded.device) * _CACHE_SHARE))


def _free_bytes(device: torch.device) -> int:
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    return psutil.virtual_memory().available
