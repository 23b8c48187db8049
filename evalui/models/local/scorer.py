"""Questions in, log-probabilities out: over tries where the architecture allows, else row by row.

Decides how large a batch the device can take, and whether tries can be trusted.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from evalui.models.local.loading import LoadedModel, empty_cache, out_of_memory
from evalui.models.local.onednn_linear import use_onednn
from evalui.models.local.padded_forward import LogprobResult, OutOfMemory, PaddedNetwork
from evalui.models.local.tree.attention import UnsupportedArchitecture
from evalui.models.local.tree.forward import TreeNetwork
from evalui.models.local.tree.memory import max_batch_tokens, prefix_cache_bytes
from evalui.models.local.tree.prefix_tree import TreeBatch, plan_tree_batches
from evalui.models.local.tree.self_check import max_tree_length, mismatch_reason
from evalui.models.logprob_queries import LogprobBatch, LogprobQuery, plan_batches

_MIN_BATCH_TOKENS = (
    64  # tokens of a batch; a device that cannot hold them cannot hold the model's work
)
Queries = Sequence[LogprobQuery]
_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TokenLogprobs:
    """For everything a question wants, in order: its log-probability, and the best token there."""

    query: LogprobQuery
    logprobs: tuple[float, ...]
    best: tuple[int, ...]


class Scorer:
    """Reads with a causal language model, in whichever way is fastest and right.

    `note` says in a sentence why it reads row by row, "" if it reads over tries.

    Raises:
        ModelError: the device cannot hold even a small batch, or the network computes NaN.
    """

    def __init__(self, causal: LoadedModel, *, token_budget: int) -> None:
        if causal.library == "onednn":
            use_onednn(causal.model)
        self._causal = causal
        self._padded_network = PaddedNetwork(causal)
        self._tree_network = TreeNetwork(causal, prefix_cache_bytes=prefix_cache_bytes(causal))
        self._budget = min(token_budget, max_batch_tokens(causal))
        self._max_tree_length = max_tree_length(causal)
        try:
            self.note = mismatch_reason(self._padded_network, self._tree_network, causal)
        except OutOfMemory as error:
            raise out_of_memory(_MIN_BATCH_TOKENS) from error
        if self.note:
            _LOG.warning("%s", self.note)

    def score(self, queries: Sequence[LogprobQuery]) -> Iterator[TokenLogprobs]:
        """What each question wants, in any order; a device short of memory gets smaller batches.

        Raises:
            ModelError: the device cannot hold even a small batch, or the network computes NaN.
        """
        reach = 0 if self.note else self._max_tree_length
        fit = {each.key: each for each in queries if len(each.tokens) <= reach}
        rest = {each.key: each for each in queries if len(each.tokens) > reach}
        try:
            yield from self._halve_batch_on_oom(fit, self._by_tree)
        except UnsupportedArchitecture as error:
            _LOG.warning("Reading row by row from now on, because of %s.", error)
            self._max_tree_length = 0
        yield from self._halve_batch_on_oom(fit | rest, self._row_by_row)

    def _halve_batch_on_oom(
        self, open_: dict[int, LogprobQuery], way: Callable[[Queries], Iterator[TokenLogprobs]]
    ) -> Iterator[TokenLogprobs]:
        """Answers what is open and takes it out, with half the budget after each want of memory."""
        while open_:
            try:
                for found in way(tuple(open_.values())):
                    del open_[found.query.key]
                    yield found
            except OutOfMemory as error:
                if self._budget <= _MIN_BATCH_TOKENS:
                    raise out_of_memory(self._budget) from error
                self._budget //= 2
                self._tree_network.prefix_cache.clear()
                empty_cache(self._causal.device)

    def _by_tree(self, questions: Queries) -> Iterator[TokenLogprobs]:
        kept = self._tree_network.prefix_cache
        places = self._causal.max_logit_rows
        for pack in plan_tree_batches(
            questions, cached_prefixes=kept, token_budget=self._budget, max_logit_rows=places
        ):
            yield from _token_logprobs(pack, self._tree_network.compute_logprobs(pack))

    def _row_by_row(self, questions: Queries) -> Iterator[TokenLogprobs]:
        places = self._causal.max_logit_rows
        steady = self._causal.rope_safe_length
        for batch in plan_batches(
            questions, token_budget=self._budget, max_logit_rows=places, rope_safe_length=steady
        ):
            yield from _token_logprobs(batch, self._padded_network.compute_logprobs(batch))


def _token_logprobs(
    work: TreeBatch | LogprobBatch, readout: LogprobResult
) -> Iterator[TokenLogprobs]:
    for question, own in work.query_slices:
        yield TokenLogprobs(question, readout.logprobs[own], readout.best[own])
