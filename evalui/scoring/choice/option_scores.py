"""Scores of a question's options: normalised log-probabilities, and which option they choose.

Ties in probability are never resolved by the order of the options (design rule 8).
"""

import math
from collections.abc import Sequence
from functools import lru_cache

from evalui.types import LETTERS, LabelProbs, Reading

NORMALISATIONS = ("raw", "un", "ln_token", "ln_char", "ln_byte")


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


# A run has few different readings and many trials, which then share them.
_reading = lru_cache(maxsize=1024)(Reading)


def _log_ratio(total: float, unconditional: float) -> float:
    # Impossible with the question stays impossible: -inf minus -inf would be no number at all.
    return total if total == -math.inf else total - unconditional


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
