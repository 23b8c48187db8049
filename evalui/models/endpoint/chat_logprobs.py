"""How probable the beginning of a reply is after a conversation, asked of chat alone.

vLLM scores the tokens of whatever its template makes of the turns (`prompt_logprobs`), and can
leave the last turn open. Which tokens are the reply's shows beside the conversation alone.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from evalui.messages import sentence
from evalui.models.endpoint.http.client import Json, RejectedError, as_list, as_object, token_count
from evalui.models.endpoint.prompt_logprobs import (
    MAX_MERGED_TOKENS,
    REPLACEMENT_CHARACTER,
    ContinuationSpan,
    score_span,
)
from evalui.models.endpoint.responses import MAX_ID_DIGITS, PromptToken, invalid_response, read_row
from evalui.types import Logprob

SCORE_PROMPT_FIELDS: Json = {"prompt_logprobs": 0}
# The reply is no turn of its own but one that is being written.
CONTINUE_REPLY_FIELDS: Json = {"add_generation_prompt": False, "continue_final_message": True}


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
    """What the server says of each token of a conversation but the first.

    Raises:
        Faltered: it does not score all of them.
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
        Declined: the template does not put the reply, as it is, after the conversation.
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
    told = as_object(row)
    if len(told) != 1:
        raise invalid_response(sentence("error.endpoint-token-unscored"))
    ((number, about),) = told.items()
    text = as_object(about).get("decoded_token")
    if not isinstance(text, str) or not _is_id(number):
        raise invalid_response(sentence("error.endpoint-no-token-ids"))
    return ChatToken(int(number), text, read_row(about, int(number)))


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
