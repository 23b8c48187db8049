"""A language model that is a formula: how probable each token is after some others."""

import math
from collections.abc import Sequence

SIZE = 1600  # more tokens than the tokenizer of the tests has


def logprobs(tokens: Sequence[int]) -> list[float]:
    scores = [(tokens[-1] * 7 + len(tokens) * 3 + token * 17) % 97 / 10 for token in range(SIZE)]
    total = math.log(sum(map(math.exp, scores)))
    return [score - total for score in scores]


def best(tokens: Sequence[int]) -> int:
    found = logprobs(tokens)
    return found.index(max(found))
