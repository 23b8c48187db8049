"""Which tokens a network must compute, each once: questions in, packs of token tries out.

Pure planning, apart from torch. What many questions begin with is their trunk: it is computed
before them, kept by whoever computes, and never packed.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from evalui.models.scoring_requests import LogprobQuery, TokenIds
from evalui.models.tokenization import common_prefix_length

# A trunk must spare at least so many tokens, since each one asks for batches of its own ...
_MIN_PREFIX_TOKENS = 16
# ... and have enough beyond it to fill them: so many tokens, or fewer in a small window.
_MIN_SUFFIX_TOKENS, _MIN_SUFFIX_TOKENS_SMALL, _SMALL_WINDOW_DIVISOR = 1024, 128, 8
# Every piece of a pack gathers its whole path, which is dear for so many tokens: a trunk is not
# gathered, and takes memory in proportion to its length, so it is worth it for one text alone.
_LONG_PREFIX_TOKENS = 2048
# Attention is dense within a piece: wider ones compute more in vain, narrower ones call more.
_CHUNK_TOKENS = 128


@dataclass(frozen=True, slots=True)
class Chunk:
    """Nodes `begin` to `end` of a batch. They attend to each other and to `ancestors`."""

    begin: int
    end: int
    ancestors: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TreeBatch:
    """One forward pass over tries that all hang on `prefix`, in depth-first order.

    For each node: its token, its position in every text that goes through it, and `subtree_ends`,
    one past its last descendant. So node k is seen from node q if k <= q < ends[k]. `logit_nodes`
    are the nodes where the distribution of the next token is needed, `lookups` and `query_slices`
    as in `Batch`. The first `cacheable_length` tokens of the trunk may serve other calls.
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
    """A distinct row of tokens, all the questions about it, and its shortest prefix asked for.

    `sort_index` is its place in lexicographic order, `shared_with_previous` what it shares with the
    one before.
    """

    tokens: TokenIds
    queries: tuple[LogprobQuery, ...]
    shortest_query: int
    sort_index: int = 0
    shared_with_previous: int = 0

    @property
    def n_logit_rows(self) -> int:
        return len({length for question in self.queries for length, _ in question.targets})


@dataclass(frozen=True, slots=True)
class _Subtree:
    """Texts that share more than their trunk, and the tokens they have beyond it."""

    sequences: tuple[_TokenSequence, ...]
    n_tokens: int


def plan_tree_batches(
    queries: Sequence[LogprobQuery],
    *,
    cached_prefixes: Iterable[TokenIds] = (),
    token_budget: int,
    max_logit_rows: int,
) -> Iterator[TreeBatch]:
    """Packs that answer every question once, the largest tries of each trunk first.

    `cached_prefixes` are trunks that need no computing, in whole or in part. A pack has at most
    `token_budget` nodes and `max_logit_rows` places, or a single text. Texts that share a beginning
    meet in one pack unless the budget parts them. Trunks that stand on the same one follow each
    other.
    """
    texts = _sequences(queries)
    groups: dict[tuple[TokenIds, int], list[_TokenSequence]] = {}
    for text, (length, lasting) in zip(
        texts, _prefix_lengths(texts, tuple(cached_prefixes)), strict=True
    ):
        groups.setdefault((text.tokens[:length], lasting), []).append(text)
    for (trunk, lasting), members in groups.items():
        units = sorted(_subtrees(members, len(trunk)), key=lambda unit: -unit.n_tokens)
        for taken in _split_by_budget(units, len(trunk), token_budget, max_logit_rows):
            yield _build_batch(trunk, taken, lasting)


def linear_batch(tokens: TokenIds, begin: int) -> TreeBatch:
    """The pack that computes `tokens` from number `begin` on, after those before as its trunk."""
    text = _TokenSequence(tokens, (), len(tokens))
    return _build_batch(tokens[:begin], [text], 0)


