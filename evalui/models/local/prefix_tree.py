"""Which tokens a network must compute, each once: queries in, batches of prefix trees out.

Planning only, without torch. The tokens that many queries begin with are their common prefix: it
is computed before them, may be cached, and is no part of the batch's nodes.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from evalui.models.scoring_requests import LogprobQuery, TokenIds
from evalui.models.tokenization import common_prefix_length

# A prefix must spare at least so many tokens, since each one needs batches of its own ...
_MIN_PREFIX_TOKENS = 16
# ... and be followed by enough to fill them: so many tokens, or fewer where all queries are few.
_MIN_SUFFIX_TOKENS, _MIN_SUFFIX_TOKENS_SMALL, _SMALL_WINDOW_DIVISOR = 1024, 128, 8
# Every chunk of a batch gathers its ancestors, which is expensive for so many tokens. A prefix is
# not gathered, and takes memory in proportion to its length, so one sequence alone justifies it.
_LONG_PREFIX_TOKENS = 2048
# Attention is dense within a chunk: wider ones compute more masked scores, narrower ones need
# more calls.
_CHUNK_TOKENS = 128


@dataclass(frozen=True, slots=True)
class Chunk:
    """Nodes `begin` to `end` of a batch. They attend to each other and to `ancestors`."""

    begin: int
    end: int
    ancestors: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TreeBatch:
    """One forward pass over prefix trees that all follow `prefix`, nodes in depth-first order.

    For each node: its token, its position in every sequence through it, and in `subtree_ends` one
    past its last descendant. So node q attends to node k if k <= q < subtree_ends[k].
    `logit_nodes` are the nodes where the distribution of the next token is needed, `lookups` and
    `query_slices` as in `LogprobBatch`. The first `cacheable_length` tokens of the prefix are worth
    caching for later calls.
    """

    prefix: TokenIds
    cacheable_length: int
    tokens: TokenIds
    positions: tuple[int, ...]
    subtree_ends: tuple[int, ...]
    chunks: tuple[Chunk, ...]
    logit_nodes: tuple[int, ...]
    lookups: tuple[tuple[int, int], ...]
    query_slices: tuple[tuple[LogprobQuery, slice], ...]


@dataclass(frozen=True, slots=True)
class _TokenSequence:
    """A distinct sequence of tokens, all its queries, and the shortest prefix they look up.

    `sort_index` is its index in lexicographic order, `shared_with_previous` the tokens it shares
    with the one before.
    """

    tokens: TokenIds
    queries: tuple[LogprobQuery, ...]
    shortest_query: int
    sort_index: int = 0
    shared_with_previous: int = 0

    @property
    def n_logit_rows(self) -> int:
        return len({length for query in self.queries for length, _ in query.targets})


@dataclass(frozen=True, slots=True)
class _Subtree:
    """Sequences that share more than the prefix, and the tokens they have beyond it."""

    sequences: tuple[_TokenSequence, ...]
    n_tokens: int


def plan_tree_batches(
    queries: Sequence[LogprobQuery],
    *,
    cached_prefixes: Iterable[TokenIds] = (),
    token_budget: int,
    max_logit_rows: int,
) -> Iterator[TreeBatch]:
    """Batches that answer every query once, the largest trees of each prefix first.

    `cached_prefixes` need no computing, in whole or in part. A batch has at most `token_budget`
    nodes and `max_logit_rows` logit nodes, or a single sequence. Sequences that share a beginning
    are in one batch unless the budget separates them. Prefixes that extend the same shorter one
    follow each other.
    """
    sequences = _sequences(queries)
    lengths = _prefix_lengths(sequences, tuple(cached_prefixes))
    groups: dict[tuple[TokenIds, int], list[_TokenSequence]] = {}
    for sequence, (length, cacheable) in zip(sequences, lengths, strict=True):
        groups.setdefault((sequence.tokens[:length], cacheable), []).append(sequence)
    for (prefix, cacheable), members in groups.items():
        subtrees = sorted(_subtrees(members, len(prefix)), key=lambda tree: -tree.n_tokens)
        for taken in _split_by_budget(subtrees, len(prefix), token_budget, max_logit_rows):
            yield _build_batch(prefix, taken, cacheable)


def linear_batch(tokens: TokenIds, begin: int) -> TreeBatch:
    """The batch that computes `tokens` from index `begin` on, those before being its prefix."""
    return _build_batch(tokens[:begin], [_TokenSequence(tokens, (), len(tokens))], 0)


def _sequences(queries: Sequence[LogprobQuery]) -> list[_TokenSequence]:
    """The distinct sequences in lexicographic order: the depth-first order of their tree."""
    rows: dict[TokenIds, list[LogprobQuery]] = {}
    for query in queries:
        rows.setdefault(query.tokens, []).append(query)
    sequences: list[_TokenSequence] = []
    for row in sorted(rows):
        first = min((n for query in rows[row] for n, _ in query.targets), default=len(row))
        shared = common_prefix_length(sequences[-1].tokens, row) if sequences else 0
        sequences.append(_TokenSequence(row, tuple(rows[row]), first, len(sequences), shared))
    return sequences


def _shared_length(left: _TokenSequence, right: _TokenSequence) -> int:
    """How many tokens two sequences share; of neighbours it is known already."""
    if right.sort_index == left.sort_index + 1:
        return right.shared_with_previous
    return common_prefix_length(left.tokens, right.tokens)


def _prefix_lengths(
    sequences: Sequence[_TokenSequence], cached: Sequence[TokenIds]
) -> list[tuple[int, int]]:
    """Of each sequence (length of its prefix, length of that worth caching), in tokens.

    Goes down the tree from the root and cuts where enough tokens are spared, so that a prefix may
    extend another one.
    """
    lengths = np.array([len(each.tokens) for each in sequences])
    # What is looked up must be computed in the batch, so it cannot be in a prefix.
    caps = np.array([each.shortest_query - 1 for each in sequences])
    shared = np.array([each.shared_with_previous for each in sequences])
    new = np.concatenate([[0], np.cumsum(lengths - shared)])  # distinct tokens up to a sequence
    heads = _index_by_head(cached)
    prefixes = [(0, 0)] * len(sequences)
    pending = [(0, len(sequences), 0, 0)] if sequences else []
    while pending:
        begin, end, base, cacheable = pending.pop()
        common = int(shared[begin + 1 : end].min()) if end > begin + 1 else int(lengths[begin])
        length = min(common, int(caps[begin:end].min()))
        beyond = int(new[end] - new[begin] + shared[begin]) - length
        known = _cached_length(sequences[begin].tokens[:length], heads)
        worth = (
            _is_worth_caching(beyond, int(new[-1]), end - begin)
            or length - base >= _LONG_PREFIX_TOKENS
        )
        deeper = end > begin + 1 and (worth or known == length)
        if not worth or length - known < _MIN_PREFIX_TOKENS:
            length = known
        if length - base >= _MIN_PREFIX_TOKENS:
            base, cacheable = length, _cacheable_length(length, cacheable, end - begin)
            prefixes[begin:end] = [(base, cacheable)] * (end - begin)
        if deeper:
            cuts = [begin, *(begin + 1 + np.flatnonzero(shared[begin + 1 : end] == common)), end]
            pending += [(int(a), int(b), base, cacheable) for a, b in pairwise(cuts)]
    return prefixes


def _is_worth_caching(beyond: int, total: int, sequences: int) -> bool:
    few = max(_MIN_SUFFIX_TOKENS_SMALL, total // _SMALL_WINDOW_DIVISOR)
    return sequences > 1 and beyond >= min(_MIN_SUFFIX_TOKENS, few)


def _cacheable_length(length: int, parent: int, sequences: int) -> int:
    """How much of a prefix is worth caching; `parent`: of the shorter one that it extends.

    Few-shot examples follow an instruction and are longer, and later calls use them again. A
    question follows the examples and is shorter: no later call uses it, and it would be cached
    with a copy of the examples.
    """
    return length if sequences > 1 and length >= 2 * parent else parent


def _index_by_head(prefixes: Sequence[TokenIds]) -> dict[TokenIds, list[TokenIds]]:
    heads: dict[TokenIds, list[TokenIds]] = {}
    for prefix in prefixes:
        heads.setdefault(prefix[:_MIN_PREFIX_TOKENS], []).append(prefix)
    return heads


def _cached_length(tokens: TokenIds, heads: dict[TokenIds, list[TokenIds]]) -> int:
    """How many tokens the best cached prefix shares, 0 if too few."""
    candidates = heads.get(tokens[:_MIN_PREFIX_TOKENS], ())
    return max((common_prefix_length(tokens, prefix) for prefix in candidates), default=0)


def _subtrees(sequences: Sequence[_TokenSequence], prefix: int) -> Iterator[_Subtree]:
    """Neighbours that share at least `_MIN_PREFIX_TOKENS` beyond the first `prefix` tokens."""
    taken: list[_TokenSequence] = []
    size = 0
    for sequence in sequences:
        shared = _shared_length(taken[-1], sequence) if taken else prefix
        if taken and shared - prefix < _MIN_PREFIX_TOKENS:
            yield _Subtree(tuple(taken), size)
            taken, size, shared = [], 0, prefix
        taken.append(sequence)
        size += len(sequence.tokens) - shared
    if taken:
        yield _Subtree(tuple(taken), size)


def _split_by_budget(
    subtrees: Sequence[_Subtree], prefix: int, token_budget: int, max_logit_rows: int
) -> Iterator[list[_TokenSequence]]:
    """The sequences of one batch after another. A subtree too large for a batch is split."""
    taken: list[_TokenSequence] = []
    tokens = rows = 0
    for subtree in subtrees:
        if taken and tokens + subtree.n_tokens > token_budget:
            yield taken
            taken, tokens, rows = [], 0, 0
        last: _TokenSequence | None = None
        for sequence in subtree.sequences:
            new = len(sequence.tokens) - (_shared_length(last, sequence) if last else prefix)
            more = rows + sequence.n_logit_rows
            if taken and (tokens + new > token_budget or more > max_logit_rows):
                yield taken
                taken, tokens, rows = [], 0, 0
                new = len(sequence.tokens) - prefix
            taken.append(sequence)
            tokens += new
            rows += sequence.n_logit_rows
            last = sequence
    if taken:
        yield taken


def _build_batch(
    prefix: TokenIds, sequences: Sequence[_TokenSequence], cacheable_length: int
) -> TreeBatch:
    """The tree of the sequences, each node once."""
    base = len(prefix)
    tokens: list[int] = []
    positions: list[int] = []
    path: list[int] = []  # the nodes of the current sequence
    starts: list[tuple[int, list[int]]] = []  # each sequence's first own node, and its ancestors
    closed: list[tuple[int, list[int]]] = []
    logit_rows: dict[int, int] = {}
    lookups: list[tuple[int, int]] = []
    slices: list[tuple[LogprobQuery, slice]] = []
    last: _TokenSequence | None = None
    for sequence in sorted(sequences, key=lambda each: each.sort_index):
        shared = _shared_length(last, sequence) if last else base
        start = len(tokens)
        closed.append((start, path[shared - base :]))
        path = path[: shared - base]
        starts.append((start, path))
        own = sequence.tokens[shared:]
        tokens += own
        positions += range(shared, len(sequence.tokens))
        path = path + list(range(start, start + len(own)))
        last = sequence
        for query in sequence.queries:
            begin = len(lookups)
            for length, ids in query.targets:
                row = logit_rows.setdefault(path[length - 1 - base], len(logit_rows))
                lookups += [(row, token) for token in ids]
            slices.append((query, slice(begin, len(lookups))))
    closed.append((len(tokens), path))
    return TreeBatch(
        prefix,
        cacheable_length,
        tuple(tokens),
        tuple(positions),
        _subtree_ends(len(tokens), closed),
        tuple(_chunks(starts, len(tokens))),
        tuple(logit_rows),
        tuple(lookups),
        tuple(slices),
    )


def _subtree_ends(n_nodes: int, closed: Sequence[tuple[int, list[int]]]) -> tuple[int, ...]:
    """For each node one past its last descendant; `closed` are (that end, nodes with it)."""
    ends = [0] * n_nodes
    for end, nodes in closed:
        for node in nodes:
            ends[node] = end
    return tuple(ends)


def _chunks(starts: Sequence[tuple[int, list[int]]], n_nodes: int) -> Iterator[Chunk]:
    """Cuts between sequences where they are short enough, else within them.

    Any cut is correct: in depth-first order all that a node attends to is an ancestor of the first
    node of its chunk, or in the chunk.
    """
    begin, ancestors = 0, list[int]()
    for (start, path), (end, _) in pairwise([*starts, (n_nodes, list[int]())]):
        new_subtree = len(path) < _MIN_PREFIX_TOKENS and start - begin >= _CHUNK_TOKENS // 2
        if start > begin and (end - begin > _CHUNK_TOKENS or new_subtree):
            yield Chunk(begin, start, tuple(ancestors))
            begin, ancestors = start, path
        elif start == begin:
            ancestors = path
        while end - begin > 2 * _CHUNK_TOKENS:
            yield Chunk(begin, begin + _CHUNK_TOKENS, tuple(ancestors))
            ancestors = [*ancestors, *range(begin, begin + _CHUNK_TOKENS)]
            begin += _CHUNK_TOKENS
    if n_nodes > begin:
        yield Chunk(begin, n_nodes, tuple(ancestors))
