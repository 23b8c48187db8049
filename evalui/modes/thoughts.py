"""A reply without its thoughts, for every use of it: read, compared, judged, gone on from.

Servers put thoughts in a field of their own or leave them in the text; here both end up apart.
"""

from collections.abc import Sequence
from dataclasses import replace

from evalui.scoring.parsing.thoughts import split_thoughts
from evalui.types import GeneratedText, Response, Trial


def without_thoughts(response: Response) -> Response | None:
    """The response with a model's thoughts apart from its text; None where the text was cut off
    within them, which is no answer.
    """
    if not isinstance(response, GeneratedText):
        return response
    split = split_thoughts(response.text)
    if split.spoken is None:
        return None
    if not split.thoughts:
        return response if split.spoken == response.text else replace(response, text=split.spoken)
    # A template puts blank lines between the two.
    thoughts = "\n\n".join(filter(None, (response.thoughts, split.thoughts)))
    return replace(response, text=split.spoken.lstrip(), thoughts=thoughts)


def with_thoughts(trial: Trial, responses: Sequence[Response]) -> Trial:
    """The trial with what the model thought before the responses it was graded by."""
    texts = [each.thoughts for each in responses if isinstance(each, GeneratedText)]
    thoughts = "\n\n".join(filter(None, texts))
    return replace(trial, thoughts=thoughts) if thoughts else trial
