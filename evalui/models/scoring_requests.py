"""Requests become questions to a network, and what it finds becomes responses.

Knows texts and tokens and no network: whoever can look up log-probabilities of token ids after
given ids can answer.
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
    strip_before_label,
    strip_marks,
)
from evalui.types import LabelProbs, Loglik, Logprob, NextToken, Request, Response

UNLIMITED = 2**31  # more tokens than any text has


@dataclass(frozen=True, slots=True)
class LogprobQuery:
    """After each prefix of `tokens` named in `targets`, how probable are these token ids?

    `targets` is (length of the prefix, ids). `key` is the asker's own.
    """

    key: int
    tokens: TokenIds
    targets: tuple[tuple[int, TokenIds], ...]


@dataclass(frozen=True, slots=True)
class LogprobBatch:
    """One forward pass.

    `rows` are the token ids, of unequal lengths. `logit_positions` are the (row, column) pairs
    where the distribution of the next token is needed, `lookups` the (place, token id) pairs to
    look up there. `query_slices` says for each question which of `lookups` are its own, in its own
    order.
    """

    rows: tuple[TokenIds, ...]
    logit_positions: tuple[tuple[int, int], ...]
    lookups: tuple[tuple[int, int], ...]
    query_slices: tuple[tuple[LogprobQuery, slice], ...]


def continuation_query(key: int, context: TokenIds, continuation: TokenIds) -> LogprobQuery:
    """The question that scores a continuation: each of its tokens after all before it."""
    tokens = context + continuation[:-1]
    wanted = ((len(context) + place, (token,)) for place, token in enumerate(continuation))
    return LogprobQuery(key, tokens, tuple(wanted))


def plan_batches(
    queries: Sequence[LogprobQuery],
    *,
    token_budget: int,
    max_logit_rows: int,
    rope_safe_length: int = UNLIMITED,
) -> Iterator[LogprobBatch]:
    """Batches of rows of similar length, the longest first, each distinct row once.

    A batch has at most `token_budget` padded tokens and `max_logit_rows` places, or one row, as has
    one longer than `rope_safe_length`. Questions with the same tokens share their row, as the
    letters of one prompt do.
    """
    rows: dict[TokenIds, list[LogprobQuery]] = {}
    for question in queries:
        rows.setdefault(question.tokens, []).append(question)
    taken: dict[TokenIds, list[LogprobQuery]] = {}
    width = places = 0
    # Longest first: a batch that does not fit the device fails at once and not at the end.
    for tokens in sorted(rows, key=lambda row: (-len(row), row)):
        needs = len({length for question in rows[tokens] for length, _ in question.targets})
        full = (len(taken) + 1) * width > token_budget or places + needs > max_logit_rows
        if taken and (full or width > rope_safe_length):
            yield _batch(taken)
            taken, places = {}, 0
        width = width if taken else len(tokens)
        taken[tokens] = rows[tokens]
        places += needs
    if taken:
        yield _batch(taken)


def batches_by_length(
    lengths: Sequence[int], *, token_budget: int, rope_safe_length: int = UNLIMITED
) -> Iterator[list[int]]:
    """Indices of `lengths`, longest first, in groups of at most `token_budget` padded tokens.

    What is longer than `rope_safe_length` is a group of its own.
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


def label_ids(
    known: Mapping[str, tuple[int, ...]], labels: Sequence[str], tokenizer: Tokenizer
) -> tuple[tuple[int, ...], ...]:
    """The tokens whose probabilities are summed for each label: the same spellings for all.

    A spelling that some label lacks is used for none, because it would give the others more
    probability for the same knowledge: a vocabulary may have "(A" and no "(B".

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
    """The text with the distance from the label's character in its place: 0xFEE0 for "Ａ"."""
    if label in text:
        left, _, right = text.partition(label)
        return left, 0, right
    return tuple(
        ord(each) - ord(label) if len(label) == 1 and strip_marks(each) == label else each
        for each in text
    )


def _batch(rows: Mapping[TokenIds, Sequence[LogprobQuery]]) -> LogprobBatch:
    places: dict[tuple[int, int], int] = {}
    asked: list[tuple[int, int]] = []
    answers: list[tuple[LogprobQuery, slice]] = []
    for row, questions in enumerate(rows.values()):
        for question in questions:
            begin = len(asked)
            for length, ids in question.targets:
                place = places.setdefault((row, length - 1), len(places))
                asked.extend((place, token) for token in ids)
            answers.append((question, slice(begin, len(asked))))
    return LogprobBatch(tuple(rows), tuple(places), tuple(asked), tuple(answers))
