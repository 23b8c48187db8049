"""What a network is to compute: token ids in, batches out.

Knows neither texts nor torch, so that a smarter plan can take its place without either.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

Tokens = tuple[int, ...]
ENDLESS = 2**31  # more tokens than any text has


@dataclass(frozen=True, slots=True)
class Question:
    """After each prefix of `tokens` named in `wanted`, how probable are these token ids?

    `wanted` is (length of the prefix, ids). `key` is the asker's own.
    """

    key: int
    tokens: Tokens
    wanted: tuple[tuple[int, Tokens], ...]


@dataclass(frozen=True, slots=True)
class Batch:
    """One forward pass.

    `rows` are the token ids, of unequal lengths. `places` are the (row, column) pairs where the
    distribution of the next token is needed, `asked` the (place, token id) pairs to look up
    there. `answers` says for each question which of `asked` are its own, in its own order.
    """

    rows: tuple[Tokens, ...]
    places: tuple[tuple[int, int], ...]
    asked: tuple[tuple[int, int], ...]
    answers: tuple[tuple[Question, slice], ...]


def scored(key: int, context: Tokens, continuation: Tokens) -> Question:
    """The question that scores a continuation: each of its tokens after all before it."""
    tokens = context + continuation[:-1]
    wanted = ((len(context) + place, (token,)) for place, token in enumerate(continuation))
    return Question(key, tokens, tuple(wanted))


def plan(
    questions: Sequence[Question], *, token_budget: int, place_budget: int, steady: int = ENDLESS
) -> Iterator[Batch]:
    """Batches of rows of similar length, the longest first, each distinct row once.

    A batch has at most `token_budget` padded tokens and `place_budget` places, or one row, as has
    one longer than `steady`. Questions with the same tokens share their row, as the letters of
    one prompt do.
    """
    rows: dict[Tokens, list[Question]] = {}
    for question in questions:
        rows.setdefault(question.tokens, []).append(question)
    taken: dict[Tokens, list[Question]] = {}
    width = places = 0
    # Longest first: a batch that does not fit the device fails at once and not at the end.
    for tokens in sorted(rows, key=lambda row: (-len(row), row)):
        needs = len({length for question in rows[tokens] for length, _ in question.wanted})
        full = (len(taken) + 1) * width > token_budget or places + needs > place_budget
        if taken and (full or width > steady):
            yield _batch(taken)
            taken, places = {}, 0
        width = width if taken else len(tokens)
        taken[tokens] = rows[tokens]
        places += needs
    if taken:
        yield _batch(taken)


def common(left: Tokens | str, right: Tokens | str) -> int:
    """The length of the longest common prefix."""
    low, high = 0, min(len(left), len(right))
    # Comparing slices runs in C, and most pairs share much: halving beats a loop over tokens.
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def chunks(
    lengths: Sequence[int], *, token_budget: int, steady: int = ENDLESS
) -> Iterator[list[int]]:
    """Indices of `lengths`, longest first, in groups of at most `token_budget` padded tokens.

    What is longer than `steady` is a group of its own.
    """
    group: list[int] = []
    for index in sorted(range(len(lengths)), key=lambda index: -lengths[index]):
        longest = lengths[group[0]] if group else 0
        if group and ((len(group) + 1) * longest > token_budget or longest > steady):
            yield group
            group = []
        group.append(index)
    if group:
        yield group


def _batch(rows: Mapping[Tokens, Sequence[Question]]) -> Batch:
    places: dict[tuple[int, int], int] = {}
    asked: list[tuple[int, int]] = []
    answers: list[tuple[Question, slice]] = []
    for row, questions in enumerate(rows.values()):
        for question in questions:
            begin = len(asked)
            for length, ids in question.wanted:
                place = places.setdefault((row, length - 1), len(places))
                asked.extend((place, token) for token in ids)
            answers.append((question, slice(begin, len(asked))))
    return Batch(tuple(rows), tuple(places), tuple(asked), tuple(answers))
