"""The marks around thoughts, as models write them and as chat templates end with them."""

import re

_BEGINS = re.compile(
    r"\s*(?:<\|?/?(?:think|thinking|thoughts?|reasoning|seed:think|channel|begin_of_thought)\b"
    r"|<\|START_THINKING|\[/?THINK|◁/?think)",
    re.IGNORECASE,
)
_CLOSES = re.compile(
    r"</(?:think|thinking|thoughts?|reasoning|seed:think)\s?>|\[/THINK\]|◁/think▷"
    r"|<\|end_of_thought\|>|<\|END_THINKING\|>",
    re.IGNORECASE,
)
_OPENS = re.compile(
    r"<(?:think|thinking|thoughts?|reasoning|seed:think)\s?>\s*|\[THINK\]\s*|◁think▷\s*"
    r"|<\|begin_of_thought\|>\s*|<\|START_THINKING\|>\s*|<\|channel>thought\b\s*",
    re.IGNORECASE,
)
_LONGEST_MARK = 64  # characters, with the blanks after it


def begins_with_mark(text: str) -> bool:
    """Whether a text begins with a mark of thoughts."""
    return bool(_BEGINS.match(text))


def closes_thought(text: str) -> bool:
    """Whether a text has a mark that closes thoughts, also where the prompt opened them."""
    return bool(_CLOSES.search(text))


def opened_thought(prompt: str) -> str:
    """The mark at the end of a prompt that opens a thought, with the blanks after it; "" if none
    does: then what follows is the reply.
    """
    marks = _OPENS.finditer(prompt, max(0, len(prompt) - _LONGEST_MARK))
    return next((each[0] for each in marks if each.end() == len(prompt)), "")


def mentions_thoughts(template: str) -> bool:
    """Whether a chat template has a mark that opens thoughts, wherever and whenever."""
    return bool(_OPENS.search(template))