def _sequences(questions: Sequence[LogprobQuery]) -> list[_TokenSequence]:
    """The distinct rows in lexicographic order: the depth-first order of their trie."""
    rows: dict[TokenIds, list[LogprobQuery]] = {}
    for question in questions:
        rows.setdefault(question.tokens, []).append(question)
    texts: list[_TokenSequence] = []
    for row in sorted(rows):
        first = min((n for question in rows[row] for n, _ in question.targets), default=len(row))
        seam = common_prefix_length(texts[-1].tokens, row) if texts else 0
        texts.append(_TokenSequence(row, tuple(rows[row]), first, len(texts), seam))
    return texts


def _shared_length(left: _TokenSequence, right: _TokenSequence) -> int:
    """How many tokens two texts share; neighbours know it already."""
    if right.sort_index == left.sort_index + 1:
        return right.shared_with_previous
    return common_prefix_length(left.tokens, right.tokens)


def _prefix_lengths(
    texts: Sequence[_TokenSequence], kept: Sequence[TokenIds]
) -> list[tuple[int, int]]:
    """How many tokens of each text belong to its trunk, and how many of those last.

    Goes down the trie from the root and cuts where enough tokens are spared, so that a trunk may
    stand on another.
    """
    lengths = np.array([len(text.tokens) for text in texts])
    # What is read must be computed, so it cannot lie in a trunk.
    caps = np.array([text.shortest_query - 1 for text in texts])
    shared = np.array([text.shared_with_previous for text in texts])
    fresh = np.concatenate([[0], np.cumsum(lengths - shared)])  # tokens new in the texts before
    heads = _index_by_head(kept)
    found = [(0, 0)] * len(texts)
    open_ = [(0, len(texts), 0, 0)] if texts else []
    while open_:
        begin, end, base, lasting = open_.pop()
        seam = int(shared[begin + 1 : end].min()) if end > begin + 1 else int(lengths[begin])
        length = min(seam, int(caps[begin:end].min()))
        beyond = int(fresh[end] - fresh[begin] + shared[begin]) - length
        known = _cached_length(texts[begin].tokens[:length], heads)
        worth = (
            _is_worth_caching(beyond, int(fresh[-1]), end - begin)
            or length - base >= _LONG_PREFIX_TOKENS
        )
        deeper = end > begin + 1 and (worth or known == length)
        if not worth or length - known < _MIN_PREFIX_TOKENS:
            length = known
        if length - base >= _MIN_PREFIX_TOKENS:
            base, lasting = length, _cacheable_length(length, lasting, end - begin)
            found[begin:end] = [(base, lasting)] * (end - begin)
        if deeper:
            cuts = [begin, *(begin + 1 + np.flatnonzero(shared[begin + 1 : end] == seam)), end]
            open_ += [(int(a), int(b), base, lasting) for a, b in pairwise(cuts)]
    return found


