"""The score of a continuation among the tokens of a prompt that a server scored.

Completions send the tokens back as texts (`echo`). vLLM's chat scores the tokens of whatever its
template makes of the turns (`prompt_logprobs`), and can leave the last turn open; which tokens are
the reply's shows beside the conversation alone.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from evalui.messages import sentence
from evalui.models.endpoint.failures import RejectedError
from evalui.models.endpoint.json_values import Json, as_list, as_object, token_count
from evalui.models.endpoint.responses import MAX_ID_DIGITS, PromptToken, invalid_response, read_row
from evalui.types import Logprob

# The same token after the same text: in bfloat16 servers differ by so much between batches.
_LOGPROB_TOLERANCE = 0.5
REPLACEMENT_CHARACTER = "\ufffd"  # what a part of a character is shown as, whichever it is
MAX_MERGED_TOKENS = 3  # tokens at the end of a context that the first of a continuation may take in
SCORE_PROMPT_FIELDS: Json = {"prompt_logprobs": 0}
# The reply is no turn of its own but one that is being written.
CONTINUE_REPLY_FIELDS: Json = {"add_generation_prompt": False, "continue_final_message": True}


@dataclass(frozen=True, slots=True)
class ContinuationSpan:
    """The tokens `begin` to `end` are the continuation; `merged` as in `Logprob`."""

    begin: int
    end: int
    merged: bool


def split_continuation(context: str, continuation: str) -> tuple[str, str]:
    """The two texts, the blanks at the end of the context moved to the continuation.

    As `tokenization.encode_pairs` does it, which has the reasons.
    """
    left = context.rstrip()
    return left, context[len(left) :] + continuation


def span_by_text(places: Sequence[PromptToken], left: str, whole: str) -> ContinuationSpan | None:
    """The seam by the lengths of the tokens' texts; None if they do not spell the prompt.

    They do not where tokens are parts of characters, as often in Chinese.
    """
    joined = "".join(place.token for place in places)
    shift = joined.find(whole)  # behind a begin-of-text token, for instance
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
        RetryableError: the prefix ends too early for that, so the server has scored the same tokens
            differently, and it is unknown which ones are the continuation's.
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
    # The text does not show which token it is; its probability does.
    return math.isclose(left.logprob or 0.0, right.logprob or 0.0, abs_tol=_LOGPROB_TOLERANCE)


@dataclass(frozen=True, slots=True)
class ChatToken:
    """One token of what the template made of a conversation."""

    token_id: int
    text: str
    scored_token: PromptToken


@dataclass(frozen=True, slots=True)
class ContextTokens:
    """The tokens of a conversation alone: their ids, and the texts of the last ones, which the
    first token of a reply may take in.
    """

    token_ids: tuple[int, ...]
    last_texts: tuple[str, ...]


def read_chat_tokens(answer: Json) -> list[ChatToken]:
    """What the server reports of each token of a conversation but the first.

    Raises:
        RetryableError: it does not score all of them.
    """
    rows = as_list(answer.get("prompt_logprobs"))
    if not rows or len(rows) != token_count(as_object(answer.get("usage")).get("prompt_tokens")):
        raise invalid_response(sentence("error.endpoint-token-unscored"))
    return [_chat_token(row) for row in rows[1:]]


def context_tokens(tokens: Sequence[ChatToken]) -> ContextTokens:
    """What is to be known of a conversation to find a reply behind it."""
    last = tokens[max(0, len(tokens) - MAX_MERGED_TOKENS) :]
    return ContextTokens(tuple(each.token_id for each in tokens), tuple(each.text for each in last))


def score_reply(tokens: Sequence[ChatToken], context: ContextTokens, reply: str) -> Logprob:
    """The score of a reply; `tokens` of both together, `context` of the conversation alone.

    Raises:
        RejectedError: the template does not put the reply, as it is, after the conversation.
    """
    pairs = zip(tokens, context.token_ids, strict=False)
    seam = sum(1 for _ in takewhile(lambda pair: pair[0].token_id == pair[1], pairs))
    taken_in = len(context.token_ids) - seam
    scored = score_span(
        [each.scored_token for each in tokens],
        ContinuationSpan(seam, len(tokens), merged=taken_in > 0),
    )
    # What the reply took in must still be there: a template may open thoughts ("<think>") only
    # where the model's turn is to begin.
    text = "".join(context.last_texts[len(context.last_texts) - taken_in :]) + reply
    if scored is None or taken_in > MAX_MERGED_TOKENS or not _matches_text(tokens[seam:], text):
        raise RejectedError(sentence("error.endpoint-template"))
    return scored


def _chat_token(row: object) -> ChatToken:
    by_id = as_object(row)
    if len(by_id) != 1:
        raise invalid_response(sentence("error.endpoint-token-unscored"))
    ((number, fields),) = by_id.items()
    text = as_object(fields).get("decoded_token")
    if not isinstance(text, str) or not _is_id(number):
        raise invalid_response(sentence("error.endpoint-no-token-ids"))
    return ChatToken(int(number), text, read_row(fields, int(number)))


def _is_id(number: str) -> bool:
    return number.isdecimal() and len(number) <= MAX_ID_DIGITS


def _matches_text(own: Sequence[ChatToken], text: str) -> bool:
    """Whether these tokens are the text. Parts of characters may be any, but none is of ASCII: a
    blank that was taken off shows.
    """
    pieces = re.split(f"({REPLACEMENT_CHARACTER}+)", "".join(each.text for each in own))
    known = [
        f"[^\\x00-\\x7f]{{1,{len(piece)}}}" if at % 2 else re.escape(piece)
        for at, piece in enumerate(pieces)
    ]
    return bool(re.fullmatch("".join(known), text))
