"""Forward passes of a network over texts with pictures: token ids and pixels in, log-probabilities
out.

Each text by itself, or several after a beginning that they share, pictures included, which is
computed once.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from transformers.cache_utils import DynamicCache

from evalui.models.local.forward import (
    LogprobResult,
    OutOfMemory,
    PaddedNetwork,
    narrow_head_input,
    raise_oom,
)
from evalui.models.local.kv_cache import cache_name, expand_rows
from evalui.models.local.loading import LoadedModel, empty_cache, out_of_memory
from evalui.models.local.pictures import PictureInputs, on_device
from evalui.models.scoring_requests import LogprobQuery, TokenIds, plan_batches
from evalui.models.tokenization import common_prefix_length

InputsOf = Callable[[TokenIds], PictureInputs]


@dataclass(frozen=True, slots=True)
class PictureScores:
    """The results of a query's lookups, in order."""

    query: LogprobQuery
    result: LogprobResult

    def by_target(self) -> list[tuple[float, ...]]:
        """The log-probabilities of each of the query's targets."""
        rest = iter(self.result.logprobs)
        return [tuple(next(rest) for _ in ids) for _, ids in self.query.targets]


class PictureNetwork:
    """Computes log-probabilities of texts with pictures.

    Texts of at most `max_shared_length` tokens share the keys and values of a common beginning.
    """

    def __init__(self, loaded: LoadedModel, *, max_shared_length: int) -> None:
        self._loaded = loaded
        self._model = loaded.model
        self._network = PaddedNetwork(loaded)
        self._max_shared_length = max_shared_length
        self._picture_token: Any = getattr(loaded.model.config, "image_token_id", None)
        self._cache_name = cache_name(loaded.model)

    def score(self, queries: Sequence[LogprobQuery], inputs: InputsOf) -> Iterator[PictureScores]:
        """The results of each query; all show the same pictures, `inputs` gives what they take.

        Raises:
            ModelError: the device has too little memory, or the network computes NaN.
        """
        if length := self._shared_length(queries):
            try:
                yield from self._after_beginning(queries, inputs, length)
            except OutOfMemory:
                empty_cache(self._loaded.device)
            else:
                return
        for query in queries:
            try:
                yield self.alone(query, inputs(query.tokens))
            except OutOfMemory as error:
                raise out_of_memory(len(query.tokens)) from error

    def alone(self, query: LogprobQuery, text: PictureInputs) -> PictureScores:
        """The results of one query, over the whole text that begins with its tokens.

        Raises:
            OutOfMemory: the device has too little memory.
            ModelError: the network computes NaN.
        """
        whole = LogprobQuery(query.key, text.ids, query.targets)
        (batch,) = plan_batches([whole], token_budget=1, max_logit_rows=1)
        arguments = self._on_device(text.tensors)
        return PictureScores(query, self._network.compute_logprobs(batch, arguments))

    def _continuing(self, cache: Any) -> dict[str, Any]:
        """The arguments of a forward pass that continues what is in the cache, and adds to it."""
        return {"use_cache": True, self._cache_name: cache}

    def _on_device(self, tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        return on_device(tensors, self._loaded.device, self._model.dtype)

    def _shared_length(self, queries: Sequence[LogprobQuery]) -> int:
        """How many tokens all texts begin with, the pictures among them; 0 if they share none."""
        longest = max((len(query.tokens) for query in queries), default=0)
        if len(queries) < 2 or longest > self._max_shared_length:
            return 0
        first, *others = (query.tokens for query in queries)
        shared = min(common_prefix_length(first, other) for other in others)
        # What is looked up must be computed with what follows the beginning.
        looked_up = min(length for query in queries for length, _ in query.targets)
        shared = min(shared, looked_up - 1)
        seen = self._picture_token in first and self._picture_token not in {
            token for query in queries for token in query.tokens[shared:]
        }
        return shared if seen else 0

    def _after_beginning(
        self, queries: Sequence[LogprobQuery], inputs: InputsOf, length: int
    ) -> list[PictureScores]:
        beginning = inputs(queries[0].tokens).beginning(length)
        cache = DynamicCache(config=self._model.config)
        with (
            torch.inference_mode(),
            raise_oom(),
            narrow_head_input(self._model, lambda states: states[:, -1:]),
        ):
            self._model(
                **beginning.arguments(self._loaded.device, self._model.dtype),
                **self._continuing(cache),
            )
        by_key = {query.key: query for query in queries}
        rests = [
            LogprobQuery(
                query.key,
                query.tokens[length:],
                tuple((at - length, ids) for at, ids in query.targets),
            )
            for query in queries
        ]
        width = max(len(rest.tokens) for rest in rests)
        rows = max(1, self._loaded.kv_cache_tokens // (length + width))
        scores: list[PictureScores] = []
        for batch in plan_batches(
            rests, token_budget=rows * width, max_logit_rows=self._loaded.max_logit_rows
        ):
            found = self._network.compute_logprobs(
                batch,
                {
                    **self._on_device(beginning.after(len(batch.rows), len(batch.rows[0]))),
                    **self._continuing(expand_rows(cache, len(batch.rows))),
                },
            )
            scores += [
                PictureScores(by_key[rest.key], LogprobResult(found.logprobs[own], found.best[own]))
                for rest, own in batch.query_slices
            ]
        return scores