def _is_worth_caching(beyond: int, total: int, texts: int) -> bool:
    few = max(_MIN_SUFFIX_TOKENS_SMALL, total // _SMALL_WINDOW_DIVISOR)
    return texts > 1 and beyond >= min(_MIN_SUFFIX_TOKENS, few)


def _cacheable_length(length: int, above: int, texts: int) -> int:
    """How much of a trunk may serve other calls; `above`: of the one it stands on.

    Examples follow an instruction and are longer, so they last. A question stands on examples and
    is shorter: it is over with its call, and would be kept with a copy of the examples.
    """
    return length if texts > 1 and length >= 2 * above else above


def _index_by_head(kept: Sequence[TokenIds]) -> dict[TokenIds, list[TokenIds]]:
    heads: dict[TokenIds, list[TokenIds]] = {}
    for trunk in kept:
        heads.setdefault(trunk[:_MIN_PREFIX_TOKENS], []).append(trunk)
    return heads


def _cached_length(tokens: TokenIds, heads: dict[TokenIds, list[TokenIds]]) -> int:
    """How many tokens some kept trunk shares, 0 if they are not worth it."""
    return max(
        (
            common_prefix_length(tokens, trunk)
            for trunk in heads.get(tokens[:_MIN_PREFIX_TOKENS], ())
        ),
        default=0,
    )


def _subtrees(texts: Sequence[_TokenSequence], trunk: int) -> Iterator[_Subtree]:
    taken: list[_TokenSequence] = []
    size = 0
    for text in texts:
        seam = _shared_length(taken[-1], text) if taken else trunk
        if taken and seam - trunk < _MIN_PREFIX_TOKENS:
            yield _Subtree(tuple(taken), size)
            taken, size, seam = [], 0, trunk
        taken.append(text)
        size += len(text.tokens) - seam
    if taken:
        yield _Subtree(tuple(taken), size)


def _split_by_budget(
    units: Sequence[_Subtree], trunk: int, token_budget: int, place_budget: int
) -> Iterator[list[_TokenSequence]]:
    """Texts for one pack after another. A unit too large for any is parted."""
    taken: list[_TokenSequence] = []
    tokens = places = 0
    for unit in units:
        if taken and tokens + unit.n_tokens > token_budget:
            yield taken
            taken, tokens, places = [], 0, 0
        last: _TokenSequence | None = None
        for text in unit.sequences:
            new = len(text.tokens) - (_shared_length(last, text) if last else trunk)
            if taken and (tokens + new > token_budget or places + text.n_logit_rows > place_budget):
                yield taken
                taken, tokens, places = [], 0, 0
                new = len(text.tokens) - trunk
            taken.append(text)
            tokens += new
            places += text.n_logit_rows
            last = text
    if taken:
        yield taken


def _build_batch(trunk: TokenIds, texts: Sequence[_TokenSequence], lasting: int) -> TreeBatch:
    """The trie of the texts, each node once."""
    texts = sorted(texts, key=lambda text: text.sort_index)
    base = len(trunk)
    tokens: list[int] = []
    positions: list[int] = []
    path: list[int] = []  # the nodes of the text at hand
    steps: list[tuple[int, list[int]]] = []  # where each text's own nodes begin, and what is above
    closed: list[tuple[int, list[int]]] = []
    places: dict[int, int] = {}
    asked: list[tuple[int, int]] = []
    answers: list[tuple[LogprobQuery, slice]] = []
    last: _TokenSequence | None = None
    for text in texts:
        seam = _shared_length(last, text) if last else base
        start = len(tokens)
        closed.append((start, path[seam - base :]))
        path = path[: seam - base]
        steps.append((start, path))
        own = text.tokens[seam:]
        tokens += own
        positions += range(seam, len(text.tokens))
        path = path + list(range(start, start + len(own)))
        last = text
        for question in text.queries:
            begin = len(asked)
            for length, ids in question.targets:
                place = places.setdefault(path[length - 1 - base], len(places))
                asked += [(place, token) for token in ids]
            answers.append((question, slice(begin, len(asked))))
    closed.append((len(tokens), path))
    return TreeBatch(
        trunk,
        lasting,
        tuple(tokens),
        tuple(positions),
        _subtree_ends(len(tokens), closed),
        tuple(_chunks(steps, len(tokens))),
        tuple(places),
        tuple(asked),
        tuple(answers),
    )


def _subtree_ends(nodes: int, closed: Sequence[tuple[int, list[int]]]) -> tuple[int, ...]:
    ends = [0] * nodes
    for end, done in closed:
        for node in done:
            ends[node] = end
    return tuple(ends)


def _chunks(steps: Sequence[tuple[int, list[int]]], nodes: int) -> Iterator[Chunk]:
    """Cuts between texts where they are short enough, else within them.

    Any cut will do: in depth-first order whatever a node sees is on the path above the first node
    of its piece, or in the piece.
    """
    begin, above = 0, list[int]()
    for (start, path), (stop, _) in pairwise([*steps, (nodes, list[int]())]):
        fresh_unit = len(path) < _MIN_PREFIX_TOKENS and start - begin >= _CHUNK_TOKENS // 2
        if start > begin and (stop - begin > _CHUNK_TOKENS or fresh_unit):
            yield Chunk(begin, start, tuple(above))
            begin, above = start, path
        elif start == begin:
            above = path
        while stop - begin > 2 * _CHUNK_TOKENS:
            yield Chunk(begin, begin + _CHUNK_TOKENS, tuple(above))
            above = [*above, *range(begin, begin + _CHUNK_TOKENS)]
            begin += _CHUNK_TOKENS
    if nodes > begin:
        yield Chunk(begin, nodes, tuple(above))
