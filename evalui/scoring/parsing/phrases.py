"""What replies of judges have in common: thoughts before what they say."""

import re

_CLOSED_THOUGHT = re.compile(r"</(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_OPEN_THOUGHT = re.compile(r"<(?:think|thinking|thought|reasoning)>", re.IGNORECASE)


def after_thoughts(reply: str) -> str | None:
    """The reply without closed thoughts; None if it was cut off while thinking."""
    spoken = _CLOSED_THOUGHT.split(reply)[-1]
    return None if _OPEN_THOUGHT.search(spoken) else spoken
