"""Requests become questions to a network, and what it finds becomes responses.

Knows texts and tokens and no network: whoever can look up log-probabilities of token ids after
given ids can answer.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evalui.models.logprob_queries import LogprobQuery, continuation_query
from evalui.models.tokenization import (
    EncodedContext,
    EncodedPair,
    Tokenizer,
    encode_contexts,
    encode_pairs,
    label_ids,
    strip_before_label,
)
from evalui.types import LabelProbs, Loglik, Logprob, NextToken, Request, Response


@dataclass(frozen=True, slots=True)
class ScoringBatch:
    """The NextToken and Loglik among some requests; keys are places in the list of requests.

    `labels` are the token ids that spell each label of a NextToken.
    """

    tokenizer: Tokenizer
    contexts: Mapping[int, EncodedContext]
    labels: Mapping[int, tuple[tuple[int, ...], ...]]
    pairs: Mapping[int, EncodedPair]

    def queries(self) -> list[LogprobQuery]:
        """What is to be looked up: the ids of all labels, or each token of a continuation."""
        wanted = [
            LogprobQuery(key, context.ids, ((len(context.ids), _flat(self.labels[key])),))
            for key, context in self.contexts.items()
        ]
        return wanted + [
            continuation_query(key, pair.context, pair.continuation)
            for key, pair in self.pairs.items()
        ]

    def response(self, key: int, logprobs: Sequence[float], best: Sequence[int]) -> Response:
        """The response to request number `key`.

        For everything its question wanted, in order: the natural log-probability, and the most
        probable token at that place.
        """
        if key in self.pairs:
            return _logprob(self.pairs[key], logprobs, best)
        rest = iter(logprobs)
        totals = tuple(_log_of_sum([next(rest) for _ in spelt]) for spelt in self.labels[key])
        return LabelProbs(
            totals,
            # The sum of float32 logarithms may pass 1 by a rounding error.
            mass=min(1.0, math.fsum(math.exp(total) for total in totals)),
            top_token=self.tokenizer.spell(best[:1])[0],
            truncated=self.contexts[key].truncated,
        )


def encode_requests(
    tokenizer: Tokenizer,
    spellings: Mapping[str, tuple[int, ...]],
    requests: Sequence[Request],
    *,
    limit: int,
) -> ScoringBatch:
    """Encode the NextToken and Loglik among `requests`, cut to `limit` tokens of input.

    Raises:
        ModelError: a label has no token of its own, or a continuation cannot be scored.
    """
    letters = {key: each for key, each in enumerate(requests) if isinstance(each, NextToken)}
    texts = {key: each for key, each in enumerate(requests) if isinstance(each, Loglik)}
    contexts = encode_contexts(
        tokenizer, [strip_before_label(each.context) for each in letters.values()], limit=limit
    )
    pairs = encode_pairs(
        tokenizer, [(each.context, each.continuation) for each in texts.values()], limit=limit
    )
    spelt = {
        labels: label_ids(spellings, labels, tokenizer)
        for labels in {each.labels for each in letters.values()}
    }
    labels = {key: spelt[each.labels] for key, each in letters.items()}
    return ScoringBatch(
        tokenizer,
        dict(zip(letters, contexts, strict=True)),
        labels,
        dict(zip(texts, pairs, strict=True)),
    )


def _flat(labels: Sequence[Sequence[int]]) -> tuple[int, ...]:
    return tuple(token for spelt in labels for token in spelt)


def _logprob(pair: EncodedPair, logprobs: Sequence[float], best: Sequence[int]) -> Logprob:
    return Logprob(
        math.fsum(logprobs),
        len(pair.continuation),
        greedy=tuple(best) == pair.continuation,
        merged=pair.merged,
        truncated=pair.truncated,
    )


def _log_of_sum(logprobs: Sequence[float]) -> float:
    best = max(logprobs)
    if best == -math.inf:
        return best
    return best + math.log(math.fsum(math.exp(logprob - best) for logprob in logprobs))
