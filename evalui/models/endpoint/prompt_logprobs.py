"""Where a continuation begins among the tokens of a prompt that a server sent back as text."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from evalui.messages import sentence
from evalui.models.endpoint.responses import Place, unusable
from evalui.types import Logprob

# The same token after the same text: in bfloat16 servers differ by so much between batches.
_SAME = 0.5
PART = "\ufffd"  # what a part of a character is shown as, whichever it is
LONGEST_MERGE = 3  # tokens at the end of a context that the first of a continuation may take in


@dataclass(frozen=True, slots=True)
class Seam:
    """The tokens `begin` to `end` are the continuation; `merged` as in `Logprob`."""

    begin: int
    end: int
    merged: bool


def split(context: str, continuation: str) -> tuple[str, str]:
    """The two texts, the blanks at the end of the context moved to the continuation.

    As `tokens.encode_pairs` does it, which has the reasons.
    """
    left = context.rstrip()
    return left, context[len(left) :] + continuation


def seam_by_text(places: Sequence[Place], left: str, whole: str) -> Seam | None:
    """The seam by the lengths of the tokens' texts; None if they do not spell the prompt.

    They do not where tokens are parts of characters, as often in Chinese.
    """
    joined = "".join(place.token for place in places)
    shift = joined.find(whole)  # after a begin-of-text token, say
    if shift < 0:
        return None
    seam, end = shift + len(left), shift + len(whole)
    starts = [0]
    for place in places:
        starts.append(starts[-1] + len(place.token))
    begin = next(
        (at for at in range(len(places)) if starts[at] >= seam or starts[at + 1] > seam), None
    )
    if begin is None:
        return None
    last = next((at for at in range(begin, len(places)) if starts[at] >= end), len(places))
    return Seam(begin, last, merged=starts[begin] < seam)


def seam_by_context(places: Sequence[Place], context: Sequence[Place]) -> Seam:
    """The seam by the tokens of the context alone: after the longest prefix in common.

    Raises:
        Faltered: the prefix ends too early for that, so the server has scored the same tokens
            differently, and nobody can tell which ones are the continuation's.
    """
    same = 0
    for whole, alone in zip(places, context, strict=False):
        if not _same(whole, alone):
            break
        same += 1
    if context and (same == 0 or same < len(context) - LONGEST_MERGE):
        raise unusable(sentence("error.endpoint-no-seam"))
    return Seam(same, len(places), merged=same < len(context))


def score(places: Sequence[Place], seam: Seam) -> Logprob | None:
    """The continuation's score; None if it has no token, or one of unknown probability."""
    own = places[seam.begin : seam.end]
    known = [place.logprob for place in own if place.logprob is not None]
    if not own or len(known) < len(own):
        return None
    greedy = all(place.first for place in own)
    return Logprob(math.fsum(known), len(own), greedy=greedy, merged=seam.merged)


def _same(left: Place, right: Place) -> bool:
    if left.token != right.token or (left.logprob is None) != (right.logprob is None):
        return False
    if left.token and PART not in left.token:
        return True
    # The text does not tell which token it is; its probability does.
    return math.isclose(left.logprob or 0.0, right.logprob or 0.0, abs_tol=_SAME)
