"""Where a continuation begins among the tokens of a prompt that a server sent back as text."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from evalui.messages import sentence
from evalui.models.endpoint.responses import PromptToken, invalid_response
from evalui.types import Logprob

# The same token after the same text: in bfloat16 servers differ by so much between batches.
_LOGPROB_TOLERANCE = 0.5
REPLACEMENT_CHARACTER = "\ufffd"  # what a part of a character is shown as, whichever it is
MAX_MERGED_TOKENS = 3  # tokens at the end of a context that the first of a continuation may take in


@dataclass(frozen=True, slots=True)
class ContinuationSpan:
    """The tokens `begin` to `end` are the continuation; `merged` as in `Logprob`."""

    begin: int
    end: int
    merged: bool


def split_continuation(context: str, continuation: str) -> tuple[str, str]:
    """The two texts, the blanks at the end of the context moved to the continuation.

    As `tokens.encode_pairs` does it, which has the reasons.
    """
    left = context.rstrip()
    return left, context[len(left) :] + continuation


def span_by_text(places: Sequence[PromptToken], left: str, whole: str) -> ContinuationSpan | None:
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
    return ContinuationSpan(begin, last, merged=starts[begin] < seam)


def span_by_context(
    places: Sequence[PromptToken], context: Sequence[PromptToken]
) -> ContinuationSpan:
    """The seam by the tokens of the context alone: after the longest prefix in common.

    Raises:
        Faltered: the prefix ends too early for that, so the server has scored the same tokens
            differently, and nobody can tell which ones are the continuation's.
    """
    same = 0
    for whole, alone in zip(places, context, strict=False):
        if not _is_same_token(whole, alone):
            break
        same += 1
    if context and (same == 0 or same < len(context) - MAX_MERGED_TOKENS):
        raise invalid_response(sentence("error.endpoint-no-seam"))
    return ContinuationSpan(same, len(places), merged=same < len(context))


def score_span(places: Sequence[PromptToken], span: ContinuationSpan) -> Logprob | None:
    """The continuation's score; None if it has no token, or one of unknown probability."""
    own = places[span.begin : span.end]
    known = [place.logprob for place in own if place.logprob is not None]
    if not own or len(known) < len(own):
        return None
    greedy = all(place.is_top for place in own)
    return Logprob(math.fsum(known), len(own), greedy=greedy, merged=span.merged)


def _is_same_token(left: PromptToken, right: PromptToken) -> bool:
    if left.token != right.token or (left.logprob is None) != (right.logprob is None):
        return False
    if left.token and REPLACEMENT_CHARACTER not in left.token:
        return True
    # The text does not tell which token it is; its probability does.
    return math.isclose(left.logprob or 0.0, right.logprob or 0.0, abs_tol=_LOGPROB_TOLERANCE)
