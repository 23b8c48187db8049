"""The options of one question: the orders in which they are shown, and which one scores choose.

Ties in probability are never resolved by the order of the options (design rule 8).
"""

import itertools
import math
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache

from evalui.types import LETTERS, LabelProbs, Pattern, Reading, Variant

NORMALISATIONS = ("raw", "un", "ln_token", "ln_char", "ln_byte")


@cache
def variants(n_options: int, pattern: Pattern) -> tuple[Variant, ...]:
    """All orders of a pattern, the original one first.

    Their labels come in OpenCompass's order: ABCD, BCDA, CDAB, DABC for circular, and that of
    `itertools.permutations` for all_possible.
    """
    slots = range(n_options)
    if pattern == "origin":
        return (Variant(tuple(slots)),)
    if pattern == "circular":
        labels = [(*slots[shift:], *slots[:shift]) for shift in slots]
        return tuple(Variant(_inverse_permutation(label)) for label in labels)
    return tuple(Variant(_inverse_permutation(label)) for label in itertools.permutations(slots))


def count_variants(n_options: int, pattern: Pattern) -> int:
    """How many orders `variants` gives, without making them: 10 options have 3 628 800."""
    counts = {"origin": 1, "circular": n_options, "all_possible": math.factorial(n_options)}
    return counts[pattern]


def variant_label(variant: Variant) -> str:
    """The variant as OpenCompass writes it: its k-th letter is the slot that shows option k.

    "BCDA" shows option A in slot B, so the reader sees the options in the order D, A, B, C.
    """
    return "".join(LETTERS[slot] for slot in _inverse_permutation(variant.permutation))


def shown_options(choices: Sequence[str], variant: Variant) -> list[str]:
    """The options of a file in the order in which a variant shows them."""
    return [choices[content] for content in variant.permutation]


def pattern_of(orders: Iterable[Variant]) -> Pattern:
    """The pattern whose orders these are, or are among: rotations make a circular one."""
    moved = [order for order in orders if not order.is_origin]
    if not moved:
        return "origin"
    return "circular" if all(map(_is_rotation, moved)) else "all_possible"


def normalise_scores(
    texts: Sequence[str],
    *,
    totals: Sequence[float],
    tokens: Sequence[int] | None,
    unconditional: Sequence[float] | None,
) -> dict[str, tuple[float, ...]]:
    """The scores of one question's options by normalisation; the highest wins.

    `totals` are summed natural log-probabilities after the question, `unconditional` the same
    without it, `tokens` the number of tokens summed; a normalisation whose numbers are None is left
    out. `texts` are the options without the blank
    before them: lm-eval's `acc_norm` divides by `len(choice)` in characters (code points), its
    `acc_bytes` by the length in UTF-8, and neither counts the delimiter.
    """
    assert all(texts), "an option is never empty"
    assert tokens is None or min(tokens) > 0, "a continuation has at least one token"
    scores = {"raw": tuple(totals)}
    if unconditional is not None:
        scores["un"] = tuple(map(_log_ratio, totals, unconditional))
    if tokens is not None:
        scores["ln_token"] = tuple(total / n for total, n in zip(totals, tokens, strict=True))
    scores["ln_char"] = tuple(total / len(text) for total, text in zip(totals, texts, strict=True))
    scores["ln_byte"] = tuple(
        total / len(text.encode()) for total, text in zip(totals, texts, strict=True)
    )
    return scores


def reading_of_scores(scores: tuple[float, ...], target: int, rule: str) -> Reading:
    """The reading of an argmax over `scores` that never resolves a tie by position."""
    best = max(scores)
    if math.isnan(best) or best == -math.inf:
        return Reading(None, 0.0, "no-probability")
    top = [slot for slot, score in enumerate(scores) if score == best]
    if len(top) > 1:
        return Reading.of_tie(top, target)
    return _reading(top[0], float(top[0] == target), rule)


def label_probs(
    totals: tuple[float, ...], greedy: Sequence[bool], *, truncated: bool = False
) -> LabelProbs:
    """What scored letters say: their natural log-probabilities, and which would be written."""
    return LabelProbs(
        totals,
        mass=min(1.0, math.fsum(map(math.exp, totals))),
        top_token="".join(
            [letter for letter, is_top in zip(LETTERS, greedy, strict=False) if is_top]
        ),
        truncated=truncated,
    )


def _inverse_permutation(permutation: Sequence[int]) -> tuple[int, ...]:
    return tuple(sorted(range(len(permutation)), key=permutation.__getitem__))


def _is_rotation(order: Variant) -> bool:
    size = len(order.permutation)
    return len({(content - slot) % size for slot, content in enumerate(order.permutation)}) == 1


# A run has few different readings and many trials, which then share them.
_reading = lru_cache(maxsize=1024)(Reading)


def _log_ratio(total: float, unconditional: float) -> float:
    # Impossible with the question stays impossible: -inf minus -inf would be no number at all.
    return total if total == -math.inf else total - unconditional
