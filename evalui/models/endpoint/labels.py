"""From a list of the most probable tokens to the probabilities of labels, without guessing.

A label that is not in the list has some probability all the same. It cannot be more than what the
list leaves over, nor can one spelling of it be more probable than the last token listed. Only the
first of these holds where the list is shorter than it should be: completions list tokens by their
texts, and of two with the same text, such as "A" with its blank left out and "A", one is lost.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from evalui.models.endpoint.responses import TopLogprob
from evalui.models.tokenization import spellings_among
from evalui.types import LabelProbs


@dataclass(frozen=True, slots=True)
class _ProbabilityRange:
    """The probability of a label: at least what is listed, at most what may be missing more."""

    low: float
    high: float

    @property
    def value(self) -> float:
        return self.low or self.high


def label_probs(
    listed: Sequence[TopLogprob], labels: Sequence[str], *, complete: int = 0
) -> LabelProbs:
    """The labels' log-probabilities, as far as the list of tokens, best first, decides them.

    `complete` is how many tokens a list has of which none was lost, 0 if none can be.

    The spellings of a label are summed. A label that is not listed gets the most it can have;
    where that leaves open which label is the best, those in question get the same value, which
    every reading treats as a tie. If no label is listed, nothing is known of any: all are -inf.
    """
    spelt = spellings_among([each.token for each in listed])
    lost = len(listed) < complete
    found = [_probability_range(listed, label, spelt.get(label, ()), lost=lost) for label in labels]
    best = max(each.low for each in found)
    mass = min(1.0, math.fsum(each.low for each in found))
    if best == 0:
        return LabelProbs(tuple(-math.inf for _ in labels), mass, listed[0].token)
    rivals = sum(each.high >= best for each in found)
    values = [best if rivals > 1 and each.high >= best else each.value for each in found]
    return LabelProbs(tuple(_log(value) for value in values), mass, listed[0].token)


def _probability_range(
    listed: Sequence[TopLogprob], label: str, places: Sequence[int], *, lost: bool
) -> _ProbabilityRange:
    """`places` are those of the label's spellings in the list; `lost`: it may have had more."""
    least = math.fsum(math.exp(listed[place].logprob) for place in places)
    rest = max(0.0, 1.0 - math.fsum(math.exp(each.logprob) for each in listed))
    if lost:
        return _ProbabilityRange(least, least + rest)
    # Two spellings are common, with a space and without; others are rare enough to be left out.
    missing = {label, f" {label}"} - {each.token for each in listed}
    lowest = math.exp(min(each.logprob for each in listed))
    return _ProbabilityRange(least, least + min(rest, len(missing) * lowest))


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf
