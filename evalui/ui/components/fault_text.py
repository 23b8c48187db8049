"""A fault of an uploaded file in the words of the page."""

import re

from evalui.messages import Messages
from evalui.types import Fault

_KEPT = re.compile(r"“[^”]*”|\d{1,3}(?:,\d{3})+")


def fault_words(t: Messages, fault: Fault) -> tuple[str, str]:
    """What was found and what was expected.

    Both are English phrases; a Chinese page keeps what they quote of the file and large numbers.
    """
    if t.language == "en":
        return fault.found, fault.expected
    kept = "、".join(_KEPT.findall(fault.found))
    found = "：".join(filter(None, (t(f"fault.{fault.rule}.what"), kept)))
    return found, t(f"fault.{fault.rule}.expected")
