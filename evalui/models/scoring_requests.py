"""Requests become log-probability queries and batches of them, and their results responses.

Knows texts and token ids, but no network: any engine that gives the log-probabilities of token ids
after given ids can answer the queries.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from evalui.errors import ModelError
from evalui.models.tokenization import (
    EncodedContext,
    EncodedPair,
    TokenIds,
    Tokenizer,
    encode_contexts,
    encode_pairs,
    opens_thoughts_error,
    strip_before_label,
    strip_marks,
)
from evalui.types import LabelProbs, Loglik, Logprob, NextToken, Request, Response

UNLIMITED = 2**31  # more tokens than any text has


@dataclass(frozen=True, slots=True)
class LogprobQuery:
    """The log-probabilities of some token ids after some prefixes of `tokens`.

    `targets` are (length of the prefix, ids). `key` identifies the query to its caller.
    """

    key: int
    tokens: TokenIds
    targets: tuple[tuple[int, TokenIds], ...]


@dataclass(frozen=True, slots=True)
class LogprobBatch:
    """One forward pass.

    `rows` are the token ids, of unequal lengths. `logit_positions` are the (row, column) pairs
    where the distribution of the next token is needed, `lookups` are (index of such a pair, token
    id). `query_slices` gives for each query which of `lookups` are its own, in its own order.
    """

    rows: tuple[TokenIds, ...]
    logit_positions: tuple[tuple[int, int], ...]
    lookups: tuple[tuple[int, int], ...]
    query_slices: tuple[tuple[LogprobQuery, slice], ...]


def continuation_query(key: int, context: TokenIds, continuation: TokenIds) -> LogprobQuery:
    """The query that scores a continuation: each of its tokens after all before it."""
    tokens = context + continuation[:-1]
    targets = ((len(context) + at, (token,)) for at, token in enumerate(continuation))
    return LogprobQuery(key, tokens, tuple(targets))


def plan_batches(
    queries: Sequence[LogprobQuery],
    *,
    token_budget: int,
    max_logit_rows: int,
    rope_safe_length: int = UNLIMITED,
) -> Iterator[LogprobBatch]:
    """Batches of rows of similar length, the longest first, each distinct row once.

    A batch has at most `token_budget` padded tokens and `max_logit_rows` logit positions, or a
    single row, as has one longer than `rope_safe_length`. Queries with the same tokens share their
    row, as the labels of one prompt do.
    """
    rows: dict[TokenIds, list[LogprobQuery]] = {}
    for query in queries:
        rows.setdefault(query.tokens, []).append(query)
    taken: dict[TokenIds, list[LogprobQuery]] = {}
    width = positions = 0
    # Longest first: a batch that does not fit the device fails at once and not at the end.
    for tokens in sorted(rows, key=lambda row: (-len(row), row)):
        needed = len({length for query in rows[tokens] for length, _ in query.targets})
        full = (len(taken) + 1) * width > token_budget or positions + needed > max_logit_rows
        if taken and (full or width > rope_safe_length):
            yield _batch(taken)
            taken, positions = {}, 0
        width = width if taken else len(tokens)
        taken[tokens] = rows[tokens]
        positions += needed
    if taken:
        yield _batch(taken)


def batches_by_length(
    lengths: Sequence[int], *, token_budget: int, rope_safe_length: int = UNLIMITED
) -> Iterator[list[int]]:
    """Indices of `lengths`, longest first, in groups of at most `token_budget` padded tokens.

    A text longer than `rope_safe_length` is a group of its own.
    """
    group: list[int] = []
    for index in sorted(range(len(lengths)), key=lambda index: -lengths[index]):
        longest = lengths[group[0]] if group else 0
        if group and ((len(group) + 1) * longest > token_budget or longest > rope_safe_length):
            yield group
            group = []
        group.append(index)
    if group:
        yield group


@dataclass(frozen=True, slots=True)
class ScoringBatch:
    """The NextToken and Loglik among some requests, encoded; keys are indices of the requests.

    `labels` are the token ids that spell each label of a NextToken.
    """

    tokenizer: Tokenizer
    contexts: Mapping[int, EncodedContext]
    labels: Mapping[int, tuple[tuple[int, ...], ...]]
    pairs: Mapping[int, EncodedPair]

    def queries(self) -> list[LogprobQuery]:
        """The queries: the ids of all labels, or each token of a continuation."""
        of_labels = (
            LogprobQuery(key, context.ids, ((len(context.ids), _flat(self.labels[key])),))
            for key, context in self.contexts.items()
        )
        of_continuations = (
            continuation_query(key, pair.context, pair.continuation)
            for key, pair in self.pairs.items()
        )
        return [*of_labels, *of_continuations]

    def response(self, key: int, logprobs: Sequence[float], best: Sequence[int]) -> Response:
        """The response to request number `key`.

        `logprobs` and `best` are for each lookup of its query, in order: the natural
        log-probability, and the most probable token at that position.
        """
        if key in self.pairs:
            return _logprob(self.pairs[key], logprobs, best)
        rest = iter(logprobs)
        totals = tuple(_log_of_sum([next(rest) for _ in ids]) for ids in self.labels[key])
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
        MissingAbility: the chat template opens a thought, which none of both can follow.
        ModelError: a label has no token of its own, or a continuation cannot be scored.
    """
    by_label = {key: each for key, each in enumerate(requests) if isinstance(each, NextToken)}
    by_text = {key: each for key, each in enumerate(requests) if isinstance(each, Loglik)}
    contexts = encode_contexts(
        tokenizer, [strip_before_label(each.context) for each in by_label.values()], limit=limit
    )
    if any(each.thought for each in contexts):
        raise opens_thoughts_error(tokenizer)
    pairs = encode_pairs(
        tokenizer, [(each.context, each.continuation) for each in by_text.values()], limit=limit
    )
    ids = {
        labels: label_ids(spellings, labels, tokenizer)
        for labels in {each.labels for each in by_label.values()}
    }
    return ScoringBatch(
        tokenizer,
        dict(zip(by_label, contexts, strict=True)),
        {key: ids[each.labels] for key, each in by_label.items()},
        dict(zip(by_text, pairs, strict=True)),
    )


