"""What a network is to compute: token ids in, batches out.

Knows neither texts nor torch, so that a smarter plan can take its place without either.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

TokenIds = tuple[int, ...]
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


def common_prefix_length(left: TokenIds | str, right: TokenIds | str) -> int:
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
