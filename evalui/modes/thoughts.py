"""What a model said, for every use of it: read, compared, judged, gone on from.

Servers put thoughts in a field of their own or leave them in the text; here both end up apart.
Where the mark that ends a turn stands in the text, what follows it is no part of the reply.
"""

from collections.abc import Sequence
from dataclasses import replace

from evalui.scoring.parsing.reply_text import own_turn
from evalui.scoring.parsing.thoughts import split_thoughts
from evalui.types import GeneratedText, Response, Trial


def without_thoughts(response: Response) -> Response | None:
    """The response with a model's thoughts apart from its text, which ends where its turn does;
    None where the text was cut off within thoughts, which is no answer.
    """
    if not isinstance(response, GeneratedText):
        return response
    split = split_thoughts(response.text)
    if split.spoken is None:
        return None
    turn = own_turn(split.spoken)
    if turn != split.spoken.strip():
        response = replace(response, text=turn, finish_reason="stop")
    elif split.spoken != response.text:
        response = replace(response, text=split.spoken)
    if not split.thoughts:
        return response
    # A template puts blank lines between the two.
    thoughts = "\n\n".join(filter(None, (response.thoughts, split.thoughts)))
    return replace(response, text=response.text.lstrip(), thoughts=thoughts)


def with_thoughts(trial: Trial, responses: Sequence[Response]) -> Trial:
    """The trial with what the model thought before the responses it was graded by."""
    texts = [each.thoughts for each in responses if isinstance(each, GeneratedText)]
    thoughts = "\n\n".join(filter(None, texts))
    return replace(trial, thoughts=thoughts) if thoughts else trial
