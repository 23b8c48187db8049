"""Log-probability queries become requests to the engine's process, and its answers responses.

Token ids and numbers only. What the requests mean is stated in `process`.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evalui.errors import ModelError
from evalui.models.scoring_requests import ScoringBatch
from evalui.types import Response

_MAX_IDS = 128  # the most token ids that vLLM looks up at once
_SHARED = 64  # a context of so many tokens is worth being computed by itself first

Tokens = tuple[int, ...]


@dataclass(slots=True)
class _NextToken:
    """Which ids are wanted after some tokens, their log-probabilities so far, the most probable
    token, and how many answers are still to come.
    """

    ids: dict[int, None]
    keys: list[int]
    logprobs: dict[int, float]
    best: int = -1
    pending: int = 0


class ScoringRequests:
    """The engine requests for one batch of queries, and the responses that an answer completes.

    Queries after the same context become one request; so does a continuation of one token.
    """

    def __init__(self, batch: ScoringBatch) -> None:
        self._batch = batch
        self._next_tokens: dict[Tokens, _NextToken] = {}
        # By context, then by context and continuation together: the queries that need it.
        self._continuations: dict[Tokens, dict[Tokens, list[int]]] = {}
        self._ids: dict[int, Tokens] = {}
        self._keys: list[list[int]] = []  # the queries that need each request
        for query in batch.queries():
            if len(query.targets) == 1:
                ((_, ids),) = query.targets
                self._add_next_token(query.tokens, ids).keys.append(query.key)
                self._ids[query.key] = ids
                continue
            start = query.targets[0][0]
            context, whole = query.tokens[:start], query.tokens + query.targets[-1][1]
            self._continuations.setdefault(context, {}).setdefault(whole, []).append(query.key)
            if start >= _SHARED:
                # Else the first continuation would have the output layer, which is slow and
                # large, applied to the whole context; so it finds the context in the cache.
                self._add_next_token(context, ())

    def requests(self) -> list[dict[str, Any]]:
        """The requests; those after one context stand together, while it is in the cache."""
        requests: list[dict[str, Any]] = []
        for context in dict.fromkeys((*self._next_tokens, *self._continuations)):
            if wanted := self._next_tokens.get(context):
                ids = list(wanted.ids)
                pieces = [ids[at : at + _MAX_IDS] for at in range(0, len(ids), _MAX_IDS)] or [[]]
                wanted.pending = len(pieces)
                requests += (
                    {"kind": "next_token", "tokens": context, "ids": piece} for piece in pieces
                )
                self._keys += [wanted.keys] * len(pieces)
            for whole, keys in self._continuations.get(context, {}).items():
                requests.append({"kind": "score", "tokens": whole, "start": len(context)})
                self._keys.append(keys)
        return requests

    def keys(self, place: int) -> list[int]:
        """The queries that need the request at this place."""
        return self._keys[place]

    def responses(
        self, place: int, request: Mapping[str, Any], answer: Mapping[str, Any]
    ) -> Iterator[tuple[int, Response]]:
        """What the answer to the request at this place completes.

        Raises:
            ModelError: the network computes NaN.
        """
        reject_nan(answer["logprobs"])
        if request["kind"] == "next_token":
            yield from self._completed(self._next_tokens[request["tokens"]], request["ids"], answer)
            return
        ends = request["tokens"][request["start"] :]
        best = [token if first else -1 for token, first in zip(ends, answer["first"], strict=True)]
        for key in self.keys(place):
            yield key, self._batch.response(key, answer["logprobs"], best)

    def _add_next_token(self, tokens: Tokens, ids: Tokens) -> _NextToken:
        wanted = self._next_tokens.setdefault(tokens, _NextToken({}, [], {}))
        wanted.ids |= dict.fromkeys(ids)
        return wanted

    def _completed(
        self, wanted: _NextToken, ids: Sequence[int], answer: Mapping[str, Any]
    ) -> Iterator[tuple[int, Response]]:
        wanted.logprobs |= zip(ids, answer["logprobs"], strict=True)
        wanted.best = answer["best"]
        wanted.pending -= 1
        if wanted.pending:
            return
        for key in wanted.keys:
            logprobs = [wanted.logprobs[token] for token in self._ids[key]]
            yield key, self._batch.response(key, logprobs, [wanted.best] * len(logprobs))


def reject_nan(logprobs: Sequence[float]) -> None:
    """Raise `ModelError` if one is NaN."""
    if any(math.isnan(each) for each in logprobs):
        raise ModelError("nan")
