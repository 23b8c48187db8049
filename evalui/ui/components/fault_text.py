"""A fault of an uploaded file in the words of the page."""

import re

from evalui.messages import Messages
from evalui.types import Fault

_UNBROKEN = re.compile(r"“[^”]*”|\d{1,3}(?:,\d{3})+")


def fault_text(t: Messages, fault: Fault) -> tuple[str, str]:
    """What was found and what was expected.

    Both are English phrases; a Chinese page keeps what they quote of the file and large numbers.
    """
    if t.language == "en":
        return fault.actual, fault.expected
    kept = "、".join(_UNBROKEN.findall(fault.actual))
    found = "：".join(filter(None, (t(f"fault.{fault.rule}.what"), kept)))
    return found, t(f"fault.{fault.rule}.expected")
