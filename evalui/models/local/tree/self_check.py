"""Whether a network gives over tries what it gives row by row."""

import logging
from typing import Any

import torch

from evalui.errors import ModelError
from evalui.messages import sentence
from evalui.models.local.loading import LoadedModel
from evalui.models.local.padded_forward import PaddedNetwork
from evalui.models.local.tree.attention import UnsupportedArchitecture
from evalui.models.local.tree.forward import TreeNetwork
from evalui.models.local.tree.prefix_tree import plan_tree_batches
from evalui.models.logprob_queries import LogprobQuery, TokenIds, plan_batches

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