def _flat(labels: Sequence[Sequence[int]]) -> tuple[int, ...]:
    return tuple(token for ids in labels for token in ids)


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


def label_ids(
    known: Mapping[str, tuple[int, ...]], labels: Sequence[str], tokenizer: Tokenizer
) -> tuple[tuple[int, ...], ...]:
    """The tokens whose probabilities are summed for each label: the same spellings for all.

    A spelling that some label lacks is used for none, because it would add probability to the
    others only: a vocabulary may have "(A" and no "(B".

    Raises:
        ModelError: a label has no spelling of one token, or the labels have none in common.
    """
    if missing := [label for label in labels if label not in known]:
        raise ModelError("label-tokens", model=tokenizer.name, label=missing[0])
    forms = [_by_form(label, known[label], tokenizer) for label in labels]
    shared = [form for form in forms[0] if all(form in each for each in forms)]
    if not shared:
        raise ModelError("label-forms", model=tokenizer.name, labels=", ".join(labels))
    return tuple(tuple(each[form] for form in shared) for each in forms)


def _by_form(
    label: str, tokens: Sequence[int], tokenizer: Tokenizer
) -> Mapping[tuple[str | int, ...], int]:
    """The spellings of a label by how they spell it.

    Tokens of one text ("A" with and without sentencepiece's word boundary) are numbered.
    """
    forms: dict[tuple[str | int, ...], int] = {}
    for token, text in zip(tokens, tokenizer.spell(tokens), strict=True):
        form = _spelling_form(text, label)
        number = sum((*form, n) in forms for n in range(len(tokens)))
        forms[*form, number] = token
    return forms


def _spelling_form(text: str, label: str) -> tuple[str | int, ...]:
    """The text with the label replaced by its code point's distance: 0xFEE0 for "Ａ", else 0."""
    if label in text:
        left, _, right = text.partition(label)
        return left, 0, right
    return tuple(
        ord(each) - ord(label) if len(label) == 1 and strip_marks(each) == label else each
        for each in text
    )


def _batch(rows: Mapping[TokenIds, Sequence[LogprobQuery]]) -> LogprobBatch:
    positions: dict[tuple[int, int], int] = {}
    lookups: list[tuple[int, int]] = []
    slices: list[tuple[LogprobQuery, slice]] = []
    for row, queries in enumerate(rows.values()):
        for query in queries:
            begin = len(lookups)
            for length, ids in query.targets:
                position = positions.setdefault((row, length - 1), len(positions))
                lookups.extend((position, token) for token in ids)
            slices.append((query, slice(begin, len(lookups))))
    return LogprobBatch(tuple(rows), tuple(positions), tuple(lookups), tuple(slices))
