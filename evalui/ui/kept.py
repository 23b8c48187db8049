"""What a page keeps in the browser as text, in a hidden field, so that no poll can lose it."""

import json
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


def kept_text(kept: Sequence[object]) -> str:
    """A named tuple of texts and numbers as the value of the hidden field, "" if all are empty."""
    return json.dumps(kept) if any(kept) else ""


def read_kept(kind: Callable[..., T], text: str) -> T:
    """The inverse; a page that has kept nothing yet holds an empty field."""
    return kind(*json.loads(text)) if text else kind()
