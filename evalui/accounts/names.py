"""What people may be called."""

import re

from evalui.access import LOCAL
from evalui.errors import AccountError

_NAME = re.compile(r"[a-z0-9][a-z0-9._@+-]{0,63}")


def checked_name(name: str) -> str:
    """The name as it is stored, in small letters; raises `AccountError` if it cannot be one."""
    plain = name.strip().casefold()
    if not _NAME.fullmatch(plain) or plain == LOCAL:
        raise AccountError("account-name", name=name[:80])
    return plain
