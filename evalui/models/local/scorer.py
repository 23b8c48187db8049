"""Questions in, log-probabilities out: over tries where the architecture allows, else row by row.

Decides how large a batch the device can take, and whether tries can be trusted.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
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


_LOG = logging.getLogger(__name__)
# In natural logarithms: rounding alone makes 1e-5 in float32, and 32 units of the last place of a
# coarser type. A token too many or too few in sight makes more in any trained network.
_TOLERANCE, _ULPS = 1e-3, 32
# What torch and transformers raise when they are asked for what an architecture does not have.
_UNSUPPORTED_ERRORS = (TypeError, ValueError, KeyError, IndexError, AttributeError, RuntimeError)
_PREFIX_TOKENS = 24  # tokens all probes begin with


def max_tree_length(causal: LoadedModel) -> int:
    """How many tokens a text may have to be read over tries.

    Beyond it some layer no longer sees all tokens, or positions depend on their neighbours in
    the batch. None may be if attention grows with the place in the batch (Llama 4), which in a
    pack of many texts is not the position.
    """
    about = causal.model.config.get_text_config()
    if getattr(about, "attn_temperature_tuning", False):
        return 0
    limits = [
        getattr(about, "attention_chunk_size", None),
        getattr(about, "sliding_window", None) if _has_sliding_window(about) else None,
    ]
    return min([causal.rope_safe_length, *(int(limit) for limit in limits if limit)])


def mismatch_reason(plain: PaddedNetwork, tree: TreeNetwork, causal: LoadedModel) -> str:
    """Why the network is to be read row by row, in one sentence; "" if tries are right.

    Reads a few texts both ways: with a trunk, branches, and different lengths.

    Raises:
        Full: the device has too little memory for a hundred tokens.
        ModelError: the network computes NaN.
    """
    if not max_tree_length(causal):
        return _custom_attention_reason(causal)
    probes = _probes(int(causal.model.config.get_text_config().vocab_size))
    expected = _row_by_row(plain, probes, causal.rope_safe_length)
    try:
        found = _by_tree(tree, probes)
    except (UnsupportedArchitecture, ModelError, *_UNSUPPORTED_ERRORS) as error:
        _LOG.info("Not over tries: %s", error)
        return _custom_attention_reason(causal)
    finally:
        tree.prefix_cache.clear()
    off = max(abs(expected[at] - found[at]) for at in expected)
    tolerance = max(_TOLERANCE, _ULPS * torch.finfo(causal.model.dtype).eps)
    if not off <= tolerance:  # NaN is off, too
        return sentence(
            "error.tree-differs",
            off=f"{off:.2g}",
        )
    return ""


def _custom_attention_reason(causal: LoadedModel) -> str:
    return sentence(
        "error.no-tree",
        kind=str(causal.model.config.model_type),
    )


def _has_sliding_window(about: Any) -> bool:
    kinds = getattr(about, "layer_types", None) or ()
    return not kinds or any(kind != "full_attention" for kind in kinds)


def _probes(vocabulary: int) -> list[LogprobQuery]:
    # Small ids are letters and common words in any vocabulary, and never those of an image.
    most = max(2, min(vocabulary, 1000))

    def some(seed: int, length: int) -> TokenIds:
        return tuple(
            (seed * 7919 + place * (place + seed) * 31 + 17) % most for place in range(length)
        )

    trunk = some(1, _PREFIX_TOKENS)
    texts = [trunk + some(2, 9) + some(seed, seed) for seed in (3, 5, 8)]
    texts += [trunk + some(11, 17), some(13, 12), trunk + some(2, 9)]
    ids = some(17, 12)
    return [
        LogprobQuery(
            key, text, tuple((length, ids) for length in range(len(text) - 1, len(text) + 1))
        )
        for key, text in enumerate(texts)
    ]


def _row_by_row(
    plain: PaddedNetwork, probes: list[LogprobQuery], steady: int
) -> dict[tuple[int, int], float]:
    found: dict[tuple[int, int], float] = {}
    for batch in plan_batches(
        probes, token_budget=1024, max_logit_rows=1024, rope_safe_length=steady
    ):
        readout = plain.compute_logprobs(batch)
        for question, own in batch.query_slices:
            found |= {(question.key, at): each for at, each in enumerate(readout.logprobs[own])}
    return found


def _by_tree(tree: TreeNetwork, probes: list[LogprobQuery]) -> dict[tuple[int, int], float]:
    tree.prefix_states(probes[0].tokens[:_PREFIX_TOKENS], cacheable_length=_PREFIX_TOKENS)
    found: dict[tuple[int, int], float] = {}
    for pack in plan_tree_batches(
        probes, cached_prefixes=tree.prefix_cache, token_budget=1024, max_logit_rows=1024
    ):
        readout = tree.compute_logprobs(pack)
        for question, own in pack.query_slices:
            found |= {(question.key, at): each for at, each in enumerate(readout.logprobs[own])}
    return found


_BATCH_SHARE, _CACHE_SHARE = 0.25, 0.125  # shares of the free memory
_MAX_CACHE_BYTES = (
    2**32
)  # bytes of trunks; more than a few subjects' worth of examples is never met again


def max_batch_tokens(causal: LoadedModel) -> int:
    """How many tokens one forward pass may have.

    While a layer computes, a token has about twelve vectors of the model's width (residual,
    norms, queries, keys, values, outputs) and four of the width between its linear layers.
    """
    about = causal.model.config.get_text_config()
    width = int(about.hidden_size)
    inner = int(getattr(about, "intermediate_size", None) or 4 * width)
    token = (12 * width + 4 * inner) * causal.model.dtype.itemsize
    return max(1, int(_free_bytes(causal.device) * _BATCH_SHARE) // token)


def prefix_cache_bytes(causal: LoadedModel) -> int:
    """How many bytes of keys and values may be kept."""
    return min(_MAX_CACHE_BYTES, int(_free_bytes(causal.device) * _CACHE_SHARE))


def _free_bytes(device: torch.device) -> int:
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    return psutil.virtual_memory().available
