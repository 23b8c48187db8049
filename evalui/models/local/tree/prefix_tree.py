"""Which tokens a network must compute, each once: questions in, packs of token tries out.

Pure planning, apart from torch. What many questions begin with is their trunk: it is computed
before them, kept by whoever computes, and never packed.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from evalui.models.logprob_queries import Question, Tokens, common

# A trunk must spare at least so many tokens, since each one asks for batches of its own ...
_WORTH = 16
# ... and have enough beyond it to fill them: so many tokens, or fewer in a small window.
_BEYOND, _BEYOND_SMALL, _SHARE = 1024, 128, 8
# Every piece of a pack gathers its whole path, which is dear for so many tokens: a trunk is not
# gathered, and takes memory in proportion to its length, so it is worth it for one text alone.
_LONG = 2048
# Attention is dense within a piece: wider ones compute more in vain, narrower ones call more.
_PIECE = 128


@dataclass(frozen=True, slots=True)
class Piece:
    """Nodes `begin` to `end` of a pack. What they see is among them, or on `path` above them."""

    begin: int
    end: int
    path: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Pack:
    """One forward pass over tries that all hang on `trunk`, in depth-first order.

    For each node: its token, its position in every text that goes through it, and `ends`, one
    past its last descendant. So node k is seen from node q if k <= q < ends[k]. `places` are the
    nodes where the distribution of the next token is needed, `asked` and `answers` as in `Batch`.
    The first `lasting` tokens of the trunk may serve other calls.
    """

    trunk: Tokens
    lasting: int
    tokens: Tokens
    positions: tuple[int, ...]
    ends: tuple[int, ...]
    pieces: tuple[Piece, ...]
    places: tuple[int, ...]
    asked: tuple[tuple[int, int], ...]
    answers: tuple[tuple[Question, slice], ...]


@dataclass(frozen=True, slots=True)
class _Text:
    """A distinct row of tokens, all the questions about it, and its shortest prefix asked for.

    `number` is its place in lexicographic order, `seam` what it shares with the one before.
    """

    tokens: Tokens
    questions: tuple[Question, ...]
    first: int
    number: int = 0
    seam: int = 0

    @property
    def places(self) -> int:
        return len({length for question in self.questions for length, _ in question.wanted})


@dataclass(frozen=True, slots=True)
class _Unit:
    """Texts that share more than their trunk, and the tokens they have beyond it."""

    texts: tuple[_Text, ...]
    size: int


def plan_tree(
    questions: Sequence[Question],
    *,
    kept: Iterable[Tokens] = (),
    token_budget: int,
    place_budget: int,
) -> Iterator[Pack]:
    """Packs that answer every question once, the largest tries of each trunk first.

    `kept` are trunks that need no computing, in whole or in part. A pack has at most
    `token_budget` nodes and `place_budget` places, or a single text. Texts that share a beginning
    meet in one pack unless the budget parts them. Trunks that stand on the same one follow each
    other.
    """
    texts = _texts(questions)
    groups: dict[tuple[Tokens, int], list[_Text]] = {}
    for text, (length, lasting) in zip(texts, _trunks(texts, tuple(kept)), strict=True):
        groups.setdefault((text.tokens[:length], lasting), []).append(text)
    for (trunk, lasting), members in groups.items():
        units = sorted(_units(members, len(trunk)), key=lambda unit: -unit.size)
        for taken in _filled(units, len(trunk), token_budget, place_budget):
            yield _pack(trunk, taken, lasting)


def chain(tokens: Tokens, begin: int) -> Pack:
    """The pack that computes `tokens` from number `begin` on, after those before as its trunk."""
    text = _Text(tokens, (), len(tokens))
    return _pack(tokens[:begin], [text], 0)


def _texts(questions: Sequence[Question]) -> list[_Text]:
    """The distinct rows in lexicographic order: the depth-first order of their trie."""
    rows: dict[Tokens, list[Question]] = {}
    for question in questions:
        rows.setdefault(question.tokens, []).append(question)
    texts: list[_Text] = []
    for row in sorted(rows):
        first = min((n for question in rows[row] for n, _ in question.wanted), default=len(row))
        seam = common(texts[-1].tokens, row) if texts else 0
        texts.append(_Text(row, tuple(rows[row]), first, len(texts), seam))
    return texts


def _seam(left: _Text, right: _Text) -> int:
    """How many tokens two texts share; neighbours know it already."""
    if right.number == left.number + 1:
        return right.seam
    return common(left.tokens, right.tokens)


def _trunks(texts: Sequence[_Text], kept: Sequence[Tokens]) -> list[tuple[int, int]]:
    """How many tokens of each text belong to its trunk, and how many of those last.

    Goes down the trie from the root and cuts where enough tokens are spared, so that a trunk may
    stand on another.
    """
    lengths = np.array([len(text.tokens) for text in texts])
    # What is read must be computed, so it cannot lie in a trunk.
    caps = np.array([text.first - 1 for text in texts])
    shared = np.array([text.seam for text in texts])
    fresh = np.concatenate([[0], np.cumsum(lengths - shared)])  # tokens new in the texts before
    heads = _by_head(kept)
    found = [(0, 0)] * len(texts)
    open_ = [(0, len(texts), 0, 0)] if texts else []
    while open_:
        begin, end, base, lasting = open_.pop()
        seam = int(shared[begin + 1 : end].min()) if end > begin + 1 else int(lengths[begin])
        length = min(seam, int(caps[begin:end].min()))
        beyond = int(fresh[end] - fresh[begin] + shared[begin]) - length
        known = _known(texts[begin].tokens[:length], heads)
        worth = _worth(beyond, int(fresh[-1]), end - begin) or length - base >= _LONG
        deeper = end > begin + 1 and (worth or known == length)
        if not worth or length - known < _WORTH:
            length = known
        if length - base >= _WORTH:
            base, lasting = length, _lasting(length, lasting, end - begin)
            found[begin:end] = [(base, lasting)] * (end - begin)
        if deeper:
            cuts = [begin, *(begin + 1 + np.flatnonzero(shared[begin + 1 : end] == seam)), end]
            open_ += [(int(a), int(b), base, lasting) for a, b in pairwise(cuts)]
    return found


def _worth(beyond: int, total: int, texts: int) -> bool:
    few = max(_BEYOND_SMALL, total // _SHARE)
    return texts > 1 and beyond >= min(_BEYOND, few)


def _lasting(length: int, above: int, texts: int) -> int:
    """How much of a trunk may serve other calls; `above`: of the one it stands on.

    Examples follow an instruction and are longer, so they last. A question stands on examples and
    is shorter: it is over with its call, and would be kept with a copy of the examples.
    """
    return length if texts > 1 and length >= 2 * above else above


def _by_head(kept: Sequence[Tokens]) -> dict[Tokens, list[Tokens]]:
    heads: dict[Tokens, list[Tokens]] = {}
    for trunk in kept:
        heads.setdefault(trunk[:_WORTH], []).append(trunk)
    return heads


def _known(tokens: Tokens, heads: dict[Tokens, list[Tokens]]) -> int:
    """How many tokens some kept trunk shares, 0 if they are not worth it."""
    return max((common(tokens, trunk) for trunk in heads.get(tokens[:_WORTH], ())), default=0)


def _units(texts: Sequence[_Text], trunk: int) -> Iterator[_Unit]:
    taken: list[_Text] = []
    size = 0
    for text in texts:
        seam = _seam(taken[-1], text) if taken else trunk
        if taken and seam - trunk < _WORTH:
            yield _Unit(tuple(taken), size)
            taken, size, seam = [], 0, trunk
        taken.append(text)
        size += len(text.tokens) - seam
    if taken:
        yield _Unit(tuple(taken), size)


def _filled(
    units: Sequence[_Unit], trunk: int, token_budget: int, place_budget: int
) -> Iterator[list[_Text]]:
    """Texts for one pack after another. A unit too large for any is parted."""
    taken: list[_Text] = []
    tokens = places = 0
    for unit in units:
        if taken and tokens + unit.size > token_budget:
            yield taken
            taken, tokens, places = [], 0, 0
        last: _Text | None = None
        for text in unit.texts:
            new = len(text.tokens) - (_seam(last, text) if last else trunk)
            if taken and (tokens + new > token_budget or places + text.places > place_budget):
                yield taken
                taken, tokens, places = [], 0, 0
                new = len(text.tokens) - trunk
            taken.append(text)
            tokens += new
            places += text.places
            last = text
    if taken:
        yield taken


def _pack(trunk: Tokens, texts: Sequence[_Text], lasting: int) -> Pack:
    """The trie of the texts, each node once."""
    texts = sorted(texts, key=lambda text: text.number)
    base = len(trunk)
    tokens: list[int] = []
    positions: list[int] = []
    path: list[int] = []  # the nodes of the text at hand
    steps: list[tuple[int, list[int]]] = []  # where each text's own nodes begin, and what is above
    closed: list[tuple[int, list[int]]] = []
    places: dict[int, int] = {}
    asked: list[tuple[int, int]] = []
    answers: list[tuple[Question, slice]] = []
    last: _Text | None = None
    for text in texts:
        seam = _seam(last, text) if last else base
        start = len(tokens)
        closed.append((start, path[seam - base :]))
        path = path[: seam - base]
        steps.append((start, path))
        own = text.tokens[seam:]
        tokens += own
        positions += range(seam, len(text.tokens))
        path = path + list(range(start, start + len(own)))
        last = text
        for question in text.questions:
            begin = len(asked)
            for length, ids in question.wanted:
                place = places.setdefault(path[length - 1 - base], len(places))
                asked += [(place, token) for token in ids]
            answers.append((question, slice(begin, len(asked))))
    closed.append((len(tokens), path))
    return Pack(
        trunk,
        lasting,
        tuple(tokens),
        tuple(positions),
        _ends(len(tokens), closed),
        tuple(_pieces(steps, len(tokens))),
        tuple(places),
        tuple(asked),
        tuple(answers),
    )


def _ends(nodes: int, closed: Sequence[tuple[int, list[int]]]) -> tuple[int, ...]:
    ends = [0] * nodes
    for end, done in closed:
        for node in done:
            ends[node] = end
    return tuple(ends)


def _pieces(steps: Sequence[tuple[int, list[int]]], nodes: int) -> Iterator[Piece]:
    """Cuts between texts where they are short enough, else within them.

    Any cut will do: in depth-first order whatever a node sees is on the path above the first node
    of its piece, or in the piece.
    """
    begin, above = 0, list[int]()
    for (start, path), (stop, _) in pairwise([*steps, (nodes, list[int]())]):
        fresh_unit = len(path) < _WORTH and start - begin >= _PIECE // 2
        if start > begin and (stop - begin > _PIECE or fresh_unit):
            yield Piece(begin, start, tuple(above))
            begin, above = start, path
        elif start == begin:
            above = path
        while stop - begin > 2 * _PIECE:
            yield Piece(begin, begin + _PIECE, tuple(above))
            above = [*above, *range(begin, begin + _PIECE)]
            begin += _PIECE
    if nodes > begin:
        yield Piece(begin, nodes, tuple(above))
