"""Whether a network gives over tries what it gives row by row."""

import logging
from typing import Any

import torch

from evalui.errors import ModelError
from evalui.messages import sentence
from evalui.models.local.loading import Causal
from evalui.models.local.padded_forward import Network
from evalui.models.local.tree.attention import Unfit
from evalui.models.local.tree.forward import TreeNetwork
from evalui.models.local.tree.prefix_tree import plan_tree
from evalui.models.logprob_queries import Question, Tokens, plan

_LOG = logging.getLogger(__name__)
# In natural logarithms: rounding alone makes 1e-5 in float32, and 32 units of the last place of a
# coarser type. A token too many or too few in sight makes more in any trained network.
_TOLERANCE, _ULPS = 1e-3, 32
# What torch and transformers raise when they are asked for what an architecture does not have.
_REFUSALS = (TypeError, ValueError, KeyError, IndexError, AttributeError, RuntimeError)
_TRUNK = 24  # tokens all probes begin with


def reach(causal: Causal) -> int:
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
        getattr(about, "sliding_window", None) if _slides(about) else None,
    ]
    return min([causal.steady, *(int(limit) for limit in limits if limit)])


def misfit(plain: Network, tree: TreeNetwork, causal: Causal) -> str:
    """Why the network is to be read row by row, in one sentence; "" if tries are right.

    Reads a few texts both ways: with a trunk, branches, and different lengths.

    Raises:
        Full: the device has too little memory for a hundred tokens.
        ModelError: the network computes NaN.
    """
    if not reach(causal):
        return _own_way(causal)
    probes = _probes(int(causal.model.config.get_text_config().vocab_size))
    expected = _row_by_row(plain, probes, causal.steady)
    try:
        found = _over_tries(tree, probes)
    except (Unfit, ModelError, *_REFUSALS) as error:
        _LOG.info("Not over tries: %s", error)
        return _own_way(causal)
    finally:
        tree.trunks.clear()
    off = max(abs(expected[at] - found[at]) for at in expected)
    tolerance = max(_TOLERANCE, _ULPS * torch.finfo(causal.model.dtype).eps)
    if not off <= tolerance:  # NaN is off, too
        return sentence(
            "error.tree-differs",
            off=f"{off:.2g}",
        )
    return ""


def _own_way(causal: Causal) -> str:
    return sentence(
        "error.no-tree",
        kind=str(causal.model.config.model_type),
    )


def _slides(about: Any) -> bool:
    kinds = getattr(about, "layer_types", None) or ()
    return not kinds or any(kind != "full_attention" for kind in kinds)


def _probes(vocabulary: int) -> list[Question]:
    # Small ids are letters and common words in any vocabulary, and never those of an image.
    most = max(2, min(vocabulary, 1000))

    def some(seed: int, length: int) -> Tokens:
        return tuple(
            (seed * 7919 + place * (place + seed) * 31 + 17) % most for place in range(length)
        )

    trunk = some(1, _TRUNK)
    texts = [trunk + some(2, 9) + some(seed, seed) for seed in (3, 5, 8)]
    texts += [trunk + some(11, 17), some(13, 12), trunk + some(2, 9)]
    ids = some(17, 12)
    return [
        Question(key, text, tuple((length, ids) for length in range(len(text) - 1, len(text) + 1)))
        for key, text in enumerate(texts)
    ]


def _row_by_row(
    plain: Network, probes: list[Question], steady: int
) -> dict[tuple[int, int], float]:
    found: dict[tuple[int, int], float] = {}
    for batch in plan(probes, token_budget=1024, place_budget=1024, steady=steady):
        readout = plain.read(batch)
        for question, own in batch.answers:
            found |= {(question.key, at): each for at, each in enumerate(readout.logprobs[own])}
    return found


def _over_tries(tree: TreeNetwork, probes: list[Question]) -> dict[tuple[int, int], float]:
    tree.trunk(probes[0].tokens[:_TRUNK], lasting=_TRUNK)
    found: dict[tuple[int, int], float] = {}
    for pack in plan_tree(probes, kept=tree.trunks, token_budget=1024, place_budget=1024):
        readout = tree.read(pack)
        for question, own in pack.answers:
            found |= {(question.key, at): each for at, each in enumerate(readout.logprobs[own])}
    return found
