"""Queries in, log-probabilities out: over prefix trees if the architecture allows, else by rows.

Decides how large a batch the device can take.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import psutil
import torch

from evalui.models.local.forward import LogprobResult, OutOfMemory, PaddedNetwork, TreeNetwork
from evalui.models.local.loading import LoadedModel, empty_cache, largest_number, out_of_memory
from evalui.models.local.prefix_tree import TreeBatch, plan_tree_batches
from evalui.models.local.self_check import CheckedPaths, max_tree_length
from evalui.models.local.tree_attention import UnsupportedArchitecture
from evalui.models.scoring_requests import LogprobBatch, LogprobQuery, plan_batches

# A device that cannot hold a batch of so many tokens is too small for the model.
_MIN_BATCH_TOKENS = 64
# On a CPU, of padded rows: with more, what a layer computes leaves the caches. BLOOM took 1.5 times
# as long as row by row with 4096 tokens, and 0.9 times with 512.
_MAX_CPU_ROW_TOKENS = 512
_BATCH_SHARE, _CACHE_SHARE = 0.25, 0.125  # shares of the free memory
# Of cached prefixes. The examples of a few subjects take less, and older ones are not used again.
_MAX_CACHE_BYTES = 2**32
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

    `checked` states which ways of computing agree.
    """

    def __init__(self, loaded: LoadedModel, checked: CheckedPaths, *, token_budget: int) -> None:
        self._loaded = loaded
        self._padded_network = PaddedNetwork(loaded)
        self._tree_network = TreeNetwork(loaded, prefix_cache_bytes=prefix_cache_bytes(loaded))
        self._budget = min(token_budget, max_batch_tokens(loaded))
        self._max_tree_length = 0 if checked.trees else max_tree_length(loaded)
        # A longer row is computed by itself.
        self._max_padded_length = (
            0 if checked.rows else min(loaded.rope_safe_length, checked.checked_length)
        )

    def score(self, queries: Sequence[LogprobQuery]) -> Iterator[TokenLogprobs]:
        """The log-probabilities of each query, in any order.

        Batches are halved when the device runs out of memory.

        Raises:
            ModelError: the device cannot hold even a small batch, or the network computes NaN.
        """
        longest = self._max_tree_length
        fit = {each.key: each for each in queries if len(each.tokens) <= longest}
        rest = {each.key: each for each in queries if len(each.tokens) > longest}
        try:
            yield from self._halve_batch_on_oom(fit, self._by_tree)
        except UnsupportedArchitecture as error:
            _LOG.warning("Scoring row by row from now on, because of %s.", error)
            # One row at a time: where trees agreed, rows together may not have been compared.
            self._max_tree_length = self._max_padded_length = 0
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
        most = _MAX_CPU_ROW_TOKENS if self._loaded.device.type == "cpu" else self._budget
        for batch in plan_batches(
            queries,
            token_budget=min(self._budget, most),
            max_logit_rows=self._loaded.max_logit_rows,
            rope_safe_length=self._max_padded_length,
        ):
            yield from _token_logprobs(batch, self._padded_network.compute_logprobs(batch))


def _token_logprobs(
    batch: TreeBatch | LogprobBatch, result: LogprobResult
) -> Iterator[TokenLogprobs]:
    for query, own in batch.query_slices:
        yield TokenLogprobs(query, result.logprobs[own], result.best[own])


def max_batch_tokens(loaded: LoadedModel) -> int:
    """How many tokens one forward pass may have: a quarter of the free memory.

    While a layer computes, a token has about twelve vectors of the model's width (residual,
    norms, queries, keys, values, outputs) and four of the width between its linear layers.
    """
    config = loaded.model.config.get_text_config()
    width = largest_number(config, "hidden_size")
    inner = largest_number(config, "intermediate_size") or 4 * width
    token = max(1, 12 * width + 4 * inner) * loaded.model.dtype.itemsize
    return max(1, int(_free_bytes(loaded.device) * _BATCH_SHARE) // token)


def prefix_cache_bytes(loaded: LoadedModel) -> int:
    """How many bytes of keys and values may be cached: an eighth of the free memory, limited."""
    return min(_MAX_CACHE_BYTES, int(_free_bytes(loaded.device) * _CACHE_SHARE))


def _free_bytes(device: torch.device) -> int:
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    return psutil.virtual_memory().available
