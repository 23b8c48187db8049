"""The least work a model could do, and how fast this machine could do it.

Counted are the multiplications of every different token once: two per parameter of the layers,
and the output head where a log-probability is read. Attention is not counted.
"""

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from benchmarks.clock import Timing, best, timed
from evalui.types import Loglik, NextToken, Request

_SHAPE = (1024, 896, 4864)  # of the product that is timed: rows, inner, columns
FLOPS = 2 * math.prod(_SHAPE)
_TRIES = 20


@dataclass(frozen=True, slots=True)
class Floor:
    """`tokens` different ones, `heads` of them read, and the floating-point operations of both."""

    tokens: int
    heads: int
    flops: float


def floor(model: Path, requests: Sequence[Request]) -> Floor:
    """What cannot be avoided of answering these requests together."""
    from transformers import AutoTokenizer

    loader: Any = AutoTokenizer
    tokenizer = loader.from_pretrained(model)

    @cache
    def encode(text: str) -> tuple[int, ...]:
        return tuple(tokenizer.encode(text))

    tree: dict[tuple[int, int], int] = {}
    read: set[int] = set()
    for request in requests:
        place = -1
        ids, first = _ids(encode, request)
        for depth, token in enumerate(ids):
            place = tree.setdefault((place, token), len(tree))
            if depth >= first:
                read.add(place)
    layers, head = _parameters(model)
    return Floor(len(tree), len(read), 2.0 * (layers * len(tree) + head * len(read)))


def products() -> dict[str, Timing]:
    """What a float32 matrix product of `FLOPS` operations takes on one thread, by library."""
    import torch

    torch.set_num_threads(1)
    rows, inner, columns = _SHAPE
    left, weight = torch.randn(rows, inner), torch.randn(columns, inner)
    found = {"torch's own": _least(partial(torch.nn.functional.linear, left, weight))}
    if torch.backends.mkldnn.is_available():
        pointwise: Any = torch.ops.mkldnn._linear_pointwise  # the only door to oneDNN's float32
        found["oneDNN"] = _least(lambda: pointwise(left, weight, None, "none", [], ""))
    return found


def _least(product: Callable[[], object]) -> Timing:
    product()
    return best([timed(product)[0] for _ in range(_TRIES)])


def _ids(encode: Callable[[str], tuple[int, ...]], request: Request) -> tuple[Sequence[int], int]:
    """The tokens that go in, and the place of the first after which something is read."""
    match request:
        case Loglik(str(context), continuation):
            before = len(encode(context.rstrip()))
            return encode(context + continuation)[:-1], before - 1
        case NextToken(str(context), _):
            ids = encode(context.rstrip())
            return ids, len(ids) - 1
        case _:
            raise AssertionError("only plain prompts are counted")


def _parameters(model: Path) -> tuple[int, int]:
    """Weights of the layers, and of the output head."""
    layers = head = 0
    for part in model.glob("*.safetensors"):
        with part.open("rb") as file:
            described: dict[str, Any] = json.loads(
                file.read(int.from_bytes(file.read(8), "little"))
            )
        shapes = {name: about["shape"] for name, about in described.items() if "shape" in about}
        for name, shape in shapes.items():
            if len(shape) == 2 and ("embed_tokens" in name or "lm_head" in name):
                head = shape[0] * shape[1]
            elif len(shape) == 2:
                layers += shape[0] * shape[1]
    return layers, head
