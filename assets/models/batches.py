"""Lessons as batches of tokens, all about equally large."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import torch
from lessons import Lesson
from transformers import PreTrainedTokenizerFast

IGNORED = -100  # cross_entropy's own mark for positions that do not count

TOKENS_PER_BATCH = 1900
# Lessons are sorted by length within a pool, so that little is padding.
BATCHES_PER_POOL, LESSONS_AT_A_TIME = 8, 64


@dataclass(frozen=True, slots=True)
class Encoded:
    """A lesson as tokens.

    `targets[i]` is `ids[i]` where that is an answer; `thoughts[i]` is the word an answer stands
    for, where its last token is `ids[i]`. Both are IGNORED elsewhere.
    """

    ids: list[int]
    targets: list[int]
    thoughts: list[int]


@dataclass(frozen=True, slots=True)
class Batch:
    """Lessons padded to one length; each tensor is (lessons, tokens)."""

    inputs: torch.Tensor
    targets: torch.Tensor
    thoughts: torch.Tensor


def stream(
    tokenizer: PreTrainedTokenizerFast, lesson_at: Callable[[int], Lesson], rng: random.Random
) -> Iterator[Batch]:
    """Batches without end, in random order; `lesson_at` gives a lesson for the step of its pool."""
    step = 0
    while True:
        pool: list[Encoded] = []
        budget = BATCHES_PER_POOL * TOKENS_PER_BATCH
        while sum(len(lesson.ids) for lesson in pool) < budget:
            pool += encode(tokenizer, [lesson_at(step + 1) for _ in range(LESSONS_AT_A_TIME)])
        groups = _grouped(sorted(pool, key=lambda lesson: -len(lesson.ids)))
        rng.shuffle(groups)
        for group in groups:
            step += 1
            yield _padded(group, tokenizer.pad_token_id)


def encode(tokenizer: PreTrainedTokenizerFast, lessons: Sequence[Lesson]) -> list[Encoded]:
    """Each lesson as tokens, ended by the token that ends a turn."""
    pieces = [piece for lesson in lessons for piece in lesson]
    tokens = iter(tokenizer([piece.text for piece in pieces]).input_ids)
    encoded: list[Encoded] = []
    for lesson in lessons:
        ids: list[int] = []
        targets: list[int] = []
        thoughts: list[int] = []
        for piece in lesson:
            part = next(tokens)
            ids += part
            targets += part if piece.taught else [IGNORED] * len(part)
            thoughts += [IGNORED] * len(part)
            if piece.meant:
                (thoughts[-1],) = tokenizer(piece.meant).input_ids
        end = tokenizer.eos_token_id
        encoded.append(Encoded([*ids, end], [*targets, end], [*thoughts, IGNORED]))
    return encoded


def _grouped(pool: Sequence[Encoded]) -> list[list[Encoded]]:
    """Neighbours in length together, each group within the token budget; longest come first."""
    groups: list[list[Encoded]] = [[]]
    for lesson in pool:
        group = groups[-1]
        if group and (len(group) + 1) * len(group[0].ids) > TOKENS_PER_BATCH:
            groups.append([])
        groups[-1].append(lesson)
    return groups[:-1]  # the last is not full


def _padded(group: Sequence[Encoded], padding: int) -> Batch:
    """The lessons as tensors, padded on the right, where a causal model never looks from."""
    return Batch(
        _rectangle([lesson.ids for lesson in group], padding),
        _rectangle([lesson.targets for lesson in group], IGNORED),
        _rectangle([lesson.thoughts for lesson in group], IGNORED),
    )


def _rectangle(rows: Sequence[list[int]], filler: int) -> torch.Tensor:
    width = max(map(len, rows))
    return torch.tensor([row + [filler] * (width - len(row)) for row in rows])
