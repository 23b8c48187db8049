"""Questions to a network become asks of vLLM's process, and its answers become what was asked.

Token ids and numbers only. What the asks mean is told in `vllm_process`.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evalui.errors import ModelError
from evalui.models.scoring_requests import ScoringBatch
from evalui.types import Response

_IDS = 128  # the most token ids that vLLM looks up at once
_SHARED = 64  # a context of so many tokens is worth being computed by itself first

Tokens = tuple[int, ...]


@dataclass(slots=True)
class _Look:
    """What is wanted after some tokens, what was found, and how many answers are still to come."""

    wanted: dict[int, None]
    keys: list[int]
    found: dict[int, float]
    best: int = -1
    waits: int = 0


class Board:
    """The questions of one call: which asks they take, and which responses an answer completes.

    Questions after the same context become one look; so does a continuation of one token.
    """

    def __init__(self, asked: ScoringBatch) -> None:
        self._asked = asked
        self._looks: dict[Tokens, _Look] = {}
        # By context, then by context and continuation together: who asks for it.
        self._scores: dict[Tokens, dict[Tokens, list[int]]] = {}
        self._wanted: dict[int, Tokens] = {}
        self._keys: list[list[int]] = []  # who hangs on each ask
        for question in asked.queries():
            if len(question.targets) == 1:
                ((_, ids),) = question.targets
                self._look(question.tokens, ids).keys.append(question.key)
                self._wanted[question.key] = ids
                continue
            start = question.targets[0][0]
            context, whole = question.tokens[:start], question.tokens + question.targets[-1][1]
            self._scores.setdefault(context, {}).setdefault(whole, []).append(question.key)
            if start >= _SHARED:
                # Else the first continuation would have the output layer, which is dear and
                # large, applied to the whole context; so it finds the context in the cache.
                self._look(context, ())

    def asks(self) -> list[dict[str, Any]]:
        """What is asked after one context stands together, so that it is still in the cache."""
        asks: list[dict[str, Any]] = []
        for context in dict.fromkeys((*self._looks, *self._scores)):
            if look := self._looks.get(context):
                ids = list(look.wanted)
                pieces = [ids[place : place + _IDS] for place in range(0, len(ids), _IDS)] or [[]]
                look.waits = len(pieces)
                asks += ({"kind": "look", "tokens": context, "ids": piece} for piece in pieces)
                self._keys += [look.keys] * len(pieces)
            for whole, keys in self._scores.get(context, {}).items():
                asks.append({"kind": "score", "tokens": whole, "start": len(context)})
                self._keys.append(keys)
        return asks

    def keys(self, place: int) -> list[int]:
        """Whose requests hang on the ask at this place."""
        return self._keys[place]

    def responses(
        self, place: int, ask: Mapping[str, Any], answer: Mapping[str, Any]
    ) -> Iterator[tuple[int, Response]]:
        """What the answer to the ask at this place completes.

        Raises:
            ModelError: the network computes NaN.
        """
        check(answer["logprobs"])
        if ask["kind"] == "look":
            yield from self._looked(self._looks[ask["tokens"]], ask["ids"], answer)
            return
        ends = ask["tokens"][ask["start"] :]
        best = [token if first else -1 for token, first in zip(ends, answer["first"], strict=True)]
        for key in self.keys(place):
            yield key, self._asked.response(key, answer["logprobs"], best)

    def _look(self, tokens: Tokens, ids: Tokens) -> _Look:
        look = self._looks.setdefault(tokens, _Look({}, [], {}))
        look.wanted |= dict.fromkeys(ids)
        return look

    def _looked(
        self, look: _Look, ids: Sequence[int], answer: Mapping[str, Any]
    ) -> Iterator[tuple[int, Response]]:
        look.found |= zip(ids, answer["logprobs"], strict=True)
        look.best = answer["best"]
        look.waits -= 1
        if look.waits:
            return
        for key in look.keys:
            ids = self._wanted[key]
            logprobs = [look.found[token] for token in ids]
            yield key, self._asked.response(key, logprobs, [look.best] * len(ids))


def check(logprobs: Sequence[float]) -> None:
    """Raise `ModelError` if one is NaN."""
    if any(math.isnan(each) for each in logprobs):
        raise ModelError("nan")
