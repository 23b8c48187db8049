"""How probable the beginning of a reply is after a conversation, asked of chat alone.

vLLM scores the tokens of whatever its template makes of the turns (`prompt_logprobs`), and can
leave the last turn open. Which tokens are the reply's shows beside the conversation alone.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile

from evalui.messages import sentence
from evalui.models.endpoint.http.client import Declined, Json, as_list, as_object, whole
from evalui.models.endpoint.prompt_logprobs import LONGEST_MERGE, PART, Seam, score
from evalui.models.endpoint.responses import LONGEST_ID, Place, read_row, unusable
from evalui.types import Logprob

SCORED: Json = {"prompt_logprobs": 0}
# The reply is no turn of its own but one that is being written.
CONTINUED: Json = {"add_generation_prompt": False, "continue_final_message": True}


@dataclass(frozen=True, slots=True)
class Turned:
    """One token of what the template made of a conversation."""

    number: int
    text: str
    place: Place


@dataclass(frozen=True, slots=True)
class Before:
    """The tokens of a conversation alone: their ids, and the texts of the last ones, which the
    first token of a reply may take in.
    """

    numbers: tuple[int, ...]
    last: tuple[str, ...]


def read_turns(answer: Json) -> list[Turned]:
    """What the server says of each token of a conversation but the first.

    Raises:
        Faltered: it does not score all of them.
    """
    rows = as_list(answer.get("prompt_logprobs"))
    if not rows or len(rows) != whole(as_object(answer.get("usage")).get("prompt_tokens")):
        raise unusable(sentence("error.endpoint-token-unscored"))
    return [_turned(row) for row in rows[1:]]


def before(told: Sequence[Turned]) -> Before:
    """What is to be known of a conversation to find a reply behind it."""
    last = told[max(0, len(told) - LONGEST_MERGE) :]
    return Before(tuple(each.number for each in told), tuple(each.text for each in last))


def score_turns(told: Sequence[Turned], context: Before, reply: str) -> Logprob:
    """The score of a reply; `told` of both together, `context` of the conversation alone.

    Raises:
        Declined: the template does not put the reply, as it is, after the conversation.
    """
    pairs = zip(told, context.numbers, strict=False)
    seam = sum(1 for _ in takewhile(lambda pair: pair[0].number == pair[1], pairs))
    taken_in = len(context.numbers) - seam
    scored = score([each.place for each in told], Seam(seam, len(told), merged=taken_in > 0))
    # What the reply took in must still be there: a template may open thoughts ("<think>") only
    # where the model's turn is to begin.
    text = "".join(context.last[len(context.last) - taken_in :]) + reply
    if scored is None or taken_in > LONGEST_MERGE or not _spell(told[seam:], text):
        raise Declined(sentence("error.endpoint-template"))
    return scored


def _turned(row: object) -> Turned:
    told = as_object(row)
    if len(told) != 1:
        raise unusable(sentence("error.endpoint-token-unscored"))
    ((number, about),) = told.items()
    text = as_object(about).get("decoded_token")
    if not isinstance(text, str) or not _is_id(number):
        raise unusable(sentence("error.endpoint-no-token-ids"))
    return Turned(int(number), text, read_row(about, int(number)))


def _is_id(number: str) -> bool:
    return number.isdecimal() and len(number) <= LONGEST_ID


def _spell(own: Sequence[Turned], text: str) -> bool:
    """Whether these tokens are the text. Parts of characters may be any, but none is of ASCII: a
    blank that was taken off shows.
    """
    pieces = re.split(f"({PART}+)", "".join(each.text for each in own))
    known = [
        f"[^\\x00-\\x7f]{{1,{len(piece)}}}" if at % 2 else re.escape(piece)
        for at, piece in enumerate(pieces)
    ]
    return bool(re.fullmatch("".join(known), text))
